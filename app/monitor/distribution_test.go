package monitor

import (
	"math"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func mustParse(t *testing.T, text string) series {
	t.Helper()
	all, err := parse(text)
	require.NoError(t, err)
	return all
}

var infinite = math.Inf(1)

// The values are those of histogram_quantile.
func TestQuantiles(t *testing.T) {
	for _, test := range []struct {
		name string
		d    distribution
		q    float64
		want float64
	}{
		{"nothing known", nil, .5, math.NaN()},
		{"nothing observed", distribution{1: 0, infinite: 0}, .5, math.NaN()},
		{"one bucket", distribution{infinite: 4}, .5, math.NaN()},
		{"the first bucket begins at 0", distribution{2: 4, infinite: 4}, .5, 1},
		{"within a bucket", distribution{1: 2, 3: 6, infinite: 6}, .5, 1.5},
		{"at a bound", distribution{1: 2, 3: 4, infinite: 4}, .5, 1},
		{"an empty bucket is passed", distribution{1: 1, 2: 1, 4: 3, infinite: 3}, .5, 2.5},
		{"all", distribution{1: 2, 3: 4, infinite: 4}, 1, 3},
		{"beyond the last bound", distribution{1: 1, 3: 2, infinite: 9}, .95, 3},
		{"all beyond", distribution{1: 0, infinite: 9}, .5, 1},
		{"falling counts", distribution{1: 5, 2: 4, infinite: 6}, .9, 2},
		{"a bound below 0", distribution{-1: 5, 2: 6, infinite: 6}, .5, -1},
		{"parts of observations", distribution{1: .5, 2: 1, infinite: 1}, .75, 1.5},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := test.d.quantile(test.q)
			if math.IsNaN(test.want) {
				assert.True(t, math.IsNaN(got), "%v", got)
				return
			}
			assert.InDelta(t, test.want, got, 1e-12)
		})
	}
}

func TestDistributionsSince(t *testing.T) {
	later := distribution{1: 5, 2: 9, infinite: 10}
	for _, test := range []struct {
		name          string
		earlier, want distribution
	}{
		{"of nothing", nil, later},
		{"of the same", later, distribution{1: 0, 2: 0, infinite: 0}},
		{"of less", distribution{1: 5, 2: 6, infinite: 6}, distribution{1: 0, 2: 3, infinite: 4}},
		{"of more, which cannot be", distribution{1: 2, 2: 9, infinite: 99}, distribution{1: 3, 2: 0, infinite: 0}},
	} {
		t.Run(test.name, func(t *testing.T) { assert.Equal(t, test.want, later.since(test.earlier)) })
	}
}

func TestHistogramsThatMakeNoSense(t *testing.T) {
	const head = "# TYPE h histogram\n"
	all := func(model.Metric) bool { return true }
	for _, test := range []struct {
		name, text string
		want       distribution
	}{
		{"none", "", distribution{}},
		{"no buckets", head + "h_count 3\n", distribution{infinite: 3}},
		{"no infinite bucket", head + "h_bucket{le=\"1\"} 2\nh_count 3\n", distribution{1: 2, infinite: 3}},
		{"two that add up", head + "h_bucket{a=\"1\",le=\"1\"} 2\nh_bucket{a=\"1\",le=\"+Inf\"} 3\nh_bucket{a=\"2\",le=\"+Inf\"} 4\n", distribution{1: 2, infinite: 7}},
		{"bounds in disorder", head + "h_bucket{le=\"+Inf\"} 3\nh_bucket{le=\"1\"} 2\n", distribution{1: 2, infinite: 3}},
		{"endless counts", head + "h_bucket{le=\"1\"} +Inf\nh_bucket{le=\"+Inf\"} +Inf\n", nil},
		{"an endless bound below 0", head + "h_bucket{le=\"-Inf\"} 3\n", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := distributionOf(mustParse(t, test.text)["h_bucket"], all)
			assert.Equal(t, test.want, got)
		})
	}
}
