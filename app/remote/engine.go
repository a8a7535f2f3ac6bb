package remote

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"dragoman/app/engine"
	"dragoman/app/fault"
	"dragoman/app/schedule"
	"dragoman/app/wait"
	"dragoman/model/search"
)

// Dialect writes the calls of a server and reads its answers. It is safe for concurrent use.
type Dialect interface {
	// Body returns the body of the call for a job. The error describes an invalid job.
	Body(job engine.Job) ([]byte, error)
	// Result returns the result that an answer to a job means. The error describes an answer that has none.
	Result(job engine.Job, answer []byte) (r engine.Result, used Usage, err error)
}

// Usage is the number of tokens of a call, as the server counts them.
type Usage struct{ Input, Output int }

// Config configures an [Engine].
type Config struct {
	Dialect Dialect
	Client  *Client
	Circuit *Circuit
	Slots   int  // calls at a time
	Charged bool // calls cost money: none is repeated on which the server may have worked
	// Requests is the maximum number of admitted requests, Tokens the number of source tokens that may wait, and Wait the maximum
	// time that others may delay a request; see [engine.Config].
	Requests, Tokens int
	Wait             time.Duration
	Used             func(outcome string, used Usage) // is told of each call; nil: nobody is
	Log              *slog.Logger
}

// Engine translates by a server, as [engine.Engine] does in this process. It is safe for concurrent use.
type Engine struct {
	cfg     Config
	closing context.Context // done when the engine closes
	close   context.CancelFunc
	calls   sync.WaitGroup

	mu        sync.Mutex // guards the rest
	admission engine.Admission
	inside    schedule.Inside
	queue     *schedule.Queue[*sentence]
	known     map[string]*sentence // that wait or run, by their bodies
	running   int                  // calls
	paused    time.Time            // no call begins before
	refusals  int                  // calls that the server refused in a row
	stats     engine.Stats
	speed     schedule.Throughput // work per second of a call
}

// sentence is a sentence that waits for a call, or has one.
type sentence struct {
	schedule.Sentence
	job     engine.Job
	body    string
	waiters []waiter // nobody needs the sentence without any
	by      *schedule.Request
	begun   time.Time
	cancel  context.CancelFunc // ends the call
}

// waiter is a job that waits for a sentence.
type waiter struct {
	session *session
	job     int
	at      time.Time
}

// NewEngine returns an engine, which the caller must close.
func NewEngine(cfg Config) *Engine {
	if cfg.Used == nil {
		cfg.Used = func(string, Usage) {}
	}
	e := &Engine{
		cfg: cfg, admission: engine.NewAdmission(cfg.Requests, cfg.Wait), inside: make(schedule.Inside),
		queue: schedule.NewQueue[*sentence](), known: make(map[string]*sentence),
	}
	e.closing, e.close = context.WithCancel(context.Background())
	return e
}

// Close ends all calls: requests fail with [engine.ErrClosed].
func (e *Engine) Close() error {
	e.mu.Lock()
	e.close() // no call begins from now on
	e.mu.Unlock()
	e.calls.Wait()
	e.cfg.Client.Close()
	return nil
}

// Err returns nil: a server that is away may come back.
func (e *Engine) Err() error { return nil }

// Rows returns the number of slots.
func (e *Engine) Rows() int { return e.cfg.Slots }

// Stats returns the statistics of the engine as those of one worker.
func (e *Engine) Stats() []engine.Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.stats
	s.QueuedSentences, s.RunningSentences, s.RunningRows, s.ReservedRows = e.queue.Len(), e.running, e.running, e.running
	s.WorkPerSecond = e.rate()
	s.SourceTokensPerSecond = s.WorkPerSecond
	return []engine.Stats{s}
}

// rate returns the work per second of all slots.
func (e *Engine) rate() float64 { return e.speed.Rate() * float64(e.cfg.Slots) }

// Stream translates the sentences of a request; see [engine.Engine.Stream]. It fails with an [*engine.AwayError] while the server is
// away.
func (e *Engine) Stream(ctx context.Context, req engine.Request,
	next func() (job engine.Job, ok bool, err error), each func(job int, r engine.Result) error) error {
	s, err := e.open(ctx, req)
	if err != nil {
		return err
	}
	return s.Run(ctx, s, next, each)
}

// open admits a request if it can end in time.
func (e *Engine) open(ctx context.Context, req engine.Request) (*session, error) {
	inner, err := engine.NewSession(ctx, e.closing, req)
	if err != nil {
		return nil, err
	}
	s := &session{Session: inner, engine: e, inFlight: make(map[int]*sentence)}
	s.place = schedule.Request{Caller: req.Caller, Priority: req.Priority, Left: s.left}
	s.line.Request = &s.place
	e.mu.Lock()
	defer e.mu.Unlock()
	b := schedule.Backlog{Ahead: e.inside.Ask(&s.place), Speed: e.rate(), Sentence: e.stats.SentenceTime}
	if err := e.admission.Enter(ctx, req.Caller, s.left(), b); err != nil {
		e.stats.RequestsRefused++
		return nil, err
	}
	if err := e.cfg.Circuit.enter(); err != nil {
		e.admission.Leave(req.Caller)
		return nil, err
	}
	e.inside.Enter(&s.place)
	return s, nil
}

// add queues a sentence for a job, or lets the job wait for an equal one. The caller must hold mu.
func (e *Engine) add(x *sentence, w waiter) {
	s := w.session
	if known := e.known[x.body]; known != nil {
		e.stats.SentencesShared++
		x = known
	} else {
		e.known[x.body], x.by = x, &s.place
		e.stats.QueuedTokens += x.Tokens
	}
	if x.begun.IsZero() { // the request whose turn comes first has the sentence called for all
		e.queue.Push(&s.line, x)
	} else {
		s.admitted += x.Tokens
	}
	x.waiters = append(x.waiters, w)
	s.inFlight[w.job] = x
}

// dispatch begins calls while there are slots. The caller must hold mu.
func (e *Engine) dispatch() {
	if time.Now().Before(e.paused) || e.closing.Err() != nil {
		return
	}
	for e.running < e.cfg.Slots {
		x := e.queue.Head(func(*schedule.Sentence) schedule.Room { return schedule.Fits })
		if x == nil {
			return
		}
		e.queue.Charge()
		e.dequeue(x)
		for _, w := range x.waiters {
			w.session.admitted += x.Tokens
		}
		var ctx context.Context
		ctx, x.cancel = context.WithCancel(e.closing)
		x.begun = time.Now()
		e.running++
		e.stats.Joins++
		e.stats.PrefilledTokens += uint64(x.Tokens)
		e.calls.Go(func() { e.decode(ctx, x) })
	}
}

// dequeue takes a sentence out of the queue. The caller must hold mu.
func (e *Engine) dequeue(x *sentence) {
	e.queue.Remove(&x.Sentence)
	e.stats.QueuedTokens -= x.Tokens
}

// decode makes the call of a sentence.
func (e *Engine) decode(ctx context.Context, x *sentence) {
	defer x.cancel()
	var r engine.Result
	var used Usage
	err := fault.Protect(func() error {
		answer, err := e.call(ctx, x)
		if err == nil {
			r, used, err = e.cfg.Dialect.Result(x.job, answer)
		}
		return err
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running--
	if e.known[x.body] == x {
		delete(e.known, x.body)
	}
	e.settle(x, r, used, err)
	e.dispatch()
}

// call calls the server for a sentence, also again.
func (e *Engine) call(ctx context.Context, x *sentence) ([]byte, error) {
	body := x.body
	for try := 1; ; try++ {
		answer, err := e.cfg.Client.Call(ctx, chatPath, []byte(body))
		failed, ok := errors.AsType[*CallError](err)
		if !ok {
			return answer, err
		}
		if one, several := single(body); several && failed.refusesSeveral() {
			body = one
			continue
		}
		pause, again := failed.retry(try, e.cfg.Charged)
		if !again {
			return nil, err
		}
		if failed.busy() {
			e.pause(pause)
		}
		if !wait.For(ctx, pause) {
			return nil, context.Cause(ctx)
		}
	}
}

// pause begins no call for a while.
func (e *Engine) pause(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if end := time.Now().Add(d); end.After(e.paused) {
		e.paused = end
		time.AfterFunc(d, func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.dispatch()
		})
	}
}

// Outcomes of a call, for [Config.Used].
const (
	done      = "done"
	refused   = "refused"
	failed    = "failed"
	cancelled = "cancelled"
)

// maxRefusals is the number of refusals in a row after which they are the server's fault, and not the texts'.
const maxRefusals = 5

// settle ends a sentence with a result or an error. The caller must hold mu.
func (e *Engine) settle(x *sentence, r engine.Result, used Usage, err error) {
	took := time.Since(x.begun)
	e.stats.Busy += took
	call, _ := errors.AsType[*CallError](err)
	if call != nil {
		fault, tooLong, ok := call.refuses()
		if e.refusals++; ok && e.refusals < maxRefusals {
			e.cfg.Log.Warn("the server refuses a sentence", "error", err, "tokens", x.Tokens)
			r, err = engine.Result{Result: search.Result{Truncated: tooLong}, Fault: fault}, nil
		}
	}
	switch {
	case err == nil:
		outcome := done
		if call != nil {
			outcome = refused
		} else {
			e.refusals = 0
			e.speed.Add(x.Work(), took)
			e.stats.SentenceTime += (took - e.stats.SentenceTime) / time.Duration(min(16, e.stats.SentencesDone+1))
			if e.cfg.Circuit.succeeded() {
				e.cfg.Log.Info("the server is back")
			}
		}
		e.stats.SentencesDone++
		e.stats.DecodedTokens += uint64(len(r.Tokens))
		e.cfg.Used(outcome, used)
		e.queue.Settle(x.by, float64(len(r.Tokens)))
		x.deliver(r)
	case len(x.waiters) == 0 || e.closing.Err() != nil:
		e.stats.SentencesCancelled++
		e.cfg.Used(cancelled, used)
	default:
		e.stats.SentencesFailed++
		e.cfg.Used(failed, used)
		e.away(x, err)
	}
}

// away opens the circuit, and fails a sentence and all that wait. The caller must hold mu.
func (e *Engine) away(x *sentence, cause error) {
	var least time.Duration
	if call, ok := errors.AsType[*CallError](cause); ok {
		if least = call.RetryAfter; call.lasting() {
			least = longestPause
		}
	}
	first, err := e.cfg.Circuit.failed(cause, least)
	if first {
		e.cfg.Log.Error("the server is away: requests use other models if there are any", "error", cause)
	}
	e.refusals = 0
	x.fail(err)
	for _, waiting := range e.known {
		if waiting.Waits {
			e.dequeue(waiting)
			delete(e.known, waiting.body)
			waiting.fail(err)
		}
	}
}

// deliver gives the result to all that wait, each its own copy.
func (x *sentence) deliver(r engine.Result) {
	now := time.Now()
	for i, w := range x.waiters {
		copied := r
		if i > 0 {
			copied.Result = r.Clone()
		}
		start := x.begun
		if w.at.After(start) {
			start = w.at
		}
		copied.Queued, copied.Computed, copied.Shared, copied.First = start.Sub(w.at), now.Sub(start), i > 0, i == 0
		w.session.put(engine.Outcome{Job: w.job, Result: copied})
	}
	x.waiters = nil
}

// fail gives all that wait an error.
func (x *sentence) fail(err error) {
	for _, w := range x.waiters {
		w.session.put(engine.Outcome{Job: w.job, Err: err})
	}
	x.waiters = nil
}
