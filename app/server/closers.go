package server

import (
	"context"
	"errors"
	"slices"
)

// closers end what was opened.
type closers []func() error

// closes has something ended by Close.
func (c *closers) closes(what func() error) { *c = append(*c, what) }

// Close ends everything, what was opened last first. Closing again does nothing.
func (c *closers) Close() error {
	var errs []error
	for _, what := range slices.Backward(*c) {
		errs = append(errs, what())
	}
	*c = nil
	return errors.Join(errs...)
}

// closeAfter is Close where what was to be opened has failed. It is deferred.
func (c *closers) closeAfter(err *error) {
	if *err != nil {
		*err = errors.Join(*err, c.Close())
	}
}

// inBackground has something run until stop is called, which waits for its end.
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
