package main

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"dragoman/scripts/stress_test/internal/corpus"
	"dragoman/scripts/stress_test/internal/report"
)

// mostRequests is the maximum number of requests in a test: all are kept until the report.
const mostRequests = 1_000_000

// check validates the options, without the corpus.
func (o *options) check() error {
	if err := errors.Join(o.checkWays(), o.checkNumbers(), o.checkThresholds()); err != nil {
		return err
	}
	for _, t := range o.targets() {
		if u, err := url.Parse(t.url); err == nil && u.User != nil { // it would be in all reports
			return fmt.Errorf("--%s has a user name, for %s: leave it out, and use --key", t.flag, u.Host)
		}
	}
	return o.checkModels()
}

// checkWays checks that one way of timing requests is chosen, without options of another.
func (o *options) checkWays() error {
	changed := o.flags.Changed
	for _, pair := range [][2]string{
		{"clients", "rate"}, {"clients", "sweep"}, {"clients", "sleep"}, {"clients", "num-req"},
		{"rate", "sweep"}, {"rate", "sleep"}, {"sweep", "sleep"}, {"sweep", "num-req"},
	} {
		if changed(pair[0]) && changed(pair[1]) {
			return fmt.Errorf("--%s does not go with --%s: use one of them", pair[1], pair[0])
		}
	}
	switch {
	case changed("duration") && !changed("rate") && !changed("sweep") && !changed("clients"):
		return errors.New("--duration needs --rate, --sweep or --clients")
	case changed("refine") && !changed("sweep"):
		return errors.New("--refine needs --sweep")
	}
	return nil
}

// checkNumbers checks that numbers, and the resulting number of requests, are within their limits.
func (o *options) checkNumbers() error {
	type number struct {
		flag             string
		value, low, high float64
	}
	numbers := []number{
		{"pay-size", float64(o.paySize), 1, 100_000}, {"num-req", float64(o.numReq), 1, mostRequests},
		{"lambda", o.lambda, 0, 100}, {"refine", float64(o.refine), 0, 100}, {"warmup", float64(o.warmup), 0, mostRequests},
		{"clients", float64(o.clients), 0, 65_536}, {"max-in-flight", float64(o.maxInFlight), 1, 65_536},
		{"timeout", o.timeout.value(), 0.001, mostSeconds}, {"limit", o.limit.value(), 0.0001, mostSeconds},
		{"duration", o.duration.value(), 0.001, mostSeconds}, {"max-duration", o.maxDuration.value(), 0.001, mostSeconds},
		{"num-req × --sleep", float64(o.numReq) * o.sleep.value(), 0, mostSeconds},
	}
	total, rates := 0.0, o.sweep
	if o.flags.Changed("rate") {
		rates = []float64{o.rate}
	}
	for _, rate := range rates {
		numbers = append(numbers, number{"rate or --sweep", rate, 1e-6, 100_000})
		total += rate * o.duration.value()
	}
	if len(rates) > 0 {
		total += float64(o.refine) * slices.Max(rates) * o.duration.value()
	}
	for _, n := range append(numbers, number{"duration × rates", total, 0, mostRequests}) {
		if !(n.value >= n.low && n.value <= n.high) { // false for NaN
			return fmt.Errorf("--%s is %g, expected %g to %g", n.flag, n.value, n.low, n.high)
		}
	}
	return nil
}

// pairs returns the pairs of --from and --to; if one of them has a single language, it is paired with all of the other. Without
// both it returns the pairs of the corpus.
func (o *options) pairs(c corpus.Corpus) ([]corpus.Pair, error) {
	from, to := o.from, o.to
	switch {
	case len(from) == 0 && len(to) == 0:
		if pairs := c.Pairs(); len(pairs) > 0 {
			return pairs, nil
		}
		return nil, errors.New("the corpus does not say its languages: use --from and --to")
	case len(from) == 1:
		from = slices.Repeat(from, len(to))
	case len(to) == 1:
		to = slices.Repeat(to, len(from))
	}
	if len(from) != len(to) || len(from) == 0 {
		return nil, fmt.Errorf("--from has %d languages and --to has %d: give as many, or one of one of them", len(from), len(to))
	}
	var pairs []corpus.Pair
	for i := range from {
		p := corpus.Pair{From: strings.TrimSpace(from[i]), To: strings.TrimSpace(to[i])}
		if p.From == "" || p.To == "" || p.To == corpus.Auto || p.From == p.To {
			return nil, fmt.Errorf("%q cannot be translated to %q", p.From, p.To)
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// threshold is a requirement for the service: a minimum number, or a maximum time.
type threshold struct {
	flag, help, unit string
	of               func(report.Summary) float64
	number           float64
	time             seconds
}

func thresholds() []threshold {
	return []threshold{
		{flag: "min-success", help: "percentage of successful requests", unit: "%", of: func(s report.Summary) float64 { return s.SuccessPercent }},
		{flag: "max-p50", help: "half of the latencies", unit: "s", of: func(s report.Summary) float64 { return s.P50 / 1000 }},
		{flag: "max-p95", help: "95% of the latencies", unit: "s", of: func(s report.Summary) float64 { return s.P95 / 1000 }},
		{flag: "max-p99", help: "99% of the latencies", unit: "s", of: func(s report.Summary) float64 { return s.P99 / 1000 }},
		{flag: "min-rate", help: "answers per second; of a sweep: the rate up to which p95 is within --limit", unit: " answers/s",
			of: func(s report.Summary) float64 { return s.PerSecond }},
		{flag: "min-goodput", help: "answers per second within --limit", unit: " answers/s", of: func(s report.Summary) float64 { return s.Goodput }},
	}
}

// checkThresholds checks the given thresholds: a threshold of zero would never be missed.
func (o *options) checkThresholds() error {
	for _, t := range o.thresholds {
		switch {
		case !o.flags.Changed(t.flag):
		case !(t.number+t.time.value() > 0), t.unit == "%" && t.number > 100:
			return fmt.Errorf("--%s is %s, expected more than 0, and at most 100 percent", t.flag, o.flags.Lookup(t.flag).Value)
		case len(o.sweep) > 0 && t.flag != "min-rate":
			return fmt.Errorf("--%s does not go with --sweep, which goes beyond what a service can do: use --min-rate, with --limit", t.flag)
		}
	}
	return nil
}

// missed returns the thresholds that a test misses.
func (o *options) missed(d report.Document) (list []string) {
	for _, t := range o.thresholds {
		want, got := t.number, 0.0
		switch {
		case !o.flags.Changed(t.flag):
			continue
		case d.Crossing != nil:
			got = d.Crossing.Within
		case len(d.Phases) > 0:
			got = t.of(d.Phases[0])
		}
		if t.unit == "s" {
			want, got = -t.time.value(), -got
		}
		if got < want {
			list = append(list, fmt.Sprintf("--%s %s: it is %.6g%s", t.flag, o.flags.Lookup(t.flag).Value, math.Abs(got), t.unit))
		}
	}
	return list
}
