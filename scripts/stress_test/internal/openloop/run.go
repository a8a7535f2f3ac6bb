package openloop

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Sample is the result of one request.
type Sample[T any] struct {
	Due     time.Duration // since the start
	Latency time.Duration // from Due to the answer, or to the failure
	Value   T             // what Send returned
	Err     error
	Number  int // the argument of Send; for a request that is not sent, its place in the schedule
}

// Send sends request number i and returns when it is answered. It is called concurrently.
type Send[T any] func(ctx context.Context, i int) (T, error)

// ErrNotSent is the error of a request that was due while the maximum number of requests was in flight.
var ErrNotSent = errors.New("not sent")

// Run sends a request at each time of the schedule, which must be ascending, and returns when all are answered: the samples are
// in the order of the schedule. When ctx ends it sends no more. maxInFlight limits the requests in flight. A request due beyond
// it is not sent, and fails with ErrNotSent: a schedule does not wait.
func Run[T any](ctx context.Context, schedule iter.Seq[time.Duration], maxInFlight int, send Send[T]) []Sample[T] {
	var (
		begin    = time.Now()
		samples  []*Sample[T]
		inFlight atomic.Int64
		wg       sync.WaitGroup
	)
	for due := range schedule {
		if !waitUntil(ctx, begin.Add(due)) {
			break
		}
		i, s := len(samples), &Sample[T]{Number: len(samples), Due: due}
		samples = append(samples, s)
		if inFlight.Load() >= int64(maxInFlight) {
			s.Err, s.Latency = ErrNotSent, time.Since(begin)-due
			continue
		}
		inFlight.Add(1)
		wg.Go(func() {
			defer inFlight.Add(-1)
			s.Value, s.Err = send(ctx, i)
			s.Latency = time.Since(begin) - due
		})
	}
	wg.Wait()
	list := make([]Sample[T], len(samples))
	for i, s := range samples {
		list[i] = *s
	}
	return list
}

// waitUntil returns false if ctx ends first.
func waitUntil(ctx context.Context, at time.Time) bool {
	select {
	case <-ctx.Done():
	case <-time.After(time.Until(at)):
	}
	return ctx.Err() == nil
}

// Closed keeps clients requests in flight for total and returns those answered by then, in the order of sending. Due is the time
// of sending, so the latencies are not those of an open loop: it measures the capacity of a server.
func Closed[T any](ctx context.Context, clients int, total time.Duration, send Send[T]) []Sample[T] {
	ctx, cancel := context.WithTimeout(ctx, total)
	defer cancel()
	var (
		begin   = time.Now()
		sent    atomic.Int64
		mu      sync.Mutex // guards samples
		samples []Sample[T]
		wg      sync.WaitGroup
	)
	for range clients {
		wg.Go(func() {
			for ctx.Err() == nil {
				s := Sample[T]{Number: int(sent.Add(1) - 1), Due: time.Since(begin)}
				s.Value, s.Err = send(ctx, s.Number)
				s.Latency = time.Since(begin) - s.Due
				if ctx.Err() != nil {
					return
				}
				mu.Lock()
				samples = append(samples, s)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.SortFunc(samples, func(a, b Sample[T]) int { return cmp.Compare(a.Due, b.Due) })
	return samples
}
