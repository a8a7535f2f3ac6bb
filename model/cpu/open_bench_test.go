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

// BenchmarkOpen times the loading of a model, including a first step, which reads every matrix, for each way to check the files.
// cpu-ms is the time of all threads.
func BenchmarkOpen(b *testing.B) {
	for _, precision := range []model.Precision{model.INT8, model.FP32} {
		dir := cputest.Benchmarked(b, precision)
		for _, verify := range []model.Verify{model.VerifyAlways, model.VerifyChanged, model.VerifyNever} {
			b.Run(fmt.Sprintf("%s/verify=%s", precision, verify), func(b *testing.B) {
				benchmarkOpen(b, dir, cpu.Options{Threads: 1, Verify: verify})
			})
		}
	}
}

func benchmarkOpen(b *testing.B, dir string, opts cpu.Options) {
	m, err := cputest.Runtime(b).Open(b.Context(), dir, opts) // fills the page cache
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

// BenchmarkMemory reports the memory of one, two and three models, in one process and in a process each: in all, and per model
// after the first. A page of a mapped file counts once for all its processes.
func BenchmarkMemory(b *testing.B) {
	for _, precision := range []model.Precision{model.INT8, model.FP32} {
		o := order{Dir: cputest.Benchmarked(b, precision)}
		b.Run(fmt.Sprintf("%s/models-in-a-process", precision), func(b *testing.B) {
			benchmarkMemory(b, func(n int) []order {
				o.Models = n
				return []order{o}
			})
		})
		b.Run(fmt.Sprintf("%s/processes", precision), func(b *testing.B) {
			benchmarkMemory(b, func(n int) []order {
				o.Models = 1
				return slices.Repeat([]order{o}, n)
			})
		})
	}
}

// benchmarkMemory measures the processes that orders returns for n models.
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

// takenMemory returns the memory of concurrent processes, in MB: all of it, and without mapped files.
func takenMemory(b *testing.B, orders []order) (total, own float64) {
	var children []*child
	for _, o := range orders {
		c := startChild(b, o)
		c.report(b)
		children = append(children, c)
	}
	for _, c := range children { // once more: now all processes share pages
		r := c.report(b)
		total += r.Memory.Own + r.Memory.Shared
		own += r.Memory.Own
	}
	for _, c := range children {
		c.stop(b)
	}
	return total, own
}
