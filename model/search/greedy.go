package search

import (
	"fmt"
	"math"
	"slices"

	"dragoman/model"
)

// greedy takes the best token at every step. Unlike beam search, which applies the rules to log-probabilities, generate() applies
// them to the logits in greedy search.
type greedy struct {
	opts   Options
	rules  rules
	spec   model.Spec
	prefix int

	history   []int64 // decoder tokens, including the prefix; capacity MaxLength
	verdict   verdict // result of the rules for the next token
	sum       float32 // sum of the log-probabilities
	ended     bool    // whether the sentence has its end token
	done      bool
	truncated bool

	tokens  [1]int64
	parents [1]int
}

func newGreedy(opts Options, prefix []int64, spec model.Spec) *greedy {
	g := &greedy{
		opts:    opts,
		rules:   newRules(opts, spec),
		spec:    spec,
		prefix:  len(prefix),
		history: append(make([]int64, 0, opts.MaxLength), prefix...),
	}
	g.verdict = g.rules.newVerdict(opts.MaxLength)
	g.rules.judge(&g.verdict, g.history, len(g.history))
	return g
}

func (g *greedy) Width() int      { return 1 }
func (g *greedy) Tokens() []int64 { return g.tokens[:] }
func (g *greedy) Parents() []int  { return g.parents[:] }

func (g *greedy) Candidates() int { return min(1+g.verdict.touched(), g.spec.VocabSize) }

func (g *greedy) Advance(rows []model.Row) (bool, error) {
	if g.done {
		return true, errDone
	}
	if err := checkRows(rows, 1, 1, g.Candidates(), g.spec.VocabSize); err != nil {
		return false, err
	}
	if g.spec.ForcedEnd && len(g.history) == g.opts.MaxLength-1 {
		g.take(g.spec.EOS, 0)
		g.truncated = true
		return true, nil
	}
	best, err := g.best(rows[0])
	if err != nil {
		return false, err
	}
	if best < 0 { // everything is banned
		g.done, g.truncated = true, true
		return true, nil
	}
	g.take(rows[0].IDs[best], rows[0].LogProbs[best])
	return g.done, nil
}

// take makes id the next token of the sentence, or its end.
func (g *greedy) take(id int64, logProb float32) {
	g.sum += logProb
	if id == g.spec.EOS {
		g.ended, g.done = true, true
		return
	}
	g.history = append(g.history, id)
	if len(g.history) == g.opts.MaxLength {
		g.done, g.truncated = true, true
		return
	}
	g.tokens[0] = id
	g.rules.judge(&g.verdict, g.history, len(g.history))
}

// best returns the index of the candidate with the highest logit under the rules, the lower id among equals, or -1 if all
// candidates are banned.
func (g *greedy) best(row model.Row) (int, error) {
	var shift float32 // from log-probabilities to logits; only the penalty needs logits
	if g.rules.penalty != 1 {
		shift = row.LogSumExp
	}
	if !(math.Abs(float64(shift)) <= math.MaxFloat32) {
		return 0, fmt.Errorf("row 0: log-sum-exp %v: must be a finite number", shift)
	}
	best, bestScore := -1, float32(0)
	for i, logProb := range row.LogProbs[:g.Candidates()] {
		id := row.IDs[i]
		score, allowed := g.rules.apply(&g.verdict, id, logProb+shift)
		if !allowed || impossible(score) {
			continue
		}
		if best < 0 || score > bestScore || score == bestScore && id < row.IDs[best] {
			best, bestScore = i, score
		}
	}
	return best, nil
}

func (g *greedy) Result() Result {
	if !g.done {
		return Result{}
	}
	length := len(g.history) - 1 // the end token counts, the first token does not
	if g.ended {
		length++
	}
	return Result{
		Tokens:    slices.Clone(g.history[g.prefix:]),
		Score:     normalize(g.sum, max(length, 1), g.opts.LengthPenalty),
		Truncated: g.truncated,
	}
}
