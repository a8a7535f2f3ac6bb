package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// pod is the memory that the manifests give a pod.
const pod = 4 << 30

// request is a request into several languages.
func request(to []string, priority string, texts ...string) []byte {
	type record struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	var records []record
	for i, text := range texts {
		records = append(records, record{strconv.Itoa(i), text})
	}
	raw, _ := json.Marshal(map[string]any{"payload": map[string]any{
		"fromLang": "en", "toLangs": to, "priority": priority, "records": records}})
	return raw
}

// worst are the requests that take the most memory for their size, all of them legal.
func worst() map[string][]byte {
	all, lines := []string{"de", "fr", "ja", "zh"}, strings.Repeat("a\n", 50_000)
	var different strings.Builder
	for i := range 24_000 {
		fmt.Fprintf(&different, "%c%c%c\n", 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26)
	}
	return map[string][]byte{
		"27 × 50,000 sentences, 4 languages": request(all, "normal", slices.Repeat([]string{lines}, 27)...),
		"50,000 sentences":                   request(all[:1], "normal", lines),
		"24,000 different sentences":         request(all[:2], "normal", different.String()),
		"spans":                              request(all, "normal", slices.Repeat([]string{strings.Repeat("**a** ", 16_000)}, 20)...),
		"tags":                               request(all, "normal", slices.Repeat([]string{strings.Repeat("<b>a</b> b. ", 8_000)}, 40)...),
		"no sentence":                        request(all, "normal", slices.Repeat([]string{strings.Repeat("1\n", 50_000)}, 40)...),
		"one long word":                      request(all, "normal", slices.Repeat([]string{strings.Repeat("a", 100_000)}, 40)...),
		"ligatures":                          request(all, "normal", slices.Repeat([]string{strings.Repeat("\ufdfa", 5_000)}, 80)...),
	}
}

// memoryOfRequests sends the worst requests, four of each at once and all of them
// together, to a service in a memory-limited cgroup, as in a pod.
func memoryOfRequests(ctx context.Context, r *run) (string, error) {
	return r.limited(ctx, func(ctx context.Context, s *service) (string, error) {
		statuses := newCounts()
		send := func(ctx context.Context, body []byte) error {
			ctx, cancel := context.WithTimeout(ctx, 15*time.Second) // nobody waits for the end
			defer cancel()
			status, err := s.status(ctx, http.MethodPost, "/translation", body)
			if ctx.Err() != nil {
				statuses.add("left")
				return nil
			}
			statuses.add(strconv.Itoa(status))
			return err
		}
		bodies := worst()
		for _, body := range bodies {
			group, gctx := errgroup.WithContext(ctx)
			for range 4 {
				group.Go(func() error { return send(gctx, body) })
			}
			if err := group.Wait(); err != nil {
				return "", err
			}
		}
		group, gctx := errgroup.WithContext(ctx)
		for _, body := range bodies {
			for range 16 {
				group.Go(func() error { return send(gctx, body) })
			}
		}
		err := group.Wait()
		return statuses.String(), err
	})
}

// keyless sends large bodies without a key to a service that has keys.
func keyless(ctx context.Context, r *run) (string, error) {
	dir, err := os.MkdirTemp("", "dragoman-keys")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	line, err := exec.CommandContext(ctx, r.binary, "key", "somebody").Output()
	if err != nil {
		return "", err
	}
	keys := filepath.Join(dir, "keys")
	if err := os.WriteFile(keys, line, 0o600); err != nil {
		return "", err
	}
	return r.limited(ctx, func(ctx context.Context, s *service) (string, error) {
		large := []byte(`{"target_lang":"FR","text":["` + strings.Repeat("a", 4<<20-100) + `"]}`)
		statuses := newCounts()
		group, gctx := errgroup.WithContext(ctx)
		for range 712 {
			group.Go(func() error {
				status, err := s.status(gctx, http.MethodPost, "/v2/translate", large)
				var reset *net.OpError
				switch {
				case errors.As(err, &reset):
					statuses.add("cut off")
				case err != nil:
					return err
				default:
					statuses.add(strconv.Itoa(status))
				}
				return nil
			})
		}
		err := group.Wait()
		return statuses.String(), err
	}, "API_KEYS_FILE="+keys, "RATE_LIMIT=5/s")
}

// bulk measures requests of a sentence alone, and beside a client with requests of 300 kB
// of low priority, from the same address and from another one.
func bulk(ctx context.Context, r *run) (string, error) {
	return r.with(ctx, func(s *service) (string, error) {
		rng := rand.New(rand.NewPCG(1, 2))
		small := func(client *http.Client, count int) (times []time.Duration, refused int, err error) {
			for range count {
				text := fmt.Sprintf("I have read %d books about trains this year.", rng.IntN(1_000_000))
				begin := time.Now()
				status, _, err := s.post(ctx, client, body(text))
				if err != nil {
					return nil, 0, err
				}
				if status != http.StatusOK {
					refused++
				}
				times = append(times, time.Since(begin))
			}
			slices.Sort(times)
			return times, refused, nil
		}
		p95 := func(times []time.Duration) float64 {
			return float64(times[len(times)*95/100].Microseconds()) / 1000
		}
		var lines strings.Builder
		for i := range 6_000 {
			fmt.Fprintf(&lines, "There are %d people who wait for train number %d.\n", i, i*7)
		}
		large := request([]string{"fr"}, "low", chunks(lines.String(), 99_000)...)
		if _, _, err := small(s.client, 20); err != nil { // warm
			return "", err
		}
		alone, _, err := small(s.client, 80)
		if err != nil {
			return "", err
		}
		seen := fmt.Sprintf("p95 of one-sentence requests alone %.0f ms", p95(alone))
		for _, address := range []string{"127.0.0.1", "127.0.0.2"} {
			bctx, stop := context.WithCancel(ctx)
			var group sync.WaitGroup
			group.Go(func() {
				for bctx.Err() == nil {
					_, _ = s.status(bctx, http.MethodPost, "/translation", large)
				}
			})
			err := s.wait(ctx, time.Minute, func() bool {
				waiting, err := s.metric("dragoman_queue_tokens")
				return err == nil && waiting > 1000
			})
			if err == nil { // the first ones find a batch that is full
				_, _, err = small(from(address), 10)
			}
			if err == nil {
				times, refused, e := small(from(address), 80)
				err = e
				if err == nil {
					seen += fmt.Sprintf("; beside the bulk, from %s: %.0f ms, %.1f times, %d refused", address, p95(times), p95(times)/p95(alone), refused)
				}
				if refused > 0 {
					err = fmt.Errorf("%d refused", refused)
				}
			}
			stop()
			group.Wait()
			if err != nil {
				return seen, err
			}
		}
		return seen, nil
	})
}

// sharedCancel has many clients send the same large text, and leave.
func sharedCancel(ctx context.Context, r *run) (string, error) {
	return r.with(ctx, func(s *service) (string, error) {
		text := chunks(strings.Repeat("It is raining.\n", 20_000), 99_000)
		cctx, leave := context.WithCancel(ctx)
		defer leave()
		var group sync.WaitGroup
		for range 40 {
			group.Go(func() { _, _, _ = s.post(cctx, s.client, body(text...)) })
		}
		if err := s.wait(ctx, 30*time.Second, func() bool { return !s.idle() }); err != nil {
			return "", err
		}
		leave()
		group.Wait()
		begin := time.Now()
		if err := s.wait(ctx, 30*time.Second, s.idle); err != nil {
			return "", err
		}
		return fmt.Sprintf("no row was taken %d ms later", time.Since(begin).Milliseconds()), nil
	})
}

// oversized sends bodies beyond the limit; who sends all before it reads gets the answer,
// too.
func oversized(ctx context.Context, r *run) (string, error) {
	return r.with(ctx, func(s *service) (string, error) {
		const clients, size = 20, 16 << 20
		head := fmt.Sprintf("POST /translation HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", size)
		var answered atomic.Int64
		group := new(errgroup.Group)
		for range clients {
			group.Go(func() error {
				c, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.address)
				if err != nil {
					return err
				}
				defer c.Close()
				if _, err := io.WriteString(c, head); err != nil {
					return err
				}
				if _, err := c.Write(make([]byte, size)); err != nil {
					return err
				}
				answer, err := io.ReadAll(c)
				if bytes.HasPrefix(answer, []byte("HTTP/1.1 413 ")) {
					answered.Add(1)
				}
				return err
			})
		}
		err := group.Wait()
		if err == nil && answered.Load() != clients {
			err = fmt.Errorf("%d of %d were answered with 413", answered.Load(), clients)
		}
		return fmt.Sprintf("%d of %d clients that write before they read saw the 413", answered.Load(), clients), err
	})
}

// limited runs a fault on a service that has as much memory as a pod, and adds its peak
// to what was seen.
func (r *run) limited(ctx context.Context, use func(ctx context.Context, s *service) (string, error), environ ...string) (string, error) {
	var g group
	defer func() { g.remove() }() // after the service has ended
	return r.with(ctx, func(s *service) (seen string, err error) {
		if g, err = s.confine(pod); err != nil {
			return "", err
		}
		seen, err = use(ctx, s)
		peak := s.peak()
		seen = fmt.Sprintf("%s; at most %.0f MB%s", seen, peak, g.said)
		if err == nil && peak > pod/1e6 {
			err = fmt.Errorf("more than %d bytes", int64(pod))
		}
		return seen, err
	}, environ...)
}

// group is a memory-limited cgroup, where this machine lets one be made.
type group struct {
	path string // "" where not
	said string
}

// confine puts the service into a memory-limited cgroup.
func (s *service) confine(limit int64) (group, error) {
	for root, file := range map[string]string{"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"} {
		g := group{filepath.Join(root, fmt.Sprintf("dragoman-%d", s.process.Process.Pid)), " in a cgroup of 4 GiB"}
		if os.Mkdir(g.path, 0o755) != nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(g.path, file), strconv.AppendInt(nil, limit, 10), 0o644); errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			g.remove()
			continue
		}
		err := os.WriteFile(filepath.Join(g.path, "cgroup.procs"), strconv.AppendInt(nil, int64(s.process.Process.Pid), 10), 0o644)
		return g, err
	}
	return group{said: ", without a cgroup"}, nil
}

// remove removes the cgroup, once the service has left it.
func (g group) remove() {
	if g.path != "" {
		_ = os.Remove(g.path) // an empty one is no harm
	}
}

// peak is the most resident memory that the process ever had, in MB.
func (s *service) peak() float64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(raw), "VmHWM:")
	kilobytes, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	return kilobytes * 1024 / 1e6
}

// status sends a body and returns the status of the answer, which is read.
func (s *service) status(ctx context.Context, method, path string, body []byte) (int, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+s.address+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// from is a client at an address of this machine.
func from(address string) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: dialer.DialContext}}
}

// chunks cuts a text of lines into parts of at most so many bytes.
func chunks(text string, most int) (parts []string) {
	for len(text) > most {
		at := strings.LastIndexByte(text[:most], '\n') + 1
		parts, text = append(parts, text[:at]), text[at:]
	}
	return append(parts, text)
}

// counts counts what happened, from many goroutines.
type counts struct {
	mu sync.Mutex // guards of
	of map[string]int
}

func newCounts() *counts { return &counts{of: map[string]int{}} }

func (c *counts) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[what]++
}

// String is such as "12 × 200, 3 × 413".
func (c *counts) String() string {
	var list []string
	for what, n := range c.of {
		list = append(list, fmt.Sprintf("%d × %s", n, what))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
