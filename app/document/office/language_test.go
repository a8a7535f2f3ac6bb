package office

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
)

// A text that is in the language that its run declares stays, with the mark of its language. One that is not is translated.
func TestRunsInOtherLanguages(t *testing.T) {
	run := func(lang, text string) string {
		return `<w:r><w:rPr><w:b/><w:lang w:eastAsia="en-US" w:val="` + lang + `"/></w:rPr><w:t xml:space="preserve">` + text + `</w:t></w:r>`
	}
	const french, english = "Je ne sais pas où sont les enfants", "the children are in the garden"
	for _, c := range []struct {
		from, lang, text string
		stays            bool
	}{
		{"en", "fr-FR", french, true}, {"en", "fr-FR", english, false}, {"en", "en-GB", french, false}, {"", "fr-FR", french, false},
		{"en", "ru-RU", "Дети играют в саду", true}, {"en", "fr-FR", "12", false}, {"en", "x-none", french, false}, {"en", "qq", french, false},
		{"en-US", "fr-CA", french, true}, {"en", "fr-FR", "c’est la vie", true}, {"fr", "en-US", english, true}, {"fr", "fr-FR", french, false},
	} {
		var segments []string
		w := newLearner(t.Context()).rewriter(wordGrammar, document.Options{From: c.from, To: "de"}, func(text string) (string, error) {
			segments = append(segments, text)
			return upper(text)
		})
		var out strings.Builder
		require.NoError(t, w.part(&out, strings.NewReader("<root "+word+"><w:p>"+run("en-US", "They said: ")+run(c.lang, c.text)+"</w:p></root>"), "part.xml"))
		assert.Equal(t, c.stays, strings.Contains(out.String(), run(c.lang, c.text)), "%+v: %s", c, out.String())
		assert.Equal(t, !c.stays, strings.Contains(strings.Join(segments, ""), c.text), "%+v", c)
		require.NoError(t, wellFormed(out.String()))
		out.Reset()
		slide := `<a:r><a:rPr b="1" lang="` + c.lang + `"/><a:t>` + c.text + `</a:t></a:r>`
		w = newLearner(t.Context()).rewriter(drawingGrammar, document.Options{From: c.from, To: "de"}, upper)
		require.NoError(t, w.part(&out, strings.NewReader("<root "+drawing+`><a:p><a:r><a:rPr lang="en-US"/><a:t>They said: </a:t></a:r>`+slide+"</a:p></root>"), "part.xml"))
		assert.Equal(t, c.stays, strings.Contains(out.String(), slide), "%+v: %s", c, out.String())
	}
}
