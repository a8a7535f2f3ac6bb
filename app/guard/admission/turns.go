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
	// timeSlice is how long one works before others have their turn.
	timeSlice = 10 * time.Millisecond
	// freeShare is the part of the cores, one in so many, that work in turns may keep busy: what decodes
	// waits for the slowest of its threads.
	freeShare = 4
	// aside is how long a caller works beside those who have their turn, and recovery how many times as long it
	// takes until it may do so again. mostUsed bounds what is remembered of those who worked for long.
	aside, recovery, mostUsed = 20 * time.Millisecond, 10, time.Second
)

// Turns share the processor's time for whatever is not decoding between callers: reading and cutting texts, putting them
// together, going through documents. A caller who has used little of it recently works at once. Who has used more does so
// in turns: one works at a time, on many cores some, and after each slice of time whoever is next: callers in a circle,
// and of one caller who came first. Between slices there is a rest where there are few cores. Without this, texts without a
// word to translate would keep what decodes from its cores. Turns are safe for concurrent use; nil ones give everybody a turn.
type Turns struct {
	most int     // who work at a time
	rest float64 // times of what was worked

	mu       sync.Mutex // guards the rest
	working  int
	callers  []string                   // that wait, the next one first
	waiting  map[string][]chan struct{} // by caller, the first one first
	accounts map[string]*account
	many     int // accounts at which those are looked for that can be forgotten
}

// fewAccounts need not be looked through.
const fewAccounts = 1000

// account is what a caller has used of the processor.
type account struct {
	used  time.Duration // recently: it decays
	at    time.Time     // when it was so much
	aside bool          // a work of it goes on without a turn
}

// decay lets what was used be forgotten with time.
func (a *account) decay(now time.Time) {
	a.used = max(0, a.used-now.Sub(a.at)/recovery)
	a.at = now
}

// NewTurns makes turns on this machine.
func NewTurns() *Turns { return newTurns(runtime.GOMAXPROCS(0)) }

func newTurns(cores int) *Turns {
	return &Turns{most: max(1, cores/freeShare), rest: max(0, freeShare/float64(cores)-1), many: fewAccounts,
		waiting: make(map[string][]chan struct{}), accounts: make(map[string]*account)}
}

// turn is a work that waits or goes on. One goroutine uses it.
type turn struct {
	of     *Turns
	caller string
	queued bool // it never goes on aside
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

// Do has a caller's work done: it calls [budget.Work] often, waits for nobody else, and ends with its error. done
// is what it has counted there. The error is the work's, or ctx's where it ended before. Within a work of the same caller it
// is part of that.
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

// Do has a work of the request of a context done in turns with what other callers have done; see [Turns.Do]. Where the
// context has no lease, nobody else is there.
func Do(ctx context.Context, caller string, work func(ctx context.Context) error) (done int64, err error) {
	return turnsOf(ctx).Do(ctx, caller, work)
}

// Queue is [Do] for work that is long, or may do much at once, such as going through a document: it waits for a turn, however
// little its caller has used. So no more of these go on at a time than there are turns.
func Queue(ctx context.Context, caller string, work func(ctx context.Context) error) (done int64, err error) {
	turns := turnsOf(ctx)
	return turns.do(ctx, &turn{of: turns, caller: caller, queued: true}, work)
}

// turnsOf are those in which the request of a context takes part, nil without a lease.
func turnsOf(ctx context.Context) *Turns {
	if l, ok := budget.MemoryOf(ctx).(*Lease); ok {
		return l.memory.turns
	}
	return nil
}

// Spend counts work of the request of a context that follows at once and is not divided, such as parsing a body. It waits
// until it is the caller's turn, if it needs one, and fails with ctx's error.
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
	w.end(expected, 1+t.rest) // the work goes on meanwhile
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

// wait waits for the turn, if the caller needs one. A work that goes on is before others of its caller.
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

// leave ends the turn, after which there is a rest, unless the work was given up: others go on at once then.
func (w *turn) leave(ctx context.Context) {
	rest := w.of.rest
	if ctx.Err() != nil {
		rest = 0
	}
	if w.state != away {
		w.end(time.Since(w.begun), rest)
	}
}

// end charges a turn for the time that it took, and lets the next one have its turn after so many times that time.
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

// account is a caller's. mu is held.
func (t *Turns) account(caller string) *account {
	now := time.Now()
	if len(t.accounts) > t.many {
		maps.DeleteFunc(t.accounts, func(_ string, a *account) bool {
			a.decay(now)
			return a.used == 0 && !a.aside
		})
		t.many = max(fewAccounts, 2*len(t.accounts)) // so that many callers are not looked through for each of them
	}
	a := t.accounts[caller]
	if a == nil {
		a = &account{at: now}
		t.accounts[caller] = a
	}
	a.decay(now)
	return a
}

// charge counts what a caller's work took.
func (t *Turns) charge(caller string, took time.Duration, aside bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.account(caller)
	a.used = min(a.used+took, mostUsed)
	if aside {
		a.aside = false
	}
}

// ask returns what is closed when it is a caller's turn, nil where it needs none, which queued work always does.
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

// next ends a turn and begins the one that is next.
func (t *Turns) next() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.working--
	t.start()
}

// start begins the turns that are next, if there are any. mu is held.
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

// forget gives up a wait, or the turn that came meanwhile.
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
