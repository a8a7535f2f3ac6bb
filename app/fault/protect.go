package fault

import (
	"fmt"
	"runtime/debug"

	"dragoman/model"
)

// PanicError is the error of work that panicked.
type PanicError struct {
	Value any // argument of panic
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Protect calls f and turns a panic into a [*PanicError].
func Protect(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			p := &PanicError{Value: v, Stack: debug.Stack()}
			if inner, ok := v.(*model.Panic); ok {
				p.Value, p.Stack = inner.Value, append(inner.Stack, p.Stack...)
			}
			err = p
		}
	}()
	return f()
}
