package engine

import (
	"container/list"
	"context"
	"errors"
	"time"

	"dragoman/app/fault"
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
	queue     *queue
	budget    budget
	newcomers []*sequence // admitted in this round, not in the batch yet
	begun     []*sequence // admitted, and encoded beside the steps
	active    []*sequence // by slot of the batch
	batch     model.Batch // nil until needed

	stats                        Stats
	tokenRate, workRate          throughput // source tokens, and these × beams, while sentences wait
	waited                       bool       // sentences waited when this round admitted
	admittedTokens, admittedWork float64    // source tokens that this round admitted, and these × beams
	ownTime                      throughput // seconds in rounds, of the rounds that had work
	timeShare                    timeShare
	waiting                      int // calls with a sequence in the queue

	admissions uint64

	// Scratch memory, kept for reuse.
	inbox   []message
	ranks   []*sequence  // active sequences, in order of admission
	sources [][]int64    // of the newcomers
	feeds   []model.Feed // by slot
	first   []int        // by slot: the first row in the step
	ended   []ended
}

func newLoop(cfg Config, m model.Model, w *worker) *loop {
	return &loop{
		worker:    w,
		cfg:       cfg,
		model:     m,
		limits:    cfg.Limits(),
		sequences: make(map[key]*sequence),
		queue:     newQueue(),
		budget:    budget{rows: cfg.Rows, bytes: cfg.Memory, pool: cfg.Pool},
		timeShare: timeShare{costs: costsOf(w.spec)},
	}
}

// run works until ctx is done. Then it closes the batch, which the current step may have left broken, and retires all sequences
// with ErrClosed.
func (l *loop) run(ctx context.Context) {
	for l.wait(ctx) {
		l.round(ctx)
	}
	l.leaveCores()
	l.closeBatch()
	l.receive()
	l.retireAll(ErrClosed)
	l.publish()
}

// wait blocks while there is no work. It reports whether the loop continues.
func (l *loop) wait(ctx context.Context) bool {
	if len(l.sequences) == 0 {
		select {
		case <-l.mailbox.wake:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
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
	l.ownTime.add(spent.Seconds(), spent+waiting)
	if l.waited { // a batch with room to spare does not show the speed limit
		l.tokenRate.add(l.admittedTokens, spent)
		l.workRate.add(l.admittedWork, spent)
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
	l.timeShare.begin(time.Now())
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
		l.passed(s)
		c.session.Put(Outcome{Job: p.job, Err: c.ended})
		return
	}
	known := l.sequences[s.key]
	if known != nil {
		l.stats.SentencesShared++
		l.passed(s)
		s = known
	} else {
		l.sequences[s.key] = s
		s.arrival = l.arrivals.PushBack(p.at)
		s.weight = l.timeShare.weigh(s.cost.rows, 2*len(s.job.Source)) // about as many tokens of its own are expected
		l.timeShare.came(groupKey{c.session.Request.Caller, c.session.long()}, s)
	}
	w := c.waits[s]
	if w == nil {
		w = s.join(c)
		if known == nil || s.waits { // the call whose turn comes first admits it for all
			l.queue.push(c, s)
			if c.queued++; c.queued == 1 {
				l.waiting++
			}
		}
	}
	w.jobs = append(w.jobs, p)
}

// passed counts a sentence that has left the queue, or never enters it, at the mailbox and its session.
func (l *loop) passed(s *sequence) {
	l.mailbox.tokens.Add(-int64(len(s.job.Source)))
	s.by.admit(len(s.job.Source))
}

// breakBatch recovers the loop after an error that broke the batch, or a panic: the sentences in the batch and the newcomers fail
// with it; waiting ones are not affected and join a new batch. Every call fails at least one sentence, so the recovery cannot go
// on for ever.
func (l *loop) breakBatch(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // the error is a consequence of Close, which ends all sentences
	}
	l.stats.BrokenBatches++
	affected := len(l.sequences) - l.queue.len()
	l.report("decoding failed: the sentences in the batch are given up", err,
		"sentences", affected, "waiting", l.queue.len())
	l.closeBatch()
	if errors.Is(err, model.ErrLost) {
		l.lose(err)
		return
	}
	for _, s := range l.sequences {
		if affected == 0 || !s.waits { // without a batch, the queue causes the fault
			l.retire(s, err)
		}
	}
}

// lose ends the worker for good after its model is lost: sentences that wait or arrive later fail with the error at once.
func (l *loop) lose(err error) {
	l.report("the model is lost: nothing decodes on it any more", err)
	l.snapshot.set(func(s *loopState) { s.lost = err }) // before any session is told, because it may look for another worker
	l.retireAll(err)
}

// retireAll retires all sequences.
func (l *loop) retireAll(reason error) {
	for _, s := range l.sequences {
		l.retire(s, reason)
	}
}

// closeBatch closes the batch; retire does not touch it from then on.
func (l *loop) closeBatch() {
	batch := l.batch
	l.batch = nil
	clear(l.begun)
	l.begun = l.begun[:0]
	if batch == nil {
		return
	}
	if err := fault.Protect(batch.Close); err != nil {
		l.report("cannot close the batch", err)
	}
}

// report logs an error, with the stack of a panic.
func (l *loop) report(message string, err error, attrs ...any) {
	attrs = append(attrs, "error", err)
	if p, ok := err.(*fault.PanicError); ok {
		attrs = append(attrs, "stack", string(p.Stack))
	}
	l.cfg.Log.Error(message, attrs...)
}

// publish updates the statistics and publishes them.
func (l *loop) publish() {
	s := &l.stats
	s.QueuedSentences = l.queue.len()
	s.RunningSentences = len(l.active) + len(l.begun)
	s.ReservedRows, s.ReservedBytes = l.budget.reserved.rows, l.budget.reserved.bytes
	if len(l.active) == 0 {
		s.RunningRows = 0
	}
	s.QueuedRequests = l.waiting
	s.SourceTokensPerSecond, s.WorkPerSecond = l.tokenRate.rate()*l.ownTime.rate(), l.workRate.rate()*l.ownTime.rate()
	l.snapshot.set(func(published *loopState) { published.Stats = *s })
}
