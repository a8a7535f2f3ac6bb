package remote

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTokens(t *testing.T) {
	tok := NewTokenizer([]string{"en", "fr"})
	for text, pieces := range map[string]int{
		"":                         0,
		"Hello, world!":            4, // Hello|,| world|!
		"internationalization":     4,
		" a  b":                    2,
		"これは文です。":                  4,
		"x":                        1,
		strings.Repeat("word ", 4): 5,
	} {
		ids, err := tok.Encode("en", "fr", text)
		require.NoError(t, err)
		assert.Len(t, ids, framing+pieces, "%q", text)
		from, to, back, err := tok.source(ids)
		require.NoError(t, err)
		assert.Equal(t, []string{"en", "fr", text}, []string{from, to, back})
	}
	_, err := tok.Encode("en", "de", "x")
	assert.ErrorContains(t, err, "unknown language")
	for name, ids := range map[string][]int64{
		"none": nil, "no target": {0}, "a language that is not there": {0, 2}, "no language": {pack("a"), 0}, "a language in the text": {0, 1, 1},
		"negative": {0, 1, -1}, "half a character": {0, 1, pack("\xe3")}, "too long a piece": {0, 1, 7<<lengthShift | 1},
	} {
		_, _, _, err := tok.source(ids)
		assert.ErrorIs(t, err, errSource, name)
	}
}

// Any text comes back, also if it is not UTF-8.
func FuzzTokens(f *testing.F) {
	f.Add("Hello, world! 你好 \x00 \xff\xfe")
	tok := NewTokenizer([]string{"en", "fr"})
	f.Fuzz(func(t *testing.T, text string) {
		ids, err := tok.EncodeTarget(text)
		require.NoError(t, err)
		assert.Equal(t, text, tok.Decode(ids))
		assert.LessOrEqual(t, len(ids), len(text))
		if utf8.ValidString(text) {
			ids, err = tok.Encode("en", "fr", text)
			require.NoError(t, err)
			_, _, back, err := tok.source(ids)
			require.NoError(t, err)
			assert.Equal(t, text, back)
		}
	})
}
