package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"dragoman/scripts/stress_test/internal/corpus"
	"dragoman/scripts/stress_test/internal/report"
	"dragoman/scripts/stress_test/internal/sender"
	"dragoman/scripts/stress_test/internal/traffic"
)

// grace is how long answers are waited for after an interrupt.
const grace = 5 * time.Second

// Why a test ends before all requests were due.
var (
	errInterrupted = errors.New("an interrupt")
	errMaxDuration = errors.New("--max-duration")
)

// test is a stress test while it runs.
type test struct {
	o              *options
	deck           *traffic.Deck
	sender         *sender.Sender
	stdout, stderr io.Writer
	began          time.Time // after the warm-up

	sending context.Context // requests are sent until it is done
	waiting context.Context // answers are waited for until it is done, which is later

	services []report.Service
	phases   []report.Phase
	sums     []report.Summary // of the phases
}

// stress does a stress test and reports it. When ctx is done it sends no more requests,
// waits a little for the answers to those on their way, and reports what was done.
func stress(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	t, err := newTest(o, stdout, stderr)
	if err != nil {
		return err
	}
	defer t.sender.Close()
	results, err := openResults(o.out) // before hours of testing
	if err != nil {
		return err
	}

	sending, stop := context.WithTimeoutCause(ctx, time.Duration(o.maxDuration), errMaxDuration)
	defer stop()
	waiting, end := outlive(ctx, grace)
	defer end(nil)
	t.sending, t.waiting = sending, waiting

	t.services = t.ask()
	if err := t.warmUp(); err != nil {
		return err
	}
	t.began = time.Now()
	if len(o.sweep) > 0 {
		t.sweep()
	} else {
		t.phase(o.plan(o.rate))
	}
	missed, err := t.report(results)
	if err != nil {
		return err
	}
	return t.verdict(ctx, missed)
}

// newTest prepares a test. Where the options do not fit the corpus it is a usage error.
func newTest(o *options, stdout, stderr io.Writer) (*test, error) {
	sentences, err := readCorpus(o.corpus)
	if err != nil {
		return nil, &usageError{fmt.Errorf("corpus: %w", err)}
	}
	models, err := o.models(sentences)
	if err != nil {
		return nil, &usageError{err}
	}
	deck, err := traffic.New(traffic.Config{Models: models, Corpus: sentences, Records: o.paySize, Lambda: o.lambda, Seed: o.seed})
	if err != nil {
		return nil, &usageError{err}
	}
	s, err := sender.New(sender.Config{Deck: deck, Key: o.key, Timeout: time.Duration(o.timeout), Retries: o.retries,
		Request: o.request(), AllowEmpty: o.allowEmpty, Same: o.same, HideTimeout: o.hideTimeout, MaxInFlight: o.maxInFlight})
	if err != nil {
		return nil, &usageError{err}
	}
	return &test{o: o, deck: deck, sender: s, stdout: stdout, stderr: stderr}, nil
}

// readCorpus reads a file, or the embedded corpus where there is none.
func readCorpus(path string) (corpus.Corpus, error) {
	if path == "" {
		return corpus.Embedded()
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c, err := corpus.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// outlive returns a context that is done some time after ctx, with the cause that Send
// expects.
func outlive(ctx context.Context, by time.Duration) (context.Context, context.CancelCauseFunc) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(by):
			cancel(sender.ErrUnfinished)
		case <-longer.Done():
		}
	})
	return longer, func(cause error) {
		stop()
		cancel(cause)
	}
}
