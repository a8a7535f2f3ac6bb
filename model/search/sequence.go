package search

import (
	"fmt"
	"slices"

	"dragoman/model"
)

// Sequence is the decoding of one sentence in a [model.Batch], from its first
// forced token to its result: it feeds the forced prefix in the first step, and then
// follows a [Search]. It is used by one goroutine.
//
//	for done := false; !done; {
//		candidates, err := batch.Step(ctx, []model.Feed{s.Feed()}, s.Candidates())
//		…
//		done, err = s.Advance(candidates, 0)
//	}
//	result := s.Result()
type Sequence struct {
	search Search
	prefix []int64
	begun  bool        // the prefix was fed
	rows   []model.Row // of one Advance, kept to be used again
}

// NewSequence starts a sequence. Its arguments and errors are those of [New].
func NewSequence(opts Options, prefix []int64, eos int64, vocab int) (*Sequence, error) {
	s, err := New(opts, prefix, eos, vocab)
	if err != nil {
		return nil, err
	}
	return &Sequence{search: s, prefix: slices.Clone(prefix), rows: make([]model.Row, 0, opts.Beams)}, nil
}

// Feed is what the sentence is fed in the next step. It holds until the next
// Advance and must not be changed.
func (s *Sequence) Feed() model.Feed {
	if !s.begun {
		return model.Feed{Tokens: s.prefix}
	}
	return model.Feed{Tokens: s.search.Tokens(), Parents: s.search.Parents()}
}

// Rows is the number of rows of candidates that the next step returns for the
// sentence and the next Advance takes.
func (s *Sequence) Rows() int {
	if !s.begun {
		return 1
	}
	return s.search.Width()
}

// Candidates is how many continuations of each row the next Advance needs.
func (s *Sequence) Candidates() int { return s.search.Candidates() }

// Advance takes the candidates of a step, in which the sentence's rows begin at
// row first. done says that Result is ready. Its errors are those of
// [Search.Advance].
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
	return s.search.Advance(s.rows)
}

// Result is the best sentence found, and the zero Result before the end.
func (s *Sequence) Result() Result { return s.search.Result() }
