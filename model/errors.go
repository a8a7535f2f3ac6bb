package model

import (
	"errors"
	"fmt"
	"io"
)

// ErrInput means that a batch was given input that the model cannot process, such as a token outside the vocabulary or more rows
// than its limit.
var ErrInput = errors.New("input that the model cannot take")

// ErrLost means that the device or the files of a model have failed: every further call of the model fails, and other models are
// not affected. After a fault of a GPU the process must be restarted to use the GPU again. If the error also wraps [ErrDamaged],
// the model's files have changed since the model was opened, and it can be opened again.
var ErrLost = errors.New("the device is lost")

// Panic is the panic value of a model if the fault occurred on a goroutine of its own, whose stack is lost when the panic is
// recovered elsewhere.
type Panic struct {
	Value any    // the value passed to panic
	Stack []byte // of the panic
}

// Error returns the value and the stack, in the form of an unrecovered panic.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// NoEOF replaces io.EOF, where a file should have more bytes, by an error that says so.
func NoEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
