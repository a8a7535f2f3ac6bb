package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// deadlines gives the service no time.
func deadlines(ctx context.Context, r *run) (string, error) {
	return r.with(ctx, func(s *service) (string, error) {
		var slowest time.Duration
		for range 20 {
			start := time.Now()
			status, _, err := s.post(ctx, s.client, body("It is raining, and I like to read books."), "Request-Timeout", "1ms")
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
		var answered, refused atomic.Int64
		var mu sync.Mutex // guards refusals
		var refusals []time.Duration
		group, gctx := errgroup.WithContext(ctx)
		for i := range clients {
			group.Go(func() error {
				start := time.Now()
				status, _, err := s.post(gctx, s.client, body(fmt.Sprintf("I have read %d books about trains this year.", i)))
				switch {
				case err != nil:
					return err
				case status == http.StatusOK:
					answered.Add(1)
				case status == http.StatusServiceUnavailable:
					refused.Add(1)
					mu.Lock()
					refusals = append(refusals, time.Since(start))
					mu.Unlock()
				default:
					return fmt.Errorf("status %d", status)
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return "", err
		}
		slices.Sort(refusals)
		median := time.Duration(0)
		if len(refusals) > 0 {
			median = refusals[len(refusals)/2]
		}
		return fmt.Sprintf("%d answered, %d refused with 503 (half of them within %d ms), none lost",
			answered.Load(), refused.Load(), median.Milliseconds()), nil
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
	var answered, notAccepted, lost atomic.Int64
	var ending atomic.Bool
	var group sync.WaitGroup
	for i := range clients {
		group.Go(func() {
			for n := 0; ; n++ {
				text := fmt.Sprintf("I have read %d books about trains this year, and %d last year.", i, n)
				status, results, err := s.post(ctx, s.client, body(text, "It is raining."))
				switch {
				case err == nil && status == http.StatusOK && results == 2:
					answered.Add(1)
				case isRefused(err):
					notAccepted.Add(1)
					return
				case ending.Load() && err == nil && status == http.StatusServiceUnavailable:
					notAccepted.Add(1)
					return
				default:
					lost.Add(1)
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
	seen := fmt.Sprintf("%d answered, %d turned away, %d lost; ended after %.1f s with %v",
		answered.Load(), notAccepted.Load(), lost.Load(), time.Since(start).Seconds(), s.process.ProcessState)
	if lost.Load() > 0 || exit != nil {
		return seen, fmt.Errorf("lost %d, exit %w", lost.Load(), exit)
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
			group, gctx := errgroup.WithContext(ctx)
			for range 64 {
				group.Go(func() error {
					for {
						n := sent.Add(1)
						if n > int64((part+1)*r.requests/parts) {
							return nil
						}
						// Nine in ten are in the cache, as with real traffic of a web page.
						text := fmt.Sprintf("Page %d.", n%(500+n/10%10*1000))
						if status, results, err := s.post(gctx, client, body(text)); err != nil || status != http.StatusOK || results != 1 {
							return fmt.Errorf("request %d: status %d, %d results, %v", n, status, results, err)
						}
					}
				})
			}
			if err := group.Wait(); err != nil {
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
