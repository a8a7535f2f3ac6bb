package engine

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine/fairshare"
	"dragoman/model"
)

// free is a model that costs nothing: what is left is the scheduler's own and the
// searches' work. Its sentences end at once or never.
type free struct {
	*toy
	ends bool
}

func (m free) NewBatch(limits model.Limits) (model.Batch, error) {
	return &freeBatch{ends: m.ends, rows: limits.Rows}, nil
}

type freeBatch struct {
	ends       bool
	rows, n    int
	candidates model.Candidates
}

func (b *freeBatch) Len() int     { return b.n }
func (b *freeBatch) Leave(int)    { b.n-- }
func (b *freeBatch) Close() error { return nil }

func (b *freeBatch) Begin(_ context.Context, source []int64) (model.Encoding, error) {
	return model.BeginWhole(b, source), nil
}

func (b *freeBatch) Join(_ context.Context, sources [][]int64) error {
	b.n += len(sources)
	return nil
}

func (b *freeBatch) Step(_ context.Context, _ []model.Feed, k int) (model.Candidates, error) {
	if b.candidates.K != k {
		b.candidates = model.Candidates{K: k, LogSumExp: make([]float32, b.rows)}
		for i := range b.rows * k {
			id := int64(10 + i%k)
			if b.ends {
				id = 2 + int64(i%k)
			}
			b.candidates.IDs = append(b.candidates.IDs, id)
			b.candidates.LogProbs = append(b.candidates.LogProbs, -1-float32(i%k)-float32(i/k)/1024)
		}
	}
	return b.candidates, nil
}

// endless makes a loop, without a goroutine, on a model that costs nothing and
// whose sentences end at their length only, 16,384 tokens.
func endless(t testing.TB, c *fairshare.Model) *loop {
	m := free{toy: newToy()}
	m.spec.MaxPositions = 1 << 14
	cfg := config()
	cfg.Cores = c
	cfg.MaxLength = m.spec.MaxPositions
	require.NoError(t, cfg.validate(m))
	return newLoop(cfg, m, idle(m))
}

// idle makes a worker without a loop.
func idle(m model.Model) *worker {
	return &worker{spec: m.Spec(), mailbox: newMailbox(), snapshot: &snapshot{}}
}

// post leaves jobs for a loop.
func post(l *loop, req Request, jobs ...Job) *call {
	c := newCall(newTestSession(req))
	var list []posted
	for i, job := range jobs {
		list = append(list, posted{i, newSequence(job, keyOf(job), l.model), time.Now()})
	}
	l.mailbox.post(c, list)
	return c
}

// fill lets sentences join until so many rows decode.
func fill(t testing.TB, l *loop, rows, beams int) {
	jobs := sentences(rows/beams, beams)
	for i := range jobs {
		jobs[i].Search.MaxLength = l.limits.MaxLength
	}
	post(l, Request{}, jobs...)
	for range 3 {
		l.round(t.Context())
	}
	require.Equal(t, rows, l.stats.RunningRows)
}

// A round in which nobody joins or leaves does not allocate.
func TestRoundDoesNotAllocate(t *testing.T) {
	shared, err := machine(t).Join(2)
	require.NoError(t, err)
	for beams, c := range map[int]*fairshare.Model{1: nil, 5: shared} {
		l := endless(t, c)
		fill(t, l, 80, beams)
		assert.Zero(t, testing.AllocsPerRun(1000, func() { l.round(t.Context()) }), "%d beams", beams)
	}
}

// BenchmarkRound is a round of 80 rows in which nothing joins or leaves: what the
// scheduler and the searches add to a decoder step, alone and where the engine may share
// cores but nobody else wants them.
func BenchmarkRound(b *testing.B) {
	const rows = 80
	shared, err := machine(b).Join(2)
	require.NoError(b, err)
	for _, test := range []struct {
		name  string
		beams int
		cores *fairshare.Model
	}{{"1 beams", 1, nil}, {"5 beams", 5, nil}, {"5 beams, shared cores", 5, shared}} {
		beams := test.beams
		b.Run(test.name, func(b *testing.B) {
			l := endless(b, test.cores)
			defer l.leaveCores()
			fill(b, l, rows, beams)
			b.ReportAllocs()
			for b.Loop() {
				if len(l.batch.active) == 0 { // they reached the length
					b.StopTimer()
					fill(b, l, rows, beams)
					b.StartTimer()
				}
				l.round(b.Context())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}

// BenchmarkTranslate is requests from many clients whose sentences end in their
// first step: the way from Translate through mailbox, queue and batch and back.
func BenchmarkTranslate(b *testing.B) {
	for _, size := range []int{1, 16} {
		b.Run(fmt.Sprintf("%d sentences", size), func(b *testing.B) {
			m := free{toy: newToy(), ends: true}
			m.spec.VocabSize = 1 << 20
			cfg := config()
			cfg.Rows, cfg.QueueTokens = 80, 1<<30
			e, err := Start(cfg, m)
			require.NoError(b, err)
			defer func() { require.NoError(b, e.Close()) }()
			var number atomic.Int64
			b.ReportAllocs()
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				jobs := sentences(size, 1)
				for pb.Next() {
					for i := range jobs { // no two are the same
						jobs[i].Source[1] = number.Add(1) % (1 << 20)
					}
					if _, err := e.Translate(b.Context(), Request{}, jobs...); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "sentences/s")
		})
	}
}
