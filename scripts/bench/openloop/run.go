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

// ErrNotSent is the failure of a request that was due while Runner.MaxInFlight
// others were on their way.
var ErrNotSent = errors.New("not sent")

// Runner sends requests by a schedule. Its zero value has no bounds.
type Runner struct {
	// MaxInFlight bounds the requests that are on their way at once. One that is due
	// beyond it is not sent, and fails with ErrNotSent: a schedule does not wait. 0: no
	// bound.
	MaxInFlight int
	// Done is told each sample as soon as it is complete, if it is set. It is called by
	// many goroutines at once.
	Done func(Sample)
}

// Run is Runner.Run without bounds.
func Run(ctx context.Context, schedule iter.Seq[time.Duration], send Send) []Sample {
	return Runner{}.Run(ctx, schedule, send)
}

// Run sends a request at each time of the schedule, which rises, and returns when
// all are answered: the samples are in the order of the schedule. When ctx is done
// it sends no more.
func (r Runner) Run(ctx context.Context, schedule iter.Seq[time.Duration], send Send) []Sample {
	var (
		begin    = time.Now()
		samples  []*Sample
		inFlight atomic.Int64
		wg       sync.WaitGroup
	)
	finish := func(s *Sample, err error) {
		s.Err, s.Latency = err, time.Since(begin)-s.Due
		if r.Done != nil {
			r.Done(*s)
		}
	}
	for due := range schedule {
		if !waitUntil(ctx, begin.Add(due)) {
			break
		}
		i, s := len(samples), &Sample{Due: due}
		samples = append(samples, s)
		if r.MaxInFlight > 0 && inFlight.Load() >= int64(r.MaxInFlight) {
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
