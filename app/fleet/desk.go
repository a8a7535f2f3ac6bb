package fleet

import (
	"context"
	"math"
	"time"

	"dragoman/app/engine"
)

// largestShare is how many times what is free for others a caller may have of a gateway's places.
const largestShare = 3

// longestWait is the longest time that a client is told to wait.
const longestWait = 10 * time.Minute

// admit refuses a request that would wait too long, or could not end in time, at the speed that the
// workers have had; mu is held.
func (g *Gateway) admit(ctx context.Context, queue string, req engine.Request) error {
	own := float64(req.Tokens) * float64(max(1, req.Beams))
	speed, sentenceTime, _ := g.speed(queue)
	at := lane(req.Priority)
	if req.Tokens > g.cfg.Short {
		at = min(at+1, len(laneNames)-1)
	}
	work := g.waiting(queue)
	ahead := 0.0
	for other, w := range work {
		if other <= at {
			ahead += float64(w)
		} else { // what is less urgent gets its share beside it
			ahead += min(float64(w), (own+ahead)*shares[other]/shares[at])
		}
	}
	wait, alone, left := time.Duration(0), time.Duration(0), time.Duration(math.MaxInt64)
	if speed > 0 {
		wait, alone = seconds(ahead/speed), seconds(own/speed)+sentenceTime
		if deadline, ok := ctx.Deadline(); ok {
			left = time.Until(deadline)
		}
	}
	free, mine := g.cfg.Requests-g.requests, g.callers[req.Caller]
	switch {
	case alone > left:
		return &engine.TooLargeError{Needs: alone, Left: left}
	case free <= 0, mine >= largestShare*free, work[0]+work[1]+work[2] >= g.bound(queue),
		g.cfg.Wait > 0 && wait > g.cfg.Wait, wait > left-alone:
		return &engine.BusyError{Requests: g.requests, Wait: min(max(time.Second, wait), longestWait)}
	}
	return nil
}

// seconds is a time that may be very long.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, math.MaxInt32) * float64(time.Second))
}

// shares are what lanes get of the workers where all have something.
var shares = [3]float64{16, 4, 1}

// speed is how fast workers are with a queue, in work per second, how long a sentence takes, and how
// many copies of the model decode; mu is held.
func (g *Gateway) speed(queue string) (perSecond float64, sentence time.Duration, copies int) {
	for _, w := range g.fleet.workers {
		if q, ok := w.Queues[queue]; ok && !q.Leaving {
			perSecond += q.WorkPerSecond
			sentence = max(sentence, seconds(q.SentenceTime))
			copies += max(1, q.Copies)
		}
	}
	return perSecond, sentence, copies
}

// waiting is the work that all gateways have submitted to a queue and wait for, by lane; mu is held.
func (g *Gateway) waiting(queue string) [3]int64 {
	work := g.fleet.others[queue]
	if own := g.work[queue]; own != nil {
		for lane := range work {
			work[lane] += own[lane]
		}
	}
	return work
}

// bound is the most work that may wait in a queue; mu is held.
func (g *Gateway) bound(queue string) int64 {
	_, _, copies := g.speed(queue)
	return int64(g.cfg.Tokens) * int64(max(1, copies))
}

// window is the work that one request may have in a queue; mu is held. Requests share what may wait.
func (g *Gateway) window(queue string) int64 {
	_, _, copies := g.speed(queue)
	alone := max(windowOf*int64(g.cfg.Short)*int64(max(1, copies)), rowWork*int64(g.rows(queue)))
	return min(alone, g.bound(queue)/int64(max(1, g.requests)))
}

// rows are those that all workers decode together; mu is held.
func (g *Gateway) rows(queue string) (n int) {
	for _, w := range g.fleet.workers {
		if q := w.Queues[queue]; !q.Leaving {
			n += q.Rows
		}
	}
	return n
}

const (
	windowOf = 4  // rounds of an idle worker
	rowWork  = 64 // source tokens for each row: twice what a sentence has, so that some wait
)
