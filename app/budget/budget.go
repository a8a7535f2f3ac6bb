// Package budget lets code that processes texts and files ask for processor time and memory, without knowledge of the other
// users. Package admission puts both into the context of a request; a context without them, as on the command line, has no limit.
package budget

import (
	"context"
	"errors"
)

// ErrFull is wrapped by the errors of [Take]: the memory is in use.
var ErrFull = errors.New("the memory for requests is in use")

// Turn shares processor time.
type Turn interface {
	// Work counts n processed bytes of the work of ctx, and may let other work run meanwhile. It fails with ctx's error.
	Work(ctx context.Context, n int) error
}

// Memory counts the bytes of a request. It is safe for concurrent use.
type Memory interface {
	// Take adds n bytes, or fails with an error that wraps [ErrFull] and adds nothing.
	Take(n int64) error
	// Give subtracts n bytes.
	Give(n int64)
}

type (
	turnKey   struct{}
	memoryKey struct{}
)

// WithTurn returns a context whose work has a turn.
func WithTurn(ctx context.Context, t Turn) context.Context {
	return context.WithValue(ctx, turnKey{}, t)
}

// WithMemory returns a context whose bytes are counted.
func WithMemory(ctx context.Context, m Memory) context.Context {
	return context.WithValue(ctx, memoryKey{}, m)
}

// TurnOf returns the turn of a context, or nil.
func TurnOf(ctx context.Context) Turn {
	t, _ := ctx.Value(turnKey{}).(Turn)
	return t
}

// MemoryOf returns the memory of a context, or nil.
func MemoryOf(ctx context.Context) Memory {
	m, _ := ctx.Value(memoryKey{}).(Memory)
	return m
}

// Work counts n processed bytes. Loops over texts call it often: it fails with ctx's error.
func Work(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if t := TurnOf(ctx); t != nil {
		return t.Work(ctx, n)
	}
	return nil
}

// Take takes n bytes of memory, before they are allocated.
func Take(ctx context.Context, n int64) error {
	if m := MemoryOf(ctx); m != nil {
		return m.Take(n)
	}
	return nil
}

// Give returns n bytes that were taken.
func Give(ctx context.Context, n int64) {
	if m := MemoryOf(ctx); m != nil {
		m.Give(n)
	}
}

// Hold takes n bytes until the caller calls release.
func Hold(ctx context.Context, n int64) (release func(), err error) {
	if err := Take(ctx, n); err != nil {
		return nil, err
	}
	return func() { Give(ctx, n) }, nil
}
