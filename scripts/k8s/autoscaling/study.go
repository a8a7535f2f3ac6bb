package main

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"dragoman/app/config"
	"dragoman/scripts/k8s/manifests"
)

// days that are simulated of each alternative; of GPUs two, which have twelve times the requests.
const days, gpuDays = 5, 2

// patience is how many seconds clients wait.
const patience = 10

// shipped is the scenario of k8s/deployment.yaml, without a shape and a start.
func shipped(path string) (sc scenario, err error) {
	set, err := manifests.ReadFile(path)
	if err != nil {
		return sc, err
	}
	deployment, err := manifests.One[*apps.Deployment](set)
	if err != nil {
		return sc, err
	}
	scaler, err := manifests.One[*autoscaling.HorizontalPodAutoscaler](set)
	if err != nil {
		return sc, err
	}
	c := deployment.Spec.Template.Spec.Containers[0]
	settings, err := config.Parse(manifests.Environ(c))
	if err != nil {
		return sc, err
	}
	sc = scenario{spec: scaler.Spec, requests: map[core.ResourceName]int64{}, queueWait: settings.QueueWait.Seconds(),
		shutdown: settings.ShutdownTimeout.Seconds(), patience: patience, until: daySeconds}
	for name, quantity := range c.Resources.Requests {
		sc.requests[name] = quantity.MilliValue()
	}
	if l := c.Lifecycle; l != nil && l.PreStop != nil && l.PreStop.Sleep != nil {
		sc.preStop = float64(l.PreStop.Sleep.Seconds)
	}
	return sc, nil
}

// table compares alternatives.
type table struct {
	key  string // of its place in the document
	head string // of the column of alternatives
	rows []*row
}

// row is one alternative, run over some days.
type row struct {
	name  string
	start time.Duration
	scenario
	runs []*result
}

// asShipped is the row of what ships.
const asShipped = "as shipped"

// alternative is a change of what ships.
type alternative struct {
	name string
	edit func(*scenario)
}

// The starts of a pod: the model is on its node, is fetched, and the node is new too. Of
// their parts only export (7 s), packing (4 s), checks of checksums (1 s) and loading
// (1 s) are measured, see docs/benchmarks.md; the rest is assumed.
const (
	nodeCache = 30 * time.Second
	download  = 4 * time.Minute
	newNode   = 6 * time.Minute
)

// newTable makes a table of alternatives to what ships, for each start.
func newTable(base scenario, key, head string, pods shape, starts []time.Duration, alternatives ...alternative) *table {
	t := &table{key: key, head: head}
	for _, start := range starts {
		for _, a := range alternatives {
			r := &row{name: a.name, start: start, scenario: base}
			r.spec, r.requests = *base.spec.DeepCopy(), maps.Clone(base.requests)
			r.shape, r.scenario.start = pods, start.Seconds()
			if pods.cores > 0 { // it requests the cores that it was measured with, as overlays/cpu does
				r.requests[core.ResourceCPU] = int64(1000 * pods.cores)
				r.spec.Metrics = slices.DeleteFunc(r.spec.Metrics, func(m autoscaling.MetricSpec) bool { return nameOf(m) == gpuMetric })
			}
			if a.edit != nil {
				a.edit(&r.scenario)
			}
			t.rows = append(t.rows, r)
		}
	}
	return t
}

// day simulates a day of a row.
func (r *row) day(seed uint64) (*result, error) {
	sc := r.scenario
	sc.seed, sc.rate = seed, newDay(r.shape, seed).rate
	return simulate(sc)
}

// run computes all tables, on all cores.
func run(ctx context.Context, tables []*table) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, t := range tables {
		for _, r := range t.rows {
			r.runs = make([]*result, days)
			if r.shape.cores == 0 {
				r.runs = r.runs[:gpuDays]
			}
			for i := range r.runs {
				group.Go(func() (err error) {
					if ctx.Err() != nil {
						return ctx.Err()
					}
					if r.runs[i], err = r.day(uint64(i + 1)); err != nil {
						return fmt.Errorf("%s, %s: %w", t.key, r.name, err)
					}
					return nil
				})
			}
		}
	}
	return group.Wait()
}

// study are the questions of docs/autoscaling.md.
func study(base scenario) []*table {
	two, most := []time.Duration{nodeCache, download}, []time.Duration{nodeCache, download, newNode}
	var targets, windows, waits, minima []alternative
	for _, tokens := range []string{"100", "250", "500", "1000", "2000"} {
		targets = append(targets, alternative{tokens, func(s *scenario) { s.average(queueTokens, tokens) }})
	}
	for _, seconds := range []int32{60, 300, 600, 900, 1800} {
		windows = append(windows, alternative{fmt.Sprintf("%d s", seconds),
			func(s *scenario) { s.spec.Behavior.ScaleDown.StabilizationWindowSeconds = &seconds }})
	}
	windows = append(windows, alternative{"Kubernetes' defaults for all", func(s *scenario) { s.spec.Behavior = nil }})
	for _, pods := range []int32{1, 2, 3} {
		minima = append(minima, alternative{fmt.Sprint(pods), func(s *scenario) { s.spec.MinReplicas = &pods }})
	}
	for _, seconds := range []float64{30, 10, 7, 5, 3} {
		waits = append(waits, alternative{fmt.Sprintf("%g s", seconds), func(s *scenario) { s.queueWait = seconds }})
	}
	cpuOnly := alternative{"CPU only (80%)", func(s *scenario) { s.only(cpuMetric); *s.spec.Metrics[0].Resource.Target.AverageUtilization = 80 }}
	queueOnly := alternative{"queue only", func(s *scenario) { s.only(queueTokens) }}
	return []*table{
		newTable(base, "metrics", "metrics", cpu418M, most, cpuOnly, queueOnly,
			alternative{"batch occupancy only (60%)", func(s *scenario) { s.average(occupancy, "600m"); s.only(occupancy) }},
			alternative{asShipped, nil}),
		newTable(base, "gpu", "metrics", assumedGPU, []time.Duration{download}, cpuOnly,
			alternative{"GPU only (80%)", func(s *scenario) { s.average(gpuMetric, "80"); s.only(gpuMetric) }}, queueOnly,
			alternative{"queue and GPU (90%)", func(s *scenario) { s.average(gpuMetric, "90"); s.only(gpuMetric, queueTokens) }},
			alternative{"queue and batch occupancy (60%)", func(s *scenario) { s.average(occupancy, "600m"); s.only(queueTokens, occupancy) }},
			alternative{asShipped, nil}),
		newTable(base, "queue-target", "tokens per pod", cpu418M, two, targets...),
		newTable(base, "down-window", "window of scaling down", cpu418M, two, windows...),
		newTable(base, "growth", "most that is added", cpu418M, two,
			alternative{"1 pod or all again in 4 min", growth(0, 1, 240)},
			alternative{"2 pods or all again in 2 min, window of 30 s", growth(30, 2, 120)},
			alternative{"2 pods or all again in 2 min", growth(0, 2, 120)},
			alternative{"2 pods or all again in 1 min", growth(0, 2, 60)},
			alternative{"4 pods or all again in 15 s", growth(0, 4, 15)}),
		newTable(base, "minimum", "pods at least", cpu418M, two, minima...),
		newTable(base, "queue-wait", "QUEUE_WAIT", cpu418M, two, waits...),
	}
}

// nameOf is a metric's name, as in meter.go.
func nameOf(m autoscaling.MetricSpec) string {
	if m.Resource != nil {
		return string(m.Resource.Name)
	}
	return m.Pods.Metric.Name
}

// only keeps the metrics of these names.
func (s *scenario) only(names ...string) {
	s.spec.Metrics = slices.DeleteFunc(s.spec.Metrics, func(m autoscaling.MetricSpec) bool { return !slices.Contains(names, nameOf(m)) })
}

// average adds a metric of pods with a mean value as its target, or changes its target.
func (s *scenario) average(name, target string) {
	value := resource.MustParse(target)
	i := slices.IndexFunc(s.spec.Metrics, func(m autoscaling.MetricSpec) bool { return nameOf(m) == name })
	if i < 0 {
		i = len(s.spec.Metrics)
		s.spec.Metrics = append(s.spec.Metrics, autoscaling.MetricSpec{Type: autoscaling.PodsMetricSourceType,
			Pods: &autoscaling.PodsMetricSource{Metric: autoscaling.MetricIdentifier{Name: name}}})
	}
	s.spec.Metrics[i].Pods.Target = autoscaling.MetricTarget{Type: autoscaling.AverageValueMetricType, AverageValue: &value}
}

// growth replaces the rules of scaling up: a window in seconds and a number of pods, or
// as many as there are, in a period of seconds, whichever is more.
func growth(window, pods, period int32) func(*scenario) {
	return func(s *scenario) {
		s.spec.Behavior.ScaleUp = &autoscaling.HPAScalingRules{StabilizationWindowSeconds: &window, Policies: []autoscaling.HPAScalingPolicy{
			{Type: autoscaling.PodsScalingPolicy, Value: pods, PeriodSeconds: period},
			{Type: autoscaling.PercentScalingPolicy, Value: 100, PeriodSeconds: period},
		}}
	}
}
