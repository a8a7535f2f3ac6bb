package cpu

// arena is memory for the small inputs and outputs of a run, laid out again for each
// run and kept between them.
type arena struct {
	memory buffer
	used   int
}

// begin starts a layout of n bytes in parts of which there are at most parts. What
// was laid out before is void.
func (a *arena) begin(n, parts int) error {
	a.used = 0
	n += parts * alignment
	if n <= len(a.memory) {
		return nil
	}
	memory, err := newBuffer(n * 3 / 2)
	if err != nil {
		return err
	}
	a.memory.free()
	a.memory = memory
	return nil
}

// alignment suits any element type and keeps parts off each other's cache lines.
const alignment = 64

// part is the next n bytes of the layout.
func (a *arena) part(n int) buffer {
	p := a.memory[a.used:]
	a.used += roundUp(n, alignment)
	return p
}

func (a *arena) close() {
	a.memory.free()
	a.memory = nil
}

func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }
