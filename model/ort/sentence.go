package ort

import (
	"errors"
	"fmt"

	"dragoman/model"
)

// sentence is the state of a slot.
//
// Its hypotheses have a row of the KV cache each, but the tokens of a hypothesis may
// lie in any of the sentence's rows: history tells in which. A hypothesis that goes
// on from another takes over its history, and nothing is copied in the cache. Two
// never write to the same place: each writes its next token to its own row, and no
// row is ever written twice at the same position.
type sentence struct {
	slot   int32   // row in the memory of cross attention
	srcLen int     // tokens of the source
	fed    int     // decoder tokens so far
	active int     // hypotheses of the last step
	rows   []int32 // rows of the KV cache, one for each hypothesis that ever was
	// history holds for each hypothesis the rows that its tokens lie in, by
	// position; next is what the coming step makes of it.
	history, next [][]int32
}

// check says whether a sentence can be fed this.
func (s *sentence) check(f model.Feed, maxLength int) error {
	n := 1
	if s.fed == 0 {
		n = len(f.Tokens)
	}
	switch {
	case len(f.Tokens) == 0:
		return errors.New("a feed of no tokens")
	case s.fed == 0 && len(f.Parents) != 0:
		return fmt.Errorf("%d parents in its first feed, which has none", len(f.Parents))
	case s.fed > 0 && len(f.Parents) != len(f.Tokens):
		return fmt.Errorf("%d tokens and %d parents in a feed", len(f.Tokens), len(f.Parents))
	case s.fed+n > maxLength:
		return fmt.Errorf("%d tokens and %d more: there is room for %d", s.fed, n, maxLength)
	}
	for _, parent := range f.Parents {
		if parent < 0 || parent >= s.active {
			return fmt.Errorf("row %d cannot be a parent: the last step had %d rows", parent, s.active)
		}
	}
	return nil
}

// rowsNow is the number of hypotheses that a feed leads to.
func (s *sentence) rowsNow(f model.Feed) int {
	if s.fed == 0 {
		return 1
	}
	return len(f.Tokens)
}

// rowsFor is the number of rows of the KV cache that the sentence has after a feed.
func (s *sentence) rowsFor(f model.Feed) int { return max(len(s.rows), s.rowsNow(f)) }

// feed adds the sentence's rows to a step.
func (s *sentence) feed(f model.Feed, kv *store, step *step) {
	for len(s.rows) < s.rowsFor(f) {
		s.rows = append(s.rows, kv.take())
		both := make([]int32, 2*kv.capacity)
		s.history = append(s.history, both[:kv.capacity])
		s.next = append(s.next, both[kv.capacity:])
	}
	s.active = s.rowsNow(f)
	if s.fed == 0 {
		for pos, token := range f.Tokens {
			s.history[0][pos] = s.rows[0]
			step.addRow(token, pos, s.rows[0], s.history[0], pos == len(f.Tokens)-1)
		}
		s.fed = len(f.Tokens)
	} else {
		for w, parent := range f.Parents {
			copy(s.next[w], s.history[parent][:s.fed])
			s.next[w][s.fed] = s.rows[w]
			step.addRow(f.Tokens[w], s.fed, s.rows[w], s.next[w], true)
		}
		s.history, s.next = s.next, s.history
		s.fed++
	}
	step.endSentence(s.slot, s.srcLen)
}
