package model

import (
	"errors"
	"fmt"
)

// CheckSources says what is wrong with sources that are to join a batch, each
// [srcLen] ids. Backends share it; what they have room for is theirs to check.
func (s Spec) CheckSources(sources [][]int64) error {
	if len(sources) == 0 {
		return errors.New("join of no sentences")
	}
	for i, ids := range sources {
		if n := len(ids); n == 0 || n > s.MaxPositions {
			return fmt.Errorf("source %d has %d tokens: 1 to %d are possible", i, n, s.MaxPositions)
		}
		if err := s.checkIDs(ids); err != nil {
			return fmt.Errorf("source %d: %w", i, err)
		}
	}
	return nil
}

func (s Spec) checkIDs(ids []int64) error {
	for _, id := range ids {
		if id < 0 || id >= int64(s.VocabSize) {
			return fmt.Errorf("token id %d is outside of the vocabulary of %d", id, s.VocabSize)
		}
	}
	return nil
}

// Progress is what a backend knows of a sentence that it can check feeds by.
type Progress struct {
	Fed    int // decoder tokens so far
	Active int // hypotheses of the last step
}

// Check says what is wrong with the next feed of a sentence that may have maxLength
// decoder tokens.
func (p Progress) Check(f Feed, s Spec, maxLength int) error {
	n := 1
	if p.Fed == 0 {
		n = len(f.Tokens)
	}
	switch {
	case len(f.Tokens) == 0:
		return errors.New("a feed of no tokens")
	case p.Fed == 0 && len(f.Parents) != 0:
		return fmt.Errorf("%d parents in its first feed, which has none", len(f.Parents))
	case p.Fed > 0 && len(f.Parents) != len(f.Tokens):
		return fmt.Errorf("%d tokens and %d parents in a feed", len(f.Tokens), len(f.Parents))
	case p.Fed+n > maxLength:
		return fmt.Errorf("%d tokens and %d more: there is room for %d", p.Fed, n, maxLength)
	}
	for _, parent := range f.Parents {
		if parent < 0 || parent >= p.Active {
			return fmt.Errorf("row %d cannot be a parent: the last step had %d rows", parent, p.Active)
		}
	}
	return s.checkIDs(f.Tokens)
}

// Rows is the number of hypotheses that the next feed leads to.
func (p Progress) Rows(f Feed) int {
	if p.Fed == 0 {
		return 1
	}
	return len(f.Tokens)
}
