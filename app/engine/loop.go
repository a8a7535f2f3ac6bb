package engine

import (
	"container/list"
	"context"
	"errors"
	"time"

	"dragoman/app/fault"
	"dragoman/model"
)

// loop owns everything that is scheduled; its methods run in one goroutine. A
// sequence is in one of three places: in the queue, among the newcomers of the
// round, or in the batch.
type loop struct {
	*worker
	cfg      Config
	model    model.Model
	limits   model.Limits
	hasCores bool

	sequences map[key]*sequence // all that wait or run, wherever they are
	arrivals  list.List         // their times, the first to come first: the queue has them in another order
	queue     *queue
	budget    budget
	newcomers []*sequence // admitted in this round, not in the batch yet
	begun     []*sequence // admitted, and encoded beside the steps
	active    []*sequence // by slot of the batch
	batch     model.Batch // nil until it is needed

	stats                        Stats
	tokenRate, workRate          throughput // source tokens, and these × beams, while something waits
	waited                       bool       // something waited when this round admitted
	admittedTokens, admittedWork float64    // source tokens that it admitted, and these × beams
	ownTime                      throughput // seconds in rounds, of those in which it had something to do
	timeShare                    timeShare
	waiting                      int // calls with a sequence in the queue

	admissions uint64

	// Scratch, kept to be used again.
	inbox   []message
	ranks   []*sequence  // active ones, in the order of their admission
	sources [][]int64    // of the newcomers
	feeds   []model.Feed // of each slot
	first   []int        // of each slot: its first row in the step
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

// run works until ctx is done. Then it closes the batch, which the current step may
// have left broken, and ends what runs and waits.
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

// wait blocks while there is nothing to do. It says whether the loop goes on.
func (l *loop) wait(ctx context.Context) bool {
	if len(l.sequences) == 0 {
		select {
		case <-l.mailbox.wake:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}

// round does what there is to do between two steps, and the step.
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
	if l.waited { // a batch with room to spare says nothing of what it could do
		l.tokenRate.add(l.admittedTokens, spent)
		l.workRate.add(l.admittedWork, spent)
	}
	l.publish()
}

// work is a round's. Its error breaks the batch.
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

// receive takes in new jobs and ends the calls that nobody waits for.
func (l *loop) receive() {
	l.inbox = l.mailbox.take(l.inbox)
	for i, m := range l.inbox {
		l.inbox[i] = message{} // or it would be kept alive
		if len(m.jobs) == 0 {
			l.finish(m.call, errAbandoned)
		}
		for _, p := range m.jobs {
			l.enqueue(m.call, p)
		}
	}
}

// enqueue puts a job's sentence into the queue, or the call among those who wait for an
// identical one.
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
		s.weight = l.timeShare.weigh(s.cost.rows, 2*len(s.job.Source)) // its own tokens will be about as many
		l.timeShare.came(groupKey{c.session.Request.Caller, c.session.long()}, s)
	}
	w := c.waits[s]
	if w == nil {
		w = s.join(c)
		if known == nil || s.waits { // whose turn comes first has it admitted for all
			l.queue.push(c, s)
			if c.queued++; c.queued == 1 {
				l.waiting++
			}
		}
	}
	w.jobs = append(w.jobs, p)
}

// passed says that a sentence waits no more, or never did, to those who count.
func (l *loop) passed(s *sequence) {
	l.mailbox.tokens.Add(-int64(len(s.job.Source)))
	s.by.admit(len(s.job.Source))
}

// breakBatch gets the loop going again after an error that broke the batch, or a
// panic: whoever was in the batch, or about to join, fails with it; who waits is
// not affected and joins a new batch. Every call of it lets somebody fail, so it
// cannot go on for ever.
func (l *loop) breakBatch(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // the error is a consequence of Close, which answers for all
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
		if affected == 0 || !s.waits { // without a batch, the fault lies in the queue
			l.retire(s, err)
		}
	}
}

// lose ends the engine's work, for the model fails for good: whoever waits, or comes
// yet, fails with the error at once.
func (l *loop) lose(err error) {
	l.report("the model is lost: nothing decodes on it any more", err)
	l.snapshot.set(func(s *loopState) { s.lost = err }) // before anybody is told, who may look for another engine
	l.retireAll(err)
}

// retireAll retires all that waits and runs.
func (l *loop) retireAll(reason error) {
	for _, s := range l.sequences {
		l.retire(s, reason)
	}
}

// closeBatch gives the batch up; retire does not touch it from then on.
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

// report logs an error, with its stack where it was a panic.
func (l *loop) report(message string, err error, attrs ...any) {
	attrs = append(attrs, "error", err)
	if p, ok := err.(*fault.PanicError); ok {
		attrs = append(attrs, "stack", string(p.Stack))
	}
	l.cfg.Log.Error(message, attrs...)
}

// publish puts the numbers up.
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
