package search

// trace remembers which token each row took at each step and from which row it
// descended. Hypotheses share their common past, and none is ever copied: a
// sentence is read back from its last row.
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

// length is the number of decoder tokens of a row, the prefix included.
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

// read writes the tokens that row had after steps steps, without the prefix,
// into dst[:steps]. row is not looked at where steps is 0.
func (t *trace) read(dst []int64, steps, row int) {
	for i := steps - 1; i >= 0; i-- {
		at := i*t.width + row
		dst[i] = t.tokens[at]
		row = int(t.parents[at])
	}
}

// history writes the decoder tokens of row, the prefix included, into buf, which
// has room for them, and returns them.
func (t *trace) history(buf []int64, row int) []int64 {
	buf = buf[:t.length()]
	n := copy(buf, t.prefix)
	t.read(buf[n:], t.steps, row)
	return buf
}
