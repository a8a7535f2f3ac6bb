package jobs

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/translate"
)

// Terms are stored once, after the slices. Each target language gets its own terms.
func TestTermsOfAJob(t *testing.T) {
	stored, err := marshal([][]translate.Term{{{Source: "cat", Target: "chat"}}, {}, {{Source: "cat", Target: "猫"}, {Source: "X", Target: "X"}}})
	require.NoError(t, err)
	for language, want := range map[int]string{0: "[{cat chat}]", 1: "[]", 2: "[{cat 猫} {X X}]"} {
		terms, err := parseTerms(stored, language)
		require.NoError(t, err)
		assert.Equal(t, want, fmt.Sprint(terms))
	}
	_, err = parseTerms(stored, 3)
	assert.ErrorContains(t, err, "terms for 3 languages")
	_, err = parseTerms([]byte("["), 0)
	assert.ErrorContains(t, err, "cannot be read")
	shared, err := marshal([][]translate.Term{{{Source: "cat", Target: "cat"}}})
	require.NoError(t, err)
	terms, err := parseTerms(shared, 7)
	require.NoError(t, err)
	assert.Len(t, terms, 1, "one list is for all languages")
	assert.Equal(t, 2, NewRecord(Draft{Input: make([][]byte, 3), Request: Request{Glossary: true}}, 0, begin).Slices)
	assert.Equal(t, 3, NewRecord(Draft{Input: make([][]byte, 3)}, 0, begin).Slices)
}
