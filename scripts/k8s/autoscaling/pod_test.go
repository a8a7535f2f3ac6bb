package main

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
)

// entry is what a pod told.
type entry struct {
	result  outcome
	latency float64
}

type log []entry

// newPod is an idle pod that tells l.
func newPod(s shape, wait float64, l *log) *pod {
	return &pod{shape: s, queueWait: wait, record: func(r request, o outcome, at float64) { *l = append(*l, entry{o, at - r.arrived}) }}
}

func (l *log) count(o outcome) (n int) {
	for _, e := range *l {
		if e.result == o {
			n++
		}
	}
	return n
}

func (l *log) latencies() (out []float64) {
	for _, e := range *l {
		if e.result == answered {
			out = append(out, e.latency)
		}
	}
	return out
}

const patient = 1e6

// lasting is a request of some tokens whose client never leaves.
func lasting(at float64, tokens int) request {
	return request{arrived: at, patience: patient, tokens: tokens}
}

// single is a server of one request at a time, with a step of a second and no encoder.
func single() shape { return shape{slots: 1, stepBase: 1} }

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// D/D/1: requests of 5 s every 10 s never wait; every 4 s, each waits a second longer
// than the one before.
func TestFixedArrivalsAndServices(t *testing.T) {
	for _, test := range []struct {
		every float64
		grows float64
	}{{10, 0}, {5, 0}, {4, 1}} {
		var l log
		p := newPod(single(), 0, &l)
		for i := range 100 {
			p.offer(lasting(test.every*float64(i), 5))
		}
		p.advance(1e4)
		require.Len(t, l.latencies(), 100)
		for i, latency := range l.latencies() {
			require.InDelta(t, 5+test.grows*float64(i), latency, 1e-6, "every %g s, request %d", test.every, i)
		}
	}
}

// closed is the mean latency of Poisson arrivals.
func closed(t *testing.T, shape shape, rate float64, requests int, tokens func(*rand.Rand) int) float64 {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	var l log
	p := newPod(shape, 0, &l)
	at := 0.0
	for range requests {
		at += r.ExpFloat64() / rate
		p.offer(lasting(at, tokens(r)))
	}
	p.advance(at + patient/2)
	require.Len(t, l.latencies(), requests)
	return mean(l.latencies())
}

// In M/G/1 with first come, first served, a request waits λE[S²] / 2(1-ρ) on average
// (Pollaczek and Khinchine).
func TestOneAtATime(t *testing.T) {
	fixed := func(*rand.Rand) int { return 100 }
	shape := single()
	shape.stepBase = 0.01 // 1 s a request
	for _, rho := range []float64{0.3, 0.6} {
		want := 1 + rho/(2*(1-rho))
		assert.InEpsilon(t, want, closed(t, shape, rho, 30_000, fixed), 0.06, "all alike, load %g", rho)
	}
	random := func(r *rand.Rand) int { return int(math.Round(1000*r.ExpFloat64())) + 1 }
	shape.stepBase = 0.001
	for _, rho := range []float64{0.3, 0.6} {
		want := 1 / (1 - rho)
		assert.InEpsilon(t, want, closed(t, shape, rho, 50_000, random), 0.06, "exponential, load %g", rho)
	}
}

// With room for everybody and a step whose time is proportional to the batch, requests
// share one server: M/G/1 with processor sharing, where E[T] = E[S] / (1-ρ) for all
// distributions of S.
func TestSharedServer(t *testing.T) {
	shape := shape{slots: 10_000, stepSentence: 0.01}
	for name, tokens := range map[string]func(*rand.Rand) int{
		"all alike": func(*rand.Rand) int { return 100 },
		"two sizes": func(r *rand.Rand) int { return 10 + 180*int(r.IntN(2)) },
	} {
		for _, rho := range []float64{0.3, 0.6, 0.8} {
			assert.InEpsilon(t, 1/(1-rho), closed(t, shape, rho, 30_000, tokens), 0.06, "%s, load %g", name, rho)
		}
	}
}

// With a step that takes as long whatever the batch, slots are servers: M/M/c, by Erlang's
// formula.
func TestSlotsAsServers(t *testing.T) {
	const servers = 4
	shape := shape{slots: servers, stepBase: 0.001}
	random := func(r *rand.Rand) int { return int(math.Round(1000*r.ExpFloat64())) + 1 }
	for _, rho := range []float64{0.5, 0.8} {
		rate := rho * servers
		want := 1 + erlangC(servers, rate)/(servers-rate)
		assert.InEpsilon(t, want, closed(t, shape, rate, 50_000, random), 0.06, "load %g", rho)
	}
}

// erlangC is the probability of having to wait for one of c servers, at a load of a.
func erlangC(c int, a float64) float64 {
	term, sum := 1.0, 1.0
	for k := 1; k < c; k++ {
		term *= a / float64(k)
		sum += term
	}
	last := term * a / float64(c) / (1 - a/float64(c))
	return last / (sum + last)
}

func TestUsage(t *testing.T) {
	shape := shape{slots: 4, stepBase: 0.5, stepSentence: 0.25, encodeToken: 0.1,
		encodeCores: 2, cpuBase: 0.6, cpuSentence: 0.3, memoryBase: 100, memoryBatch: 40}
	var l log
	p := newPod(shape, 0, &l)
	assert.Equal(t, 100.0, p.memory())
	p.offer(lasting(1, 10))
	p.advance(100)
	require.Len(t, l, 1)
	assert.InDelta(t, 10*0.1+10*0.75, l[0].latency, 1e-9, "encoder and ten steps")
	assert.InDelta(t, 8.5, p.busy, 1e-9)
	assert.InDelta(t, 1*2+10*0.9, p.cpu, 1e-9)
	assert.Equal(t, 110.0, p.memory(), "a quarter of the batch, for good")
	assert.Empty(t, p.batch)
}

// A newcomer is encoded while all others stand still.
func TestEncoderStopsTheBatch(t *testing.T) {
	shape := shape{slots: 4, stepBase: 1, encodeToken: 0.1}
	var l log
	p := newPod(shape, 0, &l)
	p.offer(lasting(0, 10)) // 1 s of encoder, 10 steps
	p.offer(lasting(5, 10))
	p.advance(100)
	assert.InDeltaSlice(t, []float64{12, 11}, l.latencies(), 1e-9, "1 + 10, and 1 for the newcomer; 1 + 10")
}

func TestClientsThatLeave(t *testing.T) {
	shape := single()
	var l log
	p := newPod(shape, 0, &l)
	for i := range 3 {
		r := lasting(float64(i), 10)
		r.patience = 15
		p.offer(r)
	}
	assert.Equal(t, 20, p.tokens)
	p.advance(12)
	assert.Equal(t, 10, p.tokens, "the second runs")
	p.advance(16.5)
	assert.Zero(t, p.tokens, "the second left at 16, so the third runs")
	p.advance(100)
	assert.Equal(t, 1, l.count(answered))
	assert.Equal(t, 2, l.count(late))
	for _, e := range l {
		if e.result == late {
			assert.InDelta(t, 15, e.latency, 1e-9)
		}
	}
	assert.Zero(t, p.tokens)
	assert.Empty(t, p.batch)
}

func TestRefusals(t *testing.T) {
	// One request of 10 tokens in 10 s: a token a second, once that was seen.
	slow := func(l *log, wait float64) *pod {
		p := newPod(single(), wait, l)
		for range 5 {
			p.offer(lasting(0, 10))
		}
		p.advance(10.5) // 30 tokens wait
		return p
	}
	t.Run("not before a speed was seen", func(t *testing.T) {
		var l log
		slow(&l, 0.001)
		assert.Zero(t, l.count(refused))
	})
	t.Run("by time", func(t *testing.T) {
		var l log
		p := slow(&l, 30)
		p.offer(lasting(10.5, 10))
		assert.Equal(t, 1, l.count(refused))
		p.advance(21)
		p.offer(lasting(21, 5))
		assert.Equal(t, 1, l.count(refused), "20 + 5 tokens in 30 s")
	})
	t.Run("by what the client says", func(t *testing.T) {
		var l log
		p := slow(&l, 0)
		p.offer(lasting(10.5, 10))
		assert.Zero(t, l.count(refused), "no bound")
		hasty := request{arrived: 10.5, patience: 20, tells: true, tokens: 10}
		p.offer(hasty)
		assert.Equal(t, 1, l.count(refused))
		hasty.tells = false
		p.offer(hasty)
		assert.Equal(t, 1, l.count(refused), "it waits, and will leave")
	})
}

func TestKill(t *testing.T) {
	var l log
	p := newPod(single(), 0, &l)
	for range 3 {
		p.offer(lasting(0, 10))
	}
	p.advance(5)
	p.kill()
	assert.Equal(t, 3, l.count(killed))
	assert.Empty(t, p.batch)
	assert.Zero(t, p.tokens)
	p.advance(50)
	assert.Len(t, l, 3)
}

// Whatever comes: every request has one outcome, none is answered after its client left,
// and the batch never exceeds its slots.
func TestPropertiesOfRandomTraffic(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		shape := cpu418M
		shape.slots = 1 + r.IntN(20)
		var l log
		p := newPod(shape, float64(r.IntN(30)), &l)
		at, sent := 0.0, 0
		for range 1000 {
			at += r.ExpFloat64() / (8 * r.Float64())
			sent++
			p.offer(request{arrived: at, patience: 10, tells: r.IntN(2) == 0, tokens: 1 + r.IntN(150)})
			require.LessOrEqual(t, len(p.batch), shape.slots)
			require.GreaterOrEqual(t, p.tokens, 0)
		}
		p.advance(at + 11)
		require.Empty(t, p.batch, "seed %d", seed)
		require.Zero(t, p.tokens, "seed %d", seed)
		require.Len(t, l, sent, "seed %d", seed)
		// The encoder is not interrupted, so an answer may be late by what was encoded last.
		require.LessOrEqual(t, slices.Max(l.latencies()), 10+20*150*shape.encodeToken, "seed %d", seed)
	}
}

// 32 clients that never pause get what a full batch can do: docs/benchmarks.md measured 5.3
// answers a second, and steps of 84 ms.
func TestCapacity(t *testing.T) {
	assert.InDelta(t, 5.33, cpu418M.capacity(32), 0.05)
	assert.InDelta(t, 0.084, cpu418M.step(16), 0.001)
	var l log
	p := newPod(cpu418M, 0, &l)
	sent := 0
	for now := 0.0; now < 300; now += 0.01 {
		p.advance(now)
		for ; sent < len(l)+32; sent++ {
			p.offer(lasting(now, 32))
		}
	}
	assert.InEpsilon(t, cpu418M.capacity(32), float64(len(l))/300, 0.02)
}

// The model of a pod has the latency that was measured, at every rate that was: medians of
// p50 and p95 are within 25%. The measured runs of a rate differ by more than that among
// themselves. A pod that takes half as long again does not: the test can fail.
func TestModelAgreesWithMeasurements(t *testing.T) {
	runs := measured(t)
	require.Len(t, runs, 4, "loads")
	slower := cpu418M
	slower.stepBase, slower.stepSentence = 1.5*slower.stepBase, 1.5*slower.stepSentence
	for share, of := range runs {
		p50, p95 := replayed(cpu418M, of)
		assert.InEpsilon(t, median(of, func(m measurement) float64 { return m.P50 / 1000 }), p50, 0.25, "p50 at %g of the capacity", share)
		assert.InEpsilon(t, median(of, func(m measurement) float64 { return m.P95 / 1000 }), p95, 0.25, "p95 at %g of the capacity", share)
		p50, _ = replayed(slower, of)
		assert.Greater(t, p50, 1.25*median(of, func(m measurement) float64 { return m.P50 / 1000 }))
	}
}

// measurement is a run of the benchmark: so many requests at random times within some
// seconds, against one service.
type measurement struct {
	Model, Side, Kind string
	Share             float64 // of the capacity, that was aimed at
	Requests          int
	Seconds           float64
	P50               float64 `json:"p50_ms"`
	P95               float64 `json:"p95_ms"`
	Noisy             bool
}

// measured are the runs of dragoman with the 418M shape, by their load.
func measured(t *testing.T) map[float64][]measurement {
	data, err := os.ReadFile("../../../docs/benchmarks/served.json")
	require.NoError(t, err)
	var file struct{ Runs []measurement }
	require.NoError(t, json.Unmarshal(data, &file))
	runs := map[float64][]measurement{}
	for _, m := range file.Runs {
		if m.Model == "418M" && m.Side == "dragoman" && m.Kind == "rate" && !m.Noisy {
			runs[m.Share] = append(runs[m.Share], m)
		}
	}
	return runs
}

func median[T any](list []T, of func(T) float64) float64 {
	var values []float64
	for _, one := range list {
		values = append(values, of(one))
	}
	slices.Sort(values)
	return stat.Quantile(0.5, stat.LinInterp, values, nil)
}

// replayed lets a pod take as many requests of 32 tokens within the same time, a hundred
// times at other moments, and returns the medians of p50 and p95.
func replayed(s shape, runs []measurement) (p50, p95 float64) {
	var halves, most []float64
	for i, m := range runs {
		for repetition := range 100 {
			r := rand.New(rand.NewPCG(uint64(100*i+repetition), 3))
			at := make([]float64, m.Requests)
			for i := range at {
				at[i] = m.Seconds * r.Float64()
			}
			slices.Sort(at)
			var l log
			p := newPod(s, 30, &l)
			for _, t := range at {
				p.offer(lasting(t, 32))
			}
			p.advance(patient / 2)
			latencies := l.latencies()
			slices.Sort(latencies)
			halves = append(halves, stat.Quantile(0.5, stat.LinInterp, latencies, nil))
			most = append(most, stat.Quantile(0.95, stat.LinInterp, latencies, nil))
		}
	}
	same := func(x float64) float64 { return x }
	return median(halves, same), median(most, same)
}
