package office

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What formulas read is kept as long as there is memory for it, and that memory is taken. It is read again after a change.
func TestReadingsAreBounded(t *testing.T) {
	const areas = 200
	formula := `COUNTIF(B1,"x")&` + strings.Repeat("A1&", areas) + "A1"
	for _, full := range []bool{false, true} {
		w := &walker{ctx: t.Context(), keep: map[string]bool{}, book: newWorkbook()}
		require.NoError(t, w.look(func() { w.tellFormula(formula, area{}, true) }))
		if full {
			w.book.facts.bytes = maxFacts
		}
		before := w.remembered
		require.NoError(t, w.goThrough())
		f := &w.book.facts.list[0]
		assert.Equal(t, !full, f.isRead)
		assert.Equal(t, !full, len(f.areas) > areas)
		assert.GreaterOrEqual(t, w.paid, w.remembered)
		assert.Equal(t, !full, w.remembered-before > areas*areaCost)
		assert.True(t, w.isKept("x"))
		if full {
			continue
		}
		was := w.remembered
		w.book.facts.changes++
		require.NoError(t, w.goThrough())
		assert.Equal(t, w.book.facts.changes, f.after)
		assert.Equal(t, was, w.remembered, "the same cells again")
	}
}

// Facts that are too many to keep are gone through like others: a request that has ended ends that.
func TestTooManyFacts(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := &walker{ctx: ctx, keep: map[string]bool{}, book: newWorkbook()}
	require.NoError(t, w.look(func() { w.tellFormula(`A1="one"`, area{}, true) }))
	w.book.facts.bytes = maxFacts + 1
	cancel()
	require.ErrorIs(t, w.look(func() { w.tellFormula(`A1="two"`, area{}, true) }), context.Canceled)
	w.ctx = t.Context()
	require.NoError(t, w.look(func() { w.tellFormula(`A1="two"`, area{}, true) }))
	assert.True(t, w.book.facts.isLost)
	assert.Empty(t, w.book.facts.list)
	assert.True(t, w.isKept("one") && w.isKept("two"))
}
