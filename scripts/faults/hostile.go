package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
	"time"
)

// pod is the memory that the manifests give a pod.
const pod = 4 << 30

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
			status, _, err := s.post(ctx, s.client, "/translation", body)
			if ctx.Err() != nil {
				statuses.add("left")
				return nil
			}
			statuses.add(strconv.Itoa(status))
			return err
		}
		bodies := slices.Collect(maps.Values(worst()))
		for _, body := range bodies {
			if err := parallel(ctx, 4, func(ctx context.Context, _ int) error { return send(ctx, body) }); err != nil {
				return "", err
			}
		}
		err := parallel(ctx, 16*len(bodies), func(ctx context.Context, i int) error { return send(ctx, bodies[i%len(bodies)]) })
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
		err := parallel(ctx, 712, func(ctx context.Context, _ int) error {
			status, _, err := s.post(ctx, s.client, "/v2/translate", large)
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
				status, _, err := s.post(ctx, client, "/translation", body(text))
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
					_, _, _ = s.post(bctx, s.client, "/translation", large)
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
