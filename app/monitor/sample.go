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

// sample is what one poll of a server found. Numbers that are missing, or that
// no server can have, are NaN.
type sample struct {
	time    time.Time        // when the answer had been read, on this machine's clock
	numbers measures         // of the server and all of its models together
	parts   map[ref]measures // of these, each on its own
	states  map[ref]string   // of the models that the server can translate with, or should
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
	s := &sample{parts: map[ref]measures{}, states: statesOf(all)}
	for of, own := range all.byModel() {
		s.parts[of] = measure(own, of != ref{})
	}
	s.numbers = together(maps.Values(s.parts))
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
	// Those of models may fall: models come and go.
	now, before := s.parts[ref{}], earlier.parts[ref{}]
	for _, c := range []number{answered, failed, refused, errored, cancelled, records, queued, joins, steps, stepRows} {
		if now[c] < before[c] {
			return true
		}
	}
	return false
}

// read adds up. It is NaN where there is nothing to add, or a value can be neither a count
// nor a size. ofModel says that the series are those of a model.
func (r rule) read(all series, ofModel bool) float64 {
	sum, found := 0.0, r.lazy && r.ofModels == ofModel
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

// known is v where it can be a count or a size, else NaN.
func known(v float64) float64 {
	if v < 0 || math.IsInf(v, 1) {
		return math.NaN()
	}
	return v
}
