package pdf

import (
	"context"
	"math"

	"dragoman/app/budget"
	"dragoman/app/document"
	"dragoman/app/text/char"
)

// maxMemory is the maximum memory of a document in bytes: the file and everything that is unpacked of it.
const maxMemory = 224 << 20

// memory is the memory of a document, which is taken from the request of ctx.
type memory struct {
	ctx   context.Context
	most  int64 // maximum of taken
	taken int64
	kept  int64 // of taken, for as long as the document is open
	looks *char.Looks
}

// look runs work on the document. It ends at the first error of reading, memory or writing; see [char.Looks].
func (m *memory) look(work func()) error {
	return char.Look(m.ctx, math.MaxInt, func(l *char.Looks) {
		m.looks = l
		work()
	})
}

// take takes n bytes for the document.
func (m *memory) take(n int64) {
	if m.taken+n > m.most {
		m.looks.Check(document.TooLarge("the PDF takes more than %d MiB when it is unpacked: divide it", m.most>>20))
	}
	m.looks.Check(budget.Take(m.ctx, n))
	m.taken += n
}

// work counts n bytes of work.
func (m *memory) work(n int) { m.looks.Check(budget.Work(m.ctx, n)) }

// keep keeps n bytes that were taken: mark does not give them back.
func (m *memory) keep(n int) { m.kept += int64(n) }

// mark returns a function that gives back what was taken since, and is not kept.
func (m *memory) mark() (release func()) {
	before := m.taken - m.kept
	return func() {
		budget.Give(m.ctx, m.taken-m.kept-before)
		m.taken = before + m.kept
	}
}

// release gives back all memory.
func (m *memory) release() {
	budget.Give(m.ctx, m.taken)
	m.taken = 0
}
