package engine

import (
	"context"
	"math"
	"time"
)

// Admission admits requests, or refuses them before any work is done for them. It counts the admitted requests of each caller. It
// is not safe for concurrent use: the caller must hold a lock.
type Admission struct {
	Requests int           // maximum number of admitted requests
	Wait     time.Duration // maximum time that others may delay a request; 0: no limit but its deadline
	Inside   int
	callers  map[string]int // number of admitted requests by caller
}

// Backlog describes the load that a request finds on arrival.
type Backlog struct {
	Ahead    float64       // work that is done before the request's, or beside it
	Speed    float64       // work per second while sentences wait; 0: unknown
	Sentence time.Duration // time of a sentence in the batch
	Full     bool          // the queue is full
}

// time returns the duration of some work, 0 if the speed is unknown.
func (b Backlog) time(work float64) time.Duration {
	if b.Speed <= 0 {
		return 0
	}
	return time.Duration(min(work/b.Speed, math.MaxInt32) * float64(time.Second))
}

const (
	// largestShare limits the places of a caller to this multiple of the free places: a caller that takes all it can get leaves a
	// quarter of them.
	largestShare = 3
	// longestWait is the longest wait that a refused client is told.
	longestWait = 10 * time.Minute
)

// Enter admits a request of a caller, which must call Leave. own is its work. The error is a [*BusyError] or a [*TooLargeError].
func (a *Admission) Enter(ctx context.Context, caller string, own float64, b Backlog) error {
	wait, alone, left := b.time(b.Ahead), b.time(own)+b.Sentence, time.Duration(math.MaxInt64)
	if deadline, ok := ctx.Deadline(); ok && b.Speed > 0 {
		left = time.Until(deadline)
	}
	free := a.Requests - a.Inside
	switch {
	case alone > left:
		return &TooLargeError{Needs: alone, Left: left}
	case free <= 0, a.callers[caller] >= largestShare*free, b.Full, a.Wait > 0 && wait > a.Wait, wait > left-alone:
		return &BusyError{Requests: a.Inside, Wait: min(max(time.Second, wait), longestWait)}
	}
	if a.callers == nil {
		a.callers = make(map[string]int)
	}
	a.Inside++
	a.callers[caller]++
	return nil
}

// Leave removes a request that Enter admitted.
func (a *Admission) Leave(caller string) {
	a.Inside--
	if a.callers[caller]--; a.callers[caller] == 0 {
		delete(a.callers, caller)
	}
}
