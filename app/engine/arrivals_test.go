package engine

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"dragoman/model"
	"dragoman/model/cpu"
	"dragoman/model/cpu/cputest"
	"dragoman/model/search"
)

// watched notes when steps end.
type watched struct {
	model.Model
	ends []time.Time
}

type watchedBatch struct {
	model.Batch
	model *watched
}

func (m *watched) NewBatch(limits model.Limits) (model.Batch, error) {
	b, err := m.Model.NewBatch(limits)
	return &watchedBatch{b, m}, err
}

func (b *watchedBatch) Step(ctx context.Context, feeds []model.Feed, k int) (model.Candidates, error) {
	c, err := b.Batch.Step(ctx, feeds, k)
	b.model.ends = append(b.model.ends, time.Now())
	return c, err
}

// BenchmarkArrivals decodes 8 sentences of 128 tokens while sources of 200 tokens of another caller arrive, one as soon as the
// one before is done, and reports the time from the end of a step to the end of the next: the median, the 95th percentile and the
// longest. It takes the bundled model unless DRAGOMAN_BENCH_MODELS names a folder that holds an export as int8/.
func BenchmarkArrivals(b *testing.B) {
	const sentences, length, long = 8, 128, 200
	dir := cputest.Benchmarked(b, model.INT8)
	for _, arriving := range []bool{false, true} {
		b.Run(fmt.Sprintf("arriving=%v", arriving), func(b *testing.B) {
			m, err := cputest.Runtime(b).Open(b.Context(), dir, cpu.Options{Threads: runtime.GOMAXPROCS(0)})
			require.NoError(b, err)
			w := &watched{Model: m}
			cfg := config()
			cfg.Rows, cfg.MaxLength, cfg.PrefillTokens = 32, 256, 1024
			e, err := Start(cfg, w)
			require.NoError(b, err)
			defer func() { require.NoError(b, e.Close()) }()
			job := func(seed, source, length int) Job {
				ids := make([]int64, source)
				for i := range ids {
					ids[i] = int64(10 + (seed*7919+i*104729)%10000)
				}
				opts := search.DefaultOptions(w.Spec().Generation)
				opts.Beams, opts.MinLength, opts.MaxLength = 1, length, length
				return Job{Source: append(ids, w.Spec().EOS), Prefix: []int64{w.Spec().DecoderStart}, Search: opts}
			}
			stream := func(ctx context.Context, caller string, jobs ...Job) error {
				return e.Stream(ctx, Request{Caller: caller}, List(jobs...), func(int, Result) error { return nil })
			}
			var spans []time.Duration
			arrivals := 0
			for b.Loop() {
				w.ends = nil
				done, stop := context.WithCancel(b.Context())
				var group errgroup.Group
				if arriving {
					group.Go(func() error {
						for ; done.Err() == nil; arrivals++ {
							if err := stream(b.Context(), "another", job(arrivals, long, 4)); err != nil {
								return err
							}
						}
						return nil
					})
				}
				var jobs []Job
				for i := range sentences {
					jobs = append(jobs, job(i, 20, length))
				}
				require.NoError(b, stream(b.Context(), "one", jobs...))
				until := time.Now()
				stop()
				require.NoError(b, group.Wait())
				for i := 1; i < len(w.ends) && w.ends[i].Before(until); i++ {
					spans = append(spans, w.ends[i].Sub(w.ends[i-1]))
				}
			}
			slices.Sort(spans)
			ms := func(at float64) float64 { return spans[int(at*float64(len(spans)-1))].Seconds() * 1e3 }
			b.ReportMetric(ms(0.5), "p50-ms")
			b.ReportMetric(ms(0.95), "p95-ms")
			b.ReportMetric(ms(1), "longest-ms")
			b.ReportMetric(float64(arrivals)/float64(b.N), "arrivals/op")
		})
	}
}
