package study

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"

	"golang.org/x/sync/errgroup"

	"dragoman/scripts/k8s/autoscaling/cluster"
	"dragoman/scripts/k8s/autoscaling/manifest"
	"dragoman/scripts/k8s/autoscaling/pod"
	"dragoman/scripts/k8s/autoscaling/traffic"
)

// Table compares alternatives.
type Table struct {
	Key  string // of its place in the document
	Head string // of the column of alternatives
	Rows []*Row
}

// Row is one alternative, run over some days.
type Row struct {
	Name    string
	Start   cluster.Start
	Shape   pod.Shape
	Shipped bool // the spec is that of the manifest, less what the shape lacks
	Runs    []*cluster.Result
	Seeds   []uint64

	spec   autoscaling.HorizontalPodAutoscalerSpec
	limits pod.Limits
}

// Study is a set of tables to be computed.
type Study struct {
	shipped *manifest.Shipped
	seeds   []uint64 // of the days; of GPUs only the first third
	tables  []*Table
}

// The starts that are compared. Of their parts only export (7 s), packing (4 s), checks of
// checksums (1 s) and loading (1 s) are measured, see docs/benchmarks.md; the rest is
// assumed.
var (
	nodeCache = cluster.Start{Name: "30 s", Pending: 20, Loading: 10}
	download  = cluster.Start{Name: "4 min", Pending: 230, Loading: 10}
	newNode   = cluster.Start{Name: "6 min", Pending: 350, Loading: 10}
)

// The day, in pods that are full. The highest spike comes to 6.4 of them at most.
const (
	nightPods = 0.4
	noonPods  = 1.6
	batchPods = 1.0
	spikes    = 4
	highest   = 4.0
)

// The requests: tokens of a sentence on average, their spread, and the share of clients that
// say in advance how long they wait.
const (
	meanTokens = 32
	spread     = 0.5
	Patience   = 10 // seconds that clients wait
	telling    = 0.5
)

// New prepares the study of a manifest over as many days.
func New(shipped *manifest.Shipped, days int) (*Study, error) {
	if days < 1 {
		return nil, fmt.Errorf("study: %d days: use 1 or more", days)
	}
	s := &Study{shipped: shipped}
	for day := range days {
		s.seeds = append(s.seeds, uint64(day+1))
	}
	for _, add := range []func() error{s.addMetrics, s.addGPU, s.addQueueTargets, s.addDownWindows, s.addGrowth, s.addMinimum, s.addQueueWaits} {
		if err := add(); err != nil {
			return nil, fmt.Errorf("study: %w", err)
		}
	}
	return s, nil
}

// Run computes all tables, on all cores. progress is called after each simulation, by
// one goroutine at a time.
func (s *Study) Run(ctx context.Context, progress func(done, total int)) ([]*Table, error) {
	done, total := 0, 0
	var mu sync.Mutex // guards done, and calls of progress
	advance := func() {
		mu.Lock()
		defer mu.Unlock()
		done++
		progress(done, total)
	}
	rows := s.rows()
	for _, row := range rows {
		total += len(row.Seeds)
		row.Runs = make([]*cluster.Result, len(row.Seeds))
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, row := range rows {
		for i, seed := range row.Seeds {
			group.Go(func() error {
				if err := ctx.Err(); err != nil {
					return err
				}
				r, err := s.run(row, seed, false)
				if err != nil {
					return fmt.Errorf("%s, a start of %s, day %d: %w", row.Name, row.Start.Name, seed, err)
				}
				row.Runs[i] = r
				advance()
				return nil
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("study: %w", err)
	}
	return s.tables, nil
}

// rows are those of all tables.
func (s *Study) rows() []*Row {
	var rows []*Row
	for _, t := range s.tables {
		rows = append(rows, t.Rows...)
	}
	return rows
}

// Day simulates one day of a row, with its minutes.
func (s *Study) Day(row *Row, seed uint64) (*cluster.Result, error) {
	r, err := s.run(row, seed, true)
	if err != nil {
		return nil, fmt.Errorf("study: %s, day %d: %w", row.Name, seed, err)
	}
	return r, nil
}

// HighestSpike is when the highest spike of a day begins, in seconds.
func HighestSpike(shape pod.Shape, seed uint64) (float64, error) {
	day, err := newDay(shape, seed)
	if err != nil {
		return 0, fmt.Errorf("study: %w", err)
	}
	return day.Spikes()[0].At, nil
}

// run simulates a day of a row.
func (s *Study) run(row *Row, seed uint64, series bool) (*cluster.Result, error) {
	day, err := newDay(row.Shape, seed)
	if err != nil {
		return nil, err
	}
	return cluster.Run(cluster.Config{
		Spec:     row.spec,
		Shape:    row.Shape,
		Limits:   row.limits,
		Requests: s.requests(row.Shape),
		Start:    row.Start,
		Stop:     cluster.Stop{Unlisted: 1, PreStop: s.shipped.PreStop.Seconds(), Shutdown: s.shipped.Shutdown.Seconds()},
		Load:     day,
		Lengths:  traffic.Lengths{Mean: meanTokens, Spread: spread},
		Patience: Patience,
		Telling:  telling,
		Until:    traffic.DaySeconds,
		Series:   series,
		Seed:     seed,
	})
}

// newDay is the traffic of a seed, for pods of a shape.
func newDay(shape pod.Shape, seed uint64) (*traffic.Day, error) {
	full := Capacity(shape)
	return traffic.New(traffic.Config{
		Night: nightPods * full, Noon: noonPods * full,
		Spikes: spikes, Highest: highest, Batch: batchPods * full,
	}, seed)
}

// requests are those of the manifest; a pod without a GPU requests the cores that it was
// measured with, as overlays/cpu does.
func (s *Study) requests(shape pod.Shape) map[core.ResourceName]int64 {
	out := map[core.ResourceName]int64{}
	for name, amount := range s.shipped.Requests {
		out[name] = amount
	}
	if shape.Cores > 0 {
		out[core.ResourceCPU] = int64(1000 * shape.Cores)
	}
	return out
}

// Capacity is what a full pod of a shape answers, in requests of the study per second.
func Capacity(shape pod.Shape) float64 { return shape.Capacity(meanTokens, meanTokens) }
