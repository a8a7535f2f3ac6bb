package engine

import "time"

// retire is the only exit of a sequence, wherever the sequence is. reason is nil if the sequence is done, errAbandoned if no call
// waits for it, and otherwise the error for its waiters.
func (l *loop) retire(s *sequence, reason error) {
	if s.Waits {
		l.dequeue(s)
	} else {
		l.batch.leave(s)
		l.rounds.Release(&s.Sentence)
		if l.cfg.Pool != nil {
			l.cfg.Pool.Give(s.Bytes)
		}
		l.queue.Settle(&s.by.place, s.took-s.Work())
	}
	delete(l.sequences, s.key)
	l.arrivals.Remove(s.arrival)
	l.rounds.Leave(&s.Sentence, time.Now())
	waiters := s.waiters
	s.waiters = nil
	for _, w := range waiters {
		delete(w.call.waits, s)
	}
	switch reason {
	case nil:
		now := time.Now()
		l.stats.SentencesDone++
		l.stats.tookSentence(now.Sub(s.admitted))
		l.stats.DecodedTokens += uint64(s.deliver(waiters, now))
	case errAbandoned:
		l.stats.SentencesCancelled++
	default:
		l.stats.SentencesFailed++
		for _, w := range waiters {
			w.fail(reason)
			l.finish(w.call, reason)
		}
	}
}

// dequeue removes a sequence from the queue.
func (l *loop) dequeue(s *sequence) {
	l.queue.Remove(&s.Sentence)
	for _, w := range s.waiters {
		if w.call.queued--; w.call.queued == 0 {
			l.waiting--
		}
	}
	s.passed(l.mailbox)
}

// deliver delivers the result of a sequence to all jobs that wait for it, each with its own copy of the tokens. The last job gets
// the original. Receivers may change their result. deliver returns the number of tokens.
func (s *sequence) deliver(waiters []*waiter, now time.Time) (tokens int) {
	result := s.decoding.Result()
	tokens = len(result.Tokens)
	for i, w := range waiters {
		for j, p := range w.jobs {
			start := s.admitted
			if p.at.After(start) { // the job joined while the sequence decoded
				start = p.at
			}
			r := Result{Result: result, Queued: start.Sub(p.at), Computed: now.Sub(start), Shared: i+j > 0, First: s.first && i+j == 0}
			if i < len(waiters)-1 || j < len(w.jobs)-1 {
				r.Result = result.Clone()
			}
			w.call.session.Put(Outcome{Job: p.job, Result: r})
		}
	}
	return tokens
}

// finish ends a call, and fails its jobs unless its session has abandoned it. The call's sentences are given up: those without
// other waiters leave the queue at once, and the batch before the next step.
func (l *loop) finish(c *call, err error) {
	if c.ended != nil {
		return
	}
	c.ended = err
	l.queue.Leave(&c.line)
	if c.queued > 0 {
		c.queued = 0
		l.waiting--
	}
	for s, w := range c.waits {
		s.leave(w)
		if len(s.waiters) == 0 && s.Waits {
			l.retire(s, errAbandoned)
		}
		if err != errAbandoned {
			w.fail(err)
		}
	}
	clear(c.waits)
}

// sweep retires the sentences in the batch that no call waits for.
func (l *loop) sweep() {
	for slot := len(l.batch.active) - 1; slot >= 0; slot-- {
		if s := l.batch.active[slot]; len(s.waiters) == 0 {
			l.retire(s, errAbandoned)
		}
	}
}
