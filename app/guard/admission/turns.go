package admission

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"dragoman/app/budget"
)

const (
	// timeSlice is the time that one caller works before the next turn.
	timeSlice = 10 * time.Millisecond
	// freeShare is the divisor for the cores that work in turns may keep busy: decoding waits for the slowest of its threads.
	freeShare = 4
	// aside is the time that a caller may work beside the turns, and recovery the multiple of it after which it may do so again.
	// mostUsed limits the usage remembered of a caller.
	aside, recovery, mostUsed = 20 * time.Millisecond, 10, time.Second
)

// Turns share the processor's time for all work other than decoding between callers: reading and cutting texts, joining them,
// processing documents. A caller with little recent usage works at once. A caller with more works in turns: one works at a time,
// or a few on many cores, and after each time slice the next one does: callers round robin, and the work of a caller in order of
// arrival. On few cores a rest follows each slice. Without this, texts without a word to translate would keep the decoding from
// its cores. Turns are safe for concurrent use; nil Turns never wait.
type Turns struct {
	most int     // maximum number of concurrent turns
	rest float64 // relative to the work before it

	mu       sync.Mutex // guards the rest
	working  int
	callers  []string                   // waiting callers, the next one first
	waiting  map[string][]chan struct{} // by caller, in order of arrival
	accounts map[string]*account
	many     int // number of accounts at which unused ones are removed
}

// fewAccounts is a number of accounts that need no cleanup.
const fewAccounts = 1000

// account is a caller's usage of the processor.
type account struct {
	used  time.Duration // recent usage: it decays
	at    time.Time     // time of the last update
	aside bool          // one of its works runs without a turn
}

// decay reduces the usage by the time since the last update.
func (a *account) decay(now time.Time) {
	a.used = max(0, a.used-now.Sub(a.at)/recovery)
	a.at = now
}

// NewTurns returns turns for this machine.
func NewTurns() *Turns { return newTurns(runtime.GOMAXPROCS(0)) }

func newTurns(cores int) *Turns {
	return &Turns{most: max(1, cores/freeShare), rest: max(0, freeShare/float64(cores)-1), many: fewAccounts,
		waiting: make(map[string][]chan struct{}), accounts: make(map[string]*account)}
}

// turn is a work that waits or runs. It is used by one goroutine.
type turn struct {
	of     *Turns
	caller string
	queued bool // never works aside
	begun  time.Time
	state  turnState
	done   int64
}

type turnState int

const (
	away turnState = iota
	hasTurn
	isAside
)

// Do runs a caller's work, which must call [budget.Work] often, must not wait for other callers, and must end with its error.
// done is the work that it has counted there. The error is the work's, or ctx's if that ended before. Within a work of the same
// caller it is part of that.
func (t *Turns) Do(ctx context.Context, caller string, work func(ctx context.Context) error) (done int64, err error) {
	return t.do(ctx, &turn{of: t, caller: caller}, work)
}

func (t *Turns) do(ctx context.Context, w *turn, work func(ctx context.Context) error) (done int64, err error) {
	if within, ok := budget.TurnOf(ctx).(*turn); ok && within.of == t && within.state != away {
		return 0, work(ctx)
	}
	if t != nil {
		defer func() { w.leave(ctx) }()
		if err := w.wait(ctx, false); err != nil {
			return 0, err
		}
	}
	err = work(budget.WithTurn(ctx, w))
	return w.done, err
}

// Do runs a work of the request of a context in turns with the work of other callers; see [Turns.Do]. A context without a lease
// has no turns.
func Do(ctx context.Context, caller string, work func(ctx context.Context) error) (done int64, err error) {
	return turnsOf(ctx).Do(ctx, caller, work)
}

// Queue is [Do] for work that is long, or may do much at once, such as processing a document: it waits for a turn, however little
// its caller has used. So the number of these that run at a time is limited to the turns.
func Queue(ctx context.Context, caller string, work func(ctx context.Context) error) (done int64, err error) {
	turns := turnsOf(ctx)
	return turns.do(ctx, &turn{of: turns, caller: caller, queued: true}, work)
}

// turnsOf returns the turns in which the request of a context takes part, nil without a lease.
func turnsOf(ctx context.Context) *Turns {
	if l, ok := budget.MemoryOf(ctx).(*Lease); ok {
		return l.memory.turns
	}
	return nil
}

// Spend charges work of the request of a context that follows at once and is not divided, such as parsing a body. It waits for
// the caller's turn, if it needs one, and fails with ctx's error.
func Spend(ctx context.Context, caller string, expected time.Duration) error {
	if l, ok := budget.MemoryOf(ctx).(*Lease); ok {
		return l.memory.turns.spend(ctx, caller, expected)
	}
	return nil
}

func (t *Turns) spend(ctx context.Context, caller string, expected time.Duration) error {
	w := &turn{of: t, caller: caller}
	if err := w.wait(ctx, false); err != nil {
		return err
	}
	w.end(expected, 1+t.rest) // the work runs meanwhile
	return nil
}

// Work implements [budget.Turn]: it counts n bytes, and lets others work when the time slice is over.
func (w *turn) Work(ctx context.Context, n int) error {
	if w.done += int64(n); w.of == nil || time.Since(w.begun) < timeSlice {
		return nil
	}
	w.leave(ctx)
	return w.wait(ctx, true)
}

// wait waits for the turn, if the caller needs one. Work that continues goes before other work of its caller.
func (w *turn) wait(ctx context.Context, goesOn bool) error {
	ready := w.of.ask(w.caller, goesOn, w.queued)
	if ready == nil {
		w.state, w.begun = isAside, time.Now()
		return nil
	}
	select {
	case <-ready:
		w.state, w.begun = hasTurn, time.Now()
		return nil
	case <-ctx.Done():
		w.of.forget(w.caller, ready)
		return ctx.Err()
	}
}

// leave ends the turn. A rest follows, unless the work was abandoned: then others continue at once.
func (w *turn) leave(ctx context.Context) {
	rest := w.of.rest
	if ctx.Err() != nil {
		rest = 0
	}
	if w.state != away {
		w.end(time.Since(w.begun), rest)
	}
}

// end charges a turn for its time, and starts the next one after a multiple of that time.
func (w *turn) end(took time.Duration, times float64) {
	w.of.charge(w.caller, took, w.state == isAside)
	switch rest := time.Duration(times * float64(took)); {
	case w.state != hasTurn:
	case rest > 0:
		time.AfterFunc(rest, w.of.next)
	default:
		w.of.next()
	}
	w.state = away
}

// account returns the account of a caller. The caller of account must hold mu.
func (t *Turns) account(caller string) *account {
	now := time.Now()
	if len(t.accounts) > t.many {
		maps.DeleteFunc(t.accounts, func(_ string, a *account) bool {
			a.decay(now)
			return a.used == 0 && !a.aside
		})
		t.many = max(fewAccounts, 2*len(t.accounts)) // bounds the number of cleanups
	}
	a := t.accounts[caller]
	if a == nil {
		a = &account{at: now}
		t.accounts[caller] = a
	}
	a.decay(now)
	return a
}

// charge adds the time of a caller's work to its usage.
func (t *Turns) charge(caller string, took time.Duration, aside bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.account(caller)
	a.used = min(a.used+took, mostUsed)
	if aside {
		a.aside = false
	}
}

// ask returns a channel that is closed when it is a caller's turn, nil if it needs no turn. Queued work always needs one.
func (t *Turns) ask(caller string, first, queued bool) chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a := t.account(caller); !queued && !a.aside && a.used < aside {
		a.aside = true
		return nil
	}
	ready := make(chan struct{})
	if len(t.waiting[caller]) == 0 {
		t.callers = append(t.callers, caller)
	}
	if first {
		t.waiting[caller] = slices.Insert(t.waiting[caller], 0, ready)
	} else {
		t.waiting[caller] = append(t.waiting[caller], ready)
	}
	t.start()
	return ready
}

// next ends a turn and starts the next one.
func (t *Turns) next() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.working--
	t.start()
}

// start starts the next turns, if there are any. The caller must hold mu.
func (t *Turns) start() {
	for t.working < t.most && len(t.callers) > 0 {
		caller := t.callers[0]
		t.callers = t.callers[1:]
		t.working++
		own := t.waiting[caller]
		close(own[0])
		if t.waiting[caller] = own[1:]; len(own) > 1 {
			t.callers = append(t.callers, caller)
		} else {
			delete(t.waiting, caller)
		}
	}
}

// forget cancels a wait, or ends the turn that came meanwhile.
func (t *Turns) forget(caller string, ready chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.waiting[caller]
	i := slices.Index(own, ready)
	if i < 0 {
		t.working--
		t.start()
		return
	}
	if t.waiting[caller] = slices.Delete(own, i, i+1); len(own) == 1 {
		delete(t.waiting, caller)
		t.callers = slices.DeleteFunc(t.callers, func(c string) bool { return c == caller })
	}
}
