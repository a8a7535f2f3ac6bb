// Package admission bounds the memory that all requests take together: bodies on their
// way, texts, sentences that wait, translations until they are sent.
//
// A [Memory] is the whole, a [Lease] is what a request has of it. Whoever is about to
// make something that grows with the request takes its size first ([Lease.Take]), and is
// refused where that does not fit. Sizes are those of package cost; the lease is
// given back as a whole when the request has been answered.
//
// Nobody can take all: a caller has at most three quarters of what others leave, so a
// second one gets in beside the first.
//
// The processor's time for all that is not decoding is shared by [Turns], in which the context of a request
// takes part by its lease ([Do], [Spend], [budget.Work]).
package admission

import (
	"context"
	"fmt"
	"sync"

	"dragoman/app/budget"
	"dragoman/app/fault"
)

// FullError is the error of a request that does not fit beside others.
type FullError struct {
	Wanted, Limit int64 // bytes
	// Alone says that the request is too large even where there is no other.
	Alone bool
}

func (e *FullError) Error() string {
	if e.Alone {
		return fmt.Sprintf("the request takes about %d bytes of memory, and requests have %d together", e.Wanted, e.Limit)
	}
	return fmt.Sprintf("%v: %d more bytes do not fit into %d", budget.ErrFull, e.Wanted, e.Limit)
}

// Explain says what is told to the sender.
func (e *FullError) Explain(fault.Situation) *fault.Failure {
	if e.Alone {
		return fault.New(fault.TooLarge, "", "%s: send several requests", e)
	}
	return fault.New(fault.Busy, "", "%s: try again in a moment", budget.ErrFull)
}

// Unwrap returns [budget.ErrFull].
func (e *FullError) Unwrap() error { return budget.ErrFull }

// Memory is what requests share. It is safe for concurrent use.
type Memory struct {
	limit int64
	turns *Turns

	mu   sync.Mutex // guards the rest
	used int64
	by   map[string]int64 // callers
}

// New makes a memory of so many bytes.
func New(limit int64) *Memory {
	return &Memory{limit: limit, turns: NewTurns(), by: make(map[string]int64)}
}

// InUse is how many bytes are taken.
func (m *Memory) InUse() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

// largestShare is how many times what stays free a caller may have.
const largestShare = 3

// Most is the most that a request can take.
func (m *Memory) Most() int64 { return m.limit / (largestShare + 1) * largestShare }

// Lease is the part of the memory that a request has. It is safe for concurrent use.
type Lease struct {
	memory *Memory
	caller string
	held   int64 // guarded by memory.mu
}

// Lease makes an empty lease. The caller closes it.
func (m *Memory) Lease(caller string) *Lease { return &Lease{memory: m, caller: caller} }

// Take makes the lease n bytes larger. The error is a [*FullError], and nothing is taken
// then.
func (l *Lease) Take(n int64) error {
	m := l.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	err := l.room(n)
	if err == nil {
		l.add(n)
	}
	return err
}

// Room fails as [Lease.Take] does, and takes nothing: for what is announced, and may never come.
func (l *Lease) Room(n int64) error {
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	return l.room(n)
}

// room says whether n bytes fit; memory.mu is held.
func (l *Lease) room(n int64) error {
	m := l.memory
	if free := m.limit - m.used - n; m.by[l.caller]+n > largestShare*free {
		return &FullError{Wanted: l.held + n, Limit: m.limit, Alone: l.held+n > m.Most()}
	}
	return nil
}

// Charge says who the request turned out to be from.
func (l *Lease) Charge(caller string) {
	m := l.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	held := l.held
	l.add(-held)
	l.caller = caller
	l.add(held)
}

// Give gives n bytes back, or what there is where the lease was closed meanwhile.
func (l *Lease) Give(n int64) {
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	l.add(-min(n, l.held))
}

// Close gives everything back. Closing again does nothing.
func (l *Lease) Close() {
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	l.add(-l.held)
}

// add changes what is held; memory.mu is held.
func (l *Lease) add(n int64) {
	m := l.memory
	l.held += n
	m.used += n
	if m.by[l.caller] += n; m.by[l.caller] == 0 {
		delete(m.by, l.caller)
	}
}

// With returns a context with the request's lease, from which [budget.Take] takes.
func With(ctx context.Context, l *Lease) context.Context { return budget.WithMemory(ctx, l) }

// Charge says who the request of a context is from, where it has a lease: a key may have
// been in the body.
func Charge(ctx context.Context, caller string) {
	if l, ok := budget.MemoryOf(ctx).(*Lease); ok {
		l.Charge(caller)
	}
}
