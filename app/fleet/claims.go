package fleet

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
)

// claim is a worker's claim of a sentence.
type claim struct {
	place    position
	consumer *consumer
	work     work
	taken    int64 // number of workers that have had the sentence, including this one
	cancel   context.CancelCauseFunc
}

// position names an entry of a lane.
type position struct{ lane, entry string }

// deaths is the number of workers that may end while they have a sentence, because the sentence need not be the reason. Then the
// sentence is decoded alone; if one more worker ends, the sentence becomes a dead letter.
const deaths = 2

// claims are the claims of a consumer.
type claims struct {
	of    map[position]*claim
	rows  int     // rows of the batch that the claimed sentences take
	size  float64 // rows of a sentence, a moving average
	count prometheus.Gauge
}

func (c *claims) add(one *claim) {
	rows := one.work.rows()
	c.of[one.place] = one
	c.rows += rows
	c.size += (float64(rows) - c.size) / 16
	c.count.Inc()
}

func (c *claims) remove(one *claim) {
	delete(c.of, one.place)
	c.rows -= one.work.rows()
	c.count.Dec()
}

// alike are claims of a lane that equally many workers have had. One command renews them.
type alike struct {
	lane  string
	taken int64
}

// held returns the entries that are claimed.
func (c *claims) held() map[alike][]string {
	held := make(map[alike][]string)
	for at, one := range c.of {
		key := alike{at.lane, one.taken}
		held[key] = append(held[key], at.entry)
	}
	return held
}

// cancel ends the decoding of entries of a lane, except for the kept ones.
func (c *claims) cancel(cause error, lane string, entries, kept []string) {
	isKept := make(map[string]bool, len(kept))
	for _, id := range kept {
		isKept[id] = true
	}
	for _, id := range entries {
		if one := c.of[position{lane, id}]; one != nil && !isKept[id] {
			one.cancel(cause)
		}
	}
}

// choose returns the pending claims of a lane that the worker takes over, each with the number of workers that have had the
// sentence by then.
func (c *claims) choose(worker, lane string, pending []redis.XPendingExt) (chosen []redis.XPendingExt) {
	suspect := false // whether the worker has a sentence that may have ended other workers
	for _, one := range c.of {
		suspect = suspect || one.taken > deaths
	}
	for _, p := range pending {
		if c.of[position{lane, p.ID}] != nil {
			continue // the worker was held up, and keeps the claim
		}
		if p.Consumer != worker { // otherwise Redis gave this worker the entry, but the reply was lost
			p.RetryCount++
		}
		if p.RetryCount == deaths+1 {
			if suspect {
				continue // one suspect sentence at a time
			}
			suspect = true
		}
		chosen = append(chosen, p)
	}
	return chosen
}
