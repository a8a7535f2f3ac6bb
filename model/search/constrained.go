package search

import (
	"cmp"
	"slices"

	"dragoman/model"
)

// constrained is beam search for sentences that must have some phrases, with dynamic beam allocation (Post and Vilar 2018, "Fast
// Lexically Constrained Decoding with Dynamic Beam Allocation"). Rows are in banks by the number of their tokens that are in
// phrases, and each bank has its share of the rows: rows with many such tokens, whose scores are lower, do not lose to rows with
// few. A step
//
//  1. collects the best continuations of each row, and those that begin or continue a phrase;
//  2. drops ends of sentences that lack a phrase;
//  3. gives each bank its share of the rows, in the order: all phrases, no tokens of phrases, and then from many to few. The rest
//     of the rows goes to the best continuations of all banks.
//
// A model returns the best candidates of a row only. The log-probability of a token that is not among them is below theirs: it
// counts as the last candidate's, less unlisted. So the search needs no more candidates than beam search, and a sentence's result
// depends only on its own rows.
//
// The search ends once the wanted number of finished sentences cannot be beaten at the present length: unlike beam search, it
// does not wait for as many sentences as beams.
type constrained struct {
	beam
	forms *forms
	has   []progress // [Beams], per row

	pool  []option // scratch: options of a step
	count []int    // scratch: [banks]
}

// unlisted is the distance of an unlisted token's log-probability below the last candidate's.
const unlisted = 2

// option is a continuation that may become a row.
type option struct {
	continuation
	progress
	bank int
	turn int // the round in which the option is taken: 0 for the share of a bank
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

// rank fills ranked with the possible continuations.
func (c *constrained) rank(rows []model.Row) {
	c.collect(rows)
	c.rankByBank()
}

// collect fills the pool with the possible continuations.
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
		stranded := c.forms.joints.ends(c.lastOf(r)) // drops a phrase that begins here
		if c.has[r].node > start || !stranded {
			c.offerPhrases(r, c.has[r].node, listed, beyond)
		}
		if c.has[r].node > start && !stranded {
			c.offerPhrases(r, 0, listed, beyond)
		}
	}
}

// offerPhrases offers the tokens that follow a node in phrases that the row lacks, except tokens in listed, which were offered
// already.
func (c *constrained) offerPhrases(r, node int, listed []int64, logProb float32) {
	at := c.has[r].node
	for _, edge := range c.forms.nodes[node].next {
		if node == 0 && at != 0 && c.forms.after(at, edge.id) != 0 {
			continue // already offered
		}
		if c.forms.nodes[edge.node].of&^c.has[r].met != 0 && !slices.Contains(listed, edge.id) {
			c.offer(r, edge.id, logProb, false)
		}
	}
}

// offer adds a continuation of a row to the pool, if it is allowed. best reports whether the continuation is the row's best one.
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

// lastOf returns the last token of a row.
func (c *constrained) lastOf(r int) int64 {
	if c.trace.steps == 0 {
		return c.trace.prefix[len(c.trace.prefix)-1]
	}
	return c.tokens[r]
}

// rankByBank orders the pool by precedence, and fills ranked for finish and follow: ends of sentences that are among the best
// with all phrases, then the rows.
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
	best := 0 // number of options with all phrases so far
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

// precedence returns the order in which the bank of an option gets its share; the rest of the rows goes by score alone.
func (c *constrained) precedence(o option) int {
	switch {
	case o.turn > 0, o.bank == c.forms.total:
		return 0
	case o.bank == 0 && c.opts.Beams > 2: // otherwise a hypothesis within a phrase would never complete the phrase
		return 1
	}
	return 2 + c.forms.total - o.bank
}

// over reports whether the search ends with this step, which trace does not have yet.
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
