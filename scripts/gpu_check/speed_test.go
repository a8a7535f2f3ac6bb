package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"text/tabwriter"
	"time"

	"dragoman/model"
	"dragoman/model/cuda"
	"dragoman/model/search"
)

// sourceTokens and targetTokens are the lengths of all sentences that speed is measured
// with; none ends before.
const sourceTokens, targetTokens = 32, 32

// measurement is how long a batch takes.
type measurement struct {
	Side      string  `json:"side"`
	Beams     int     `json:"beams"`
	Sentences int     `json:"sentences"`
	Seconds   float64 `json:"seconds"` // of the whole batch, the median
	Tokens    float64 `json:"tokens_per_second"`
	// Of dragoman only.
	EncodeMS float64 `json:"encode_ms,omitempty"`
	StepMS   float64 `json:"step_ms,omitempty"`   // the median
	HostPart float64 `json:"host_part,omitempty"` // of a step: outside of copies and kernels
	FloorMS  float64 `json:"floor_ms,omitempty"`  // what reading the decoder's weights takes
	Error    string  `json:"error,omitempty"`
}

// speed measures the checkpoint in half precision.
func (s *session) speed() {
	s.check("speed", func(values map[string]any) (err error) {
		dir, err := s.export(s.checkpoint, model.FP16)
		if err != nil {
			return err
		}
		m, err := s.open(dir)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, m.Close()) }()
		for _, beams := range []int{1, 5} {
			for _, n := range s.sentences {
				row := measurement{Side: "dragoman", Beams: beams, Sentences: n, FloorMS: s.floor(m.Spec())}
				if err := s.measure(m, &row); err != nil {
					row.Error = err.Error()
				}
				fmt.Fprintf(s.out, "%+v\n", row)
				s.report.Speed = append(s.report.Speed, row)
			}
		}
		for _, row := range s.report.Speed {
			if row.Error != "" {
				err = errors.Join(err, fmt.Errorf("%d sentences with %d beams: %s", row.Sentences, row.Beams, row.Error))
			}
		}
		return err
	})
}

// floor is the time, in ms, in which the card's memory can deliver the decoder's
// weights once.
func (s *session) floor(spec model.Spec) float64 {
	if s.bandwidth == 0 {
		return 0
	}
	d := spec.DModel
	layer := 6*d*d + 2*d*spec.Decoder.FFN // cross attention's keys and values are the encoder's
	return 2 * float64(spec.Decoder.Layers*layer+spec.VocabSize*d) / s.bandwidth / 1e6
}

// timed is a batch that knows how long the device had it.
type timed interface{ DeviceTime() time.Duration }

// measure decodes batches until the time is over.
func (s *session) measure(m *cuda.Model, row *measurement) (err error) {
	batch, err := m.NewBatch(model.Limits{Rows: row.Beams * row.Sentences, MaxLength: 2 + targetTokens})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, batch.Close()) }()
	var totals, encodes, steps []time.Duration
	var device, inSteps time.Duration
	for begin := time.Now(); len(totals) < 3 || time.Since(begin) < s.seconds; {
		start := time.Now()
		if err := batch.Join(context.Background(), sources(m.Spec(), row.Sentences)); err != nil {
			return err
		}
		encodes = append(encodes, time.Since(start))
		sequences, err := sequences(m.Spec(), row)
		if err != nil {
			return err
		}
		before := batch.(timed).DeviceTime()
		watched := &stopwatch{Batch: batch}
		if _, err := search.Decode(context.Background(), watched, sequences); err != nil {
			return err
		}
		totals = append(totals, time.Since(start))
		if len(totals) == 1 {
			continue // a warm-up
		}
		steps = append(steps, watched.steps...)
		device += batch.(timed).DeviceTime() - before
		for _, d := range watched.steps {
			inSteps += d
		}
	}
	row.Seconds = median(totals[1:]).Seconds()
	row.Tokens = float64(row.Sentences*targetTokens) / row.Seconds
	row.EncodeMS, row.StepMS = ms(median(encodes[1:])), ms(median(steps))
	row.HostPart = 1 - device.Seconds()/inSteps.Seconds()
	return nil
}

// stopwatch takes the time of steps.
type stopwatch struct {
	model.Batch
	steps []time.Duration
}

func (s *stopwatch) Step(ctx context.Context, feeds []model.Feed, k int) (model.Candidates, error) {
	start := time.Now()
	defer func() { s.steps = append(s.steps, time.Since(start)) }()
	return s.Batch.Step(ctx, feeds, k)
}

// sources are random sentences.
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

// target is the token of some language.
func target(spec model.Spec) int64 { return int64(spec.VocabSize - 50) }

// sequences are searches that go on to the end.
func sequences(spec model.Spec, row *measurement) ([]*search.Sequence, error) {
	options := search.DefaultOptions(spec.Generation)
	options.Beams, options.MaxLength, options.MinLength = row.Beams, 2+targetTokens, 2+targetTokens
	all := make([]*search.Sequence, row.Sentences)
	for i := range all {
		var err error
		if all[i], err = search.NewSequence(options, []int64{spec.DecoderStart, target(spec)}, spec.EOS, spec.VocabSize); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

// tables prints what was measured.
func (s *session) tables() error {
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "side\tbeams\tsentences\ttokens/s\tencode ms\tstep ms\tfloor ms\thost\t")
	for _, row := range slices.Concat(s.report.Speed, s.report.Peers) {
		if row.Error != "" {
			fmt.Fprintf(w, "%s\t%d\t%d\t%s\t\t\t\t\t\n", row.Side, row.Beams, row.Sentences, row.Error)
			continue
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%.0f\t%.2f\t%.3f\t%.3f\t%.0f%%\t\n", row.Side, row.Beams, row.Sentences, row.Tokens,
			row.EncodeMS, row.StepMS, row.FloorMS, 100*row.HostPart)
	}
	return w.Flush()
}
