// Package search finds the best translation of one sentence: greedy or beam
// search with the results of Hugging Face's generate(), token for token.
//
// It knows nothing of the model. A [Sequence] is the decoding of one sentence: a step
// of a [model.Batch] hands it the k best candidates of each of its rows, and it answers
// which token each row takes next and from which row it descends. So sentences of a
// batch can start, end and be cancelled at any step.
//
// # Exactness
//
// Search over the k best of a vocabulary equals search over all of it. Say the
// rules of a row (repetition penalty, banned n-grams, minimum length) touch at
// most m tokens, and they only ever lower a score. Among the n+m best of the raw
// row at least n are untouched, and any token outside of them has a lowered or
// equal score that is not above those n. So the n best after the rules are among
// the n+m best before. A search over B beams takes at most 2·B continuations of
// any row, greedy search one: [Sequence.Candidates] is that plus m, and m is
// counted for the current rows. This is why a repetition penalty below 1, which
// raises scores, is refused.
//
// # Differences from generate()
//
// Ties are broken by the lower row, then the higher log-probability, then the
// lower token id. Hugging Face leaves them to torch.topk, which promises no order.
//
// generate() keeps its beams full by force: where fewer live continuations than
// beams are left, it carries on duplicates and finished sentences at a score of
// -1e9. Here such rows are dead. This needs a vocabulary of fewer than beams + 1
// allowed tokens.
//
// A penalized logit in greedy search is made from the row's log-probability and
// log-sum-exp, so it can differ from the model's in its last bit.
package search

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"dragoman/model"
)

// errDone means that a search was advanced after it had ended.
var errDone = errors.New("search has ended")

// strategy is greedy or beam search for one sentence, after the forced prefix. Advance
// does not allocate.
type strategy interface {
	// Width is the number of rows: 1 in greedy search, the beams in beam search.
	Width() int
	// Candidates is how many of a row's best continuations the next Advance
	// needs, at most the vocabulary's size. More are welcome and change nothing.
	Candidates() int
	// Advance takes the candidates of every row, which it does not keep, and chooses
	// what each row continues with: one row at first, because all beams are equal
	// after the forced prefix, then Width rows. A failed call changes nothing.
	Advance(rows []model.Row) (done bool, err error)
	// Tokens are what the rows are fed next, [Width], and Parents the rows whose state
	// they continue. They hold until the next Advance.
	Tokens() []int64
	Parents() []int
	// Result is the best sentence found, and the zero Result before the search
	// is done.
	Result() Result
}

// Result is a decoded sentence.
type Result struct {
	// Tokens are the generated ids, without the forced prefix and without the
	// end token. They belong to the caller.
	Tokens []int64
	// Score is the sum of the tokens' log-probabilities, the end token included
	// and the forced prefix left out, divided by length^LengthPenalty; the length
	// counts the end token and the prefix without its first token. In beam search
	// the log-probabilities are those after the repetition penalty, as in
	// generate()'s sequences_scores; in greedy search they are the model's own.
	Score float32
	// Truncated says that the sentence has no end, or a forced one: it reached MaxLength, or
	// every continuation was banned.
	Truncated bool
	// Others are the next best sentences, best first, with none of their own: so many that there
	// are [Options.Hypotheses] in all, or fewer where the search did not end so many.
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

// newStrategy makes the strategy of [NewSequence].
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

// checkRows refuses rows that a model cannot have given. It looks at the candidates that an exact
// search needs of the live rows, which carry a hypothesis, and so does who chooses.
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
			if !(logProb <= before) { // also true for NaN and for +Inf at the start
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

// impossible says whether a log-probability, a sum of them or a logit is -Inf:
// no search takes such a token, as it takes no banned one.
func impossible(score float32) bool { return score < -math.MaxFloat32 }
