package pod_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/scripts/k8s/autoscaling/pod"
)

func TestCapacity(t *testing.T) {
	shape := pod.CPU418M()
	assert.InDelta(t, 5.33, shape.Capacity(32, 32), 0.05, "docs/benchmarks.md: 32 clients that never pause")
	assert.InDelta(t, 0.084, shape.Step(16), 0.001, "docs/benchmarks.md: a step of 80 rows on two threads")

	// 32 clients that never pause, for real.
	var l log
	p := pod.New(shape, pod.DefaultLimits(), &l, 0)
	sent := 0
	for now := 0.0; now < 300; now += 0.01 {
		p.Advance(now)
		for ; sent < len(l)+32; sent++ {
			p.Offer(request(now, 32))
		}
	}
	assert.InEpsilon(t, shape.Capacity(32, 32), float64(l.count(pod.Answered))/300, 0.02)
	assert.Equal(t, len(l), l.count(pod.Answered))
}

func TestImpossibleShapes(t *testing.T) {
	for name, change := range map[string]func(*pod.Shape){
		"no slots":        func(s *pod.Shape) { s.Slots = 0 },
		"below zero":      func(s *pod.Shape) { s.EncodeToken = -1 },
		"endlessly fast":  func(s *pod.Shape) { s.StepBase, s.StepSentence = 0, 0 },
		"faster the more": func(s *pod.Shape) { s.StepSentence = -0.001 },
	} {
		t.Run(name, func(t *testing.T) {
			s := pod.CPU418M()
			require.NoError(t, s.Validate())
			change(&s)
			assert.Error(t, s.Validate())
		})
	}
	assert.NoError(t, pod.AssumedGPU().Validate())
}

// The argument against scaling by the GPU's utilization alone: at a tenth of what a pod can
// do its GPU is busy most of the time.
func TestAssumedGPULooksBusyEarly(t *testing.T) {
	shape := pod.AssumedGPU()
	r := rand.New(rand.NewPCG(1, 1))
	var l log
	p := pod.New(shape, pod.DefaultLimits(), &l, 0)
	rate := shape.Capacity(32, 32) / 5
	for at := r.ExpFloat64() / rate; at < 600; at += r.ExpFloat64() / rate {
		p.Offer(request(at, 32))
	}
	assert.Greater(t, p.Usage().Busy/600, 0.8, "at a fifth of the capacity")
}
