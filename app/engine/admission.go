package engine

import (
	"context"
	"math"
	"time"
)

// Admission lets requests in, or refuses them before anything is done for them. It knows how many are
// inside, and whose. Who has it guards it.
type Admission struct {
	Requests int           // that may be inside
	Wait     time.Duration // that others may make a request wait; 0: no bound but its deadline
	Inside   int
	callers  map[string]int // of those inside
}

// Backlog is what a request finds that asks to be let in.
type Backlog struct {
	Ahead    float64       // work that is done before the request's, or beside it
	Speed    float64       // work per second, while something waits; 0: it is not known
	Sentence time.Duration // that a sentence is in the batch
	Full     bool          // no more may wait
}

// time is how long some work takes.
func (b Backlog) time(work float64) time.Duration {
	if b.Speed <= 0 {
		return 0
	}
	return time.Duration(min(work/b.Speed, math.MaxInt32) * float64(time.Second))
}

const (
	// largestShare is how many times what is free for others a caller may have of the
	// places inside: whoever takes all that it can get leaves a quarter of them.
	largestShare = 3
	// longestWait is the longest time that a client is told to wait.
	longestWait = 10 * time.Minute
)

// Enter lets a request of a caller in, which must Leave. own is its work. The error is a [*BusyError]
// or a [*TooLargeError].
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

// Leave ends what Enter began.
func (a *Admission) Leave(caller string) {
	a.Inside--
	if a.callers[caller]--; a.callers[caller] == 0 {
		delete(a.callers, caller)
	}
}
