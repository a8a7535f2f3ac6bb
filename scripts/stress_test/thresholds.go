package main

import (
	"errors"
	"fmt"
	"time"

	"dragoman/scripts/stress_test/internal/report"
)

// thresholds are what a service has to hold. What is zero is not looked at.
type thresholds struct {
	success       float64 // percent
	p50, p95, p99 seconds // at most
	rate, goodput float64 // per second
}

// checkThresholds checks what was given: a threshold of zero would never be missed.
func (o *options) checkThresholds() error {
	t := o.thresholds
	for _, n := range []struct {
		flag  string
		value float64
	}{
		{"min-success", t.success}, {"max-p50", t.p50.value()}, {"max-p95", t.p95.value()}, {"max-p99", t.p99.value()},
		{"min-rate", t.rate}, {"min-goodput", t.goodput},
	} {
		switch {
		case !o.flags.Changed(n.flag):
		case !(n.value > 0):
			return fmt.Errorf("--%s is %g, expected more than 0", n.flag, n.value)
		case len(o.sweep) > 0 && n.flag != "min-rate":
			return fmt.Errorf("--%s does not go with --sweep, which goes beyond what a service can do: use --min-rate, with --limit", n.flag)
		}
	}
	if t.success > 100 {
		return errors.New("--min-success is more than 100 percent")
	}
	return nil
}

// missed says which thresholds a summary misses.
func (t thresholds) missed(s report.Summary) []string {
	var list []string
	atLeast := func(flag string, got, want float64, unit string) {
		if got < want {
			list = append(list, fmt.Sprintf("--%s %g: it is %g%s", flag, want, got, unit))
		}
	}
	atMost := func(flag string, gotMS float64, want seconds) {
		if want > 0 && gotMS > want.value()*1000 {
			list = append(list, fmt.Sprintf("--%s %s: it is %s", flag, &want, time.Duration(gotMS*float64(time.Millisecond))))
		}
	}
	atLeast("min-success", s.SuccessPercent, t.success, "%")
	atMost("max-p50", s.P50, t.p50)
	atMost("max-p95", s.P95, t.p95)
	atMost("max-p99", s.P99, t.p99)
	atLeast("min-rate", s.PerSecond, t.rate, " answers/s")
	atLeast("min-goodput", s.Goodput, t.goodput, " answers/s")
	return list
}

// missedBySweep says which thresholds a sweep misses.
func (t thresholds) missedBySweep(c report.Crossing) []string {
	if c.Within >= t.rate {
		return nil
	}
	return []string{fmt.Sprintf("--min-rate %g: %s", t.rate, c)}
}

// value is a number of seconds.
func (s seconds) value() float64 { return time.Duration(s).Seconds() }
