package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dragoman/scripts/stress_test/internal/corpus"
	"dragoman/scripts/stress_test/internal/openloop"
	"dragoman/scripts/stress_test/internal/report"
	"dragoman/scripts/stress_test/internal/sender"
	"dragoman/scripts/stress_test/internal/traffic"
)

// grace is the time to wait for answers after an interrupt.
const grace = 5 * time.Second

// Reasons why a test ends before all requests were due.
var (
	errInterrupted = errors.New("an interrupt")
	errMaxDuration = errors.New("--max-duration")
)

// test is a running stress test.
type test struct {
	o              *options
	deck           *traffic.Deck
	senders        []*sender.Sender // by model
	stdout, stderr io.Writer

	sending context.Context // requests are sent until it ends
	waiting context.Context // answers are awaited until it ends, which is later

	sent   int // orders of finished phases and of the warm-up
	phases []report.Phase
	report report.Document
}

// stress runs a stress test and reports it. When ctx ends it sends no more requests, waits a little for the answers to those in
// flight, and reports the results.
func stress(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	t, err := newTest(o, stdout, stderr)
	if err != nil {
		return &usageError{err}
	}
	defer t.disconnect()
	if o.out != "" { // before hours of testing
		if err := os.MkdirAll(o.out, 0o755); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	sending, stop := context.WithTimeoutCause(ctx, time.Duration(o.maxDuration), errMaxDuration)
	defer stop()
	waiting, end := outlive(ctx, grace)
	defer end(nil)
	t.sending, t.waiting = sending, waiting

	asking, stop := context.WithTimeout(sending, 5*time.Second)
	t.report.Service, _ = t.senders[0].Info(asking) // a service without a description is tested all the same
	stop()
	if err := t.warmUp(); err != nil {
		return err
	}
	t.report.Began = time.Now()
	t.run()
	if err := t.write(); err != nil {
		return err
	}
	return t.verdict(ctx)
}

// newTest prepares a test. It fails if the options do not fit the corpus.
func newTest(o *options, stdout, stderr io.Writer) (*test, error) {
	sentences, err := readCorpus(o.corpus)
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	pairs, err := o.pairs(sentences)
	if err != nil {
		return nil, err
	}
	request, err := o.request()
	if err != nil {
		return nil, err
	}
	deck, err := traffic.New(traffic.Config{Models: len(o.models), Pairs: pairs, Corpus: sentences, Records: o.paySize, Lambda: o.lambda, Seed: o.seed})
	if err != nil {
		return nil, err
	}
	t := &test{o: o, deck: deck, stdout: stdout, stderr: stderr,
		report: report.Document{Settings: o.settings(), Missed: []string{}}}
	return t, t.connect(request)
}

// readCorpus reads a file, or the embedded corpus without one.
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

// outlive returns a context that ends some time after ctx, with the cause that Send expects.
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

// warmUp sends requests that do not count. It fails if all of them fail.
func (t *test) warmUp() error {
	var failed error
	for ; t.sent < t.o.warmup && t.sending.Err() == nil; t.sent++ {
		_, err := t.send(t.sent)
		if t.sent == 0 || failed != nil {
			failed = err
		}
	}
	if failed != nil {
		return fmt.Errorf("no request of the warm-up was successful: %w", errors.Unwrap(failed))
	}
	return nil
}

// run sends the requests of all phases. A sweep tries each rate, and the rates between them that --refine adds.
func (t *test) run() {
	if len(t.o.sweep) == 0 {
		t.phase(t.o.rate)
		return
	}
	for _, rate := range slices.Compact(slices.Sorted(slices.Values(t.o.sweep))) {
		t.phase(rate)
	}
	for range t.o.refine {
		if c := t.crossing(); c.Beyond > 0 {
			t.phase((c.Within + c.Beyond) / 2)
		}
	}
	c := t.crossing()
	t.report.Crossing = &c
}

func (t *test) crossing() report.Crossing {
	return report.Cross(t.report.Phases, time.Duration(t.o.limit))
}

// plan returns a phase before its run, and the due times of its requests: none with clients. A rate of 0 means clients, or
// requests at fixed intervals.
func (o *options) plan(rate float64) (report.Phase, []time.Duration) {
	p := report.Phase{Rate: rate, Over: time.Duration(o.duration)}
	var schedule iter.Seq[time.Duration]
	switch sleep := time.Duration(o.sleep); {
	case o.clients > 0:
		p.Name = fmt.Sprintf("%d clients", o.clients)
		return p, nil
	case rate > 0:
		p.Name, schedule = fmt.Sprintf("%g/s", rate), openloop.Poisson(rate, p.Over, o.seed)
	case sleep > 0:
		p.Name, p.Rate, p.Over, schedule = "one every "+sleep.String(), 1/sleep.Seconds(), sleep*time.Duration(o.numReq), openloop.Every(sleep, o.numReq)
	default:
		p.Name, p.Over, schedule = "all at once", 0, openloop.Every(0, o.numReq)
	}
	times := slices.Collect(schedule)
	if o.flags.Changed("num-req") && len(times) > o.numReq {
		times = times[:o.numReq]
		p.Over = times[o.numReq-1]
	}
	p.Planned = len(times)
	return p, times
}

// phase sends the requests of a rate and prints their line. It returns when all are answered, so that no request of a phase is
// still in the service at the next. Once the test is over it does nothing.
func (t *test) phase(rate float64) {
	if t.sending.Err() != nil {
		return
	}
	p, times := t.o.plan(rate)
	bar := newProgress(t.stderr, t.o.quiet, p.Name, cmp.Or(len(times), -1))
	first := t.sent
	send := func(_ context.Context, i int) (sender.Outcome, error) {
		defer func() { _ = bar.Add(1) }()
		return t.send(first + i)
	}
	if t.o.clients > 0 {
		p.Requests = openloop.Closed(t.sending, t.o.clients, p.Over, send)
	} else {
		p.Requests = openloop.Run(t.sending, slices.Values(times), t.o.maxInFlight, send)
	}
	_ = bar.Clear()
	t.nameModels(&p, first)
	n := len(p.Requests)
	p.Planned = max(p.Planned, n)
	t.sent += p.Planned
	if cause := context.Cause(t.sending); cause != nil && (t.o.clients > 0 || n < len(times)) {
		if n == 0 {
			return // ended before it began
		}
		if cause != errMaxDuration {
			cause = errInterrupted
		}
		p.Stopped, p.Over = cause.Error(), p.Requests[n-1].Due
	}
	t.phases = append(t.phases, p)
	s := report.Summarize(p, t.o.limits())
	t.report.Phases = append(t.report.Phases, s)
	if len(t.o.sweep) > 0 {
		fmt.Fprintf(t.stdout, "%s: ", s.Name)
	}
	fmt.Fprintln(t.stdout, s.Line())
}

// write prints the numbers, determines the missed thresholds and writes the files.
func (t *test) write() error {
	d := &t.report
	d.Missed = append(d.Missed, t.o.missed(*d)...)
	if !t.o.quiet && len(d.Phases) > 0 {
		fmt.Fprintln(t.stdout)
		if err := report.WriteTable(t.stdout, d.Phases); err != nil {
			return err
		}
	}
	if d.Crossing != nil && len(d.Phases) > 0 {
		fmt.Fprintln(t.stdout, d.Crossing)
	}
	if t.o.out == "" || len(t.phases) == 0 {
		return nil
	}
	plot, err := report.Plot(t.phases, d.Phases, t.o.limits())
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	numbers, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	err = errors.Join(os.WriteFile(filepath.Join(t.o.out, "summary.json"), append(numbers, '\n'), 0o644),
		os.WriteFile(filepath.Join(t.o.out, "plot.svg"), plot, 0o644))
	if err == nil && !t.o.quiet {
		fmt.Fprintf(t.stdout, "\nNumbers and a plot are in %s.\n", t.o.out)
	}
	return err
}

// verdict returns the error with which a test ends.
func (t *test) verdict(ctx context.Context) error {
	answered, why := 0, "none was due"
	for _, s := range t.report.Phases {
		answered += s.Answered
		for _, example := range s.Examples {
			why = example
		}
	}
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted; the report is of what was done until then")
	case answered == 0:
		return fmt.Errorf("no request was successful: %s", why)
	case len(t.report.Missed) > 0:
		return fmt.Errorf("missed %s", strings.Join(t.report.Missed, "; missed "))
	}
	return nil
}
