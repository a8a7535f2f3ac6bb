package cpu

import "dragoman/model"

// sentence is the state of a slot.
//
// Its hypotheses have a row of the KV cache each, but the tokens of a hypothesis may
// lie in any of the sentence's rows: history tells in which. A hypothesis that goes
// on from another takes over its history, and nothing is copied in the cache. Two
// never write to the same place: each writes its next token to its own row, and no
// row is ever written twice at the same position.
type sentence struct {
	slot     int32 // row in the memory of cross attention
	srcLen   int   // tokens of the source
	progress model.Progress
	rows     []int32 // rows of the KV cache, one for each hypothesis that ever was
	// history holds for each hypothesis the rows that its tokens lie in, by
	// position; next is what the coming step makes of it.
	history, next [][]int32
}

// rowsFor is the number of rows of the KV cache that the sentence has after a feed.
func (s *sentence) rowsFor(f model.Feed) int { return max(len(s.rows), s.progress.Rows(f)) }

// feed adds the sentence's rows to a step.
func (s *sentence) feed(f model.Feed, kv *store, step *step) {
	for len(s.rows) < s.rowsFor(f) {
		s.rows = append(s.rows, kv.take())
		both := make([]int32, 2*kv.capacity)
		s.history = append(s.history, both[:kv.capacity])
		s.next = append(s.next, both[kv.capacity:])
	}
	s.progress.Active = s.progress.Rows(f)
	if s.progress.Fed == 0 {
		for pos, token := range f.Tokens {
			s.history[0][pos] = s.rows[0]
			step.addRow(token, pos, s.rows[0], s.history[0], pos == len(f.Tokens)-1)
		}
		s.progress.Fed = len(f.Tokens)
	} else {
		for w, parent := range f.Parents {
			copy(s.next[w], s.history[parent][:s.progress.Fed])
			s.next[w][s.progress.Fed] = s.rows[w]
			step.addRow(f.Tokens[w], s.progress.Fed, s.rows[w], s.next[w], true)
		}
		s.history, s.next = s.next, s.history
		s.progress.Fed++
	}
	step.endSentence(s.slot, s.srcLen)
}
