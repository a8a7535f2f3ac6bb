package monitor

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// sample is what one poll of a server found. Numbers that are missing, or that are none
// a server can have, are NaN.
type sample struct {
	time     time.Time // when the answer had been read, on this machine's clock
	counters [counters]float64
	levels   [levels]float64
	// The times that requests for translations took until their 2xx was complete, and
	// that sentences waited; nil where they are missing.
	requests, queue distribution
}

// errForeign is the error of metrics that are not a dragoman's.
var errForeign = errors.New("these are not dragoman's metrics: is another service listening there?")

// readSample reads metrics in Prometheus' text format.
func readSample(text string) (*sample, error) {
	families, err := parse(text)
	if err != nil {
		return nil, err
	}
	if families[readyFamily] == nil {
		return nil, errForeign
	}
	s := &sample{}
	for c, rule := range counterRules {
		s.counters[c] = rule.read(families)
	}
	for l, rule := range levelRules {
		s.levels[l] = rule.read(families)
	}
	// The room of all steps until now: the limit is the same from start to end.
	if room := s.counters[steps] * rowsLimit.read(families); math.IsInf(room, 1) {
		s.counters[stepRoom] = math.NaN()
	} else {
		s.counters[stepRoom] = room
	}
	s.requests = distributionOf(families[durationFamily], answeredRequests)
	s.queue = distributionOf(families[stageFamily], label("stage", "queue"))
	return s, nil
}

// parse returns the families of metrics by name.
func parse(text string) (families map[string]*dto.MetricFamily, err error) {
	// The parser is not made for hostile input: a label set without a name below a TYPE
	// line makes it panic.
	defer func() {
		if caught := recover(); caught != nil {
			families, err = nil, fmt.Errorf("the metrics cannot be parsed: %v", caught)
		}
	}()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err = parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("the metrics cannot be parsed: %w", err)
	}
	return families, nil
}

// restartedSince says whether the server began again between an earlier sample and s.
func (s *sample) restartedSince(earlier *sample) bool {
	// The start is derived from the machine's time of boot, which moves by a second
	// when its clock is set.
	const slack = 2
	if s.levels[started] > earlier.levels[started]+slack {
		return true
	}
	for _, c := range []counter{answered, failed, refused, errored, cancelled, records, queued, joins, steps, stepRows} {
		if s.counters[c] < earlier.counters[c] {
			return true
		}
	}
	return false
}

// rule says where a number is read: it is the sum of the series of a family.
type rule struct {
	family string                     // "": nowhere
	keep   func(*dto.Metric) bool     // the series; nil: all
	part   func(*dto.Metric) *float64 // of a series; nil where it has none; nil: its value
	// lazy is set where series appear with the first event that they count, so that the
	// sum of none is 0.
	lazy bool
}

// read adds up. It is NaN where nothing is there to add, or something is no number that
// a count or a size can be.
func (r rule) read(families map[string]*dto.MetricFamily) float64 {
	sum, found := 0.0, r.lazy
	for _, m := range families[r.family].GetMetric() {
		if r.keep != nil && !r.keep(m) {
			continue
		}
		part := r.part
		if part == nil {
			part = value
		}
		v := part(m)
		if v == nil || !(*v >= 0) || math.IsInf(*v, 1) {
			return math.NaN()
		}
		sum += *v
		found = true
	}
	if !found || math.IsInf(sum, 1) {
		return math.NaN()
	}
	return sum
}

// value is the number of a series that is no histogram.
func value(m *dto.Metric) *float64 {
	switch {
	case m.Counter != nil:
		return m.Counter.Value
	case m.Gauge != nil:
		return m.Gauge.Value
	case m.Untyped != nil:
		return m.Untyped.Value
	}
	return nil
}

// total is the sum of what a histogram has observed.
func total(m *dto.Metric) *float64 {
	if m.Histogram == nil {
		return nil
	}
	return m.Histogram.SampleSum
}

// number is how many observations a histogram has.
func number(m *dto.Metric) *float64 {
	if m.Histogram == nil {
		return nil
	}
	n := either(m.Histogram.SampleCountFloat, m.Histogram.SampleCount)
	return &n
}

// either is a count as the parser leaves it: as a whole number, or as another one.
func either(fraction *float64, whole *uint64) float64 {
	if fraction != nil {
		return *fraction
	}
	if whole != nil {
		return float64(*whole)
	}
	return 0
}

// label keeps series with a value of a label.
func label(name, want string) func(*dto.Metric) bool {
	return func(m *dto.Metric) bool { return labelOf(m, name) == want }
}

// labelOf is the value of a label; "" where there is none.
func labelOf(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}
