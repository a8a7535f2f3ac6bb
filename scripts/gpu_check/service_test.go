package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"dragoman/app/client"
	"dragoman/model"
	"dragoman/model/modeltest"
)

// service translates the goldens' sentences over HTTP, with the program on the GPU and
// on the CPU in single precision.
func (s *session) service() {
	goldens, err := s.read()
	if err != nil {
		s.check("service", func(map[string]any) error { return err })
		return
	}
	requests := requestsOf(goldens)
	var want []string
	s.check("service on the CPU", func(values map[string]any) (err error) {
		want, err = s.serve("cpu", model.FP32, requests, values)
		return err
	})
	device := "cuda"
	if s.host {
		device = "cpu"
	}
	for _, precision := range []model.Precision{model.FP32, model.FP16} {
		s.check("service "+string(precision), func(values map[string]any) error {
			got, err := s.serve(device, precision, requests, values)
			if err != nil {
				return err
			}
			if len(want) != len(got) {
				return errors.New("the CPU has nothing to compare with")
			}
			same := 0
			for i := range got {
				if got[i] == want[i] {
					same++
				}
			}
			share := float64(same) / float64(len(got))
			values["identical"], values["chrF"] = share, chrF(got, want)
			if share < 0.95 {
				return errors.New("fewer than 95% of translations are the CPU's")
			}
			return nil
		})
	}
}

// requestsOf makes a request of the people's sentences of each pair of languages.
func requestsOf(g *modeltest.Goldens) []client.Request {
	pairs := map[[2]string]int{}
	var requests []client.Request
	for _, c := range g.Cases {
		if c.Set != "held-out" {
			continue
		}
		pair := [2]string{c.From, c.To}
		i, ok := pairs[pair]
		if !ok {
			i = len(requests)
			pairs[pair] = i
			requests = append(requests, client.Request{From: c.From, To: c.To, Detail: true})
		}
		requests[i].Records = append(requests[i].Records, client.Record{Text: c.Text})
	}
	return requests
}

// serve runs the program until it has answered requests, all of them at once, and ends
// it by SIGTERM.
func (s *session) serve(device string, precision model.Precision, requests []client.Request, values map[string]any) (texts []string, err error) {
	dir, err := s.export(s.bundled, precision)
	if err != nil {
		return nil, err
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(interrupted(), s.program, "serve")
	cmd.Env = append(os.Environ(), "ONNXRUNTIME_LIB="+s.library, "MODEL_WEIGHTS="+dir, "DEVICE="+device, "PRECISION="+string(precision),
		"APP_HOST=127.0.0.1", "APP_PORT=0", "LOG_FORMAT=json", "CACHE_BYTES=0")
	if device == "cuda" {
		cmd.Env = append(cmd.Env, fmt.Sprintf("CUDA_DEVICES=%d", s.gpu))
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w: make it with `make build`", err)
	}
	address, err := ready(stderr)
	if err != nil {
		return nil, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	values["ready_seconds"] = time.Since(start).Seconds()
	go func() { _, _ = io.Copy(io.Discard, stderr) }() // ends with the process
	defer func() {
		err = errors.Join(err, cmd.Process.Signal(syscall.SIGTERM), cmd.Wait())
	}()

	start = time.Now()
	if texts, err = translate(address, requests); err != nil {
		return nil, err
	}
	values["sentences"], values["seconds"] = len(texts), time.Since(start).Seconds()
	metrics, err := get(address + "/metrics")
	if err == nil && !strings.Contains(metrics, `device="`+device+`"`) {
		err = fmt.Errorf("the service does not run on %s", device)
	}
	return texts, err
}

// ready reads the service's log until it can be asked, and returns its address.
func ready(log io.Reader) (address string, err error) {
	last := ""
	for lines := bufio.NewScanner(log); lines.Scan(); {
		last = lines.Text()
		var line struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue
		}
		switch line.Msg {
		case "listening":
			address = "http://" + line.Address
		case "ready":
			return address, nil
		}
	}
	return "", fmt.Errorf("the service did not start: %s", last)
}

// translate sends all requests at once and returns the texts in their order.
func translate(address string, requests []client.Request) ([]string, error) {
	c, err := client.New(client.Config{URL: address})
	if err != nil {
		return nil, err
	}
	type answer struct {
		results []client.Result
		err     error
	}
	answers := make([]chan answer, len(requests))
	for i, r := range requests {
		answers[i] = make(chan answer, 1)
		go func() {
			results, err := c.Translate(context.Background(), r)
			answers[i] <- answer{results, err}
		}()
	}
	var texts []string
	var errs []error
	for _, channel := range answers {
		a := <-channel
		errs = append(errs, a.err)
		for _, r := range a.results {
			texts = append(texts, r.Text)
		}
	}
	return texts, errors.Join(errs...)
}

func get(url string) (string, error) {
	resp, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return string(raw), err
}
