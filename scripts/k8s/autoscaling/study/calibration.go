package study

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"

	"dragoman/scripts/k8s/autoscaling/pod"
)

// Measured is a run of the benchmark under load: so many requests at random times within
// some seconds, against one service.
type Measured struct {
	Model    string  `json:"model"`
	Side     string  `json:"side"`
	Kind     string  `json:"kind"`
	Share    float64 `json:"share"` // of the capacity, that was aimed at
	Requests int     `json:"requests"`
	Seconds  float64 `json:"seconds"`
	P50      float64 `json:"p50_ms"`
	P95      float64 `json:"p95_ms"`
	Noisy    bool    `json:"noisy"`
}

// Calibration compares the model of a pod with what was measured at a load. All are
// medians over the runs; latencies in seconds.
type Calibration struct {
	Share                     float64 // of the capacity, that was aimed at
	Rate                      float64 // requests per second that came
	Runs                      int
	MeasuredP50, ModelP50     float64
	MeasuredP95, ModelP95     float64
	LowestP95, HighestP95     float64 // of the measured runs
	ModelLowP95, ModelHighP95 float64 // 5% and 95% of what the model makes of such runs
}

// ReadMeasured reads the runs of dragoman with a model from docs/benchmarks/served.json.
func ReadMeasured(path, model string) ([]Measured, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read what was measured: %w", err)
	}
	var file struct {
		Runs []Measured `json:"runs"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	runs := slices.DeleteFunc(file.Runs, func(m Measured) bool {
		return m.Model != model || m.Side != "dragoman" || m.Kind != "rate" || m.Noisy
	})
	if len(runs) == 0 {
		return nil, fmt.Errorf("%s: no runs of dragoman with the model %s", path, model)
	}
	return runs, nil
}

// repetitions of each measured run by the model.
const repetitions = 100

// Calibrate lets a pod of a shape take what the measured services took: as many requests,
// within the same time, of 32 tokens each. They come at other moments, so many such
// runs are made.
func Calibrate(shape pod.Shape, measured []Measured) []Calibration {
	byShare := map[float64][]Measured{}
	for _, m := range measured {
		byShare[m.Share] = append(byShare[m.Share], m)
	}
	var out []Calibration
	for share, runs := range byShare {
		out = append(out, calibrate(shape, share, runs))
	}
	slices.SortFunc(out, func(a, b Calibration) int { return cmp.Compare(a.Share, b.Share) })
	return out
}

func calibrate(shape pod.Shape, share float64, runs []Measured) Calibration {
	c := Calibration{Share: share, Runs: len(runs)}
	var rates, p50, p95, model50, model95 []float64
	for i, m := range runs {
		rates = append(rates, float64(m.Requests)/m.Seconds)
		p50, p95 = append(p50, m.P50/1000), append(p95, m.P95/1000)
		for r := range repetitions {
			latencies := replay(shape, m, uint64(repetitions*i+r))
			model50 = append(model50, quantile(latencies, 0.5))
			model95 = append(model95, quantile(latencies, 0.95))
		}
	}
	c.Rate = quantile(rates, 0.5)
	c.MeasuredP50, c.MeasuredP95 = quantile(p50, 0.5), quantile(p95, 0.5)
	c.ModelP50, c.ModelP95 = quantile(model50, 0.5), quantile(model95, 0.5)
	c.LowestP95, c.HighestP95 = slices.Min(p95), slices.Max(p95)
	c.ModelLowP95, c.ModelHighP95 = quantile(model95, 0.05), quantile(model95, 0.95)
	return c
}

// latencies is a sink for the answers of one pod.
type latencies []float64

// Record is that of [pod.Sink].
func (l *latencies) Record(r pod.Request, _ pod.Outcome, at float64) { *l = append(*l, at-r.Arrived) }

// replay lets one pod take the requests of a measured run at random times.
func replay(shape pod.Shape, m Measured, seed uint64) []float64 {
	const tokens, endless = 32, 1e6
	r := rand.New(rand.NewPCG(seed, 3))
	at := make([]float64, m.Requests)
	for i := range at {
		at[i] = m.Seconds * r.Float64()
	}
	slices.Sort(at)
	var out latencies
	p := pod.New(shape, pod.DefaultLimits(), &out, 0)
	for _, t := range at {
		p.Offer(pod.Request{Arrived: t, Patience: endless, Source: tokens, Target: tokens})
	}
	p.Advance(endless / 2)
	return out
}

// quantile sorts values and returns the one below which a share of them lies; the mean of
// the two in the middle where that is even.
func quantile(values []float64, q float64) float64 {
	slices.Sort(values)
	at := q * float64(len(values)-1)
	i := int(at)
	if i+1 == len(values) {
		return values[i]
	}
	return values[i] + (at-float64(i))*(values[i+1]-values[i])
}
