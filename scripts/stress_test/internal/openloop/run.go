package openloop

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
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

// ErrNotSent is the failure of a request that was due while as many others were on their
// way as may be.
var ErrNotSent = errors.New("not sent")

// Run sends a request at each time of the schedule, which rises, and returns when
// all are answered: the samples are in the order of the schedule. When ctx is done
// it sends no more. maxInFlight bounds the requests that are on their way at once. One that
// is due beyond it is not sent, and fails with ErrNotSent: a schedule does not wait.
func Run(ctx context.Context, schedule iter.Seq[time.Duration], maxInFlight int, send Send) []Sample {
	var (
		begin    = time.Now()
		samples  []*Sample
		inFlight atomic.Int64
		wg       sync.WaitGroup
	)
	finish := func(s *Sample, err error) {
		s.Err, s.Latency = err, time.Since(begin)-s.Due
	}
	for due := range schedule {
		if !waitUntil(ctx, begin.Add(due)) {
			break
		}
		i, s := len(samples), &Sample{Due: due}
		samples = append(samples, s)
		if inFlight.Load() >= int64(maxInFlight) {
			finish(s, ErrNotSent)
			continue
		}
		inFlight.Add(1)
		wg.Go(func() {
			defer inFlight.Add(-1)
			finish(s, send(ctx, i))
		})
	}
	wg.Wait()
	return values(samples)
}

// waitUntil returns false where ctx is done first.
func waitUntil(ctx context.Context, at time.Time) bool {
	select {
	case <-ctx.Done():
	case <-time.After(time.Until(at)):
	}
	return ctx.Err() == nil
}

// ErrCutOff is the failure of a request that was on its way when Closed ended.
var ErrCutOff = errors.New("cut off by the end")

// Closed keeps clients requests in flight for total and returns them in the order in which
// they were sent; those that were not answered by then have ErrCutOff. Due is when a
// request was sent, so these are no latencies of an open loop: it measures the capacity of
// a server.
func Closed(ctx context.Context, clients int, total time.Duration, send Send) []Sample {
	ctx, cancel := context.WithTimeout(ctx, total)
	defer cancel()
	var (
		begin   = time.Now()
		mu      sync.Mutex // guards samples
		samples []*Sample
		wg      sync.WaitGroup
	)
	next := func() (int, *Sample) {
		mu.Lock()
		defer mu.Unlock()
		samples = append(samples, &Sample{Due: time.Since(begin), Err: ErrCutOff})
		return len(samples) - 1, samples[len(samples)-1]
	}
	for range clients {
		wg.Go(func() {
			for ctx.Err() == nil {
				i, s := next()
				if err := send(ctx, i); ctx.Err() == nil {
					s.Latency, s.Err = time.Since(begin)-s.Due, err
				}
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
