package engine

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// epoch is when the queues of these tests start.
var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func TestQueueOrder(t *testing.T) {
	type arrival struct {
		name string
		p    Priority
		at   time.Duration
	}
	for name, test := range map[string]struct {
		aging    time.Duration
		arrivals []arrival
		want     string
	}{
		"empty":                         {time.Minute, nil, ""},
		"first come, first served":      {time.Minute, []arrival{{"a", Normal, 0}, {"b", Normal, 1}, {"c", Normal, 1}}, "abc"},
		"higher first":                  {time.Minute, []arrival{{"a", Low, 0}, {"b", Normal, 1}, {"c", High, 2}}, "cba"},
		"at the same time":              {time.Minute, []arrival{{"a", Low, 0}, {"b", Normal, 0}, {"c", High, 0}}, "cba"},
		"low passes high after aging":   {time.Minute, []arrival{{"a", Low, 0}, {"b", High, 59 * time.Second}, {"c", High, 61 * time.Second}}, "bac"},
		"high that late comes second":   {time.Minute, []arrival{{"a", Low, 0}, {"b", High, time.Minute}}, "ab"},
		"neighbours: half of aging":     {time.Minute, []arrival{{"a", Normal, 0}, {"b", High, 29 * time.Second}, {"c", High, 31 * time.Second}}, "bac"},
		"low and normal: half of aging": {time.Minute, []arrival{{"a", Low, 0}, {"b", Normal, 29 * time.Second}, {"c", Normal, 31 * time.Second}}, "bac"},
		"no aging, no priorities":       {0, []arrival{{"a", Low, 0}, {"b", Normal, 0}, {"c", High, 0}}, "abc"},
	} {
		t.Run(name, func(t *testing.T) {
			q, named := queue{aging: test.aging}, map[*sequence]string{}
			for _, a := range test.arrivals {
				s := &sequence{index: outside}
				named[s] = a.name
				q.push(s, a.p, epoch.Add(a.at))
			}
			got := ""
			for s := q.head(); s != nil; s = q.head() {
				got += named[s]
				q.remove(s)
			}
			assert.Equal(t, test.want, got)
		})
	}
}

func TestQueueRaise(t *testing.T) {
	q := queue{aging: time.Minute}
	var s [4]*sequence
	for i := range s {
		s[i] = &sequence{index: outside}
		q.push(s[i], Normal, epoch.Add(time.Duration(i)*time.Second))
	}
	q.raise(s[2], Low, epoch.Add(5*time.Second))
	q.raise(s[2], Normal, epoch.Add(5*time.Second))
	assert.Same(t, s[0], q.head(), "nothing is ever put back")
	q.raise(s[2], High, epoch.Add(5*time.Second))
	assert.Same(t, s[2], q.head())
	q.raise(s[0], High, epoch.Add(6*time.Second))
	assert.Same(t, s[2], q.head(), "who was raised first")
	q.raise(s[1], High, epoch.Add(40*time.Second))
	q.remove(s[2])
	q.remove(s[0])
	assert.Same(t, s[1], q.head(), "aged enough by itself")
}

// The queue against sorting: any arrivals, raises and removals.
func TestQueueRandomly(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		q := queue{aging: time.Duration(rng.IntN(20)) * time.Second}
		var model []*sequence
		now := epoch
		for range 100 {
			now = now.Add(time.Duration(rng.IntN(3)) * time.Second)
			p := Priority(rng.IntN(3) - 1)
			switch op := rng.IntN(4); {
			case op < 2 || len(model) == 0:
				s := &sequence{index: outside}
				q.push(s, p, now)
				model = append(model, s)
			case op == 2:
				s := model[rng.IntN(len(model))]
				before := s.due
				q.raise(s, p, now)
				require.False(t, s.due.After(before))
			default:
				i := rng.IntN(len(model))
				q.remove(model[i])
				require.False(t, model[i].waits())
				model = slices.Delete(model, i, i+1)
			}
			require.Equal(t, len(model), q.len())
			if len(model) > 0 {
				first := slices.MinFunc(model, func(a, b *sequence) int {
					return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.number, b.number))
				})
				require.Same(t, first, q.head())
			}
		}
	}
}

func TestKeyTellsJobsApart(t *testing.T) {
	keys := map[key]bool{}
	jobs := []Job{
		{Source: []int64{1, 2}, Prefix: []int64{3}}, {Source: []int64{1}, Prefix: []int64{3, 2}},
		{Source: []int64{3, 1, 2}}, {Source: []int64{2}, Prefix: []int64{3, 1}},
		{Source: []int64{128111}}, {Source: []int64{127, 1}}, {Source: []int64{255, 0}}, {},
		{Source: []int64{1}, Search: options(1)}, {Source: []int64{1}, Search: options(2)},
	}
	for _, job := range jobs {
		keys[keyOf(job)] = true
		assert.True(t, keys[keyOf(job)])
	}
	assert.Len(t, keys, len(jobs))
}

func TestThroughput(t *testing.T) {
	var r throughput
	assert.Zero(t, r.rate())
	r.add(0, 0)
	assert.Zero(t, r.rate())
	for range 1000 {
		r.add(20, 100*time.Millisecond)
	}
	assert.InDelta(t, 200, r.rate(), 2)
	for range 100 { // for one half-life
		r.add(10, 100*time.Millisecond)
	}
	assert.InDelta(t, 150, r.rate(), 2)
}
