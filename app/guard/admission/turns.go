package admission

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"time"

	"dragoman/app/budget"
	"dragoman/app/schedule"
	"dragoman/app/wait"
)

const (
	// timeSlice is the time that one caller works before the next turn.
	timeSlice = 10 * time.Millisecond
	// freeShare divides the number of cores: work in turns keeps only that part of them busy, because decoding waits for the
	// slowest of its threads.
	freeShare = 4
	// aside is the time that a caller may work without a turn, and recovery the multiple of that time after which the caller may
	// do so again. mostUsed limits the usage remembered of a caller.
	aside, recovery, mostUsed = 20 * time.Millisecond, 10, time.Second
)

// Turns share the processor's time for all work other than decoding between callers: reading and cutting texts, joining them,
// processing documents. A caller with little recent usage works at once. A caller with more usage works in turns: one caller
// works at a time, or a few on many cores. After each time slice, the caller that has had least is next; the work of a caller
// goes in order of arrival. On few cores a rest follows each slice, because texts without a word to translate would otherwise
// hold the cores that decoding needs. Turns are safe for concurrent use; nil Turns never wait.
type Turns struct {
	rest float64 // duration of the rest, relative to the work before it
	line wait.Line[*account]

	// Guarded by line.
	clock    schedule.Clock[*account] // order of the callers that wait
	accounts map[string]*account
	many     int // number of accounts at which unused ones are removed
}

// fewAccounts is the number of accounts up to which no cleanup is needed.
const fewAccounts = 1000

// account is a caller's usage of the processor.
type account struct {
	schedule.Bucket                         // time that the caller may work without a turn
	aside           bool                    // some work of the caller runs without a turn
	flow            schedule.Flow[*account] // its place in the order of turns
}

// NewTurns returns turns for this machine.
func NewTurns() *Turns { return newTurns(runtime.GOMAXPROCS(0)) }

func newTurns(cores int) *Turns {
	t := &Turns{rest: max(0, freeShare/float64(cores)-1), many: fewAccounts, accounts: make(map[string]*account)}
	t.line = wait.Line[*account]{Next: t.next, Change: t.change, Free: max(1, cores/freeShare)}
	return t
}

// turn is a work that waits or runs. It is used by one goroutine.
type turn struct {
	of     *Turns
	caller string
	queued bool // needs a turn, even if its caller has little usage
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

// Do runs a caller's work, which must call [budget.Work] often, must not wait for other callers, and must end with the error of
// [budget.Work]. done is the work that was counted by [budget.Work]. The error is the work's, or ctx's if ctx ended before. A Do
// within work of the same caller is part of that work.
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

// Queue is [Do] for work that is long, or may do much at once, such as processing a document: such work waits for a turn, however
// little its caller has used. So no more of it runs at a time than there are turns.
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

// Spend charges work of the request of a context that follows at once and is not divided, such as parsing a body. Spend waits for
// the caller's turn, if the caller needs one, and fails with ctx's error.
func Spend(ctx context.Context, caller string, expected time.Duration) error {
	return turnsOf(ctx).spend(ctx, caller, expected)
}

func (t *Turns) spend(ctx context.Context, caller string, expected time.Duration) error {
	if t == nil {
		return nil
	}
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
	waiter := w.of.ask(w.caller, goesOn, w.queued)
	if waiter == nil {
		w.state, w.begun = isAside, time.Now()
		return nil
	}
	if err := w.of.line.Await(ctx, waiter); err != nil {
		w.of.charge(w.caller, 0, hasTurn)
		return ctx.Err()
	}
	w.state, w.begun = hasTurn, time.Now()
	return nil
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
	a := w.of.charge(w.caller, took, w.state)
	next := func() { w.of.line.Release(a, 1) }
	switch rest := time.Duration(times * float64(took)); {
	case w.state != hasTurn:
	case rest > 0:
		time.AfterFunc(rest, next)
	default:
		next()
	}
	w.state = away
}

// account returns the account of a caller. The caller of account must hold line.
func (t *Turns) account(caller string, now time.Time) *account {
	if len(t.accounts) > t.many {
		maps.DeleteFunc(t.accounts, func(_ string, a *account) bool {
			return a.Left(now) == a.Size && !a.aside && !a.flow.Wants && !t.clock.Owes(&a.flow)
		})
		t.many = max(fewAccounts, 2*len(t.accounts)) // bounds the number of cleanups
	}
	a := t.accounts[caller]
	if a == nil {
		a = &account{Bucket: schedule.NewBucket(1./recovery, aside.Seconds())}
		a.flow.Of, a.flow.Weight = a, 1
		t.accounts[caller] = a
	}
	return a
}

// charge charges a caller for the time of a work, which had a turn or was aside.
func (t *Turns) charge(caller string, took time.Duration, state turnState) *account {
	t.line.Lock()
	defer t.line.Unlock()
	now := time.Now()
	a := t.account(caller, now)
	a.Take(now, min(took.Seconds(), a.Left(now)+(mostUsed-aside).Seconds()))
	if state == isAside {
		a.aside = false
	} else {
		t.clock.Correct(&a.flow, (took - timeSlice).Seconds())
	}
	return a
}

// ask returns the place of a caller's work among those that wait, nil if the work needs no turn. Queued work always needs one.
func (t *Turns) ask(caller string, first, queued bool) *wait.Waiter[*account] {
	t.line.Lock()
	defer t.line.Unlock()
	now := time.Now()
	a := t.account(caller, now)
	if !queued && !a.aside && a.Left(now) > 0 {
		a.aside = true
		return nil
	}
	if !a.flow.Wants {
		t.clock.Add(&a.flow, 0)
	}
	return t.line.Join(a, 1, first)
}

// next returns the index of the next work: the first of the caller that has had the least time.
func (t *Turns) next(waiting []*wait.Waiter[*account], _ time.Time) int {
	return firstOf(waiting, t.clock.First().Of)
}

// firstOf returns the index of the first waiting work of a caller, -1 if there is none.
func firstOf(waiting []*wait.Waiter[*account], caller *account) int {
	return slices.IndexFunc(waiting, func(w *wait.Waiter[*account]) bool { return w.Of == caller })
}

// change charges a time slice for a turn that begins. When the turn ends, [Turns.charge] corrects the charge.
func (t *Turns) change(a *account, _ time.Time, turns int) {
	if turns < 0 {
		return
	}
	t.clock.Charge(&a.flow, timeSlice.Seconds(), 0)
	if firstOf(t.line.Waiting, a) < 0 {
		t.clock.Remove(&a.flow)
	}
}
