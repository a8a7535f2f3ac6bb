package monitor

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/prometheus/common/model"
)

// distribution is a histogram: how many observations there are up to each bound, the last
// of which is infinite. nil is one without observations, or one that is not known.
type distribution map[float64]float64

// distributionOf adds up the buckets that keep lets through. It is nil where one of them
// makes no sense.
func distributionOf(buckets model.Vector, keep func(model.Metric) bool) distribution {
	d := distribution{}
	for _, b := range buckets {
		if !keep(b.Metric) {
			continue
		}
		le, err := strconv.ParseFloat(string(b.Metric[model.BucketLabel]), 64)
		if err != nil || math.IsNaN(le) || math.IsInf(le, -1) || math.IsNaN(known(float64(b.Value))) {
			return nil
		}
		d[le] += float64(b.Value)
	}
	return d
}

// since is what d has more than an earlier one.
func (d distribution) since(earlier distribution) distribution {
	more := distribution{}
	for le, count := range d {
		more[le] = max(0, count-earlier[le])
	}
	return more
}

// quantile estimates what a part q of the observations, above 0 and up to 1, is not
// above, as histogram_quantile of Prometheus does: observations lie evenly within their
// bucket, those of the first one begin at 0, and those beyond the last finite bound
// count as that. It is NaN where nothing was observed.
func (d distribution) quantile(q float64) float64 {
	bounds := slices.Sorted(maps.Keys(d))
	last := len(bounds) - 1
	if last < 1 || !(d[bounds[last]] > 0) {
		return math.NaN()
	}
	rank := q * d[bounds[last]]
	var low, below float64 // the bound before, and the observations up to it
	for i, le := range bounds[:last] {
		// Counts of a server that is scraped while it counts may fall by some.
		count := max(below, d[le])
		switch {
		case count < rank:
			low, below = le, count
		case i == 0 && le <= 0:
			return le
		default:
			return low + (le-low)*(rank-below)/(count-below)
		}
	}
	return low
}
