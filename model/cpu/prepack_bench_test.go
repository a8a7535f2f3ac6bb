package cpu_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/cpu"
	"dragoman/model/cpu/cputest"
)

// BenchmarkOpen times loading a model, to the end of its first step, which reads
// every matrix: plain and with prepacked weights that were made before, and with
// each way to check the files. The time of both threads is reported as cpu-ms.
func BenchmarkOpen(b *testing.B) {
	for _, precision := range []model.Precision{model.FP32} {
		dir := benchFolder(b, precision)
		for _, kind := range []string{"plain", "prepacked"} {
			for _, verify := range []model.Verify{model.VerifyAlways, model.VerifyChanged, model.VerifyNever} {
				b.Run(fmt.Sprintf("%s/%s/verify=%s", precision, kind, verify), func(b *testing.B) {
					benchmarkOpen(b, dir, cpu.Options{Threads: 1, Verify: verify, NoPrepack: kind == "plain"})
				})
			}
		}
	}
}

func benchmarkOpen(b *testing.B, dir string, opts cpu.Options) {
	m, err := cputest.Runtime(b).Open(b.Context(), dir, opts) // makes what is to be made, fills the page cache
	require.NoError(b, err)
	require.NoError(b, m.Close())
	var opened, worked time.Duration
	for b.Loop() {
		start, began := time.Now(), cpuTime()
		m, err := cputest.Runtime(b).Open(b.Context(), dir, opts)
		require.NoError(b, err)
		opened += time.Since(start)
		_, err = firstStep(m)
		require.NoError(b, err)
		worked += cpuTime() - began
		require.NoError(b, m.Close())
	}
	b.ReportMetric(opened.Seconds()*1e3/float64(b.N), "open-ms")
	b.ReportMetric(worked.Seconds()*1e3/float64(b.N), "cpu-ms")
}

// BenchmarkMemory reports what one, two and three models take of the machine's
// memory, opened in one process and in a process each: in all, and for each model
// after the first. Pages of mapped files count once, however many map them.
func BenchmarkMemory(b *testing.B) {
	for _, precision := range []model.Precision{model.FP32} {
		dir := benchFolder(b, precision)
		for _, kind := range []string{"plain", "prepacked"} {
			o := order{Dir: dir, NoPrepack: kind == "plain"}
			made := startChild(b, o) // makes what is to be made
			made.report(b)
			made.stop(b)
			b.Run(fmt.Sprintf("%s/%s/models-in-a-process", precision, kind), func(b *testing.B) {
				benchmarkMemory(b, func(n int) []order {
					o.Models = n
					return []order{o}
				})
			})
			b.Run(fmt.Sprintf("%s/%s/processes", precision, kind), func(b *testing.B) {
				benchmarkMemory(b, func(n int) []order {
					o.Models = 1
					return slices.Repeat([]order{o}, n)
				})
			})
		}
	}
}

// benchmarkMemory measures with the processes that orders says for n models.
func benchmarkMemory(b *testing.B, orders func(n int) []order) {
	const models = 3
	var total, own [models]float64
	for b.Loop() {
		for n := range models {
			total[n], own[n] = takenMemory(b, orders(n+1))
		}
	}
	for n := range models {
		b.ReportMetric(total[n], fmt.Sprintf("MB/%d-models", n+1))
	}
	b.ReportMetric((total[models-1]-total[0])/(models-1), "MB/further-model")
	b.ReportMetric(own[0], "own-MB/1-models")
}

// takenMemory is the memory of processes that run at the same time, in MB: all of
// it, and without mapped files.
func takenMemory(b *testing.B, orders []order) (total, own float64) {
	var children []*child
	for _, o := range orders {
		c := startChild(b, o)
		c.report(b)
		children = append(children, c)
	}
	for _, c := range children { // again: now all are there to share pages
		r := c.report(b)
		total += r.Memory.Own + r.Memory.Shared
		own += r.Memory.Own
	}
	for _, c := range children {
		c.stop(b)
	}
	return total, own
}

// BenchmarkPrepackedStep times the steps of BenchmarkStep with models of either
// kind in turns, so that whatever else the machine does slows down both.
func BenchmarkPrepackedStep(b *testing.B) {
	for _, precision := range []model.Precision{model.FP32} {
		dir := benchFolder(b, precision)
		for _, size := range [][2]int{{1, 5}, {16, 5}} {
			b.Run(fmt.Sprintf("%s/sentences=%d/beams=%d", precision, size[0], size[1]), func(b *testing.B) {
				benchmarkPrepackedStep(b, dir, size[0], size[1])
			})
		}
	}
}

func benchmarkPrepackedStep(b *testing.B, dir string, sentences, beams int) {
	var kinds [2]endless
	for i := range kinds {
		m, err := cputest.Runtime(b).Open(b.Context(), dir, cpu.Options{Threads: 1, NoPrepack: i == 0})
		require.NoError(b, err)
		defer func() { require.NoError(b, m.Close()) }()
		kinds[i] = endless{b: b, model: m, sentences: sentences, beams: beams}
		kinds[i].begin()
		defer func() { kinds[i].batch.Close() }()
	}
	var cpu [len(kinds)][]time.Duration
	for b.Loop() {
		for i := range kinds {
			start := cpuTime()
			kinds[i].step()
			cpu[i] = append(cpu[i], cpuTime()-start)
		}
	}
	for i, name := range []string{"plain-cpu-ms", "prepacked-cpu-ms"} {
		slices.Sort(cpu[i])
		b.ReportMetric(float64(cpu[i][len(cpu[i])/2])/1e6, name)
	}
}

// endless is a batch that starts again when its sentences are long enough.
type endless struct {
	b                *testing.B
	model            model.Model
	sentences, beams int
	batch            model.Batch
	fed              int
}

func (e *endless) step() {
	same := make([]int, e.beams)
	for i := range same {
		same[i] = i
	}
	if e.fed++; e.fed == 100 {
		e.batch.Close()
		e.begin()
	}
	e.feed(model.Feed{Tokens: e.tokens(), Parents: same})
}

func (e *endless) begin() {
	var err error
	e.batch, err = e.model.NewBatch(model.Limits{Rows: e.sentences * e.beams, MaxLength: 110})
	require.NoError(e.b, err)
	require.NoError(e.b, e.batch.Join(e.b.Context(), randomSources(e.model.Spec(), e.sentences)))
	e.feed(model.Feed{Tokens: prefix(e.model.Spec())})
	e.feed(model.Feed{Tokens: e.tokens(), Parents: make([]int, e.beams)})
	e.fed = 0
}

func (e *endless) feed(f model.Feed) {
	_, err := e.batch.Step(e.b.Context(), slices.Repeat([]model.Feed{f}, e.sentences), 10)
	require.NoError(e.b, err)
}

func (e *endless) tokens() []int64 {
	tokens := make([]int64, e.beams)
	for i := range tokens {
		tokens[i] = int64(10 + i)
	}
	return tokens
}
