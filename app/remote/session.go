package remote

import (
	"slices"
	"time"

	"dragoman/app/engine"
	"dragoman/app/schedule"
	"dragoman/model/search"
)

// session is an admitted request. It implements [engine.Decoder].
type session struct {
	*engine.Session
	engine *Engine
	place  schedule.Request
	line   schedule.Line[*sentence]
	ready  []submitted

	// Guarded by the engine's mu.
	inFlight map[int]*sentence // by the numbers of their jobs
	posted   int               // source tokens submitted
	admitted int               // source tokens whose calls have begun
}

// submitted is a sentence that is not in the queue yet.
type submitted struct {
	sentence *sentence
	waiter   waiter
}

// left returns the work whose calls have not begun. The caller must hold the engine's mu.
func (s *session) left() float64 {
	return s.Request.Work(max(0, max(s.Request.Tokens, s.posted)-s.admitted))
}

// windows is the number of sentences of a request in flight for each slot: some wait, so that no slot does.
const windows = 2

// Room implements [engine.Decoder]. The unit is sentences.
func (s *session) Room() int {
	e := s.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	flying := len(s.inFlight)
	if flying > 0 && e.stats.QueuedTokens >= e.cfg.Tokens {
		return 0
	}
	return windows*e.cfg.Slots - flying
}

// Submit implements [engine.Decoder].
func (s *session) Submit(number int, job engine.Job) (size int, err error) {
	body, err := s.engine.cfg.Dialect.Body(job)
	if err != nil {
		return 0, err
	}
	job.Source, job.Prefix, job.Phrases = slices.Clone(job.Source), slices.Clone(job.Prefix), search.ClonePhrases(job.Phrases)
	x := &sentence{Sentence: schedule.Sentence{Tokens: len(job.Source), Rows: 1}, job: job, body: string(body)}
	s.ready = append(s.ready, submitted{x, waiter{s, number, time.Now()}})
	return 1, nil
}

// Flush implements [engine.Decoder].
func (s *session) Flush() {
	e := s.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range s.ready {
		s.posted += r.sentence.Tokens
		e.add(r.sentence, r.waiter)
	}
	s.ready = nil
	e.dispatch()
}

// put leaves the outcome of a job. The caller must hold the engine's mu.
func (s *session) put(o engine.Outcome) {
	delete(s.inFlight, o.Job)
	s.Put(o)
}

// Cancel implements [engine.Decoder]: calls for which nobody else waits end.
func (s *session) Cancel() {
	e := s.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	e.queue.Leave(&s.line)
	for _, x := range s.inFlight {
		x.waiters = slices.DeleteFunc(x.waiters, func(w waiter) bool { return w.session == s })
		if len(x.waiters) > 0 || e.known[x.body] != x { // others wait, or two of the jobs are equal
			continue
		}
		delete(e.known, x.body)
		if x.Waits {
			e.dequeue(x)
			e.stats.SentencesCancelled++
		} else {
			x.cancel()
		}
	}
	clear(s.inFlight)
	e.inside.Leave(&s.place)
	e.admission.Leave(s.Request.Caller)
	e.dispatch()
}
