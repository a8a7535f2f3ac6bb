package translate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCharactersOfFormats(t *testing.T) {
	for _, test := range []struct {
		text       string
		format     Format
		characters int
	}{
		{"", Text, 0},
		{"é日\n ", Text, 4},
		{"<b>hi</b>", Text, 9},
		{"<b>hi</b>", HTML, 2},
		{"a < b <i x='>'>c", HTML, 7},
		{"< the house is big >", HTML, 20},
		{"<\n" + strings.Repeat("the house ", 10) + ">", HTML, 103},
		{"the house <", HTML, 11},
		{"<a <b> house", HTML, 6},
		{"<p>Good<p>morning", HTML, 11},
		{"fish &amp; chips", HTML, 12},
		{"a <!-- secret --> b", HTML, 4},
		{"see <code>x = 1</code>", HTML, 4},
		{"<script>x()</script><p>hi", HTML, 2},
	} {
		n, err := test.format.Characters(t.Context(), test.text)
		require.NoError(t, err)
		assert.Equal(t, test.characters, n, test.text)
	}
}
