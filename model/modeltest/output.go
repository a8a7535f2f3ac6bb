package modeltest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/model/search"
)

// TieTolerance is the difference of two scores below which two sound
// implementations may decide differently. It is far above the rounding of 32-bit
// floats (some 1e-6 here) and far below what a mistake would cause.
const TieTolerance = 1e-4

// CheckOutput compares a result with the reference's. They may differ only where
// scores tie.
func CheckOutput(t *testing.T, setting string, c Case, got search.Result, want Output, eos int64) {
	t.Helper()
	ids := Tokens(c, got, eos)
	if !slices.Equal(want.IDs, ids) && want.NearTie(TieTolerance) {
		t.Logf("%s: %q differs where scores tie within %g: %v, reference %v", setting, c.Text, *want.Margin, ids, want.IDs)
		return
	}
	assert.Equal(t, want.IDs, ids, "%s %q %v", setting, c.Text, c.Source)
	assert.Equal(t, want.Truncated, got.Truncated, "%s %q", setting, c.Text)
	if want.Score != 0 {
		assert.InDelta(t, want.Score, got.Score, 1e-3, "%s %q", setting, c.Text)
	}
}

// Tokens is a result as the goldens have it.
func Tokens(c Case, r search.Result, eos int64) []int64 {
	ids := slices.Concat(c.Prefix, r.Tokens)
	if !r.Truncated {
		ids = append(ids, eos)
	}
	return ids
}
