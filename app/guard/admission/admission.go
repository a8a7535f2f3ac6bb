// Package admission limits the memory that all requests take together: bodies on their way, texts, waiting sentences,
// translations until they are sent.
//
// A [Memory] is the total, a [Lease] is the part of one request. Code that is about to allocate memory that grows with the
// request takes the size from the lease first ([Lease.Take]), and is refused if the size does not fit. Package cost has the
// sizes; the whole lease is returned when the request has been answered.
//
// No caller can take all: a caller has at most three quarters of the memory that others leave, so a second caller is admitted
// beside the first.
//
// [Turns] share the processor's time for all work other than decoding. A request takes part in the turns by the lease in its
// context ([Do], [Spend], [budget.Work]).
package admission

import (
	"context"
	"fmt"
	"sync"

	"dragoman/app/budget"
	"dragoman/app/fault"
	"dragoman/app/schedule"
)

// FullError is the error of a request that does not fit beside others.
type FullError struct {
	Wanted, Limit int64 // bytes
	// Alone is set if the request is too large even without others.
	Alone bool
}

func (e *FullError) Error() string {
	if e.Alone {
		return fmt.Sprintf("the request takes about %d bytes of memory, and requests have %d together", e.Wanted, e.Limit)
	}
	return fmt.Sprintf("%v: %d more bytes do not fit into %d", budget.ErrFull, e.Wanted, e.Limit)
}

// Explain returns the failure for the sender of the request.
func (e *FullError) Explain(fault.Situation) *fault.Failure {
	if e.Alone {
		return fault.New(fault.TooLarge, "", "%s: send several requests", e)
	}
	return fault.New(fault.Busy, "", "%s: try again in a moment", budget.ErrFull)
}

// Unwrap returns [budget.ErrFull].
func (e *FullError) Unwrap() error { return budget.ErrFull }

// Memory is an amount of memory that requests share. It is safe for concurrent use.
type Memory struct {
	turns *Turns

	mu      sync.Mutex // guards the rest
	account schedule.Account
}

// New returns a memory of limit bytes.
func New(limit int64) *Memory {
	return &Memory{turns: NewTurns(), account: schedule.Account{Limit: limit, Part: schedule.ThreeQuarters}}
}

// InUse returns the number of bytes taken.
func (m *Memory) InUse() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.account.Held
}

// Most returns the maximum number of bytes of a request.
func (m *Memory) Most() int64 { return m.account.Part(m.account.Limit) }

// Lease is the part of the memory of one request. It is safe for concurrent use.
type Lease struct {
	memory *Memory
	caller string
	held   int64 // guarded by memory.mu
}

// Lease returns an empty lease, which the caller must close.
func (m *Memory) Lease(caller string) *Lease { return &Lease{memory: m, caller: caller} }

// Take adds n bytes to the lease. On error, a [*FullError], nothing is taken.
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

// Room returns the error that [Lease.Take] would return, and takes nothing: for announced bytes, which may never come.
func (l *Lease) Room(n int64) error {
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	return l.room(n)
}

// room returns a [*FullError] if n bytes do not fit. The caller must hold memory.mu.
func (l *Lease) room(n int64) error {
	m := l.memory
	if m.account.Room(l.caller, n) == schedule.Fits {
		return nil
	}
	return &FullError{Wanted: l.held + n, Limit: m.account.Limit, Alone: l.held+n > m.Most()}
}

// Charge moves the lease to the caller of the request, once the caller is known.
func (l *Lease) Charge(caller string) {
	m := l.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	held := l.held
	l.add(-held)
	l.caller = caller
	l.add(held)
}

// Give returns n bytes, or the rest if the lease was closed meanwhile.
func (l *Lease) Give(n int64) {
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	l.add(-min(n, l.held))
}

// Close returns all bytes. A second call does nothing.
func (l *Lease) Close() {
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	l.add(-l.held)
}

// add changes the held bytes by n. The caller must hold memory.mu.
func (l *Lease) add(n int64) {
	l.held += n
	l.memory.account.Hold(l.caller, n)
}

// With returns a context with the request's lease, from which [budget.Take] takes.
func With(ctx context.Context, l *Lease) context.Context { return budget.WithMemory(ctx, l) }

// Charge moves the lease of a context, if it has one, to a caller: a key may have been in the body.
func Charge(ctx context.Context, caller string) {
	if l, ok := budget.MemoryOf(ctx).(*Lease); ok {
		l.Charge(caller)
	}
}
