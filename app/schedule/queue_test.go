package schedule

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func anywhere(*Sentence) Room { return Fits }

// lineOf returns the line of a request.
func lineOf(r Request) *Line[*Sentence] {
	return &Line[*Sentence]{Request: &r}
}

// sized returns a sentence of some work.
func sized(work int) *Sentence { return &Sentence{Tokens: work, Rows: 1} }

// served is who gets how much of a queue in which everybody always has more sentences.
func served(t *testing.T, requests []Request, beams []int, times int) []float64 {
	q, numbers := NewQueue[*Sentence](), map[*Sentence]int{}
	calls := make([]*Line[*Sentence], len(requests))
	more := func(i int) {
		s := sized(10 * beams[i])
		numbers[s] = i
		q.Push(calls[i], s)
	}
	for i, req := range requests {
		calls[i] = lineOf(req)
		more(i)
		more(i)
	}
	got := make([]float64, len(requests))
	for range times {
		s := q.Head(anywhere)
		require.NotNil(t, s)
		q.Charge()
		q.Remove(s)
		got[numbers[s]] += s.Work()
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
	q := NewQueue[*Sentence]()
	old, late := lineOf(Request{Caller: "old"}), lineOf(Request{Caller: "late"})
	take := func() (order string) {
		for s := q.Head(anywhere); s != nil; s = q.Head(anywhere) {
			q.Charge()
			q.Remove(s)
			if s.Bytes == 0 {
				order += "o"
			} else {
				order += "l"
			}
			if len(order) == 100 {
				q.Push(late, &Sentence{Tokens: 1, Rows: 1, Bytes: 1})
				q.Push(late, &Sentence{Tokens: 1, Rows: 1, Bytes: 1})
			}
		}
		return order
	}
	for range 110 {
		q.Push(old, sized(1))
	}
	order := take()
	assert.Len(t, order, 112)
	assert.Equal(t, 2, strings.Count(order[100:105], "l"), "%s", order[100:])
	assert.Empty(t, q.known, "nobody is remembered who wants nothing")
}

// Sentences that cost more than was charged, or less, are no debt and no credit of a caller that was alone.
func TestQueueForgivesWhoWasAlone(t *testing.T) {
	for _, actual := range []float64{1, 10, 70} { // of 10
		q, requests, numbers := NewQueue[*Sentence](), []*Request{{Caller: "alone"}, {Caller: "late"}}, map[*Sentence]int{}
		var lines [2]Line[*Sentence]
		push := func(i int) {
			s := sized(10)
			numbers[s] = i
			q.Push(&lines[i], s)
		}
		for i, r := range requests {
			lines[i].Request = r
		}
		serve := func(n int) (got [2]int) {
			for range n {
				s := q.Head(anywhere)
				i := numbers[s]
				push(i)
				q.Charge()
				q.Remove(s)
				q.Settle(requests[i], actual-s.Work())
				got[i]++
			}
			return got
		}
		push(0)
		serve(1000)
		push(1)
		got := serve(100)
		assert.InDelta(t, got[0], got[1], 2, "%v of 10", actual)
	}
}

// A queue is the same as one that is looked through for what is next: any arrivals,
// removals and calls that leave.
func TestQueueRandomly(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		q := NewQueue[*Sentence]()
		waiting := map[*Line[*Sentence]][]*Sentence{}
		var calls []*Line[*Sentence]
		for range 150 {
			switch op := rng.IntN(6); {
			case op < 3 || len(calls) == 0:
				if len(calls) == 0 || rng.IntN(3) == 0 {
					calls = append(calls, lineOf(Request{Caller: string(rune('a' + rng.IntN(3))), Priority: Priority(rng.IntN(3) - 1)}))
				}
				c := calls[rng.IntN(len(calls))]
				s := sized(1 + rng.IntN(50))
				waiting[c] = append(waiting[c], s)
				q.Push(c, s)
			case op == 3:
				i := rng.IntN(len(calls))
				q.Leave(calls[i])
				for _, s := range waiting[calls[i]] {
					q.Remove(s)
				}
				delete(waiting, calls[i])
				calls = slices.Delete(calls, i, i+1)
			default:
				s := q.Head(anywhere)
				if len(waiting) == 0 {
					require.Nil(t, s)
					break
				}
				var of *Line[*Sentence]
				for c, list := range waiting {
					if list[0] == s {
						of = c
					}
				}
				require.NotNil(t, of, "the head is the first of a call")
				require.Same(t, s, q.Head(anywhere), "to look changes nothing")
				q.Charge()
				q.Remove(s)
				if waiting[of] = waiting[of][1:]; len(waiting[of]) == 0 {
					delete(waiting, of)
				}
			}
			n := 0
			for _, list := range waiting {
				n += len(list)
			}
			require.Equal(t, n, q.Len())
		}
		for s := q.Head(anywhere); s != nil; s = q.Head(anywhere) {
			q.Charge()
			q.Remove(s)
		}
		require.Zero(t, q.Len())
		require.Empty(t, q.known)
	}
}
