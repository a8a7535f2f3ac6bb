package study

import (
	"fmt"
	"slices"

	"dragoman/scripts/k8s/autoscaling/cluster"
	"dragoman/scripts/k8s/autoscaling/pod"
)

// The keys of the tables.
const (
	KeyMetrics = "metrics"
	KeyGPU     = "gpu"
	KeyQueue   = "queue-target"
	KeyDown    = "down-window"
	KeyGrowth  = "growth"
	KeyMinimum = "minimum"
	KeyWait    = "queue-wait"
)

// Keys are those of all tables.
func Keys() []string {
	return []string{KeyMetrics, KeyGPU, KeyQueue, KeyDown, KeyGrowth, KeyMinimum, KeyWait}
}

// ShippedName is the row of what ships.
const ShippedName = "as shipped"

// row adds a row to a table.
func (s *Study) row(t *Table, name string, shape pod.Shape, start cluster.Start, edits ...Edit) error {
	seeds := s.seeds
	if shape.Cores == 0 { // a GPU's days have twelve times the requests
		seeds = seeds[:(len(seeds)+2)/3]
	} else {
		edits = append([]Edit{without(cluster.GPU)}, edits...)
	}
	spec, err := edited(s.shipped.Autoscaler, edits...)
	if err != nil {
		return fmt.Errorf("%s, %s: %w", t.Key, name, err)
	}
	limits := pod.DefaultLimits()
	limits.QueueWait = s.shipped.QueueWait.Seconds()
	t.Rows = append(t.Rows, &Row{Name: name, Start: start, Shape: shape, Shipped: name == ShippedName, Seeds: seeds, spec: spec, limits: limits})
	return nil
}

// named is an alternative.
type named struct {
	name  string
	edits []Edit
}

// add makes a table of alternatives and starts.
func (s *Study) add(key, head string, shape pod.Shape, starts []cluster.Start, alternatives []named) error {
	t := &Table{Key: key, Head: head}
	for _, start := range starts {
		for _, a := range alternatives {
			if err := s.row(t, a.name, shape, start, a.edits...); err != nil {
				return err
			}
		}
	}
	s.tables = append(s.tables, t)
	return nil
}

// addMetrics asks which metrics should scale, on pods as they were measured.
func (s *Study) addMetrics() error {
	return s.add(KeyMetrics, "metrics", pod.CPU418M(), []cluster.Start{nodeCache, download, newNode}, []named{
		{"CPU only (80%)", []Edit{only(cluster.CPU), utilization(cluster.CPU, 80)}},
		{"queue only", []Edit{only(cluster.QueueTokens)}},
		{"batch occupancy only (60%)", []Edit{with(cluster.Occupancy, "600m"), only(cluster.Occupancy)}},
		{ShippedName, nil},
	})
}

// addGPU asks the same of pods with an assumed GPU.
func (s *Study) addGPU() error {
	return s.add(KeyGPU, "metrics", pod.AssumedGPU(), []cluster.Start{download}, []named{
		{"CPU only (80%)", []Edit{only(cluster.CPU), utilization(cluster.CPU, 80)}},
		{"GPU only (80%)", []Edit{with(cluster.GPU, "80"), only(cluster.GPU)}},
		{"queue only", []Edit{only(cluster.QueueTokens)}},
		{"queue and GPU (90%)", []Edit{with(cluster.GPU, "90"), only(cluster.GPU, cluster.QueueTokens)}},
		{"queue and batch occupancy (60%)", []Edit{with(cluster.Occupancy, "600m"), only(cluster.QueueTokens, cluster.Occupancy)}},
		{ShippedName, nil},
	})
}

// addQueueTargets asks how many tokens should wait.
func (s *Study) addQueueTargets() error {
	var alternatives []named
	for _, tokens := range []string{"100", "250", "500", "1000", "2000"} {
		alternatives = append(alternatives, named{tokens, []Edit{with(cluster.QueueTokens, tokens)}})
	}
	return s.add(KeyQueue, "tokens per pod", pod.CPU418M(), []cluster.Start{nodeCache, download}, alternatives)
}

// addDownWindows asks for how long pods should be kept.
func (s *Study) addDownWindows() error {
	var alternatives []named
	for _, seconds := range []int32{60, 300, 600, 900, 1800} {
		name := fmt.Sprintf("%d s", seconds)
		alternatives = append(alternatives, named{name, []Edit{downWindow(seconds)}})
	}
	alternatives = append(alternatives, named{"Kubernetes' defaults for all", []Edit{plain}})
	return s.add(KeyDown, "window of scaling down", pod.CPU418M(), []cluster.Start{nodeCache, download}, alternatives)
}

// addGrowth asks how fast pods should come.
func (s *Study) addGrowth() error {
	return s.add(KeyGrowth, "most that is added", pod.CPU418M(), []cluster.Start{nodeCache, download}, []named{
		{"1 pod or all again in 4 min", []Edit{growth(0, 1, 240)}},
		{"2 pods or all again in 2 min, window of 30 s", []Edit{growth(30, 2, 120)}},
		{"2 pods or all again in 2 min", []Edit{growth(0, 2, 120)}},
		{"2 pods or all again in 1 min", []Edit{growth(0, 2, 60)}},
		{"4 pods or all again in 15 s", []Edit{growth(0, 4, 15)}},
	})
}

// addMinimum asks how many pods there should be at least.
func (s *Study) addMinimum() error {
	return s.add(KeyMinimum, "pods at least", pod.CPU418M(), []cluster.Start{nodeCache, download}, []named{
		{"1", []Edit{atLeast(1)}},
		{"2", []Edit{atLeast(2)}},
		{"3", []Edit{atLeast(3)}},
	})
}

// addQueueWaits asks for how long requests should be let in to wait: QUEUE_WAIT.
func (s *Study) addQueueWaits() error {
	waits := []float64{30, 10, 7, 5, 3}
	var alternatives []named
	for _, w := range waits {
		alternatives = append(alternatives, named{fmt.Sprintf("%g s", w), nil})
	}
	if err := s.add(KeyWait, "QUEUE_WAIT", pod.CPU418M(), []cluster.Start{nodeCache, download}, alternatives); err != nil {
		return err
	}
	for i, row := range s.tables[len(s.tables)-1].Rows {
		row.limits.QueueWait = waits[i%len(waits)]
	}
	return nil
}

// Find returns the row of a name and start, nil if there is none.
func (t *Table) Find(name, start string) *Row {
	i := slices.IndexFunc(t.Rows, func(r *Row) bool { return r.Name == name && r.Start.Name == start })
	if i < 0 {
		return nil
	}
	return t.Rows[i]
}
