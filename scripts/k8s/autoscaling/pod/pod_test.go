package pod_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/scripts/k8s/autoscaling/pod"
)

// outcome is what a sink was told.
type outcome struct {
	request pod.Request
	result  pod.Outcome
	latency float64
}

type log []outcome

func (l *log) Record(r pod.Request, o pod.Outcome, at float64) {
	*l = append(*l, outcome{r, o, at - r.Arrived})
}

func (l *log) count(o pod.Outcome) (n int) {
	for _, e := range *l {
		if e.result == o {
			n++
		}
	}
	return n
}

func (l *log) latencies() (out []float64) {
	for _, e := range *l {
		if e.result == pod.Answered {
			out = append(out, e.latency)
		}
	}
	return out
}

const patient = 1e6

// request is one of some tokens on both sides, whose client never leaves.
func request(at float64, tokens int32) pod.Request {
	return pod.Request{Arrived: at, Patience: patient, Source: tokens, Target: tokens}
}

// single is a server of one request at a time, with a step of a second and no encoder.
func single() pod.Shape { return pod.Shape{Name: "single", Slots: 1, StepBase: 1} }

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
		p := pod.New(single(), pod.Limits{QueueTokens: math.MaxInt}, &l, 0)
		for i := range 100 {
			p.Offer(request(test.every*float64(i), 5))
		}
		p.Advance(1e4)
		require.Len(t, l.latencies(), 100)
		for i, latency := range l.latencies() {
			require.InDelta(t, 5+test.grows*float64(i), latency, 1e-6, "every %g s, request %d", test.every, i)
		}
	}
}

// closed is the mean latency of Poisson arrivals.
func closed(t *testing.T, shape pod.Shape, rate float64, requests int, tokens func(*rand.Rand) int32) float64 {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	var l log
	p := pod.New(shape, pod.Limits{QueueTokens: math.MaxInt}, &l, 0)
	at := 0.0
	for range requests {
		at += r.ExpFloat64() / rate
		p.Offer(request(at, tokens(r)))
	}
	p.Advance(at + patient/2)
	require.Len(t, l.latencies(), requests)
	return mean(l.latencies())
}

// In M/G/1 with first come, first served, a request waits λE[S²] / 2(1-ρ) on average
// (Pollaczek and Khinchine).
func TestOneAtATime(t *testing.T) {
	fixed := func(*rand.Rand) int32 { return 100 }
	shape := single()
	shape.StepBase = 0.01 // 1 s a request
	for _, rho := range []float64{0.3, 0.6} {
		want := 1 + rho/(2*(1-rho))
		assert.InEpsilon(t, want, closed(t, shape, rho, 30_000, fixed), 0.06, "all alike, load %g", rho)
	}
	random := func(r *rand.Rand) int32 { return int32(math.Round(1000*r.ExpFloat64())) + 1 }
	shape.StepBase = 0.001
	for _, rho := range []float64{0.3, 0.6} {
		want := 1 / (1 - rho)
		assert.InEpsilon(t, want, closed(t, shape, rho, 50_000, random), 0.06, "exponential, load %g", rho)
	}
}

// With room for everybody and a step whose time is proportional to the batch, requests
// share one server: M/G/1 with processor sharing, where E[T] = E[S] / (1-ρ) for all
// distributions of S.
func TestSharedServer(t *testing.T) {
	shape := pod.Shape{Name: "shared", Slots: 10_000, StepSentence: 0.01}
	for name, tokens := range map[string]func(*rand.Rand) int32{
		"all alike": func(*rand.Rand) int32 { return 100 },
		"two sizes": func(r *rand.Rand) int32 { return 10 + 180*int32(r.IntN(2)) },
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
	shape := pod.Shape{Name: "servers", Slots: servers, StepBase: 0.001}
	random := func(r *rand.Rand) int32 { return int32(math.Round(1000*r.ExpFloat64())) + 1 }
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
	shape := pod.Shape{Name: "shape", Slots: 4, StepBase: 0.5, StepSentence: 0.25, EncodeToken: 0.1,
		EncodeCores: 2, CPUBase: 0.6, CPUSentence: 0.3, MemoryBase: 100, MemoryBatch: 40}
	var l log
	p := pod.New(shape, pod.Limits{}, &l, 0)
	assert.Equal(t, 100.0, p.Memory())
	p.Offer(request(1, 10))
	p.Advance(100)
	require.Len(t, l, 1)
	assert.InDelta(t, 10*0.1+10*0.75, l[0].latency, 1e-9, "encoder and ten steps")
	assert.InDelta(t, 8.5, p.Usage().Busy, 1e-9)
	assert.InDelta(t, 1*2+10*0.9, p.Usage().CPU, 1e-9)
	assert.InDelta(t, 8.5, p.Usage().Rows, 1e-9)
	assert.Equal(t, 110.0, p.Memory(), "a quarter of the batch, for good")
	assert.True(t, p.Idle())
}

// A newcomer is encoded while all others stand still.
func TestEncoderStopsTheBatch(t *testing.T) {
	shape := pod.Shape{Name: "shape", Slots: 4, StepBase: 1, EncodeToken: 0.1}
	var l log
	p := pod.New(shape, pod.Limits{}, &l, 0)
	p.Offer(request(0, 10)) // 1 s of encoder, 10 steps
	p.Offer(request(5, 10))
	p.Advance(100)
	assert.InDeltaSlice(t, []float64{12, 11}, l.latencies(), 1e-9, "1 + 10, and 1 for the newcomer; 1 + 10")
}

func TestClientsThatLeave(t *testing.T) {
	shape := single()
	var l log
	p := pod.New(shape, pod.Limits{QueueTokens: 1000}, &l, 0)
	for i := range 3 {
		r := request(float64(i), 10)
		r.Patience = 15
		p.Offer(r)
	}
	assert.Equal(t, 20, p.QueueTokens())
	p.Advance(12)
	assert.Equal(t, 10, p.QueueTokens(), "the second runs")
	p.Advance(16.5)
	assert.Zero(t, p.QueueTokens(), "the second left at 16, so the third runs")
	p.Advance(100)
	assert.Equal(t, 1, l.count(pod.Answered))
	assert.Equal(t, 2, l.count(pod.Late))
	for _, e := range l {
		if e.result == pod.Late {
			assert.InDelta(t, 15, e.latency, 1e-9)
		}
	}
	assert.Zero(t, p.QueueTokens())
	assert.True(t, p.Idle())
}

func TestRefusals(t *testing.T) {
	t.Run("by tokens", func(t *testing.T) {
		var l log
		p := pod.New(single(), pod.Limits{QueueTokens: 25}, &l, 0)
		for range 5 {
			p.Offer(request(0, 10)) // one runs, two wait
		}
		assert.Equal(t, 2, l.count(pod.Refused))
		assert.Equal(t, 20, p.QueueTokens())
	})
	t.Run("one that is too large waits where nothing else does", func(t *testing.T) {
		var l log
		p := pod.New(single(), pod.Limits{QueueTokens: 25}, &l, 0)
		p.Offer(request(0, 10))
		p.Offer(request(0, 100))
		assert.Zero(t, l.count(pod.Refused))
	})
	// One request of 10 tokens in 10 s: a token a second, once that was seen.
	slow := func(l *log, wait float64) *pod.Pod {
		p := pod.New(single(), pod.Limits{QueueTokens: 1000, QueueWait: wait}, l, 0)
		for range 5 {
			p.Offer(request(0, 10))
		}
		p.Advance(10.5) // 30 tokens wait
		return p
	}
	t.Run("not before a speed was seen", func(t *testing.T) {
		var l log
		slow(&l, 0.001)
		assert.Zero(t, l.count(pod.Refused))
	})
	t.Run("by time", func(t *testing.T) {
		var l log
		p := slow(&l, 30)
		p.Offer(request(10.5, 10))
		assert.Equal(t, 1, l.count(pod.Refused))
		p.Advance(21)
		p.Offer(request(21, 5))
		assert.Equal(t, 1, l.count(pod.Refused), "20 + 5 tokens in 30 s")
	})
	t.Run("by what the client says", func(t *testing.T) {
		var l log
		p := slow(&l, 0)
		p.Offer(request(10.5, 10))
		assert.Zero(t, l.count(pod.Refused), "no bound")
		hasty := pod.Request{Arrived: 10.5, Patience: 20, Tells: true, Source: 10, Target: 10}
		p.Offer(hasty)
		assert.Equal(t, 1, l.count(pod.Refused))
		hasty.Tells = false
		p.Offer(hasty)
		assert.Equal(t, 1, l.count(pod.Refused), "it waits, and will leave")
	})
}

func TestKill(t *testing.T) {
	var l log
	p := pod.New(single(), pod.Limits{QueueTokens: 1000}, &l, 0)
	for range 3 {
		p.Offer(request(0, 10))
	}
	p.Advance(5)
	p.Kill()
	assert.Equal(t, 3, l.count(pod.Killed))
	assert.True(t, p.Idle())
	assert.Zero(t, p.QueueTokens())
	p.Advance(50)
	assert.Len(t, l, 3)
}

// Whatever comes: every request has one outcome, none is answered after its client left,
// and the batch never exceeds its slots.
func TestPropertiesOfRandomTraffic(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		shape := pod.CPU418M()
		shape.Slots = 1 + r.IntN(20)
		limits := pod.Limits{QueueTokens: 32 * (1 + r.IntN(200)), QueueWait: float64(r.IntN(30))}
		var l log
		p := pod.New(shape, limits, &l, 0)
		at, sent := 0.0, 0
		for range 1000 {
			at += r.ExpFloat64() / (8 * r.Float64())
			sent++
			p.Offer(pod.Request{Arrived: at, Patience: 10, Tells: r.IntN(2) == 0, Source: 1 + r.Int32N(150), Target: 1 + r.Int32N(150)})
			require.LessOrEqual(t, p.Sentences(), shape.Slots)
			require.GreaterOrEqual(t, p.QueueTokens(), 0)
		}
		p.Advance(at + 11)
		require.True(t, p.Idle(), "seed %d", seed)
		require.Zero(t, p.QueueTokens(), "seed %d", seed)
		require.Len(t, l, sent, "seed %d", seed)
		// The encoder is not interrupted, so an answer may be late by what was encoded last.
		require.LessOrEqual(t, slices.Max(l.latencies()), 10+20*150*shape.EncodeToken, "seed %d", seed)
	}
}
