package hpa

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	autoscaling "k8s.io/api/autoscaling/v2"
)

// steady is a deployment whose metric always asks for some number of replicas, and which
// has as many pods as it shall have.
type steady struct {
	t        *testing.T
	c        *Controller
	now      time.Duration
	replicas int32
	proposal int32 // of the last sync
}

func newSteady(t *testing.T, replicas int32, b *autoscaling.HorizontalPodAutoscalerBehavior) *steady {
	s := spec(average("load", "1"))
	s.Behavior = b
	return &steady{t: t, c: newController(t, s), now: now, replicas: replicas}
}

// ask syncs with a load that takes as many replicas, and moves on by 15 s.
func (s *steady) ask(replicas int32) int32 {
	s.t.Helper()
	load := make([]Pod, s.replicas)
	for i := range load {
		load[i] = busy("load", 0)
	}
	// One pod has it all; the mean of thousandths is rounded down, hence one on top.
	load[0] = busy("load", 1000*int64(replicas)-int64(s.replicas)+1)
	snapshot := Snapshot{Now: s.now, Replicas: s.replicas, Pods: load}
	proposal, err := s.c.propose(snapshot)
	require.NoError(s.t, err)
	s.now, s.proposal = s.now+SyncPeriod, proposal
	s.replicas, err = s.c.Sync(snapshot)
	require.NoError(s.t, err)
	return s.replicas
}

// asks is ask, n times.
func (s *steady) asks(n int, replicas int32) (out []int32) {
	for range n {
		out = append(out, s.ask(replicas))
	}
	return out
}

// behavior has the rules of both directions; nil are the API server's defaults.
func behavior(up, down *autoscaling.HPAScalingRules) *autoscaling.HorizontalPodAutoscalerBehavior {
	up, down = cmp.Or(up, rules(0, pods(4, 15), percent(100, 15))), cmp.Or(down, rules(300, percent(100, 15)))
	return &autoscaling.HorizontalPodAutoscalerBehavior{ScaleUp: up, ScaleDown: down}
}

func TestPolicies(t *testing.T) {
	for name, test := range map[string]struct {
		behavior *autoscaling.HorizontalPodAutoscalerBehavior
		from     int32
		ask      int32
		want     []int32
	}{
		"enhancement 853, story 1: ten times as many every minute": {
			behavior(rules(0, percent(900, 60)), nil), 1, 1000,
			[]int32{10, 10, 10, 10, 100, 100, 100, 100, 1000}},
		"enhancement 853, story 3: one pod a minute": {
			behavior(rules(0, pods(1, 60)), nil), 1, 1000,
			[]int32{2, 2, 2, 2, 3, 3, 3, 3, 4}},
		"documentation: 10% or 4 pods a minute, whichever is more": {
			behavior(nil, rules(0, pods(4, 60), percent(10, 60))), 80, 10,
			[]int32{72, 72, 72, 72, 64, 64, 64, 64, 57, 57, 57, 57, 51}},
		"documentation: below 40 it is the pods": {
			behavior(nil, rules(0, pods(4, 60), percent(10, 60))), 39, 10,
			[]int32{35, 35, 35, 35, 31}},
		"percents are rounded up, or one pod would never grow": {
			behavior(rules(0, percent(10, 60)), nil), 1, 1000,
			[]int32{2, 2, 2, 2, 3}},
		"defaults of a behavior: twice as many or 4 more every 15 s": {
			behavior(nil, nil), 1, 1000, []int32{5, 10, 20, 40, 80, 160, 320, 640, 1000}},
		"no behavior: twice as many or 4": {
			nil, 1, 1000, []int32{4, 8, 16, 32, 64, 128, 256, 512, 1000}},
		"maxReplicas ends it": {
			behavior(rules(0, percent(1000, 15)), nil), 900, 5000, []int32{1000, 1000}},
		"minReplicas ends it": {
			behavior(nil, rules(0, percent(100, 15))), 9, 0, []int32{1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSteady(t, test.from, test.behavior)
			assert.Equal(t, test.want, s.asks(len(test.want), test.ask))
		})
	}
}

func TestDownStabilization(t *testing.T) {
	for name, b := range map[string]*autoscaling.HorizontalPodAutoscalerBehavior{
		"by the controller's default":   nil,
		"by the default of a behavior":  behavior(nil, nil),
		"by a window":                   behavior(nil, rules(300, percent(100, 15))),
		"by a window, percents upwards": behavior(rules(0, percent(100, 15)), nil),
	} {
		t.Run(name, func(t *testing.T) {
			s := newSteady(t, 10, b)
			s.ask(10)
			for i := range 19 { // up to 285 s after
				require.Equal(t, int32(10), s.ask(2), "sync %d", i)
			}
			// 300 s after: the older rule still counts what is exactly as old.
			if at300 := s.ask(2); at300 != 2 {
				require.Nil(t, b)
				assert.Equal(t, int32(2), s.ask(2))
			}
		})
	}
}

func TestDownStabilizationKeepsTheHighestOfTheWindow(t *testing.T) {
	s := newSteady(t, 10, behavior(nil, rules(60, percent(100, 15))))
	s.ask(10)
	s.ask(3)
	s.ask(6)
	s.ask(2)
	assert.Equal(t, []int32{6, 6, 2}, s.asks(3, 2), "10 is 60 s old, later 6 is")
}

func TestUpStabilization(t *testing.T) {
	s := newSteady(t, 2, behavior(rules(60, percent(1000, 15)), rules(0, percent(100, 15))))
	s.ask(2)
	assert.Equal(t, []int32{2, 2, 2, 8}, []int32{s.ask(8), s.ask(12), s.ask(9), s.ask(10)}, "the lowest of a minute")
}

// A spike shorter than the window of scaling up changes nothing.
func TestUpStabilizationSkipsShortSpikes(t *testing.T) {
	s := newSteady(t, 2, behavior(rules(45, percent(1000, 15)), nil))
	s.ask(2)
	assert.Equal(t, []int32{2, 2, 2}, []int32{s.ask(9), s.ask(9), s.ask(2)})
	assert.Equal(t, []int32{2, 2}, s.asks(2, 9))
}

// What was added in a period gives room to take away as much more, and the other way round.
func TestPoliciesLookAtBothDirections(t *testing.T) {
	s := newSteady(t, 10, behavior(rules(0, pods(5, 60)), rules(0, pods(2, 60))))
	assert.Equal(t, int32(15), s.ask(100))
	assert.Equal(t, int32(8), s.ask(1), "from 10, where the period began, 2 less")
	assert.Equal(t, int32(15), s.ask(100), "and 5 more")
}

// Whatever is asked for, no policy is ever exceeded, bounds hold, and nothing falls
// that anything within the window still asked for.
func TestPropertiesOfRandomLoads(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 0))
		b := behavior(rules(15*int32(r.IntN(5)), pods(1+int32(r.IntN(5)), 15*(1+int32(r.IntN(8))))),
			rules(15*int32(r.IntN(20)), pods(1+int32(r.IntN(3)), 15*(1+int32(r.IntN(8))))))
		limited := spec(average("load", "1"))
		limited.MinReplicas, limited.MaxReplicas, limited.Behavior = ptr(int32(1+r.IntN(3))), 4+int32(r.IntN(20)), b
		s := &steady{t: t, c: newController(t, limited), now: now, replicas: *limited.MinReplicas}
		history, proposals := []int32{s.replicas}, []int32{}
		for range 300 {
			last := s.replicas
			got := s.ask(1 + int32(r.IntN(30)))
			context := fmt.Sprintf("seed %d, %d replicas after %d", seed, got, last)
			require.GreaterOrEqual(t, got, *limited.MinReplicas, context)
			require.LessOrEqual(t, got, limited.MaxReplicas, context)
			requirePolicy(t, history, got, b, context)
			proposals, history = append(proposals, s.proposal), append(history, got)
			if got < last {
				window := max(1, int(*b.ScaleDown.StabilizationWindowSeconds)/15)
				for _, p := range proposals[max(0, len(proposals)-window):] {
					require.Less(t, p, last, context)
				}
			}
		}
	}
}

// requirePolicy adds up the changes of a policy's period, in each direction.
func requirePolicy(t *testing.T, history []int32, got int32, b *autoscaling.HorizontalPodAutoscalerBehavior, context string) {
	t.Helper()
	last := history[len(history)-1]
	for _, direction := range []struct {
		rules *autoscaling.HPAScalingRules
		sign  int32
	}{{b.ScaleUp, 1}, {b.ScaleDown, -1}} {
		policy := direction.rules.Policies[0]
		if direction.sign*(got-last) <= 0 {
			continue
		}
		// The replicas when the period began are the base of the policy.
		start := history[max(0, len(history)-int(policy.PeriodSeconds)/15)]
		require.LessOrEqual(t, direction.sign*(got-start), policy.Value, context)
	}
}
