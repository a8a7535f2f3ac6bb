package engine

import (
	"container/list"
	"context"
	"errors"
	"log/slog"
	"time"

	"dragoman/app/fault"
	"dragoman/app/schedule"
	"dragoman/model"
)

// loop owns all scheduling state; its methods run in one goroutine. A sequence is in one of three places: in the queue, among the
// newcomers of the round, or in the batch.
type loop struct {
	*worker
	cfg      Config
	model    model.Model
	limits   model.Limits
	hasCores bool

	sequences map[key]*sequence // all sequences that wait or run
	arrivals  list.List         // their arrival times, earliest first: the queue has another order
	queue     *schedule.Queue[*sequence]
	rounds    schedule.Rounds
	newcomers []*sequence // admitted in this round, not in the batch yet
	batch     batch

	stats                        Stats
	tokenRate, workRate          schedule.Throughput // source tokens, and these × beams, while sentences wait
	waited                       bool                // sentences waited when this round admitted
	admittedTokens, admittedWork float64             // source tokens that this round admitted, and these × beams
	ownTime                      schedule.Throughput // seconds in rounds, of the rounds that had work
	waiting                      int                 // calls with a sequence in the queue

	admissions uint64

	// Scratch memory, kept for reuse.
	inbox   []message
	sources [][]int64 // the newcomers' sources
	ended   []ended
}

func newLoop(cfg Config, m model.Model, w *worker) *loop {
	return &loop{
		worker:    w,
		cfg:       cfg,
		model:     m,
		limits:    cfg.Limits(),
		sequences: make(map[key]*sequence),
		queue:     schedule.NewQueue[*sequence](),
		rounds:    schedule.Rounds{Costs: costsOf(w.spec), Batch: schedule.Batch{Rows: cfg.Rows, Bytes: cfg.Memory}},
	}
}

// costsOf estimates costs by counting multiply-adds.
func costsOf(s model.Spec) schedule.Costs {
	d, inner, matrices := float64(s.DModel), float64(s.Decoder.Inner(s.DModel)), float64(s.FFNMatrices())
	row := float64(s.Decoder.Layers)*(6*d*inner+matrices*d*float64(s.Decoder.FFN)) + float64(s.VocabSize)*d
	return schedule.Costs{
		Attended: max(1, row/max(1, 2*inner*float64(s.Decoder.Layers))),
		Quadrat:  max(1, 2*d+matrices/2*float64(s.Encoder.FFN)),
	}
}

// run works until ctx is done. Then it closes the batch, which the current step may have left broken, and retires all sequences
// with ErrClosed.
func (l *loop) run(ctx context.Context) {
	for ctx.Err() == nil {
		if len(l.sequences) > 0 {
			l.round(ctx)
			continue
		}
		select {
		case <-l.mailbox.wake:
			l.round(ctx)
		case <-ctx.Done():
		}
	}
	l.leaveCores()
	l.batch.shut(l.cfg.Log)
	l.receive()
	l.retireAll(ErrClosed)
	l.publish()
}

// round does the work between two steps, and the step.
func (l *loop) round(ctx context.Context) {
	start := time.Now()
	l.snapshot.inRound(start)
	defer l.snapshot.inRound(time.Time{})
	l.waited, l.admittedTokens, l.admittedWork = false, 0, 0
	waiting := l.stats.Waiting
	if err := fault.Protect(func() error { return l.work(ctx) }); err != nil {
		l.breakBatch(ctx, err)
	}
	if len(l.sequences) == 0 {
		l.leaveCores()
	}
	waiting = l.stats.Waiting - waiting
	spent := time.Since(start) - waiting
	l.stats.Busy += spent
	l.ownTime.Add(spent.Seconds(), spent+waiting)
	if l.waited { // a batch with room to spare does not show the speed limit
		l.tokenRate.Add(l.admittedTokens, spent)
		l.workRate.Add(l.admittedWork, spent)
	}
	l.publish()
}

// work is the body of a round. Its error breaks the batch.
func (l *loop) work(ctx context.Context) error {
	l.receive()
	if err := l.lost(); err != nil {
		l.retireAll(err)
		return nil
	}
	l.sweep()
	if err := l.takeCores(ctx); err != nil {
		return err
	}
	l.rounds.Begin(time.Now())
	l.admit()
	if err := l.join(ctx); err != nil {
		return err
	}
	if err := l.encode(ctx); err != nil {
		return err
	}
	return l.step(ctx)
}

// receive takes new jobs from the mailbox and ends abandoned calls.
func (l *loop) receive() {
	l.inbox = l.mailbox.take(l.inbox)
	for i, m := range l.inbox {
		l.inbox[i] = message{} // releases its memory
		if len(m.jobs) == 0 {
			l.finish(m.call, errAbandoned)
		}
		for _, p := range m.jobs {
			l.enqueue(m.call, p)
		}
	}
}

// enqueue puts the sentence of a job into the queue, or adds the call to the waiters of an identical sentence.
func (l *loop) enqueue(c *call, p posted) {
	s := p.sequence
	s.by = c.session
	if c.ended != nil {
		s.passed(l.mailbox)
		c.session.Put(Outcome{Job: p.job, Err: c.ended})
		return
	}
	known := l.sequences[s.key]
	if known != nil {
		l.stats.SentencesShared++
		s.passed(l.mailbox)
		s = known
	} else {
		l.sequences[s.key] = s
		s.arrival = l.arrivals.PushBack(p.at)
		l.rounds.Come(c.session.Request.Caller, c.session.long(), &s.Sentence)
	}
	w := c.waits[s]
	if w == nil {
		w = s.join(c)
		if known == nil || s.Waits { // the call whose turn comes first admits the sentence for all calls
			l.queue.Push(&c.line, s)
			if c.queued++; c.queued == 1 {
				l.waiting++
			}
		}
	}
	w.jobs = append(w.jobs, p)
}

// passed counts a sentence that has left the queue, or never enters it, at the mailbox and its session.
func (s *sequence) passed(m *mailbox) {
	m.tokens.Add(-int64(s.Tokens))
	s.by.admit(s.Tokens)
}

// breakBatch recovers the loop after an error that broke the batch, or a panic: the sentences in the batch and the newcomers fail
// with err; waiting sentences are not affected and join a new batch. Every call fails at least one sentence, so the recovery
// cannot go on for ever.
func (l *loop) breakBatch(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // the error is a consequence of Close, which ends all sentences
	}
	l.stats.BrokenBatches++
	affected := len(l.sequences) - l.queue.Len()
	report(l.cfg.Log, "decoding failed: the sentences in the batch are given up", err,
		"sentences", affected, "waiting", l.queue.Len())
	l.batch.shut(l.cfg.Log)
	if errors.Is(err, model.ErrLost) { // the worker ends for good: sentences that wait or arrive later fail at once
		report(l.cfg.Log, "the model is lost: nothing decodes on it any more", err)
		l.snapshot.set(func(s *loopState) { s.lost = err }) // before any session is told, because it may look for another worker
		l.retireAll(err)
		return
	}
	for _, s := range l.sequences {
		if affected == 0 || !s.Waits { // without sentences in a batch, the fault comes from the queue
			l.retire(s, err)
		}
	}
}

// retireAll retires all sequences.
func (l *loop) retireAll(reason error) {
	for _, s := range l.sequences {
		l.retire(s, reason)
	}
}

// report logs an error, with the stack of a panic.
func report(log *slog.Logger, message string, err error, attrs ...any) {
	attrs = append(attrs, "error", err)
	if p, ok := err.(*fault.PanicError); ok {
		attrs = append(attrs, "stack", string(p.Stack))
	}
	log.Error(message, attrs...)
}

// publish updates the statistics and publishes them.
func (l *loop) publish() {
	s := &l.stats
	s.QueuedSentences = l.queue.Len()
	s.RunningSentences = len(l.batch.active) + len(l.batch.begun)
	s.ReservedRows, s.ReservedBytes = l.rounds.ReservedRows, l.rounds.ReservedBytes
	if len(l.batch.active) == 0 {
		s.RunningRows = 0
	}
	s.QueuedRequests = l.waiting
	s.SourceTokensPerSecond, s.WorkPerSecond = l.tokenRate.Rate()*l.ownTime.Rate(), l.workRate.Rate()*l.ownTime.Rate()
	l.snapshot.set(func(published *loopState) { published.Stats = *s })
}
