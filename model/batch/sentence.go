package batch

import "dragoman/model"

// sentence is the state of the sentence in a slot of a batch.
//
// Each hypothesis has a row of the KV cache, but its tokens may be in any of the sentence's rows: its history, kept by the
// backend, has the row of each position. A hypothesis that continues another takes over its history, and nothing is copied in the
// cache. No two hypotheses write to the same place: each writes its next token to its own row, and no row is written twice at the
// same position.
//
// A row has two histories, so that hypotheses can change places: a step reads all histories from one half and writes them to the
// other.
type sentence struct {
	slot   int32   // row in the cross-attention memory
	srcLen int     // tokens of the source
	fed    int     // decoder tokens fed
	active int     // hypotheses of the last step
	rows   []int32 // rows of the KV cache, one for each hypothesis so far
	half   int32   // the current half of the histories
}

// hypotheses returns the number of hypotheses after a feed.
func (s *sentence) hypotheses(f model.Feed) int {
	if s.fed == 0 {
		return 1
	}
	return len(f.Tokens)
}

// rowsFor returns the number of the sentence's rows in the KV cache after a feed.
func (s *sentence) rowsFor(f model.Feed) int { return max(len(s.rows), s.hypotheses(f)) }

// feed adds the sentence's rows to the rows of a step.
func (s *sentence) feed(f model.Feed, kv *pool, to []Row) []Row {
	for len(s.rows) < s.rowsFor(f) {
		s.rows = append(s.rows, kv.take())
	}
	s.active = s.hypotheses(f)
	row := Row{Slot: s.slot, Length: int32(s.srcLen)}
	if s.fed == 0 {
		row.KV, row.From, row.To = s.rows[0], s.history(0), s.history(0)
		for pos, token := range f.Tokens {
			row.Token, row.Position, row.Wanted = int32(token), int32(pos), pos == len(f.Tokens)-1
			to = append(to, row)
		}
		s.fed = len(f.Tokens)
		return to
	}
	first := len(to)
	row.Position, row.Wanted = int32(s.fed), true
	for w, parent := range f.Parents {
		row.Token, row.KV, row.From = int32(f.Tokens[w]), s.rows[w], s.history(parent)
		to = append(to, row)
	}
	if !stay(f.Parents) {
		s.half = 1 - s.half
	}
	for w := range f.Parents {
		to[first+w].To = s.history(w)
	}
	s.fed++
	return to
}

// history returns the number of the history of hypothesis w: each row of the KV cache has two.
func (s *sentence) history(w int) int32 { return 2*s.rows[w] + s.half }

// stay reports whether every hypothesis continues itself.
func stay(parents []int) bool {
	for w, parent := range parents {
		if parent != w {
			return false
		}
	}
	return true
}

// pool has the free rows of a memory.
type pool []int32

func newPool(n int) pool {
	p := make(pool, n)
	for i := range p {
		p[i] = int32(n - 1 - i)
	}
	return p
}

// take returns a free row. There must be one.
func (p *pool) take() int32 {
	last := len(*p) - 1
	row := (*p)[last]
	*p = (*p)[:last]
	return row
}

// give takes rows back.
func (p *pool) give(rows ...int32) { *p = append(*p, rows...) }
