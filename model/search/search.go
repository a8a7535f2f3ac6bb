// Package search finds the best translation of one sentence: greedy or beam
// search with the results of Hugging Face's generate(), token for token.
//
// The package is independent of the model. A [Sequence] decodes one sentence: a step of a [model.Batch] gives the sequence the k
// best candidates of each of its rows, and the sequence chooses the next token of each row and the row from which it descends. So
// the sentences of a batch can start, end and be cancelled at any step.
//
// # Exactness
//
// Search over the k best tokens of a vocabulary equals search over the whole vocabulary. Let the rules of a row (repetition
// penalty, banned n-grams, minimum length) touch at most m tokens, and only ever lower a score. Of the n+m best tokens before the
// rules, at least n are untouched, and no token outside the n+m best has a score above those n, because the rules only lower
// scores. So the n best after the rules are among the n+m best before. A search with B beams takes at most 2·B continuations of
// any row, greedy search one: [Sequence.Candidates] is that number plus m, with m counted for the current rows. For this reason a
// repetition penalty below 1, which raises scores, is refused.
//
// # Differences from generate()
//
// Ties are resolved by the lower row, then the higher log-probability, then the lower token id. Hugging Face leaves ties to
// torch.topk, which guarantees no order.
//
// generate() always keeps its beams full: if there are fewer live continuations than beams, it continues duplicates and finished
// sentences at a score of -1e9. Here such rows are dead. The case needs a vocabulary of fewer than beams + 1 allowed tokens.
//
// A penalized logit in greedy search is computed from the row's log-probability and log-sum-exp, so it may differ from the
// model's logit in its last bit.
package search

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"dragoman/model"
)

// errDone is the error of advancing a search that has ended.
var errDone = errors.New("search has ended")

// strategy is greedy or beam search for one sentence, after the forced prefix. Advance
// does not allocate.
type strategy interface {
	// Width is the number of rows: 1 in greedy search, the beams in beam search.
	Width() int
	// Candidates is the number of a row's best continuations needed by the next Advance, at most the vocabulary's size. More
	// candidates do not change the result.
	Candidates() int
	// Advance takes the candidates of every row, which it does not keep, and chooses the continuation of each row: one row at
	// first, because all beams are equal after the forced prefix, then Width rows. A failed call changes nothing.
	Advance(rows []model.Row) (done bool, err error)
	// Tokens are the rows' next tokens, [Width], and Parents the rows whose state they continue. Both are valid until the next
	// Advance.
	Tokens() []int64
	Parents() []int
	// Result is the best sentence found, or the zero Result before the search is done.
	Result() Result
}

// Result is a decoded sentence.
type Result struct {
	// Tokens are the generated ids, without the forced prefix and without the end token. The caller owns them.
	Tokens []int64
	// Score is the sum of the tokens' log-probabilities, including the end token but not the forced prefix, divided by
	// length^LengthPenalty; the length counts the end token and the prefix without its first token. In beam search,
	// log-probabilities count after the repetition penalty, as in generate()'s sequences_scores; in greedy search, the model's
	// own count.
	Score float32
	// Truncated reports whether the sentence has no end token, or a forced one, because it reached MaxLength or every
	// continuation was banned.
	Truncated bool
	// Others are the next best sentences, best first, with empty Others of their own: up to [Options.Hypotheses] in all, or fewer
	// if fewer sentences were finished.
	Others []Result
}

// Clone returns a copy that shares no memory with r.
func (r Result) Clone() Result {
	r.Tokens, r.Others = slices.Clone(r.Tokens), slices.Clone(r.Others)
	for i, other := range r.Others {
		r.Others[i].Tokens = slices.Clone(other.Tokens)
	}
	return r
}

// newStrategy returns the strategy of [NewSequence].
func newStrategy(opts Options, c Constraints, prefix []int64, spec model.Spec) (strategy, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	if len(prefix) == 0 {
		return nil, errors.New("the forced prefix is empty: it needs at least the decoder start token")
	}
	if len(prefix) >= opts.MaxLength {
		return nil, fmt.Errorf("max length %d leaves no room after a prefix of %d tokens: raise it above %d",
			opts.MaxLength, len(prefix), len(prefix))
	}
	for _, id := range append([]int64{spec.EOS}, prefix...) {
		if id < 0 || id >= int64(spec.VocabSize) {
			return nil, fmt.Errorf("end or prefix token %d is outside the vocabulary of %d", id, spec.VocabSize)
		}
	}
	if err := c.Validate(len(prefix), opts.MaxLength, spec.VocabSize); err != nil {
		return nil, err
	}
	prefix = slices.Clone(prefix)
	if len(c.Phrases) > 0 {
		return newConstrained(opts, c, prefix, spec), nil
	}
	if opts.Beams == 1 {
		return newGreedy(opts, prefix, spec), nil
	}
	return newBeam(opts, prefix, spec), nil
}

// checkRows refuses rows that a model cannot have produced. It checks only candidates that are read: those that an exact search
// needs of the live rows, which have a hypothesis.
func checkRows(rows []model.Row, want, live, candidates, vocab int) error {
	if len(rows) != want {
		return fmt.Errorf("search got %d rows of candidates, needs %d", len(rows), want)
	}
	for r, row := range rows[:live] {
		if len(row.IDs) != len(row.LogProbs) {
			return fmt.Errorf("row %d has %d log-probabilities and %d ids", r, len(row.LogProbs), len(row.IDs))
		}
		if len(row.IDs) < candidates {
			return fmt.Errorf("row %d has %d candidates, an exact search needs %d", r, len(row.IDs), candidates)
		}
		before := float32(math.MaxFloat32)
		for i, logProb := range row.LogProbs[:candidates] {
			if !(logProb <= before) { // also true for NaN, and for +Inf at the start
				return fmt.Errorf("row %d, candidate %d: log-probability %v after %v: candidates must be numbers, best first",
					r, i, logProb, before)
			}
			if id := row.IDs[i]; id < 0 || id >= int64(vocab) {
				return fmt.Errorf("row %d, candidate %d: token id %d is outside the vocabulary of %d", r, i, id, vocab)
			}
			before = logProb
		}
	}
	return nil
}

// normalize divides a sum of log-probabilities by length^penalty, in float32 as
// Hugging Face does. length counts the decoder tokens after the first.
func normalize(sum float32, length int, penalty float64) float32 {
	return sum / float32(math.Pow(float64(length), penalty))
}

// impossible reports whether a log-probability, a sum of them or a logit is -Inf: no search takes such a token, nor a banned
// token.
func impossible(score float32) bool { return score < -math.MaxFloat32 }
