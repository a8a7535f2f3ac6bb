package office

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
)

// The result has the direction and the language of the target, at the places that the schemas of the formats prescribe.
func TestDirection(t *testing.T) {
	const preserved = `<w:t xml:space="preserve">`
	for _, c := range []struct {
		name          string
		grammar       grammar
		root          string
		to            []string
		in, out, back string // back: out in the source language again; "": in
	}{
		{"paragraph and run", wordGrammar, word, []string{"ar", "he", "fa", "ur"},
			`<w:p><w:pPr><w:pStyle w:val="a"/><w:spacing w:after="1"/><w:rPr><w:b/></w:rPr></w:pPr><w:r><w:rPr><w:b/><w:lang w:bidi="xx"/></w:rPr>` + preserved + `a</w:t></w:r></w:p>`,
			`<w:p><w:pPr><w:pStyle w:val="a"/><w:bidi/><w:spacing w:after="1"/><w:rPr><w:b/></w:rPr></w:pPr><w:r><w:rPr><w:b/><w:bCs/><w:rtl/><w:lang w:bidi="xx"/></w:rPr>` + preserved + `A</w:t></w:r></w:p>`,
			`<w:p><w:pPr><w:pStyle w:val="a"/><w:spacing w:after="1"/><w:rPr><w:b/></w:rPr></w:pPr><w:r><w:rPr><w:b/><w:bCs/><w:lang w:bidi="xx" w:val="en-US"/></w:rPr>` + preserved + `A!</w:t></w:r></w:p>`},
		{"explicit direction", wordGrammar, word, []string{"en"}, `<w:p><w:pPr><w:bidi w:val="0"/></w:pPr><w:r><w:t xml:space="preserve">a</w:t></w:r></w:p>`,
			`<w:p><w:pPr><w:bidi w:val="0"/></w:pPr><w:r>` + preserved + `A</w:t></w:r></w:p>`, `<w:p><w:pPr><w:bidi w:val="0"/></w:pPr><w:r>` + preserved + `A!</w:t></w:r></w:p>`},
		{"without properties", wordGrammar, word, []string{"ar"},
			`<w:p><w:r>` + preserved + `a</w:t></w:r></w:p>`,
			`<w:p><w:pPr><w:bidi/></w:pPr><w:r><w:rPr><w:rtl/></w:rPr>` + preserved + `A</w:t></w:r></w:p>`,
			`<w:p><w:pPr></w:pPr><w:r><w:rPr></w:rPr>` + preserved + `A!</w:t></w:r></w:p>`},
		{"table", wordGrammar, word, []string{"he"}, `<w:tblPr><w:tblStyle w:val="a"/><w:tblW w:w="0"/></w:tblPr>`, `<w:tblPr><w:tblStyle w:val="a"/><w:bidiVisual/><w:tblW w:w="0"/></w:tblPr>`, ""},
		{"slide", drawingGrammar, drawing, []string{"fa"}, `<a:p><a:pPr algn="l"/><a:r><a:t>a</a:t></a:r></a:p><a:p><a:r><a:t>b</a:t></a:r></a:p><a:lvl1pPr algn="l" rtl="0"/>`,
			`<a:p><a:pPr algn="r" rtl="1"/><a:r><a:t>A</a:t></a:r></a:p><a:p><a:pPr rtl="1"/><a:r><a:t>B</a:t></a:r></a:p><a:lvl1pPr algn="r" rtl="1"/>`,
			`<a:p><a:pPr algn="l" rtl="0"/><a:r><a:t>A!</a:t></a:r></a:p><a:p><a:pPr rtl="0"/><a:r><a:t>B!</a:t></a:r></a:p><a:lvl1pPr algn="l" rtl="0"/>`},
		{"sheet", sheetGrammar, sheet, []string{"ar"}, `<sheetView workbookViewId="0"/>`, `<sheetView workbookViewId="0" rightToLeft="1"/>`, `<sheetView workbookViewId="0" rightToLeft="0"/>`},
		{"sides in OpenDocument", odfGrammar, odf, []string{"ar"}, `<style:style style:name="P1"><style:paragraph-properties fo:text-align="left"/></style:style>`,
			`<style:style style:name="P1"><style:paragraph-properties fo:text-align="right"/></style:style>`, `<style:style style:name="P1"><style:paragraph-properties fo:text-align="right"/></style:style>`},
		{"OpenDocument", odfStylesGrammar, odf, []string{"he"},
			`<style:default-style style:family="paragraph"><style:paragraph-properties/></style:default-style><style:page-layout><style:page-layout-properties style:writing-mode="lr-tb"/></style:page-layout>`,
			`<style:default-style style:family="paragraph"><style:paragraph-properties style:writing-mode="rl-tb" fo:text-align="right"/></style:default-style><style:page-layout><style:page-layout-properties style:writing-mode="rl-tb"/></style:page-layout>`,
			`<style:default-style style:family="paragraph"><style:paragraph-properties style:writing-mode="lr-tb" fo:text-align="right"/></style:default-style><style:page-layout><style:page-layout-properties style:writing-mode="lr-tb"/></style:page-layout>`},
	} {
		for _, to := range c.to {
			into := func(code, in, end string) string {
				var out strings.Builder
				w := &walker{ctx: t.Context(), grammar: c.grammar, to: newTarget(code), styles: map[string]odfStyle{}, options: document.Options{To: code},
					translate: func(text string) (string, error) { return strings.ToUpper(text) + end, nil }}
				root := "<root " + c.root + ">"
				require.NoError(t, w.part(&out, strings.NewReader(root+in+"</root>"), "part.xml"))
				return strings.TrimSuffix(strings.TrimPrefix(out.String(), root), "</root>")
			}
			region := newTarget(to).language + "-" + newTarget(to).region
			assert.Equal(t, strings.ReplaceAll(c.out, "xx", region), into(to, c.in, ""), c.name)
			back := c.back
			if back == "" {
				back = c.in
			}
			assert.Equal(t, strings.ReplaceAll(back, "xx", region), into("en", into(to, c.in, ""), "!"), c.name)
		}
	}
	w := &walker{ctx: t.Context(), grammar: propertyGrammar, options: document.Options{To: "he"}}
	var out strings.Builder
	require.NoError(t, w.part(&out, strings.NewReader(`<m xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:language>en-US</dc:language></m>`), "meta.xml"))
	assert.Contains(t, out.String(), "<dc:language>he</dc:language>")
}

// Bold, italics and sizes of the source's script are those of the target's.
func TestScripts(t *testing.T) {
	odf := func(properties string) string {
		return "<style:style><style:text-properties" + properties + "/></style:style>"
	}
	for _, c := range []struct{ from, to, word, wantWord, odf, wantODF string }{
		{"en", "ar", `<w:rPr><w:b/><w:i w:val="0"/><w:sz w:val="32"/></w:rPr>`, `<w:rPr><w:b/><w:bCs/><w:i w:val="0"/><w:iCs w:val="0"/><w:sz w:val="32"/><w:szCs w:val="32"/></w:rPr>`,
			` fo:font-weight="bold" fo:font-size="9pt"`, ` fo:font-weight="bold" fo:font-size="9pt" style:font-weight-complex="bold" style:font-size-complex="9pt"`},
		{"", "he", `<w:rPr><w:b/><w:bCs w:val="0"/></w:rPr>`, `<w:rPr><w:b/><w:bCs w:val="0"/></w:rPr>`, ` fo:font-weight="bold" style:font-weight-complex="normal"`, ` fo:font-weight="bold" style:font-weight-complex="normal"`},
		{"ar", "en", `<w:rPr><w:bCs/><w:szCs w:val="32"/></w:rPr>`, `<w:rPr><w:b/><w:bCs/><w:sz w:val="32"/><w:szCs w:val="32"/></w:rPr>`, ` style:font-style-complex="italic"`, ` style:font-style-complex="italic" fo:font-style="italic"`},
		{"en", "de", `<w:rPr><w:szCs w:val="32"/></w:rPr>`, `<w:rPr><w:szCs w:val="32"/></w:rPr>`, ` style:font-style-complex="italic"`, ` style:font-style-complex="italic"`},
		{"ar", "fa", `<w:rPr><w:bCs/></w:rPr>`, `<w:rPr><w:bCs/></w:rPr>`, ` style:font-weight-complex="bold"`, ` style:font-weight-complex="bold"`},
		{"en", "ja", `<w:rPr><w:b/></w:rPr>`, `<w:rPr><w:b/></w:rPr>`, ` fo:font-weight="bold"`, ` fo:font-weight="bold" style:font-weight-asian="bold"`},
		{"zh", "ar", `<w:rPr><w:b/></w:rPr>`, `<w:rPr><w:b/><w:bCs/></w:rPr>`, ` style:font-weight-asian="bold"`, ` style:font-weight-asian="bold" style:font-weight-complex="bold"`},
		{"en", "", `<w:rPr><w:b/></w:rPr>`, `<w:rPr><w:b/></w:rPr>`, ` fo:font-weight="bold"`, ` fo:font-weight="bold"`},
	} {
		to := newLearner(t.Context()).rewriter(nil, document.Options{From: c.from, To: c.to}, nil).to
		assert.Equal(t, c.wantWord, to.word(c.word), "%s %s", c.from, c.to)
		assert.Equal(t, odf(c.wantODF), to.odf(odf(c.odf)), "%s %s", c.from, c.to)
	}
}

// LibreOffice 7.4 shows start and no side at the left, also from right to left.
func TestSides(t *testing.T) {
	style := func(properties string) string {
		return `<style:style style:name="P1"><style:paragraph-properties` + properties + `/></style:style>`
	}
	for _, c := range []struct{ from, to, in, out string }{
		{"en", "ar", ` fo:text-align="start"`, ` fo:text-align="right"`}, {"en", "ar", ` fo:text-align="left"`, ` fo:text-align="right"`},
		{"", "he", ` fo:text-align="end"`, ` fo:text-align="left"`}, {"en", "he", ` fo:text-align="center"`, ` fo:text-align="center"`},
		{"en", "he", ` fo:text-align="end" style:writing-mode="rl-tb"`, ` fo:text-align="end" style:writing-mode="rl-tb"`},
		{"he", "en", ` fo:text-align="end"`, ` fo:text-align="left"`}, {"he", "en", ` fo:text-align="right"`, ` fo:text-align="left"`},
		{"he", "en", ` fo:text-align="start"`, ` fo:text-align="start"`}, {"he", "ar", ` fo:text-align="end"`, ` fo:text-align="end"`},
		{"en", "de", ` fo:text-align="end"`, ` fo:text-align="end"`}, {"en", "", ` fo:text-align="start"`, ` fo:text-align="start"`}, {"en", "ar", "", ""},
	} {
		to := newLearner(t.Context()).rewriter(nil, document.Options{From: c.from, To: c.to}, nil).to
		assert.Equal(t, style(c.out), to.odf(style(c.in)), "%+v", c)
	}
	const start = `<style:default-style style:family="table-cell"><style:paragraph-properties style:writing-mode="page"/></style:default-style>`
	assert.Equal(t, start, newTarget("ar").odf(start))
	graphic := strings.Replace(start, "table-cell", "graphic", 1)
	assert.Equal(t, strings.Replace(graphic, " style:writing", ` fo:text-align="right" style:writing`, 1), newTarget("ar").odf(graphic))
}
