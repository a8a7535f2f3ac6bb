package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"dragoman/scripts/bench/openloop"
	"dragoman/scripts/stress_test/internal/report"
	"dragoman/scripts/stress_test/internal/sender"
)

// plan is what a phase is to do.
type plan struct {
	name  string
	rate  float64 // per second; 0: all at once
	over  time.Duration
	times []time.Duration // when requests are due
}

// plan makes the plan for a rate; 0 stands for requests at fixed intervals.
func (o *options) plan(rate float64) plan {
	var schedule iter.Seq[time.Duration]
	p := plan{rate: rate, over: time.Duration(o.duration)}
	switch sleep := time.Duration(o.sleep); {
	case rate == 0:
		schedule, p.over = openloop.Every(sleep, o.numReq), sleep*time.Duration(o.numReq)
		p.name = "all at once"
		if sleep > 0 {
			p.name, p.rate = "one every "+sleep.String(), 1/sleep.Seconds()
		}
	case o.windows:
		schedule, p.name = openloop.Windows(rate, p.over, o.seed), fmt.Sprintf("%g/s in windows", rate)
	default:
		schedule, p.name = openloop.Poisson(rate, p.over, o.seed), fmt.Sprintf("%g/s", rate)
	}
	p.times = slices.Collect(schedule)
	if o.flags.Changed("num-req") && len(p.times) > o.numReq {
		p.times = p.times[:o.numReq]
		p.over = p.times[o.numReq-1]
	}
	return p
}

// ask asks each service what it serves. One that does not say is tested all the same.
func (t *test) ask() []report.Service {
	var services []report.Service
	for _, url := range t.o.urls {
		ctx, cancel := context.WithTimeout(t.sending, 5*time.Second)
		info, err := t.sender.Info(ctx, url)
		cancel()
		s := report.Service{URL: url, Version: info.Version}
		if info.Model != nil {
			s.Model, s.Precision = info.Model.Source, info.Model.Precision
		}
		if err != nil {
			s.Error = err.Error()
		}
		services = append(services, s)
	}
	return services
}

// warmUp sends requests that do not count. It fails where all do.
func (t *test) warmUp() error {
	var last error
	answered := 0
	for i, order := range t.deck.Deal(t.o.warmup) {
		if t.sending.Err() != nil {
			return nil
		}
		if _, err := t.sender.Send(t.waiting, i, order); err != nil {
			last = err
		} else {
			answered++
		}
	}
	if last != nil && answered == 0 {
		return fmt.Errorf("no request of the warm-up was successful: %w", errors.Unwrap(last))
	}
	return nil
}

// sweep tries each rate, and those between that --refine asks for.
func (t *test) sweep() {
	rates := slices.Compact(slices.Sorted(slices.Values(t.o.sweep)))
	for _, rate := range rates {
		t.phase(t.o.plan(rate))
	}
	for range t.o.refine {
		c := report.Cross(t.sums, time.Duration(t.o.limit))
		if c.Beyond == 0 {
			return
		}
		t.phase(t.o.plan((c.Within + c.Beyond) / 2))
	}
}

// phase sends the requests of a plan and prints its line. It returns when all are
// answered, so that nothing of one phase waits in the service at the next. When the test
// is over it does nothing.
func (t *test) phase(p plan) {
	if t.sending.Err() != nil {
		return
	}
	orders, outcomes := t.deck.Deal(len(p.times)), make([]sender.Outcome, len(p.times))
	for i := range outcomes {
		outcomes[i].Model = orders[i].Model // also of what is never sent
	}
	began := time.Since(t.began)
	t.progress.begin(p.name, len(p.times))
	runner := openloop.Runner{MaxInFlight: t.o.maxInFlight, Done: t.progress.done}
	samples := runner.Run(t.sending, slices.Values(p.times), func(_ context.Context, i int) (err error) {
		outcomes[i], err = t.sender.Send(t.waiting, i, orders[i]) // not until t.sending is done: that would cut answers off
		return err
	})
	t.progress.end()

	phase := report.Phase{Name: p.name, Rate: p.rate, Begin: began, Over: p.over, Planned: len(p.times)}
	for i, s := range samples {
		phase.Requests = append(phase.Requests, report.Request{Sample: s, Outcome: outcomes[i]})
	}
	if n := len(samples); n < len(p.times) {
		if n == 0 {
			return // ended before it began
		}
		phase.Stopped, phase.Over = t.reason().Error(), p.times[n-1]
	}
	t.phases = append(t.phases, phase)
	t.sums = append(t.sums, report.Summarize(phase, t.o.limits()))
	t.say(t.sums[len(t.sums)-1])
}

// reason is why no more requests are sent; nil: they are.
func (t *test) reason() error {
	switch cause := context.Cause(t.sending); {
	case cause == nil, errors.Is(cause, errMaxDuration):
		return cause
	default:
		return errInterrupted
	}
}
