package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pod is the memory of a pod in the manifests.
const pod = 4 << 30

// worst are the valid requests that take the most memory for their size.
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
func memoryOfRequests(t *testing.T) {
	s, statuses := limited(t), newCounts()
	send := func(ctx context.Context, body []byte) error {
		ctx, cancel := context.WithTimeout(ctx, 15*time.Second) // the test does not need the end
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
		require.NoError(t, parallel(t.Context(), 4, func(ctx context.Context, _ int) error { return send(ctx, body) }))
	}
	require.NoError(t, parallel(t.Context(), 16*len(bodies), func(ctx context.Context, i int) error { return send(ctx, bodies[i%len(bodies)]) }))
	t.Log(statuses)
}

// keyless sends large bodies without a key to a service with keys.
func keyless(t *testing.T) {
	line, err := exec.CommandContext(t.Context(), *binary, "key", "somebody").Output()
	require.NoError(t, err)
	keys := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(keys, line, 0o600))
	s, statuses := limited(t, "API_KEYS_FILE="+keys, "RATE_LIMIT=5/s"), newCounts()
	large := []byte(`{"target_lang":"FR","text":["` + strings.Repeat("a", 4<<20-100) + `"]}`)
	require.NoError(t, parallel(t.Context(), 712, func(ctx context.Context, _ int) error {
		status, _, err := s.post(ctx, s.client, "/v2/translate", large)
		if _, reset := errors.AsType[*net.OpError](err); reset {
			statuses.add("cut off")
			return nil
		}
		statuses.add(strconv.Itoa(status))
		return err
	}))
	t.Log(statuses)
}

// p95 returns the 95th percentile in milliseconds of a client's sequential requests with one sentence. None may be refused.
func (s *service) p95(t *testing.T, client *http.Client, count int) float64 {
	t.Helper()
	var times []float64
	for range count {
		text := fmt.Sprintf("I have read %d books about trains this year.", rand.IntN(1_000_000_000))
		begin := time.Now()
		status, _, err := s.post(t.Context(), client, "/translation", body(text))
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, status)
		times = append(times, time.Since(begin).Seconds()*1e3)
	}
	slices.Sort(times)
	return times[len(times)*95/100]
}

// beside returns the p95 of a client at an address, while other clients at 127.0.0.1 repeat an attack on a number of
// connections.
func (s *service) beside(t *testing.T, address string, connections int, attack func(ctx context.Context) error) float64 {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	var done atomic.Int64
	for range connections {
		group.Go(func() {
			for ctx.Err() == nil {
				if err := attack(ctx); err != nil && ctx.Err() == nil {
					t.Errorf("an attack failed: %v", err)
					return
				}
				done.Add(1)
			}
		})
	}
	defer group.Wait()
	defer stop()
	s.p95(t, from(address), 10) // warms up until the batch is full
	p95 := s.p95(t, from(address), 80)
	eventually(t, 5*time.Minute, "one attack at least has come to its end", func() bool { return done.Load() > 0 })
	return p95
}

// bulk measures requests of one sentence alone, and beside a client with requests of 300 kB at low priority, from the same
// address and from another one.
func bulk(t *testing.T) {
	s := serve(t)
	var lines strings.Builder
	for i := range 6_000 {
		fmt.Fprintf(&lines, "There are %d people who wait for train number %d.\n", i, i*7)
	}
	large := request([]string{"fr"}, "low", chunks(lines.String(), 99_000)...)
	s.p95(t, s.client, 20) // warm
	alone := s.p95(t, s.client, 80)
	t.Logf("p95 of one-sentence requests alone %.0f ms", alone)
	for _, address := range []string{"127.0.0.1", "127.0.0.2"} {
		beside := s.beside(t, address, 1, s.posts(func() []byte { return large }))
		t.Logf("beside the bulk, from %s: %.0f ms, %.1f times", address, beside, beside/alone)
	}
}

// posts returns an attack by requests.
func (s *service) posts(body func() []byte) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		_, _, err := s.post(ctx, s.client, "/translation", body())
		return err
	}
}

// isolation measures requests of one sentence alone, and beside expensive work: long sentences without breaks, many beams,
// letters of many tokens, texts without words, large documents, live sessions that are rewritten. The limit leaves room for a
// busy machine. If steps were shared only by rows, the factor would be 8 to 170.
func isolation(t *testing.T) {
	const most = 6
	words := func(n int) string {
		var text strings.Builder
		for range n {
			fmt.Fprintf(&text, "%s ", []string{"train", "book", "water", "people", "reads", "green", "slowly", "and"}[rand.IntN(8)])
		}
		return text.String()
	}
	s := serve(t, "JOB_FILE="+filepath.Join(t.TempDir(), "jobs.db"), "JOBS_PER_KEY=100000", "JOB_STORAGE=4GiB")
	ask := func(priority string, beams, count int, text func() string) func(ctx context.Context) error {
		return s.posts(func() []byte {
			var records []map[string]string
			for i := range count {
				records = append(records, map[string]string{"id": strconv.Itoa(i), "text": text()})
			}
			options := map[string]any{}
			if beams > 0 {
				options["beams"] = beams
			}
			raw, _ := json.Marshal(map[string]any{"payload": map[string]any{"fromLang": "en", "toLangs": []string{"fr"}, "priority": priority,
				"split": false, "options": options, "records": records}})
			return raw
		})
	}
	document := wordDocument(t, 400_000)
	s.p95(t, s.client, 20) // warm
	measure := func(name string, connections int, attack func(ctx context.Context) error) {
		alone := s.p95(t, from("127.0.0.2"), 80)
		beside := s.beside(t, "127.0.0.2", connections, attack)
		t.Logf("%s: p95 %.0f ms, alone %.0f ms: %.1f times", name, beside, alone, beside/alone)
		assert.LessOrEqual(t, beside/alone, float64(most), name)
		s.clear(t)
	}
	measure("10 records of 300 words, low priority", 1, ask("low", 0, 10, func() string { return words(300) }))
	measure("900 words, 8 beams", 1, ask("normal", 8, 1, func() string { return words(900) }))
	measure("12 connections with ligatures, 8 beams", 12, ask("normal", 8, 1, func() string {
		return strings.Repeat("\ufdfa", 20) + " train " + strconv.Itoa(rand.IntN(1_000_000))
	}))
	measure("12 connections with short sentences, greedy", 12, ask("high", 1, 1, func() string { return words(6) }))
	measure("12 connections with texts that have nothing to translate", 12, s.posts(func() []byte {
		return request([]string{"fr"}, "normal", strconv.Itoa(rand.Int())+strings.Repeat("\n1", 49_000))
	}))
	measure("12 connections with texts of equal sentences", 12, s.posts(func() []byte {
		return request([]string{"fr"}, "normal", strings.Repeat("Hello there. ", 7_500))
	}))
	measure("80 live sessions, rewritten again and again", 80, s.rewrite(func() string { return words(700) }))
	measure("8 downloads of a document of 400,000 paragraphs", 8, s.downloads(t, document))
	measure("6 uploads of such a document", 6, func(ctx context.Context) error {
		_, err := s.upload(ctx, document)
		return err
	})
}

// limited starts a service with a pod's memory, in a cgroup if this machine allows one, and checks its peak when the test ends.
func limited(t *testing.T, environ ...string) *service {
	var group string
	t.Cleanup(func() { _ = os.Remove(group) }) // after the end of the service; removing the cgroup may fail
	s := serve(t, environ...)
	group = s.confine(t)
	t.Cleanup(func() {
		peak := s.memory(t, "VmHWM")
		t.Logf("at most %.0f MB, cgroup of 4 GiB: %q", peak, group)
		assert.LessOrEqual(t, peak, pod/1e6)
	})
	return s
}

// confine puts the service into a memory-limited cgroup and returns the cgroup's path; "": cgroups are not available.
func (s *service) confine(t *testing.T) string {
	pid := strconv.Itoa(s.process.Process.Pid)
	for root, file := range map[string]string{"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"} {
		group := filepath.Join(root, "dragoman-"+pid)
		if os.Mkdir(group, 0o755) != nil {
			continue
		}
		if os.WriteFile(filepath.Join(group, file), []byte(strconv.Itoa(pod)), 0o644) != nil {
			_ = os.Remove(group)
			continue
		}
		require.NoError(t, os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(pid), 0o644))
		return group
	}
	return ""
}

// from returns a client at an address of this machine.
func from(address string) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: dialer.DialContext}}
}

// chunks cuts a text of lines into parts of at most n bytes.
func chunks(text string, most int) (parts []string) {
	for len(text) > most {
		at := strings.LastIndexByte(text[:most], '\n') + 1
		parts, text = append(parts, text[:at]), text[at:]
	}
	return append(parts, text)
}
