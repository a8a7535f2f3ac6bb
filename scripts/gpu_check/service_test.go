package gpucheck

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"dragoman/app/client"
	"dragoman/model"
	"dragoman/model/modeltest"
)

// TestService translates the goldens' sentences over HTTP, with the program on the GPU
// and on the CPU in single precision.
func TestService(t *testing.T) {
	if *program == "" {
		t.Skip("no -program")
	}
	g := goldens(t)
	requests := requestsOf(g)
	want := serve(t, "cpu", exported(t, g.Dir, model.FP32), model.FP32, requests)
	device := "cuda"
	if *host {
		device = "cpu"
	}
	for _, precision := range []model.Precision{model.FP32, model.FP16} {
		t.Run(string(precision), func(t *testing.T) {
			got := serve(t, device, exported(t, g.Dir, precision), precision, requests)
			require.Len(t, got, len(want))
			same := 0
			for i := range got {
				if got[i] == want[i] {
					same++
				}
			}
			t.Logf("%d of %d are identical, chrF %.2f", same, len(got), chrF(got, want))
			assert.GreaterOrEqual(t, same, len(got)*95/100)
		})
	}
}

// requestsOf returns a request per pair of languages with the sentences written by people.
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

// serve runs the program, sends all requests at once, and ends it by SIGTERM. It returns the texts in the order of the requests.
func serve(t *testing.T, device, dir string, precision model.Precision, requests []client.Request) (texts []string) {
	t.Helper()
	path, err := filepath.Abs(*library)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), *program, "serve")
	cmd.Env = append(os.Environ(), "ONNXRUNTIME_LIB="+path, "MODEL_WEIGHTS="+dir, "DEVICE="+device, "PRECISION="+string(precision),
		"APP_HOST=127.0.0.1", "APP_PORT=0", "LOG_FORMAT=json", "CACHE_BYTES=0")
	if device == "cuda" {
		cmd.Env = append(cmd.Env, fmt.Sprintf("CUDA_DEVICES=%d", *number))
	}
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	start := time.Now()
	require.NoError(t, cmd.Start(), "make it with `make build`")
	address, last := ready(stderr)
	go func() { _, _ = io.Copy(io.Discard, stderr) }() // ends with the process
	defer func() {
		assert.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		assert.NoError(t, cmd.Wait())
	}()
	require.NotEmpty(t, address, "the service did not start: %s", last)
	t.Logf("%s %s: ready after %.1f s", device, precision, time.Since(start).Seconds())

	start = time.Now()
	texts = translate(t, address, requests)
	t.Logf("%d sentences in %.1f s", len(texts), time.Since(start).Seconds())
	resp, err := http.Get(address + "/metrics")
	require.NoError(t, err)
	defer resp.Body.Close()
	metrics, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Contains(t, string(metrics), `device="`+device+`"`)
	return texts
}

// ready reads the service's log until it is ready, and returns its address and the last line; the address is "" if the service
// ends before.
func ready(log io.Reader) (address, last string) {
	for lines := bufio.NewScanner(log); lines.Scan(); {
		last = lines.Text()
		var line struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue // ONNX Runtime's
		}
		switch line.Msg {
		case "listening":
			address = "http://" + line.Address
		case "ready":
			return address, last
		}
	}
	return "", last
}

// translate sends all requests at once.
func translate(t *testing.T, address string, requests []client.Request) (texts []string) {
	t.Helper()
	c, err := client.New(client.Config{URL: address})
	require.NoError(t, err)
	defer c.Close()
	answers := make([][]client.Result, len(requests))
	group, ctx := errgroup.WithContext(t.Context())
	for i, r := range requests {
		group.Go(func() (err error) {
			answers[i], err = c.Translate(ctx, r)
			return err
		})
	}
	require.NoError(t, group.Wait())
	for _, results := range answers {
		for _, r := range results {
			texts = append(texts, r.Text)
		}
	}
	return texts
}
