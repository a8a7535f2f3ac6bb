package fleet

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/engine/enginetest"
	"dragoman/app/store/redistest"
	"dragoman/app/translate"
)

// benchmarkEngine reports the sentences per second of one client.
func benchmarkEngine(b *testing.B, e translate.Engine) {
	jobs := enginetest.Jobs(1000)
	for i := range jobs {
		jobs[i].Search.Beams = 1
	}
	at := 0
	b.ReportAllocs()
	b.ResetTimer()
	err := e.Stream(b.Context(), engine.Request{}, func() (job engine.Job, ok bool, err error) {
		if at == b.N {
			return job, false, nil
		}
		at++
		return jobs[at%len(jobs)], true, nil
	}, func(int, engine.Result) error { return nil })
	require.NoError(b, err)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sentences/s")
}

// BenchmarkEngines compares the cost of a sentence beside its decoding: without a fleet, with a model that costs nothing, and
// with the test's model.
func BenchmarkEngines(b *testing.B) {
	local := func(b *testing.B) *engine.Engine {
		cfg := enginetest.Config()
		cfg.QueueRequests = 100_000
		e, err := engine.Start(cfg, &enginetest.Model{})
		require.NoError(b, err)
		b.Cleanup(func() { _ = e.Close() })
		return e
	}
	remote := func(b *testing.B, e translate.Engine, workers int, secrets ...string) translate.Engine {
		address := redistest.Start(b)
		for range workers {
			w := newModels(e, identity)
			newTestWorkerOf(b, newSigningBroker(b, address, Timing{}, secrets...), w, 100)
		}
		return newTestGateway(b, newSigningBroker(b, address, Timing{}, secrets...), nil).Engine(identity)
	}
	b.Run("local", func(b *testing.B) { benchmarkEngine(b, local(b)) })
	b.Run("remote", func(b *testing.B) { benchmarkEngine(b, remote(b, local(b), 1)) })
	for _, workers := range []int{1, 2} {
		b.Run("free/workers="+strconv.Itoa(workers), func(b *testing.B) { benchmarkEngine(b, remote(b, &decoder{}, workers)) })
		b.Run("signed/workers="+strconv.Itoa(workers), func(b *testing.B) {
			benchmarkEngine(b, remote(b, &decoder{}, workers, "0123456789abcdef0123456789abcdef"))
		})
	}
}

// BenchmarkSeal measures signing a sentence of 30 tokens and verifying it.
func BenchmarkSeal(b *testing.B) {
	s, message := newSeals([]string{"0123456789abcdef0123456789abcdef"}), make([]byte, 150)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.open("dragoman:{0123456789abcdef}:normal", s.seal("dragoman:{0123456789abcdef}:normal", message)); err != nil {
			b.Fatal(err)
		}
	}
}
