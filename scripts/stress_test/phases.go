package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"dragoman/scripts/stress_test/internal/openloop"
	"dragoman/scripts/stress_test/internal/report"
	"dragoman/scripts/stress_test/internal/sender"
	"dragoman/scripts/stress_test/internal/traffic"
)

// plan is what a phase is to do.
type plan struct {
	name  string
	rate  float64 // per second; 0: all at once
	over  time.Duration
	times []time.Duration // when requests are due; none with clients
}

// plan makes the plan for a rate; 0 stands for clients, or for requests at fixed intervals.
func (o *options) plan(rate float64) plan {
	var schedule iter.Seq[time.Duration]
	p := plan{rate: rate, over: time.Duration(o.duration)}
	if o.clients > 0 {
		p.name = fmt.Sprintf("%d clients", o.clients)
		return p
	}
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
	for i := range t.o.warmup {
		if t.sending.Err() != nil {
			return nil
		}
		if _, err := t.sender.Send(t.waiting, i, t.deck.Deal()); err != nil {
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
	phase := report.Phase{Name: p.name, Rate: p.rate, Begin: time.Since(t.began), Over: p.over, Planned: len(p.times)}
	bar := newProgress(t.stderr, t.o.quiet, p.name, cmp.Or(len(p.times), -1))
	var h hand
	send := func(_ context.Context, i int) error {
		c := h.card(t.deck, i)
		var err error
		c.Outcome, err = t.sender.Send(t.waiting, i, c.order) // not until t.sending is done: that would cut answers off
		_ = bar.Add(1)
		return err
	}
	var samples []openloop.Sample
	if t.o.clients > 0 {
		samples = openloop.Closed(t.sending, t.o.clients, p.over, send)
	} else {
		samples = openloop.Run(t.sending, slices.Values(p.times), t.o.maxInFlight, send)
	}
	_ = bar.Clear()
	for i, s := range samples {
		if !errors.Is(s.Err, openloop.ErrCutOff) {
			phase.Requests = append(phase.Requests, report.Request{Sample: s, Outcome: h.card(t.deck, i).Outcome})
		}
	}
	phase.Planned = max(phase.Planned, len(phase.Requests))
	if n, reason := len(samples), t.reason(); reason != nil && (t.o.clients > 0 || n < len(p.times)) {
		if n == 0 {
			return // ended before it began
		}
		phase.Stopped, phase.Over = reason.Error(), samples[n-1].Due
	}
	t.phases = append(t.phases, phase)
	t.sums = append(t.sums, report.Summarize(phase, t.o.limits()))
	t.say(t.sums[len(t.sums)-1])
}

// hand has the orders of a phase, which are dealt one by one, and what became of them.
type hand struct {
	mu    sync.Mutex // guards cards
	cards []*card
}

// card is written by the one request that it is for.
type card struct {
	order traffic.Order
	sender.Outcome
}

// card is that of request i.
func (h *hand) card(deck *traffic.Deck, i int) *card {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.cards) <= i {
		order := deck.Deal()
		h.cards = append(h.cards, &card{order, sender.Outcome{Model: order.Model}}) // also of what is never sent
	}
	return h.cards[i]
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
