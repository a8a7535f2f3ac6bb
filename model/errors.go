package model

import (
	"errors"
	"fmt"
	"io"
)

// ErrInput means that a batch was given what the model cannot take, such as a
// token outside of the vocabulary or more rows than there is room for.
var ErrInput = errors.New("input that the model cannot take")

// ErrLost means that what a model runs on does not work any more: every call of the model
// fails from now on, and other models are not affected. After a fault of a GPU the process must
// be restarted to use that again. With [ErrDamaged] the model's files are not those any more that
// it was opened from, and it can be opened anew.
var ErrLost = errors.New("the device is lost")

// Panic is what a model panics with where the fault arose on a goroutine of its own,
// whose stack is not seen where it is recovered.
type Panic struct {
	Value any    // what was passed to panic
	Stack []byte // where
}

// Error is the value and the stack, as an unrecovered panic prints them.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// NoEOF turns the end of a file where there should be more into an error that says so.
func NoEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
