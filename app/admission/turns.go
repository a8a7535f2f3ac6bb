package admission

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

const (
	// slice is how long one works before others have their turn.
	slice = 10 * time.Millisecond
	// freeShare is the part of the cores, one in so many, that work in turns may keep busy: what decodes
	// waits for the slowest of its threads.
	freeShare = 4
	// mostTurns is how many may wait or work.
	mostTurns = 64
)

// Turns share long work between callers, such as going through documents. One works at a time, and after
// each slice of time whoever is next: callers in a circle, and of one caller who came first. Between
// slices there is a rest where there are few cores. Turns are safe for concurrent use.
type Turns struct {
	places *Places
	rest   float64 // times of what was worked

	mu      sync.Mutex // guards the rest
	busy    bool
	callers []string                   // that wait, the next one first
	waiting map[string][]chan struct{} // by caller, the first one first
}

// NewTurns makes turns on this machine.
func NewTurns() *Turns {
	rest := max(0, freeShare/float64(runtime.GOMAXPROCS(0))-1)
	return &Turns{places: NewPlaces(mostTurns), rest: rest, waiting: make(map[string][]chan struct{})}
}

// turn is a work that waits or has its turn. One goroutine uses it.
type turn struct {
	of     *Turns
	caller string
	begun  time.Time
	has    bool // it is its turn
	done   int64
}

// turnKey is where a context has a turn.
type turnKey struct{}

// Do has a caller's work done in turns with others: it calls [Work] often, and ends with its error. done
// is what it has counted there. The error is the work's, a [*PlacesError], or ctx's where it ended before.
func (t *Turns) Do(ctx context.Context, caller string, work func(ctx context.Context) error) (done int64, err error) {
	if err := t.places.Take(caller); err != nil {
		return 0, err
	}
	defer t.places.Leave(caller)
	w := &turn{of: t, caller: caller}
	defer w.leave()
	if err := w.wait(ctx, false); err != nil {
		return 0, err
	}
	err = work(context.WithValue(ctx, turnKey{}, w))
	return w.done, err
}

// Work counts n bytes that a work of a context goes through. Within [Turns.Do] it lets others work when it
// is their turn. It fails with ctx's error.
func Work(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w, ok := ctx.Value(turnKey{}).(*turn)
	if !ok {
		return nil
	}
	if w.done += int64(n); time.Since(w.begun) < slice {
		return nil
	}
	w.leave()
	return w.wait(ctx, true)
}

// wait waits for the turn. A work that goes on is before others of its caller.
func (w *turn) wait(ctx context.Context, goesOn bool) error {
	ready := w.of.ask(w.caller, goesOn)
	select {
	case <-ready:
		w.has, w.begun = true, time.Now()
		return nil
	case <-ctx.Done():
		w.of.forget(w.caller, ready)
		return ctx.Err()
	}
}

// leave ends the turn, after which there is a rest.
func (w *turn) leave() {
	if !w.has {
		return
	}
	w.has = false
	if rest := time.Duration(w.of.rest * float64(time.Since(w.begun))); rest > 0 {
		time.AfterFunc(rest, w.of.next)
		return
	}
	w.of.next()
}

// ask returns what is closed when it is a caller's turn.
func (t *Turns) ask(caller string, first bool) chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	ready := make(chan struct{})
	if len(t.waiting[caller]) == 0 {
		t.callers = append(t.callers, caller)
	}
	if first {
		t.waiting[caller] = slices.Insert(t.waiting[caller], 0, ready)
	} else {
		t.waiting[caller] = append(t.waiting[caller], ready)
	}
	if !t.busy {
		t.start()
	}
	return ready
}

// next ends a turn and begins the one that is next.
func (t *Turns) next() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.busy = false
	t.start()
}

// start begins the turn that is next, if there is one. mu is held.
func (t *Turns) start() {
	if len(t.callers) == 0 {
		return
	}
	caller := t.callers[0]
	t.callers, t.busy = t.callers[1:], true
	own := t.waiting[caller]
	close(own[0])
	if t.waiting[caller] = own[1:]; len(own) > 1 {
		t.callers = append(t.callers, caller)
	} else {
		delete(t.waiting, caller)
	}
}

// forget gives up a wait, or the turn that came meanwhile.
func (t *Turns) forget(caller string, ready chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.waiting[caller]
	i := slices.Index(own, ready)
	if i < 0 {
		t.busy = false
		t.start()
		return
	}
	if t.waiting[caller] = slices.Delete(own, i, i+1); len(own) == 1 {
		delete(t.waiting, caller)
		t.callers = slices.DeleteFunc(t.callers, func(c string) bool { return c == caller })
	}
}
