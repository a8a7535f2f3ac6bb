package hpa

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
)

// The numbers of replicas are those of Kubernetes' own tests for the same situations
// (replica_calculator_test.go), worked out in the comments.
func TestProposals(t *testing.T) {
	const qps = "qps"
	for name, test := range map[string]struct {
		metric   autoscaling.MetricSpec
		replicas int32
		pods     []Pod
		want     int32
	}{
		"documentation: twice the target, twice the pods": {
			average(qps, "100m"), 1, []Pod{busy(qps, 200)}, 2},
		"documentation: half of the target, half of the pods": {
			average(qps, "100m"), 2, []Pod{busy(qps, 50), busy(qps, 50)}, 1},
		"documentation: within the tolerance": {
			average(qps, "100m"), 2, []Pod{busy(qps, 110), busy(qps, 110)}, 2},
		"just outside of the tolerance": {
			average(qps, "100m"), 2, []Pod{busy(qps, 111), busy(qps, 111)}, 3},
		"just within the tolerance, downwards": {
			average(qps, "100m"), 20, same(20, busy(qps, 90)), 20},
		"just outside, downwards: ceil(0.89 × 20)": {
			average(qps, "100m"), 20, same(20, busy(qps, 89)), 18},

		"CPU up: 50% / 30% × 3": {
			cpu(30), 3, []Pod{busy("cpu", 300), busy("cpu", 500), busy("cpu", 700)}, 5},
		"CPU up, an unready pod counts 0: 1200 / 3000 = 40%, / 30% × 3": {
			cpu(30), 3, []Pod{unready(busy("cpu", 300)), busy("cpu", 500), busy("cpu", 700)}, 4},
		"CPU, two unready pods turn 40% into 13%: no change of direction": {
			cpu(30), 3, []Pod{busy("cpu", 400), unready(busy("cpu", 500)), unready(busy("cpu", 700))}, 3},
		"CPU up, failed pods do not count": {
			cpu(30), 2, []Pod{busy("cpu", 500), busy("cpu", 700), failed(busy("cpu", 0)), failed(old(nil))}, 4},
		"CPU up, pods that end do not count": {
			cpu(30), 2, []Pod{busy("cpu", 500), busy("cpu", 700), terminating(busy("cpu", 9)), terminating(old(nil))}, 4},
		"CPU down: 28% / 50% × 5": {
			cpu(50), 5, []Pod{busy("cpu", 100), busy("cpu", 300), busy("cpu", 500), busy("cpu", 250), busy("cpu", 250)}, 3},
		"CPU down, unready pods do not count: 30% / 50% × 3": {
			cpu(50), 5, []Pod{busy("cpu", 100), busy("cpu", 300), busy("cpu", 500), unready(busy("cpu", 250)), unready(busy("cpu", 250))}, 2},
		"CPU down, pending pods do not count: 10% / 50% × 1": {
			cpu(50), 5, append(same(4, pending(old(nil))), busy("cpu", 100)), 1},
		"CPU in whole percents: 30% / 10% × 2, not 30.95%": {
			cpu(10), 2, []Pod{busy("cpu", 310), busy("cpu", 309)}, 6},

		"down, missing ones count all of their request: (400 + 95 + 2000) / 4000 = 62% × 4": {
			cpu(100), 4, []Pod{busy("cpu", 400), busy("cpu", 95), old(nil), old(nil)}, 3},
		"on target, missing ones do not count": {
			cpu(100), 2, []Pod{busy("cpu", 1000), old(nil)}, 2},
		"up, a missing one counts 0 and turns 190% into 95%": {
			cpu(100), 2, []Pod{busy("cpu", 1900), old(nil)}, 2},
		"down, a missing one turns 60% into 80%: ceil(0.8 × 2)": {
			cpu(100), 2, []Pod{busy("cpu", 600), old(nil)}, 2},
		"an unready and a missing one: 45% / 50% = 0.9 becomes 1450 / 2000 = 72%: no change of direction": {
			cpu(50), 3, []Pod{unready(busy("cpu", 100)), busy("cpu", 450), old(nil)}, 3},
		"up by much, with an unready and a missing one: 2000 / 3000 = 66% / 50% × 3": {
			cpu(50), 3, []Pod{unready(busy("cpu", 100)), busy("cpu", 2000), old(nil)}, 4},
		"down by much: an unready one does not count, a missing one all: 1200 / 3000 = 40% / 50% × 3": {
			cpu(50), 4, []Pod{unready(busy("cpu", 100)), busy("cpu", 100), busy("cpu", 100), old(nil)}, 3},
		"a target above 100%: missing ones count as on target": {
			cpu(300), 3, []Pod{busy("cpu", 100), busy("cpu", 100), old(nil)}, 2}, // 3200/3000 = 106% / 300% × 3

		"an update with a pod too many: 3 would be more than 2, while less is needed": {
			average(qps, "17"), 2, []Pod{busy(qps, 10000), busy(qps, 10000), old(nil)}, 2},
		"metrics of pods: being unready does not matter": {
			average(qps, "15"), 3, []Pod{unready(busy(qps, 50000)), busy(qps, 10000), busy(qps, 30000)}, 6},
		"metrics of pods: pending ones count 0 on the way up: 90 / 5 = 18": {
			average(qps, "15"), 5, []Pod{busy(qps, 50000), busy(qps, 10000), busy(qps, 30000), pending(old(nil)), pending(old(nil))}, 6},
		"metrics of pods, nothing at all": {
			average(qps, "15"), 3, same(3, busy(qps, 0)), 0},
		"memory: starting pods count, it is not CPU": {
			utilization(core.ResourceMemory, 50), 2, []Pod{unready(busy("memory", 1000)), busy("memory", 1000)}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			c := newController(t, spec(test.metric))
			got, err := c.propose(Snapshot{Now: now, Replicas: test.replicas, Pods: test.pods})
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}

func same(n int, p Pod) []Pod {
	out := make([]Pod, n)
	for i := range out {
		out[i] = p
	}
	return out
}

// Whether a pod's CPU counts, at 30% of its request against a target of 15%: if it does,
// two pods of 30% make 4, and if it counts 0, they make 2.
func TestCPUOfStartingPods(t *testing.T) {
	const counts, starting = 4, 2
	for name, test := range map[string]struct {
		started, readyChanged time.Duration // before now
		ready                 bool
		sampled, window       time.Duration // before now
		want                  int32
	}{
		"ready, and sampled since":                        {time.Minute, 30 * time.Second, true, 0, 30 * time.Second, counts},
		"ready, but the sample reaches back to its start": {time.Minute, 30 * time.Second, true, 0, time.Minute, starting},
		"unready within the initialization":               {4 * time.Minute, 4 * time.Minute, false, 0, 0, starting},
		"never ready, long after":                         {10 * time.Minute, 10*time.Minute - 6*time.Second, false, 0, 0, starting},
		"was ready, long after":                           {10 * time.Minute, 9 * time.Minute, false, 0, 0, counts},
		"ready, an old sample, long after":                {10 * time.Minute, 10 * time.Minute, true, 2 * time.Minute, time.Minute, counts},
	} {
		t.Run(name, func(t *testing.T) {
			pod := changed(busy("cpu", 300), func(p *Pod) {
				p.Started, p.ReadyChanged, p.Ready = now-test.started, now-test.readyChanged, test.ready
				p.Samples = map[string]Sample{"cpu": {Milli: 300, At: now - test.sampled, Window: test.window}}
			})
			c := newController(t, spec(cpu(15)))
			got, err := c.propose(Snapshot{Now: now, Replicas: 2, Pods: []Pod{busy("cpu", 300), pod}})
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}

func TestHighestProposalCounts(t *testing.T) {
	both := spec(average("tokens", "100"), cpu(50))
	for name, test := range map[string]struct {
		pods []Pod
		want int32
	}{
		"the first":                {same(2, old(map[string]int64{"tokens": 300_000, "cpu": 500})), 6},
		"the second":               {same(2, old(map[string]int64{"tokens": 0, "cpu": 1000})), 4},
		"none: equal":              {same(2, old(map[string]int64{"tokens": 100_000, "cpu": 500})), 2},
		"one lacks, the other up":  {same(2, busy("cpu", 1000)), 4},
		"one lacks, the other not": {same(2, busy("cpu", 500)), 2},
	} {
		t.Run(name, func(t *testing.T) {
			c := newController(t, both)
			got, err := c.propose(Snapshot{Now: now, Replicas: 2, Pods: test.pods})
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}

func TestMetricsThatLack(t *testing.T) {
	noRequest := changed(busy("cpu", 10), func(p *Pod) { p.Requests = nil })
	for name, test := range map[string]struct {
		pods []Pod
		want error
	}{
		"no pods":                         {nil, ErrNoMetrics},
		"none has values":                 {same(2, old(nil)), ErrNoMetrics},
		"all start":                       {same(2, pending(old(nil))), ErrNoMetrics},
		"a pod without a request":         {[]Pod{noRequest, noRequest}, ErrNoRequest},
		"one lacks, the other would fall": {same(2, busy("cpu", 10)), ErrNoMetrics},
	} {
		t.Run(name, func(t *testing.T) {
			c := newController(t, spec(cpu(50), average("tokens", "100")))
			got, err := c.Sync(Snapshot{Now: now, Replicas: 2, Pods: test.pods})
			require.ErrorIs(t, err, test.want)
			assert.Equal(t, int32(2), got, "nothing changes")
		})
	}
}
