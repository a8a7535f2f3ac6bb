package engine

import (
	"slices"
	"time"
)

// retire is the only way out for a sequence, wherever it is. reason is nil when
// it is done, errAbandoned when nobody waits for it, and else what those who wait
// for it fail with.
func (l *loop) retire(s *sequence, reason error) {
	if s.waits() {
		l.dequeue(s)
	} else {
		l.vacate(s)
		l.budget.release(s.cost)
	}
	delete(l.sequences, s.key)
	waiters := s.waiters
	s.waiters = nil
	switch reason {
	case nil:
		l.deliver(s, waiters)
	case errAbandoned:
		l.stats.SentencesCancelled++
	default:
		l.stats.SentencesFailed++
		for _, w := range waiters {
			l.finish(w.call, reason)
		}
	}
}

// dequeue takes a sequence out of the queue. Calls that have no other there do
// not wait any more.
func (l *loop) dequeue(s *sequence) {
	l.queue.remove(s)
	requests := 0
	for _, w := range s.waiters {
		if w.call.queued--; w.call.queued == 0 {
			requests++
		}
	}
	l.mailbox.release(requests, len(s.job.Source))
}

// vacate takes a sequence out of the batch, where it is in one. As in the batch,
// the last takes its slot.
func (l *loop) vacate(s *sequence) {
	if s.slot == outside {
		return
	}
	if l.batch != nil { // else it broke
		l.batch.Leave(s.slot)
	}
	last := len(l.active) - 1
	moved := l.active[last]
	l.active[s.slot], moved.slot = moved, s.slot
	l.active[last] = nil
	l.active = l.active[:last]
	s.slot = outside
}

// deliver hands the result of a sequence to all that wait for it, each with
// tokens of its own. The last gets the original: whoever has it may change it.
func (l *loop) deliver(s *sequence, waiters []waiter) {
	result := s.decoding.Result()
	l.stats.SentencesDone++
	l.stats.DecodedTokens += uint64(len(result.Tokens))
	now := time.Now()
	l.stats.tookSentence(now.Sub(s.admitted))
	for i, w := range waiters {
		start := s.admitted
		if w.call.submitted.After(start) { // it joined while the sequence decoded
			start = w.call.submitted
		}
		r := Result{Result: result, Queued: start.Sub(w.call.submitted), Computed: now.Sub(start), Shared: i > 0}
		if i < len(waiters)-1 {
			r.Tokens = slices.Clone(result.Tokens)
		}
		w.call.results[w.job] = r
		w.call.ready <- w.job
		if w.call.pending--; w.call.pending == 0 {
			l.finish(w.call, nil)
		}
	}
}

// finish ends a call. With an error its other sentences are given up; those that
// nobody else waits for leave the queue at once and the batch before the next
// step.
func (l *loop) finish(c *call, err error) {
	if c.finished {
		return
	}
	c.finished = true
	if c.queued > 0 {
		c.queued = 0
		l.mailbox.release(1, 0)
	}
	if err != nil {
		for _, s := range c.sequences {
			s.waiters = slices.DeleteFunc(s.waiters, func(w waiter) bool { return w.call == c })
			if len(s.waiters) == 0 && s.waits() {
				l.retire(s, errAbandoned)
			}
		}
		c.failed <- err
	}
}

// sweep retires the sentences in the batch that nobody waits for any more.
func (l *loop) sweep() {
	for slot := len(l.active) - 1; slot >= 0; slot-- {
		if s := l.active[slot]; len(s.waiters) == 0 {
			l.retire(s, errAbandoned)
		}
	}
}
