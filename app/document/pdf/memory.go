package pdf

import (
	"context"

	"dragoman/app/budget"
	"dragoman/app/document"
)

// maxMemory is the maximum memory of a document in bytes: the file and everything that is unpacked of it.
const maxMemory = 224 << 20

// memory is the memory of a document, which is taken from the request of ctx.
type memory struct {
	ctx   context.Context
	most  int64 // maximum of taken
	taken int64
	kept  int64 // of taken, for as long as the document is open
	err   error // the error of the first refusal; all further requests are refused
}

// take takes n bytes for the document.
func (m *memory) take(n int64) error {
	switch {
	case m.err != nil:
		return m.err
	case m.taken+n > m.most:
		m.err = document.TooLarge("the PDF takes more than %d MiB when it is unpacked: divide it", m.most>>20)
	default:
		m.err = budget.Take(m.ctx, n)
	}
	if m.err == nil {
		m.taken += n
	}
	return m.err
}

// hold takes n bytes until release is called.
func (m *memory) hold(n int64) (release func(), err error) {
	return func() {
		m.taken -= n
		budget.Give(m.ctx, n)
	}, m.take(n)
}

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
