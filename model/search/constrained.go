package search

import (
	"cmp"
	"slices"

	"dragoman/model"
)

// constrained is beam search for sentences that must have some phrases, with dynamic beam
// allocation (Post and Vilar 2018, "Fast Lexically Constrained Decoding with Dynamic Beam
// Allocation"). Rows are in banks by how many tokens of the phrases they have, and each bank
// has its share of the rows: those with much of them, whose scores are lower, are not lost to those
// with little. A step
//
//  1. collects the best continuations of each row, and those that begin or go on with a phrase;
//  2. drops the ends of sentences that lack a phrase;
//  3. gives each bank its share of the rows, in the order: all phrases there, nothing there yet, and
//     then from much to little. What is left goes to the best of all.
//
// A model gives the best candidates of a row only. The log-probability of a token that is not
// among them is below theirs: it counts as the last one's, less unlisted. So the search needs no
// more candidates than beam search, and a sentence's result depends on its own rows alone.
//
// Where as many finished sentences as are wanted cannot be beaten at the present length, the search is over:
// unlike beam search, it does not wait for as many as beams.
type constrained struct {
	beam
	forms *forms
	has   []progress // [Beams], of each row

	pool  []option // scratch: of a step
	count []int    // scratch: [banks]
}

// unlisted is how far below the last candidate a token counts that is none.
const unlisted = 2

// option is a continuation that may become a row.
type option struct {
	continuation
	progress
	bank int
	turn int // in which it is taken: 0 for the share of a bank
}

func newConstrained(opts Options, c Constraints, prefix []int64, spec model.Spec) *constrained {
	b := newBeam(opts, prefix, spec)
	f := newForms(c)
	return &constrained{
		beam: *b, forms: f, has: slices.Repeat([]progress{{node: start}}, opts.Beams),
		count: make([]int, f.total+1),
	}
}

// Advance implements [strategy].
func (c *constrained) Advance(rows []model.Row) (bool, error) {
	return c.advance(rows, c.rank, c.over)
}

// rank fills ranked with what may follow.
func (c *constrained) rank(rows []model.Row) {
	c.collect(rows)
	c.rankByBank()
}

// collect fills the pool with what may follow.
func (c *constrained) collect(rows []model.Row) {
	c.pool = c.pool[:0]
	for r, row := range rows {
		if c.mustEnd() {
			c.offer(r, c.eos, 0, true)
			continue
		}
		listed := row.IDs[:c.Candidates()]
		for i, id := range listed {
			c.offer(r, id, row.LogProbs[i], i == 0)
		}
		beyond := row.LogProbs[len(listed)-1] - unlisted
		stranded := c.forms.joints.ends(c.lastOf(r)) // what would begin here
		if c.has[r].node > start || !stranded {
			c.offerPhrases(r, c.has[r].node, listed, beyond)
		}
		if c.has[r].node > start && !stranded {
			c.offerPhrases(r, 0, listed, beyond)
		}
	}
}

// offerPhrases offers the tokens behind a run that are not among those listed, of phrases that a row
// lacks.
func (c *constrained) offerPhrases(r, node int, listed []int64, logProb float32) {
	at := c.has[r].node
	for _, edge := range c.forms.nodes[node].next {
		if node == 0 && at != 0 && c.forms.after(at, edge.id) != 0 {
			continue // it has been offered
		}
		if c.forms.nodes[edge.node].of&^c.has[r].met != 0 && !slices.Contains(listed, edge.id) {
			c.offer(r, edge.id, logProb, false)
		}
	}
}

// offer puts a continuation of a row, which may be its best one, into the pool, if it is allowed.
func (c *constrained) offer(r int, id int64, logProb float32, best bool) {
	logProb, allowed := c.rules.apply(&c.verdicts[r], id, logProb)
	o := option{continuation: continuation{score: c.scores[r] + logProb, logProb: logProb, id: id, row: r}}
	if !allowed || impossible(o.score) {
		return
	}
	var ok bool
	if o.progress, ok = c.forms.step(c.has[r], c.lastOf(r), id, best); !ok {
		return
	}
	if c.ends(o.continuation) && o.met != c.forms.all {
		return
	}
	o.bank = c.forms.bank(o.progress)
	c.pool = append(c.pool, o)
}

// lastOf is the token that a row ends with.
func (c *constrained) lastOf(r int) int64 {
	if c.trace.steps == 0 {
		return c.trace.prefix[len(c.trace.prefix)-1]
	}
	return c.tokens[r]
}

// rankByBank orders the pool by who becomes a row, and fills ranked for finish and follow: ends of
// sentences that are among the best with all phrases, then the rows.
func (c *constrained) rankByBank() {
	slices.SortFunc(c.pool, func(a, b option) int {
		if a.before(b.continuation) {
			return -1
		}
		return 1
	})
	clear(c.count)
	share := max(1, c.opts.Beams/len(c.count))
	for i := range c.pool {
		o := &c.pool[i]
		if c.count[o.bank] >= share {
			o.turn = 1
		}
		if !c.ends(o.continuation) {
			c.count[o.bank]++
		}
	}
	c.ranked = c.ranked[:0]
	best := 0 // with all phrases, so far
	for _, o := range c.pool {
		if o.bank != c.forms.total {
			continue
		}
		if best++; best > c.opts.Beams {
			break
		}
		if c.ends(o.continuation) {
			c.ranked = append(c.ranked, o.continuation)
		}
	}
	ended := len(c.ranked)
	slices.SortStableFunc(c.pool, func(a, b option) int {
		return cmp.Or(cmp.Compare(a.turn, b.turn), cmp.Compare(c.precedence(a), c.precedence(b)))
	})
	for _, o := range c.pool {
		if len(c.ranked)-ended < c.opts.Beams && !c.ends(o.continuation) {
			c.has[len(c.ranked)-ended] = o.progress
			c.ranked = append(c.ranked, o.continuation)
		}
	}
}

// precedence is when a bank's share is given out; what is left is given out by score alone.
func (c *constrained) precedence(o option) int {
	switch {
	case o.turn > 0, o.bank == c.forms.total:
		return 0
	case o.bank == 0 && c.opts.Beams > 2: // or one that is on its way would never get there
		return 1
	}
	return 2 + c.forms.total - o.bank
}

// over says whether the search ends with this step; trace does not have it yet.
func (c *constrained) over() bool {
	if c.live == 0 {
		return true
	}
	wanted := max(1, c.opts.Hypotheses)
	if len(c.finished) < wanted {
		return false
	}
	best := slices.Max(c.scores[:c.live])
	return normalize(best, c.trace.length(), c.opts.LengthPenalty) <= c.finished[wanted-1].score
}
