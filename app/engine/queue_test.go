package engine

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/search"
)

func anything(*sequence) bool { return true }
func anywhere(*sequence) room { return fits }

// served is who gets how much of a queue in which everybody always has more sentences.
func served(t *testing.T, requests []Request, beams []int, times int) []float64 {
	q, numbers := newQueue(), map[*sequence]int{}
	calls := make([]*call, len(requests))
	more := func(i int) {
		s := &sequence{work: float64(10 * beams[i])}
		numbers[s] = i
		q.push(calls[i], s)
	}
	for i, req := range requests {
		calls[i] = newCall(newTestSession(req))
		more(i)
		more(i)
	}
	got := make([]float64, len(requests))
	for range times {
		s := q.head(anything, anywhere)
		require.NotNil(t, s)
		q.charge()
		q.remove(s)
		got[numbers[s]] += s.work
		more(numbers[s])
	}
	total := 0.0
	for _, work := range got {
		total += work
	}
	for i := range got {
		got[i] /= total
	}
	return got
}

// Shares are those of callers first, whatever each has of requests and beams, and of a
// caller's requests then, by their priorities.
func TestQueueShares(t *testing.T) {
	for name, test := range map[string]struct {
		requests []Request
		beams    []int
		want     []float64
	}{
		"one":                   {[]Request{{}}, []int{1}, []float64{1}},
		"requests of a caller":  {[]Request{{}, {}}, []int{1, 1}, []float64{1, 0}},
		"beams":                 {[]Request{{Caller: "a"}, {Caller: "b"}}, []int{1, 5}, []float64{.5, .5}},
		"priorities":            {[]Request{{Priority: Low}, {}, {Priority: High}}, []int{1, 1, 1}, []float64{1. / 21, 4. / 21, 16. / 21}},
		"callers":               {[]Request{{Caller: "a"}, {Caller: "a"}, {Caller: "a"}, {Caller: "b"}}, []int{1, 1, 1, 1}, []float64{.5, 0, 0, .5}},
		"callers that are low":  {[]Request{{Caller: "a", Priority: Low}, {Caller: "b"}}, []int{5, 1}, []float64{.2, .8}},
		"callers that are high": {[]Request{{Caller: "a", Priority: High}, {Caller: "b"}}, []int{1, 1}, []float64{.5, .5}},
	} {
		t.Run(name, func(t *testing.T) {
			for i, got := range served(t, test.requests, test.beams, 5000) {
				assert.InDelta(t, test.want[i], got, .01, "request %d", i)
			}
		})
	}
}

// Whoever comes late gets its share from then on, not what it did not want before; and
// whoever has had more than its share waits for the others when it comes again.
func TestQueueStartsWhereOthersAre(t *testing.T) {
	q := newQueue()
	old, late := newCall(newTestSession(Request{Caller: "old"})), newCall(newTestSession(Request{Caller: "late"}))
	take := func() (order string) {
		for s := q.head(anything, anywhere); s != nil; s = q.head(anything, anywhere) {
			q.charge()
			q.remove(s)
			if s.cost.rows == 0 {
				order += "o"
			} else {
				order += "l"
			}
			if len(order) == 100 {
				q.push(late, &sequence{work: 1, cost: cost{rows: 1}})
				q.push(late, &sequence{work: 1, cost: cost{rows: 1}})
			}
		}
		return order
	}
	for range 110 {
		q.push(old, &sequence{work: 1})
	}
	order := take()
	assert.Len(t, order, 112)
	assert.Equal(t, 2, strings.Count(order[100:105], "l"), "%s", order[100:])
	assert.Empty(t, q.known, "nobody is remembered who wants nothing")
}

// A queue is the same as one that is looked through for what is next: any arrivals,
// removals and calls that leave.
func TestQueueRandomly(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		q := newQueue()
		waiting := map[*call][]*sequence{}
		var calls []*call
		for range 150 {
			switch op := rng.IntN(6); {
			case op < 3 || len(calls) == 0:
				if len(calls) == 0 || rng.IntN(3) == 0 {
					calls = append(calls, newCall(newTestSession(Request{Caller: string(rune('a' + rng.IntN(3))), Priority: Priority(rng.IntN(3) - 1)})))
				}
				c := calls[rng.IntN(len(calls))]
				s := &sequence{work: float64(1 + rng.IntN(50))}
				waiting[c] = append(waiting[c], s)
				q.push(c, s)
			case op == 3:
				i := rng.IntN(len(calls))
				q.leave(calls[i])
				for _, s := range waiting[calls[i]] {
					q.remove(s)
				}
				delete(waiting, calls[i])
				calls = slices.Delete(calls, i, i+1)
			default:
				s := q.head(anything, anywhere)
				if len(waiting) == 0 {
					require.Nil(t, s)
					break
				}
				var of *call
				for c, list := range waiting {
					if list[0] == s {
						of = c
					}
				}
				require.NotNil(t, of, "the head is the first of a call")
				require.Same(t, s, q.head(anything, anywhere), "to look changes nothing")
				q.charge()
				q.remove(s)
				if waiting[of] = waiting[of][1:]; len(waiting[of]) == 0 {
					delete(waiting, of)
				}
			}
			n := 0
			for _, list := range waiting {
				n += len(list)
			}
			require.Equal(t, n, q.len())
		}
		for s := q.head(anything, anywhere); s != nil; s = q.head(anything, anywhere) {
			q.charge()
			q.remove(s)
		}
		require.Zero(t, q.len())
		require.Empty(t, q.known)
	}
}

func TestKeyTellsJobsApart(t *testing.T) {
	keys := map[key]bool{}
	jobs := []Job{
		{Source: []int64{1, 2}, Prefix: []int64{3}}, {Source: []int64{1}, Prefix: []int64{3, 2}},
		{Source: []int64{3, 1, 2}}, {Source: []int64{2}, Prefix: []int64{3, 1}},
		{Source: []int64{128111}}, {Source: []int64{127, 1}}, {Source: []int64{255, 0}}, {},
		{Source: []int64{1}, Search: options(1)}, {Source: []int64{1}, Search: options(2)},
		{Source: []int64{1}, Phrases: []search.Phrase{{}}},
		{Source: []int64{1}, Phrases: []search.Phrase{{Forms: [][]int64{{1}}}}},
		{Source: []int64{1}, Phrases: []search.Phrase{{Forms: [][]int64{{1}}}, {Forms: [][]int64{{1}}}}},
		{Source: []int64{1}, Phrases: []search.Phrase{{Forms: [][]int64{{1}, {1}}}}},
		{Source: []int64{1}, Phrases: []search.Phrase{{First: [][]int64{{1}}}}},
		{Source: []int64{1, 1, 1, 1, 1, 0}}, {Source: []int64{1, 1}},
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
