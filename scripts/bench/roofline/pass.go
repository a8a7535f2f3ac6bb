//go:build linux && (amd64 || arm64)

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"

	"dragoman/model"
	"dragoman/model/search"
)

// cell is what is measured: the encoder, with beams 0, or a decoder step.
type cell struct {
	Precision model.Precision `json:"precision"`
	Threads   int             `json:"threads"`
	Beams     int             `json:"beams"`
	Sentences int             `json:"sentences"`
}

func (c cell) rows() int { return c.Sentences * max(c.Beams, 1) }

// sample is one step, or one run of the encoder.
type sample struct {
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu"`  // seconds, of all threads
	Past    int     `json:"past"` // tokens of a row that attention looked at
}

const (
	prefixTokens = 16 // forced, so that steps have a past
	steps        = 5  // of each number of sentences
	encoderMost  = 32 // sentences that the encoder takes at once
)

// sizes are how many sentences decode together, which leave bit by bit.
func sizes(beams int) []int {
	if beams == 1 {
		return []int{160, 80, 32, 16, 8, 4, 2, 1}
	}
	return []int{32, 16, 8, 4, 2, 1}
}

// pass decodes sentences that leave bit by bit, as translations do: so a few seconds give
// samples of all cells. It takes the time of everything, the search and Go included.
func pass(ctx context.Context, m model.Model, side cell, record func(cell, sample)) (err error) {
	counts := sizes(side.Beams)
	most := counts[0]
	length := prefixTokens + 2 + steps*len(counts)
	batch, err := m.NewBatch(model.Limits{Rows: most * side.Beams, MaxLength: length})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, batch.Close()) }()
	if err := warm(ctx, batch, m.Spec(), most*side.Beams, length-2); err != nil {
		return err
	}
	if err := join(ctx, batch, m.Spec(), most, side, record); err != nil {
		return err
	}
	sequences, err := newSequences(m.Spec(), most, side.Beams, prefixTokens, length)
	if err != nil {
		return err
	}
	past := prefixTokens
	if err := step(ctx, batch, sequences); err != nil {
		return err
	}
	for _, n := range counts {
		for batch.Len() > n {
			batch.Leave(batch.Len() - 1)
		}
		side.Sentences = n
		for range steps {
			past++
			taken, err := timed(func() error { return step(ctx, batch, sequences[:n]) })
			if err != nil {
				return err
			}
			taken.Past = past
			record(side, taken)
		}
	}
	return nil
}

// warm has all rows of a batch used up to a length, as those of a service were that has
// run for a while: memory that is written for the first time takes longer. One sentence
// stays, without it the memory would be given back.
func warm(ctx context.Context, batch model.Batch, spec model.Spec, rows, length int) error {
	for batch.Len() < rows {
		if err := batch.Join(ctx, sources(spec, min(encoderMost, rows-batch.Len()))); err != nil {
			return err
		}
	}
	sequences, err := newSequences(spec, rows, 1, length, length+2)
	if err != nil {
		return err
	}
	if err := step(ctx, batch, sequences); err != nil {
		return err
	}
	for batch.Len() > 1 {
		batch.Leave(batch.Len() - 1)
	}
	return nil
}

// sources makes n sentences of random tokens.
func sources(spec model.Spec, n int) [][]int64 {
	rng := rand.New(rand.NewPCG(1, 2))
	sources := make([][]int64, n)
	for i := range sources {
		for range source {
			sources[i] = append(sources[i], spec.EOS+1+rng.Int64N(int64(spec.VocabSize)-spec.EOS-1))
		}
	}
	return sources
}

// join has sentences encoded, 1, 8 and then 32 at once, after one that is not recorded. It
// takes the place of the one that warm left.
func join(ctx context.Context, batch model.Batch, spec model.Spec, most int, side cell, record func(cell, sample)) error {
	side.Beams = 0
	for i, n := range []int{1, 1, 8, encoderMost, encoderMost, encoderMost, encoderMost, encoderMost} {
		n = min(n, most-batch.Len())
		if n == 0 {
			break
		}
		texts := sources(spec, n)
		taken, err := timed(func() error { return batch.Join(ctx, texts) })
		if err != nil {
			return err
		}
		if i == 0 {
			batch.Leave(0)
			continue
		}
		side.Sentences = n
		record(side, taken)
	}
	return nil
}

// newSequences makes searches with forced tokens that do not end before they are long enough.
func newSequences(spec model.Spec, n, beams, forced, length int) ([]*search.Sequence, error) {
	options := search.DefaultOptions(spec.Generation)
	options.Beams, options.MinLength, options.MaxLength = beams, length, length
	prefix := []int64{spec.DecoderStart}
	for len(prefix) < forced {
		prefix = append(prefix, spec.EOS+int64(len(prefix)))
	}
	sequences := make([]*search.Sequence, n)
	for i := range sequences {
		var err error
		if sequences[i], err = search.NewSequence(options, prefix, spec.EOS, spec.VocabSize); err != nil {
			return nil, err
		}
	}
	return sequences, nil
}

// step is a step of all sequences, each in the slot of its number.
func step(ctx context.Context, batch model.Batch, sequences []*search.Sequence) error {
	feeds, rows, k := make([]model.Feed, len(sequences)), make([]int, len(sequences)), 0
	first := 0
	for i, s := range sequences {
		feeds[i], rows[i] = s.Feed(), first
		first += s.Rows()
		k = max(k, s.Candidates())
	}
	candidates, err := batch.Step(ctx, feeds, k)
	if err != nil {
		return err
	}
	for i, s := range sequences {
		if done, err := s.Advance(candidates, rows[i]); err != nil || done {
			return errors.Join(err, fmt.Errorf("sentence %d: done is %v", i, done))
		}
	}
	return nil
}

// timed runs a function and says how long it took.
func timed(run func() error) (sample, error) {
	begin, cpu := time.Now(), cpuSeconds()
	err := run()
	return sample{Seconds: time.Since(begin).Seconds(), CPU: cpuSeconds() - cpu}, err
}

func cpuSeconds() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // fails for no valid arguments
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
