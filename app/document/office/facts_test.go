package office

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Memory is taken for what formulas read. If that is too much, all texts stay.
func TestFactsAreBounded(t *testing.T) {
	const areas = 200
	formula := `COUNTIF(B1,"x")&` + strings.Repeat("A1&", areas) + "A1"
	for _, full := range []bool{false, true} {
		w := newLearner(t.Context())
		if full {
			w.book.bytes = maxFacts - factCost - len(formula)
		}
		require.NoError(t, w.look(func() { w.tellFormula(formula, area{}, true) }))
		before := w.remembered
		require.NoError(t, w.look(w.followFormulas))
		assert.GreaterOrEqual(t, w.paid, w.remembered)
		assert.Equal(t, full, w.book.all)
		assert.Equal(t, full, len(w.book.formulas) == 0)
		assert.Equal(t, !full, w.remembered-before > areas*areaCost)
		assert.True(t, w.isKept("x"))
		assert.Equal(t, full, w.isKept("y"))
		was := w.remembered
		require.NoError(t, w.look(w.followFormulas))
		assert.Equal(t, was, w.remembered, "the same cells again")
	}
}

// A request that has ended ends the work on facts.
func TestFactsLookAtTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := newLearner(ctx)
	require.NoError(t, w.look(func() { w.tellFormula(`A1="one"`, area{}, true) }))
	cancel()
	require.ErrorIs(t, w.look(w.followFormulas), context.Canceled)
}

// A cell with a pattern is a criterion also if its own words are read.
func TestCriterionThatStays(t *testing.T) {
	w := newLearner(t.Context())
	w.book.shared = []string{"*house", "House"}
	require.NoError(t, w.look(func() {
		w.tellText(w.reference("", "F1", corner{}), 0, "")
		w.tellText(w.reference("", "A1", corner{}), 1, "")
		w.tellFormula("COUNTIF(A1:A2,F1)", w.reference("", "D1", corner{}), false)
		w.tellFormula("LEN(F1)", w.reference("", "D2", corner{}), false)
		w.setShared()
		w.followFormulas()
		assert.False(t, w.book.asks && w.book.words.overlap(w.reference("", "A1", corner{})))
		w.followCriteria()
		w.followFormulas()
		w.followTexts()
	}))
	assert.Equal(t, map[string]bool{"*house": true, "house": true}, w.keep)
	assert.Equal(t, w.keep, w.book.compared)
}
