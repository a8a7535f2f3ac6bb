package monitor

import (
	"cmp"
	"math"
	"slices"
	"sort"

	dto "github.com/prometheus/client_model/go"
)

// distribution is a histogram: its buckets, by their bounds, each with the number of
// observations up to its bound. Bounds differ, counts do not fall, and the last bound is
// infinite. nil is one without observations, or one that is not known.
type distribution []bucket

// bucket has the observations of at most le.
type bucket struct{ le, count float64 }

// maxBuckets is how many buckets a distribution may have; a server has 20.
const maxBuckets = 512

// distributionOf adds up the histograms of the series of a family that keep lets
// through. It is nil where one of them makes no sense.
func distributionOf(f *dto.MetricFamily, keep func(*dto.Metric) bool) distribution {
	var sum distribution
	for _, m := range f.GetMetric() {
		if !keep(m) {
			continue
		}
		d := readDistribution(m.GetHistogram())
		if d == nil || len(sum)+len(d) > maxBuckets {
			return nil
		}
		sum = sum.plus(d)
	}
	return sum
}

// readDistribution is nil for a histogram that makes no sense.
func readDistribution(h *dto.Histogram) distribution {
	d := make(distribution, 0, len(h.GetBucket())+1)
	for _, b := range h.GetBucket() {
		count := either(b.CumulativeCountFloat, b.CumulativeCount)
		if le := b.GetUpperBound(); math.IsNaN(le) || math.IsInf(le, -1) || !(count >= 0) || math.IsInf(count, 1) {
			return nil
		}
		d = append(d, bucket{b.GetUpperBound(), count})
	}
	slices.SortStableFunc(d, func(a, b bucket) int { return cmp.Compare(a.le, b.le) })
	d = slices.CompactFunc(d, func(a, b bucket) bool { return a.le == b.le })
	if len(d) == 0 || !math.IsInf(d[len(d)-1].le, 1) {
		return nil
	}
	return d.rising()
}

// rising makes the counts rise, in place. Those of a server that is being scraped while
// it counts may be off by some.
func (d distribution) rising() distribution {
	for i := 1; i < len(d); i++ {
		d[i].count = max(d[i].count, d[i-1].count)
	}
	return d
}

// upTo is the number of observations in buckets that end at le or before.
func (d distribution) upTo(le float64) float64 {
	i := sort.Search(len(d), func(i int) bool { return d[i].le > le })
	if i == 0 {
		return 0
	}
	return d[i-1].count
}

// since is what d has more than an earlier one.
func (d distribution) since(earlier distribution) distribution {
	more := make(distribution, len(d))
	for i, b := range d {
		more[i] = bucket{b.le, max(0, b.count-earlier.upTo(b.le))}
	}
	return more.rising()
}

// plus is the distribution of the observations of both. Their bounds may differ.
func (d distribution) plus(other distribution) distribution {
	bounds := make([]float64, 0, len(d)+len(other))
	for _, b := range slices.Concat(d, other) {
		bounds = append(bounds, b.le)
	}
	slices.Sort(bounds)
	bounds = slices.Compact(bounds)
	sum := make(distribution, len(bounds))
	for i, le := range bounds {
		sum[i] = bucket{le, d.upTo(le) + other.upTo(le)}
	}
	return sum
}

// quantile estimates what a part q of the observations, above 0 and up to 1, is not
// above, as histogram_quantile of Prometheus does: observations lie evenly within their
// bucket, those of the first one begin at 0, and those beyond the last finite bound
// count as that. It is NaN where nothing was observed.
func (d distribution) quantile(q float64) float64 {
	last := len(d) - 1
	if last < 1 || !(d[last].count > 0) {
		return math.NaN()
	}
	rank := q * d[last].count
	i := sort.Search(last, func(i int) bool { return d[i].count >= rank })
	if i == last {
		return d[last-1].le
	}
	if i == 0 && d[0].le <= 0 {
		return d[0].le
	}
	var low, below float64
	if i > 0 {
		low, below = d[i-1].le, d[i-1].count
	}
	return low + (d[i].le-low)*(rank-below)/(d[i].count-below)
}
