package textfile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
	"dragoman/app/text/markup"
)

// A text in another language than the source stays, as does an inline one within a text.
func TestForeignElements(t *testing.T) {
	const text = `<html lang="en"><p>one <i lang="fr">deux</i> three</p><div lang="fr"><p title="quatre">cinq</p></div><p lang="en-GB">six</p></html>`
	o := document.Options{From: "en", To: "de"}
	got, err := rewritten(t, kindNamed(t, "html"), text, o, func(text string) string {
		if text == `one <i translate="no" lang="fr">deux</i> three` {
			return `eins <i translate="no" lang="fr">deux</i> drei`
		}
		return upper(markup.HTML)(text)
	})
	require.NoError(t, err)
	assert.Equal(t, `<html lang="de"><p>eins <i lang="fr">deux</i> drei</p><div lang="fr"><p title="quatre">cinq</p></div><p lang="en-GB">SIX</p></html>`, got)
	got, err = rewritten(t, kindNamed(t, "html"), text, document.Options{From: "en"}, func(text string) string { return text })
	require.NoError(t, err)
	assert.Equal(t, text, got)
}

// The contents of noscript and template and the texts of SVG are translated.
func TestHiddenElements(t *testing.T) {
	const text = `<p>one</p><noscript><p>two <img alt="three"></p></noscript><img alt="four"><template><p title="five">six</p></template><svg><path d="M 0"/><text>seven</text></svg><svg><text>a</svg><p>eight</p>`
	got, err := rewritten(t, kindNamed(t, "html"), text, document.Options{}, upper(markup.HTML))
	require.NoError(t, err)
	assert.Equal(t, `<p>ONE</p><noscript><p>TWO <img alt="THREE"></p></noscript><img alt="FOUR"><template><p title="FIVE">SIX</p></template><svg><path d="M 0"/><text>SEVEN</text></svg><svg><text>a</svg><p>EIGHT</p>`, got)
}
