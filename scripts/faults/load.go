package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// deadlines gives the service no time.
func deadlines(ctx context.Context, r *run) (string, error) {
	return r.with(ctx, func(s *service) (string, error) {
		var slowest time.Duration
		for range 20 {
			start := time.Now()
			status, _, err := s.post(ctx, s.client, "/translation", body("It is raining, and I like to read books."), "Request-Timeout", "1ms")
			slowest = max(slowest, time.Since(start))
			// 504 where its time ran out, 503 where it would have had to wait for longer.
			if err != nil || status != http.StatusGatewayTimeout && status != http.StatusServiceUnavailable {
				return "", fmt.Errorf("status %d, %v", status, err)
			}
		}
		return fmt.Sprintf("20 times 503 or 504, after %d ms at most", slowest.Milliseconds()), nil
	})
}

// overload sends more than may wait.
func overload(ctx context.Context, r *run) (string, error) {
	const clients = 400
	return r.with(ctx, func(s *service) (string, error) {
		statuses := newCounts()
		var mu sync.Mutex // guards refusals
		var refusals []time.Duration
		err := parallel(ctx, clients, func(ctx context.Context, i int) error {
			start := time.Now()
			status, _, err := s.post(ctx, s.client, "/translation", body(fmt.Sprintf("I have read %d books about trains this year.", i)))
			switch {
			case err != nil:
				return err
			case status == http.StatusServiceUnavailable:
				mu.Lock()
				refusals = append(refusals, time.Since(start))
				mu.Unlock()
			case status != http.StatusOK:
				return fmt.Errorf("status %d", status)
			}
			statuses.add(strconv.Itoa(status))
			return nil
		})
		if err != nil {
			return "", err
		}
		slices.Sort(refusals)
		median := time.Duration(0)
		if len(refusals) > 0 {
			median = refusals[len(refusals)/2]
		}
		return fmt.Sprintf("%s (half of the refusals within %d ms), none lost", statuses, median.Milliseconds()), nil
	}, "APP_CONCURRENCY=64")
}

// term ends the service in the middle of the work. A request that the service has
// accepted must be answered in full.
func term(ctx context.Context, r *run) (string, error) {
	const clients = 32
	s, err := r.start(ctx)
	if err != nil {
		return "", err
	}
	outcomes := newCounts()
	var ending atomic.Bool
	var group sync.WaitGroup
	for i := range clients {
		group.Go(func() {
			for n := 0; ; n++ {
				text := fmt.Sprintf("I have read %d books about trains this year, and %d last year.", i, n)
				status, results, err := s.post(ctx, s.client, "/translation", body(text, "It is raining."))
				switch {
				case err == nil && status == http.StatusOK && results == 2:
					outcomes.add("answered")
				case isRefused(err):
					outcomes.add("turned away")
					return
				case ending.Load() && err == nil && status == http.StatusServiceUnavailable:
					outcomes.add("turned away")
					return
				default:
					outcomes.add("lost")
					return
				}
			}
		})
	}
	time.Sleep(2 * time.Second) // of work
	ending.Store(true)
	start := time.Now()
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		return "", err
	}
	group.Wait()
	exit := <-s.exited
	seen := fmt.Sprintf("%s; ended after %.1f s with %v", outcomes, time.Since(start).Seconds(), s.process.ProcessState)
	if outcomes.of["lost"] > 0 {
		exit = errors.Join(exit, errors.New("requests were lost"))
	}
	if exit != nil {
		return seen, exit
	}
	return seen, nil
}

// manyRequests looks at the memory while many requests come.
func manyRequests(ctx context.Context, r *run) (string, error) {
	return r.with(ctx, func(s *service) (string, error) {
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
		var sent atomic.Int64
		var memory []float64
		const parts = 10
		for part := range parts {
			err := parallel(ctx, 64, func(ctx context.Context, _ int) error {
				for {
					n := sent.Add(1)
					if n > int64((part+1)*r.requests/parts) {
						return nil
					}
					// Nine in ten are in the cache, as with real traffic of a web page.
					text := fmt.Sprintf("Page %d.", n%(500+n/10%10*1000))
					if status, results, err := s.post(ctx, client, "/translation", body(text)); err != nil || status != http.StatusOK || results != 1 {
						return fmt.Errorf("request %d: status %d, %d results, %v", n, status, results, err)
					}
				}
			})
			if err != nil {
				return "", err
			}
			sent.Store(int64((part + 1) * r.requests / parts))
			mb, err := s.memory()
			if err != nil {
				return "", err
			}
			memory = append(memory, mb)
		}
		seen := fmt.Sprintf("%d requests, all answered; memory after each tenth, MB: %.0f", r.requests, memory)
		if early, late := memory[2], memory[parts-1]; late > 1.15*early {
			return seen, fmt.Errorf("memory grew from %.0f to %.0f MB", early, late)
		}
		return seen, nil
	}, "CACHE_BYTES=16MiB", "NUM_BEAMS=1")
}

// isRefused says whether a connection was not accepted.
func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
