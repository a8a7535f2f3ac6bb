package openloop

import (
	"context"
	"iter"
	"sync"
	"time"
)

// Sample is what became of one request.
type Sample struct {
	Due     time.Duration // since the start
	Latency time.Duration // from Due to the answer, or to the failure
	Err     error
}

// Send sends request number i and returns when it is answered. It is called by
// many goroutines at once.
type Send func(ctx context.Context, i int) error

// Run sends a request at each time of the schedule, which rises, and returns when
// all are answered: the samples are in the order of the schedule. When ctx is done
// it sends no more.
func Run(ctx context.Context, schedule iter.Seq[time.Duration], send Send) []Sample {
	var (
		begin   = time.Now()
		samples []*Sample
		wg      sync.WaitGroup
	)
	for due := range schedule {
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(begin.Add(due))):
		}
		if ctx.Err() != nil {
			break
		}
		i, s := len(samples), &Sample{Due: due}
		samples = append(samples, s)
		wg.Go(func() {
			s.Err = send(ctx, i)
			s.Latency = time.Since(begin) - due
		})
	}
	wg.Wait()
	return values(samples)
}

// Closed keeps clients requests in flight for total and returns those that were
// answered within it. Due is when a request was sent, so these are no latencies of
// an open loop: it measures the capacity of a server.
func Closed(ctx context.Context, clients int, total time.Duration, send Send) []Sample {
	ctx, cancel := context.WithTimeout(ctx, total)
	defer cancel()
	var (
		begin   = time.Now()
		mu      sync.Mutex // guards samples and sent
		samples []*Sample
		sent    int
		wg      sync.WaitGroup
	)
	next := func() int {
		mu.Lock()
		defer mu.Unlock()
		sent++
		return sent - 1
	}
	for range clients {
		wg.Go(func() {
			for ctx.Err() == nil {
				due := time.Since(begin)
				err := send(ctx, next())
				if ctx.Err() != nil {
					return // cut off by the end
				}
				s := &Sample{Due: due, Latency: time.Since(begin) - due, Err: err}
				mu.Lock()
				samples = append(samples, s)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return values(samples)
}

func values(samples []*Sample) []Sample {
	list := make([]Sample, len(samples))
	for i, s := range samples {
		list[i] = *s
	}
	return list
}
