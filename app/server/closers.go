package server

import (
	"context"
	"errors"
	"slices"
)

// closers are the functions that close opened resources.
type closers []func() error

// closes registers a function for Close.
func (c *closers) closes(what func() error) { *c = append(*c, what) }

// Close closes all resources, the last opened one first. A second call does nothing.
func (c *closers) Close() error {
	var errs []error
	for _, what := range slices.Backward(*c) {
		errs = append(errs, what())
	}
	*c = nil
	return errors.Join(errs...)
}

// closeAfter calls Close if an error was returned. Callers defer it.
func (c *closers) closeAfter(err *error) {
	if *err != nil {
		*err = errors.Join(*err, c.Close())
	}
}

// inBackground runs a function until stop is called. stop waits for the function's end.
func inBackground(ctx context.Context, run func(ctx context.Context)) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(ctx)
	}()
	return func() error {
		cancel()
		<-ended
		return nil
	}
}
