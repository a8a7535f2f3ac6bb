package search

// trace records the token that each row took at each step and the row from which it descended. Hypotheses share their common past
// and are never copied: a sentence is read back from its last row.
type trace struct {
	prefix  []int64
	width   int
	steps   int
	tokens  []int64 // [maxSteps, width]
	parents []int32 // [maxSteps, width]
}

func newTrace(prefix []int64, width, maxLength int) trace {
	cells := (maxLength - len(prefix)) * width
	return trace{
		prefix:  prefix,
		width:   width,
		tokens:  make([]int64, cells),
		parents: make([]int32, cells),
	}
}

// length returns the number of decoder tokens of a row, including the prefix.
func (t *trace) length() int { return len(t.prefix) + t.steps }

// add records a step, tokens and parents [width].
func (t *trace) add(tokens []int64, parents []int) {
	at := t.steps * t.width
	copy(t.tokens[at:], tokens)
	for row, parent := range parents {
		t.parents[at+row] = int32(parent)
	}
	t.steps++
}

// read writes the tokens of row after steps steps, without the prefix, into dst[:steps]. If steps is 0, row is ignored.
func (t *trace) read(dst []int64, steps, row int) {
	for i := steps - 1; i >= 0; i-- {
		at := i*t.width + row
		dst[i] = t.tokens[at]
		row = int(t.parents[at])
	}
}

// history writes the decoder tokens of row, including the prefix, into buf, which must have room for them, and returns them.
func (t *trace) history(buf []int64, row int) []int64 {
	buf = buf[:t.length()]
	n := copy(buf, t.prefix)
	t.read(buf[n:], t.steps, row)
	return buf
}
