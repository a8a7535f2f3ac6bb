package char

import (
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
)

// Plain letters are letters, and most letters of real texts are plain.
func TestIsPlainLetter(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if IsPlainLetter(r) && !unicode.IsLetter(r) {
			t.Errorf("%q is no letter", r)
		}
	}
	for _, r := range "azAZéßœžŐшЖλあアー語한" {
		assert.Equal(t, r != 'ー', IsPlainLetter(r), "%c", r) // ー is of two scripts
	}
}

func TestIsASCII(t *testing.T) {
	for _, text := range []string{"", "a", "a\x7f\n"} {
		assert.True(t, IsASCII(text), "%q", text)
	}
	for _, text := range []string{"é", "plain text, then \u0080", "a\xff"} {
		assert.False(t, IsASCII(text), "%q", text)
	}
}
