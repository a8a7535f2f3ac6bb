package monitor

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// sample is what one poll of a server found. Numbers that are missing, or that are none
// a server can have, are NaN.
type sample struct {
	time    time.Time // when the answer had been read, on this machine's clock
	numbers [numbers]float64
	// The times that requests for translations took until their 2xx was complete, and
	// that sentences waited; nil where they are missing.
	requests, queue distribution
}

// errForeign is the error of metrics that are not a dragoman's.
var errForeign = errors.New("these are not dragoman's metrics: is another service listening there?")

// readSample reads metrics in Prometheus' text format.
func readSample(text string) (*sample, error) {
	all, err := parse(text)
	if err != nil {
		return nil, err
	}
	if all["dragoman_ready"] == nil {
		return nil, errForeign
	}
	s := &sample{}
	for n, rule := range rules {
		s.numbers[n] = rule.read(all)
	}
	// The room of all steps until now: the limit is the same from start to end.
	s.numbers[stepRoom] = known(s.numbers[steps] * rowsLimit.read(all))
	s.requests = distributionOf(all[durations+"_bucket"], answeredRequests)
	s.queue = distributionOf(all[stages+"_bucket"], label("stage", "queue"))
	return s, nil
}

// series are the values of metrics by name. A histogram has those of its _bucket, _sum and
// _count.
type series map[string]model.Vector

// parse reads the series of metrics.
func parse(text string) (all series, err error) {
	// The parser is not made for hostile input: a label set without a name below a TYPE
	// line makes it panic.
	defer func() {
		if caught := recover(); caught != nil {
			all, err = nil, fmt.Errorf("the metrics cannot be parsed: %v", caught)
		}
	}()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("the metrics cannot be parsed: %w", err)
	}
	list, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, slices.Collect(maps.Values(families))...)
	if err != nil {
		return nil, fmt.Errorf("the metrics cannot be parsed: %w", err)
	}
	all = series{}
	for _, s := range list {
		name := string(s.Metric[model.MetricNameLabel])
		all[name] = append(all[name], s)
	}
	return all, nil
}

// restartedSince says whether the server began again between an earlier sample and s.
func (s *sample) restartedSince(earlier *sample) bool {
	// The start is derived from the machine's time of boot, which moves by a second
	// when its clock is set.
	const slack = 2
	if s.numbers[started] > earlier.numbers[started]+slack {
		return true
	}
	for _, c := range []number{answered, failed, refused, errored, cancelled, records, queued, joins, steps, stepRows} {
		if s.numbers[c] < earlier.numbers[c] {
			return true
		}
	}
	return false
}

// read adds up. It is NaN where nothing is there to add, or something is no number that
// a count or a size can be.
func (r rule) read(all series) float64 {
	sum, found := 0.0, r.lazy
	for _, s := range all[r.name] {
		if r.keep == nil || r.keep(s.Metric) {
			sum += known(float64(s.Value))
			found = true
		}
	}
	if !found {
		return math.NaN()
	}
	return known(sum)
}

// known is a number that a count or a size can be, and NaN for others.
func known(v float64) float64 {
	if v < 0 || math.IsInf(v, 1) {
		return math.NaN()
	}
	return v
}
