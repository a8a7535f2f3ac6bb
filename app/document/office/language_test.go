package office

import (
	"io"
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

// A phrase that Word or PowerPoint has cut into runs is judged as one; runs may declare a language for letters or for other scripts.
func TestPhrasesInOtherLanguages(t *testing.T) {
	type part struct{ mark, text string }
	french := func(words ...string) (list []part) {
		for _, word := range words {
			list = append(list, part{`w:val="fr-FR"`, word})
		}
		return list
	}
	const plain = `w:val="en-US"`
	for name, c := range map[string]struct {
		parts []part
		want  string // the text to translate
		stays bool   // the marked texts stay
	}{
		"a run for each word":           {append([]part{{plain, "They said: "}}, french("Je ", "ne ", "sais ", "pas ", "où.")...), `They said:`, true},
		"spaces of another language":    {[]part{{plain, "She said "}, {`w:val="fr-FR"`, "je"}, {plain, " "}, {`w:val="fr-FR"`, "ne sais pas"}, {plain, " where."}}, `She said <x id="1"/> where.`, true},
		"space at its end":              {[]part{{plain, "She said"}, {`w:val="fr-FR"`, " je ne sais pas "}, {plain, "where."}}, `She said <x id="1"/> where.`, true},
		"soft hyphens and fixed spaces": {[]part{{plain, "She said "}, {`w:val="fr-FR"`, "je ne sais pas inter\u00adnational\u00a0!"}, {plain, " to him."}}, `She said <x id="1"/> to him.`, true},
		"two phrases":                   {[]part{{`w:val="fr-FR"`, "Je ne sais pas"}, {plain, " means "}, {`w:val="de-DE"`, "ich weiß es nicht"}, {plain, "."}}, `means <x id="1"/>.`, true},
		"words of the text":             {append([]part{{plain, "They said: "}}, french("the ", "children ", "are ", "in ", "the ", "garden")...), "They said: the children are in the garden", false},
		"East Asian characters":         {[]part{{plain, "She said "}, {`w:eastAsia="ja-JP" w:val="en-US"`, "彼は庭で遊んでいます"}, {plain, " to him."}}, `She said <x id="1"/> to him.`, true},
		"a complex script":              {[]part{{plain, "She said "}, {`w:bidi="he-IL"`, "הילדים משחקים בגן"}, {plain, " to him."}}, `She said <x id="1"/> to him.`, true},
		"letters beside other marks":    {[]part{{`w:val="en-US" w:eastAsia="ja-JP" w:bidi="he-IL"`, "She said it to him."}}, "She said it to him.", false},
		"only marks of other scripts":   {[]part{{`w:eastAsia="ja-JP"`, "She said it to him."}}, "She said it to him.", false},
	} {
		var paragraph strings.Builder
		for _, p := range c.parts {
			paragraph.WriteString(`<w:r><w:rPr><w:lang ` + p.mark + `/></w:rPr><w:t xml:space="preserve">` + p.text + `</w:t></w:r>`)
		}
		var list []string
		w := newLearner(t.Context()).rewriter(wordGrammar, document.Options{From: "en", To: "ru"}, func(text string) (string, error) {
			list = append(list, text)
			return upper(text)
		})
		var out strings.Builder
		require.NoError(t, w.part(&out, strings.NewReader("<root "+word+"><w:p>"+paragraph.String()+"</w:p></root>"), "part.xml"), name)
		assert.Equal(t, []string{c.want}, list, name)
		for _, part := range c.parts {
			if c.stays && part.mark != plain {
				text := strings.Replace(strings.TrimSpace(part.text), softHyphen, `</w:t><w:softHyphen/><w:t xml:space="preserve">`, 1)
				assert.Regexp(t, `<w:rPr><w:lang `+part.mark+`/></w:rPr><w:t xml:space="preserve">[^<]*`+text, out.String(), name)
			}
		}
		require.NoError(t, wellFormed(out.String()))
	}
}

// In OpenDocument, styles declare the language: automatic ones, and named ones for letters. Those of texts in another language keep it.
func TestStylesInOtherLanguages(t *testing.T) {
	style := func(kind, family, attributes, properties string) string {
		return `<style:` + kind + ` style:family="` + family + `"` + attributes + `><style:text-properties` + properties + `/></style:` + kind + `>`
	}
	const english, french, russian, german = ` fo:language="en" fo:country="GB"`, ` fo:language="fr" fo:country="FR"`, ` fo:language="ru" fo:country="RU"`, ` fo:language="de" fo:country="DE"`
	styles := func(to string) string {
		return "<office:styles>" + style("default-style", "paragraph", "", to) + style("style", "paragraph", ` style:name="Template"`, to) + style("style", "text", ` style:name="Quote"`, french) +
			"</office:styles>"
	}
	doc := func(to, paragraphs string) string {
		return "<root " + odf + "><office:automatic-styles>" + style("style", "text", ` style:name="T1"`, ` fo:font-weight="bold"`+to) + style("style", "text", ` style:name="T2"`, french) +
			style("style", "text", ` style:name="T3" style:parent-style-name="Quote"`, ` fo:color="#ff0000"`) + style("style", "paragraph", ` style:name="P1"`, french) +
			style("style", "table-cell", ` style:name="ce1"`, french) + style("style", "text", ` style:name="T4"`, ` style:language-complex="he"`) +
			"</office:automatic-styles>" + paragraphs + "</root>"
	}
	span := func(style, text string) string {
		return `<text:span text:style-name="` + style + `">` + text + "</text:span>"
	}
	const phrase, hebrew = "Je ne sais pas où  sont &lt;les&gt; enfants", "הילדים משחקים בגן"
	kept := strings.Replace(phrase, "  ", " ", 1)
	learner := newLearner(t.Context())
	var named strings.Builder
	learner.grammar = odfNamedStyles
	require.NoError(t, learner.part(&named, strings.NewReader("<root "+odf+">"+styles(english)+"</root>"), "styles.xml"))
	var list []string
	translate := func(text string) (string, error) {
		list = append(list, text)
		return upper(text)
	}
	o := document.Options{From: "en", To: "ru"}
	for name, c := range map[string]struct{ in, out, want string }{
		"a span":            {`<text:p>they said: ` + span("T2", phrase) + `</text:p>`, `<text:p>THEY SAID: ` + span("T2", kept) + `</text:p>`, `they said:`},
		"a span in a span":  {`<text:p>they said: ` + span("T1", "well, "+span("T2", phrase)) + `</text:p>`, `<text:p>THEY SAID: ` + span("T1", "WELL, ") + span("T1", span("T2", kept)) + `</text:p>`, `they said: <g id="1">well,</g>`},
		"cut into words":    {`<text:p>they said: ` + span("T2", "Je ") + span("T2", "ne sais") + " " + span("T2", "pas") + `</text:p>`, `<text:p>THEY SAID: ` + span("T2", "Je ne sais") + " " + span("T2", "pas") + `</text:p>`, `they said:`},
		"a named style":     {`<text:p>they said: ` + span("Quote", phrase) + `</text:p>`, `<text:p>THEY SAID: ` + span("Quote", kept) + `</text:p>`, `they said:`},
		"a derived style":   {`<text:p>they said: ` + span("T3", phrase) + `</text:p>`, `<text:p>THEY SAID: ` + span("T3", kept) + `</text:p>`, `they said:`},
		"a paragraph":       {`<text:p text:style-name="P1">` + phrase + `</text:p>`, `<text:p text:style-name="P1">` + phrase + `</text:p>`, ""},
		"English within it": {`<text:p text:style-name="P1">` + span("T1", "that is to say, ") + phrase + `</text:p>`, `<text:p text:style-name="P1">` + span("T1", "THAT IS TO SAY, ") + kept + `</text:p>`, `that is to say,`},
		"a cell":            {`<table:table-cell table:style-name="ce1"><text:p>` + phrase + `</text:p></table:table-cell><table:table-cell><text:p>the house</text:p></table:table-cell>`, `<table:table-cell table:style-name="ce1"><text:p>` + phrase + `</text:p></table:table-cell><table:table-cell><text:p>THE HOUSE</text:p></table:table-cell>`, "the house"},
		"a complex script":  {`<text:p>they said: ` + span("T4", hebrew) + `</text:p>`, `<text:p>THEY SAID: ` + span("T4", hebrew) + `</text:p>`, `they said:`},
		"a mark by chance":  {`<text:p>they said: ` + span("T2", "the children are in the garden") + `</text:p>`, `<text:p>THEY SAID: THE CHILDREN ARE IN THE GARDEN</text:p>`, "they said: the children are in the garden"},
		"a style by chance": {`<text:p text:style-name="Template">the children are in the garden</text:p>`, `<text:p text:style-name="Template">THE CHILDREN ARE IN THE GARDEN</text:p>`, "the children are in the garden"},
		"a link":            {`<text:p>see <text:a>` + span("T2", phrase) + `</text:a></text:p>`, `<text:p>SEE <text:a>` + span("T2", kept) + `</text:a></text:p>`, `see`},
	} {
		list = nil
		var out strings.Builder
		require.NoError(t, learner.rewriter(odfGrammar, o, translate).part(&out, strings.NewReader(doc(english, c.in)), "content.xml"), name)
		assert.Equal(t, doc(russian, c.out), out.String(), name)
		assert.Equal(t, c.want, strings.Join(list, "|"), name)
	}
	var out strings.Builder
	require.NoError(t, learner.rewriter(odfStylesGrammar, o, translate).part(&out, strings.NewReader("<root "+odf+">"+styles(german)+"</root>"), "styles.xml"))
	assert.Equal(t, "<root "+odf+">"+styles(russian)+"</root>", out.String())
	assert.Equal(t, style("default-style", "graphic", "", ` fo:color="#000000"`+russian), newTarget("ru").odf(style("default-style", "graphic", "", ` fo:color="#000000"`)))
	assert.Equal(t, style("style", "text", "", russian), newTarget("ru").odf(style("style", "text", "", ` fo:language="qlt" fo:country="none" style:rfc-language-tag="ca-ES-valencia" fo:script="Latn"`)))
}

// Named styles for letters declare the language of Word's runs, also by the style on which they are based.
func TestCharacterStylesInOtherLanguages(t *testing.T) {
	const styles = `<w:style w:type="character" w:styleId="Foreign"><w:rPr><w:lang w:val="fr-FR"/></w:rPr></w:style>` +
		`<w:style w:type="character" w:styleId="Derived"><w:basedOn w:val="Foreign"/><w:rPr><w:i/></w:rPr></w:style>`
	const template = `<w:style w:type="paragraph" w:styleId="Normal"><w:rPr><w:lang w:val="xx"/></w:rPr></w:style>`
	const french = "Je ne sais pas où sont les enfants"
	learner := newLearner(t.Context())
	learner.grammar = wordNamedStyles
	require.NoError(t, learner.part(io.Discard, strings.NewReader("<root "+word+">"+styles+strings.Replace(template, "xx", "fr-FR", 1)+"</root>"), "styles.xml"))
	o := document.Options{From: "en", To: "ru"}
	for style, stays := range map[string]bool{"Foreign": true, "Derived": true, "Normal": false, "Other": false} {
		var list []string
		var out strings.Builder
		w := learner.rewriter(wordGrammar, o, func(text string) (string, error) {
			list = append(list, text)
			return text, nil
		})
		require.NoError(t, w.part(&out, strings.NewReader("<root "+word+`><w:p><w:r><w:t xml:space="preserve">They said: </w:t></w:r><w:r><w:rPr><w:rStyle w:val="`+style+`"/></w:rPr><w:t>`+french+"</w:t></w:r></w:p></root>"), "part.xml"))
		assert.Equal(t, stays, !strings.Contains(strings.Join(list, ""), french), "%s: %q", style, list)
	}
	var out strings.Builder
	require.NoError(t, learner.rewriter(wordStylesGrammar, o, upper).part(&out, strings.NewReader("<root "+word+">"+styles+strings.Replace(template, "xx", "fr-FR", 1)+"</root>"), "styles.xml"))
	assert.Equal(t, "<root "+word+">"+styles+strings.Replace(template, "xx", "ru-RU", 1)+"</root>", out.String())
}
