package search

import (
	"fmt"
	"slices"

	"dragoman/model"
)

// Sequence decodes one sentence in a [model.Batch], from its first forced token to its result: it feeds the forced prefix in the
// first step, and then follows a search strategy. It must be used by one goroutine.
//
//	for done := false; !done; {
//		candidates, err := batch.Step(ctx, []model.Feed{s.Feed()}, s.Candidates())
//		…
//		done, err = s.Advance(candidates, 0)
//	}
//	result := s.Result()
type Sequence struct {
	strategy strategy
	prefix   []int64
	begun    bool        // whether the prefix was fed
	rows     []model.Row // rows of one Advance, kept for reuse
}

// NewSequence returns a new sequence. prefix has the forced decoder tokens (decoder start, target language), which are copied;
// spec has the model's vocabulary and end token. It fails on invalid options, on ids outside the vocabulary and on a prefix that
// leaves no room below MaxLength. NewSequence allocates all memory of the sequence: about 12 bytes × Beams × MaxLength, or 28
// bytes × Beams × MaxLength with a repetition penalty or an n-gram rule.
//
// The sentence has the phrases of c, if it ends before MaxLength. Few beams place phrases badly: use 8.
func NewSequence(opts Options, c Constraints, prefix []int64, spec model.Spec) (*Sequence, error) {
	s, err := newStrategy(opts, c, prefix, spec)
	if err != nil {
		return nil, err
	}
	return &Sequence{strategy: s, prefix: slices.Clone(prefix), rows: make([]model.Row, 0, opts.Beams)}, nil
}

// Feed returns the sentence's feed of the next step. It is valid until the next Advance and must not be changed.
func (s *Sequence) Feed() model.Feed {
	if !s.begun {
		return model.Feed{Tokens: s.prefix}
	}
	return model.Feed{Tokens: s.strategy.Tokens(), Parents: s.strategy.Parents()}
}

// Rows returns the number of rows of candidates that the next step returns for the sentence and the next Advance takes.
func (s *Sequence) Rows() int {
	if !s.begun {
		return 1
	}
	return s.strategy.Width()
}

// Candidates returns the number of each row's best continuations needed by the next Advance, at most the vocabulary's size. More
// candidates do not change the result.
func (s *Sequence) Candidates() int { return s.strategy.Candidates() }

// Advance takes the candidates of a step, in which the sentence's rows begin at row first. done reports whether Result is ready.
// Advance fails on rows that a model cannot have produced (too few candidates, not best first, NaN, ids outside the vocabulary)
// and after the end.
func (s *Sequence) Advance(c model.Candidates, first int) (done bool, err error) {
	n := s.Rows()
	if first < 0 || len(c.LogSumExp) < first+n {
		return false, fmt.Errorf("candidates of %d rows, rows %d to %d are needed", len(c.LogSumExp), first, first+n-1)
	}
	s.begun = true
	s.rows = s.rows[:0]
	for r := first; r < first+n; r++ {
		s.rows = append(s.rows, c.Row(r))
	}
	return s.strategy.Advance(s.rows)
}

// Result returns the best sentence found, or the zero Result before the end.
func (s *Sequence) Result() Result { return s.strategy.Result() }
