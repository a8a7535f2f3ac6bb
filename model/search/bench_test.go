package search

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/model"
)

const benchVocab = 128112

// benchRows returns rows of k random candidates without an end, like those of a real model.
func benchRows(k int) []model.Row {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]model.Row, 64)
	for i := range rows {
		for range k {
			rows[i].LogProbs = append(rows[i].LogProbs, -float32(rng.ExpFloat64()*3))
			rows[i].IDs = append(rows[i].IDs, 3+rng.Int64N(benchVocab-3))
		}
		slices.SortFunc(rows[i].LogProbs, func(a, b float32) int {
			if a > b {
				return -1
			}
			return 1
		})
	}
	return rows
}

// loop advances searches of 200 tokens, one after the other.
type loop struct {
	opts Options
	rows []model.Row
	s    strategy
	at   int
}

func (l *loop) step(t testing.TB) {
	width := 1
	if l.s == nil {
		var err error
		l.s, err = newStrategy(l.opts, Constraints{}, []int64{2, 128022}, model.Spec{EOS: 2, VocabSize: benchVocab})
		require.NoError(t, err)
	} else {
		width = l.s.Width()
	}
	l.at = (l.at + width) % (len(l.rows) - width)
	done, err := l.s.Advance(l.rows[l.at : l.at+width])
	if err != nil {
		t.Fatal(err)
	}
	if done {
		l.s = nil
	}
}

func benchOptions() map[string]Options {
	plain := Options{Beams: 5, MaxLength: 200, LengthPenalty: 1, EarlyStopping: StopEarly, RepetitionPenalty: 1}
	greedy, ngrams, all := plain, plain, plain
	greedy.Beams = 1
	ngrams.NoRepeatNgramSize = 3
	all.NoRepeatNgramSize, all.RepetitionPenalty, all.MinLength = 3, 1.2, 10
	return map[string]Options{"greedy": greedy, "beams=5": plain, "beams=5,ngrams": ngrams, "beams=5,all rules": all}
}

func BenchmarkAdvance(b *testing.B) {
	for name, opts := range benchOptions() {
		b.Run(name, func(b *testing.B) {
			l := loop{opts: opts, rows: benchRows(220)}
			b.ReportAllocs()
			for b.Loop() {
				l.step(b)
			}
		})
	}
}

func TestAdvanceDoesNotAllocate(t *testing.T) {
	for name, opts := range benchOptions() {
		t.Run(name, func(t *testing.T) {
			l := loop{opts: opts, rows: benchRows(220)}
			l.step(t) // makes the search
			require.Zero(t, testing.AllocsPerRun(150, func() { l.step(t) }))
			require.NotNil(t, l.s, "the search must still run")
		})
	}
}
