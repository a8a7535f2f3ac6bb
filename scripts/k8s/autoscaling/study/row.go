package study

import (
	"slices"

	"dragoman/scripts/k8s/autoscaling/cluster"
)

// mean of a number over the days.
func (r *Row) mean(of func(*cluster.Result) float64) float64 {
	sum := 0.0
	for _, run := range r.Runs {
		sum += of(run)
	}
	return sum / float64(len(r.Runs))
}

// share of the requests that had an outcome, in percent.
func (r *Row) share(of func(*cluster.Result) int) float64 {
	return 100 * r.mean(func(res *cluster.Result) float64 {
		return float64(of(res)) / float64(max(1, res.Requests))
	})
}

// Lost is the share of requests without an answer in time, in percent.
func (r *Row) Lost() float64 { return 100 * r.mean((*cluster.Result).Lost) }

// WorstLost is that of the worst day.
func (r *Row) WorstLost() float64 {
	return 100 * slices.MaxFunc(r.Runs, func(a, b *cluster.Result) int {
		if a.Lost() < b.Lost() {
			return -1
		}
		return 1
	}).Lost()
}

// Refused is the share of requests that got 503, in percent.
func (r *Row) Refused() float64 { return r.share(func(res *cluster.Result) int { return res.Refused }) }

// Late is the share of requests whose clients left, in percent.
func (r *Row) Late() float64 { return r.share(func(res *cluster.Result) int { return res.Late }) }

// Killed are the requests that ended with their pod, on all days.
func (r *Row) Killed() int {
	n := 0
	for _, run := range r.Runs {
		n += run.Killed
	}
	return n
}

// P95 is the mean of the days' 95th percentiles, in seconds.
func (r *Row) P95() float64 { return r.mean(func(res *cluster.Result) float64 { return res.P95 }) }

// P99 is the mean of the days' 99th percentiles, in seconds.
func (r *Row) P99() float64 { return r.mean(func(res *cluster.Result) float64 { return res.P99 }) }

// PodHours are those of a day.
func (r *Row) PodHours() float64 {
	return r.mean(func(res *cluster.Result) float64 { return res.PodHours })
}

// LoadHours are those of a day, of pods that are always full.
func (r *Row) LoadHours() float64 {
	return r.mean(func(res *cluster.Result) float64 { return res.LoadHours })
}

// Scalings are the changes of a day.
func (r *Row) Scalings() float64 {
	return r.mean(func(res *cluster.Result) float64 { return float64(res.Ups + res.Downs) })
}
