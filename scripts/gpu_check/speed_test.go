package gpucheck

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/cuda"
	"dragoman/model/search"
	"dragoman/model/search/searchtest"
)

// sourceTokens and targetTokens are the lengths of all measured sentences; none ends before.
const sourceTokens, targetTokens = 32, 32

// batches runs a benchmark for each number of beams and sentences.
func batches(b *testing.B, measure func(b *testing.B, beams, sentences int)) {
	for _, beams := range []int{1, 5} {
		for _, n := range []int{1, 8, 32, 128, 512} {
			if n <= *most {
				b.Run(fmt.Sprintf("beams=%d/sentences=%d", beams, n), func(b *testing.B) { measure(b, beams, n) })
			}
		}
	}
}

// report reports the median time of a batch.
func report(b *testing.B, sentences int, took []time.Duration) {
	b.ReportMetric(float64(sentences*targetTokens)/median(took).Seconds(), "tokens/s")
}

// BenchmarkDragoman measures the checkpoint in half precision: whole batches, the encoder, a decoder step, the lower bound of a
// step, and the device's idle share of a step.
func BenchmarkDragoman(b *testing.B) {
	if *checkpointFolder == "" {
		b.Skip("no -checkpoint")
	}
	m := open(b, exported(b, *checkpointFolder, model.FP16))
	batches(b, func(b *testing.B, beams, sentences int) { measure(b, m, beams, sentences) })
}

// timed is a batch that measures its time on the device.
type timed interface{ DeviceTime() time.Duration }

func measure(b *testing.B, m *cuda.Model, beams, sentences int) {
	batch, err := m.NewBatch(model.Limits{Rows: beams * sentences, MaxLength: 2 + targetTokens})
	require.NoError(b, err)
	defer func() { require.NoError(b, batch.Close()) }()
	watched := &stopwatch{Batch: batch}
	var totals, encodes []time.Duration
	decode := func() {
		start := time.Now()
		require.NoError(b, batch.Join(b.Context(), sources(m.Spec(), sentences)))
		encodes = append(encodes, time.Since(start))
		_, err := searchtest.Decode(b.Context(), watched, sequences(b, m.Spec(), beams, sentences))
		require.NoError(b, err)
		totals = append(totals, time.Since(start))
	}
	decode() // a warm-up
	totals, encodes, watched.steps = nil, nil, nil
	before := batch.(timed).DeviceTime()
	for b.Loop() {
		decode()
	}
	var inSteps time.Duration
	for _, d := range watched.steps {
		inSteps += d
	}
	report(b, sentences, totals)
	b.ReportMetric(median(encodes).Seconds()*1e3, "encode-ms")
	b.ReportMetric(median(watched.steps).Seconds()*1e3, "step-ms")
	b.ReportMetric(100*(1-(batch.(timed).DeviceTime()-before).Seconds()/inSteps.Seconds()), "host-%")
	if *bandwidth > 0 {
		b.ReportMetric(floor(m.Spec()), "floor-ms")
	}
}

// floor returns the time in ms that the card's memory needs to read the decoder's weights once.
func floor(spec model.Spec) float64 {
	d := spec.DModel
	layer := 6*d*spec.Decoder.Inner(d) + spec.FFNMatrices()*d*spec.Decoder.FFN // the encoder computes the keys and values of cross-attention
	return 2 * float64(spec.Decoder.Layers*layer+spec.VocabSize*d) / *bandwidth / 1e6
}

// stopwatch measures the times of steps.
type stopwatch struct {
	model.Batch
	steps []time.Duration
}

func (s *stopwatch) Step(ctx context.Context, feeds []model.Feed, k int) (model.Candidates, error) {
	start := time.Now()
	defer func() { s.steps = append(s.steps, time.Since(start)) }()
	return s.Batch.Step(ctx, feeds, k)
}

// sources returns random sentences.
func sources(spec model.Spec, n int) [][]int64 {
	rng := rand.New(rand.NewPCG(1, 2))
	all := make([][]int64, n)
	for i := range all {
		all[i] = make([]int64, sourceTokens)
		for j := range all[i] {
			all[i][j] = 4 + rng.Int64N(int64(spec.VocabSize)-120)
		}
	}
	return all
}

// target returns the token of an arbitrary language.
func target(spec model.Spec) int64 { return int64(spec.VocabSize - 50) }

// sequences returns searches that continue to the maximum length.
func sequences(b *testing.B, spec model.Spec, beams, n int) []*search.Sequence {
	options := search.DefaultOptions(spec.Generation)
	options.Beams, options.MaxLength, options.MinLength = beams, 2+targetTokens, 2+targetTokens
	all := make([]*search.Sequence, n)
	for i := range all {
		var err error
		all[i], err = search.NewSequence(options, search.Constraints{}, []int64{spec.DecoderStart, target(spec)}, spec)
		require.NoError(b, err)
	}
	return all
}

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}
