package openai

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is allocated for a message of KISS Translator grows with it, also where its segments have nothing to translate.
func TestKissIsLinear(t *testing.T) {
	allocated := func(segments int) float64 {
		text := `{"targetLanguage":"fr","segments":[` + strings.Repeat(`{"id":1,"text":"12345678901234567890"},`, segments) + `{"id":2,"text":"a"}]}`
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		parts, _, _, ok := readKiss(text)
		runtime.ReadMemStats(&after)
		require.True(t, ok)
		require.Len(t, parts, 2)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	assert.Less(t, allocated(8000)/allocated(1000), 12.0)
}

// The texts of a message are refused when there are too many, not when all of them are there.
func TestTooManySegments(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("1. a\n", 2*maxParts), strings.Repeat("a\n---\n", 2*maxParts), "[" + strings.Repeat(`"a",`, 2*maxParts) + `"b"]`,
		`{"targetLanguage":"fr","segments":[` + strings.Repeat(`{"id":1,"text":"a"},`, 2*maxParts) + `{"id":2,"text":"a"}]}`,
	} {
		_, _, _, ok := readKiss(text)
		assert.False(t, ok)
		_, err := split(text)
		assert.ErrorContains(t, err, "more than 10000 texts")
	}
}
