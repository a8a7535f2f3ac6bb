package lineartest

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The number of executed statements tells quadratic functions from linear ones.
func TestLinearWorkIsCounted(t *testing.T) {
	w := New(t)
	text := strings.Repeat("a", 1<<10)
	linear := func(text string) { _ = strings.Map(func(r rune) rune { return r }, text) }
	quadratic := func(text string) { _ = strings.Map(func(r rune) rune { linear(text); return r }, text) }
	w.Assert("linear", text[:1<<7], text, linear)
	got := w.exponent("quadratic", text[:1<<7], text, quadratic)
	if os.Getenv(chosen) == "" {
		assert.InDelta(t, 2, got, .1)
	}
}
