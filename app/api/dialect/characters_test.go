package dialect

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/translate"
)

func TestCharacters(t *testing.T) {
	for _, test := range []struct {
		text       string
		format     translate.Format
		characters int
	}{
		{"", translate.Text, 0},
		{"é日\n ", translate.Text, 4},
		{"<b>hi</b>", translate.Text, 9},
		{"<b>hi</b>", translate.HTML, 2},
		{"a < b <i x='>'>c", translate.HTML, 7},
		{"< the house is big >", translate.HTML, 20},
		{"<\n" + strings.Repeat("the house ", 10) + ">", translate.HTML, 103},
		{"the house <", translate.HTML, 11},
		{"<a <b> house", translate.HTML, 6},
		{"<p>Good<p>morning", translate.HTML, 11},
		{"fish &amp; chips", translate.HTML, 12},
		{"a <!-- secret --> b", translate.HTML, 4},
		{"see <code>x = 1</code>", translate.HTML, 4},
		{"<script>x()</script><p>hi", translate.HTML, 2},
	} {
		assert.Equal(t, test.characters, Characters(test.text, test.format), test.text)
	}
}
