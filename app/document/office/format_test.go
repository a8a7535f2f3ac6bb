package office

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
)

// Formats of numbers show words, and dates in a language. Units and currencies stay.
func TestNumberFormats(t *testing.T) {
	for _, c := range []struct{ from, to, in, want string }{
		{"en", "fr", `[$-409]mmmm d, yyyy;@`, `[$-40C]mmmm d, yyyy;@`},
		{"en", "fr", `[$-409]d" of "mmmm`, `[$-40C]d" of "mmmm`},
		{"en", "pt-PT", `[$-2010809]dddd`, `[$-2010816]dddd`},
		{"en", "zh-Hant", `[$-9]dddd`, `[$-404]dddd`},
		{"en", "fr", `[$-en-US]mmmm`, `[$-fr-FR]mmmm`},
		{"en", "fr", `[$-F800]dddd [$-F400]h [$-x-sysdate]d [$-407]d [$-de-DE]d [$€-409]0 [$USD]`, `[$-F800]dddd [$-F400]h [$-x-sysdate]d [$-407]d [$-de-DE]d [$€-409]0 [$USD]`},
		{"", "fr", `[$-409]d`, `[$-40C]d`},
		{"en", "", `[$-409]d`, `[$-409]d`},
		{"en", "mg", `[$-409]d`, `[$-409]d`},
		{"mg", "fr", `[$-409]d`, `[$-409]d`},
		{"en", "fr", `[>1]0" pieces";0" piece"`, `[>1]0" PIECES";0" PIECE"`},
		{"en", "fr", `[=1]"Yes";"No"`, `[=1]"YES";"NO"`},
		{"en", "fr", `0" kg" 0" EUR" "$"0 _"items_" \"items\"`, `0" kg" 0" EUR" "$"0 _"items_" \"items\"`},
		{"en", "fr", `"上午/下午"hh"時"`, `"上午/下午"hh"時"`},
		{"ja", "fr", `yyyy"ß年"`, `yyyy"SS年"`},
		{"en", "fr", `0" quoted"`, `0" quoted"`},
		{"en", "fr", `0" unit ` + strings.Repeat("ß", 200) + `"`, `0" unit ` + strings.Repeat("ß", 200) + `"`},
	} {
		w := newLearner(t.Context()).rewriter(nil, document.Options{From: c.from, To: c.to, Unfit: func() {}}, func(text string) (string, error) {
			if text == "quoted" {
				return `a "quoted" text`, nil
			}
			return strings.ReplaceAll(strings.ToUpper(text), "ß", "SS"), nil
		})
		require.NoError(t, w.look(func() { assert.Equal(t, c.want, w.numberFormat(c.in)) }))
	}
}

// The words of formats and of list numbers are translated where they stand.
func TestWordsOfFormats(t *testing.T) {
	const (
		number = odf + ` xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0" xmlns:loext="urn:l"`
		vml    = word + ` xmlns:v="urn:schemas-microsoft-com:vml"`
		cx     = drawing + ` xmlns:cx="http://schemas.microsoft.com/office/drawing/2014/chartex"`
	)
	for _, c := range []struct {
		grammar        grammar
		root, in, want string
	}{
		{sheetStylesGrammar, sheet, `<numFmt numFmtId="164" formatCode="0&quot; items&quot;"/>`, `<numFmt numFmtId="164" formatCode="0&quot; ITEMS&quot;"/>`},
		{chartGrammar, drawing, `<c:numFmt formatCode="[$-409]mmmm"/><c:formatCode>0" items"</c:formatCode>`, `<c:numFmt formatCode="[$-407]mmmm"/><c:formatCode>0" ITEMS"</c:formatCode>`},
		{chartGrammar, drawing, `<c:tx><c:v>my sales</c:v></c:tx><c:strLit><c:v>one</c:v></c:strLit><c:tx><c:strRef><c:f>my!A1</c:f><c:strCache><c:v>two</c:v></c:strCache></c:strRef></c:tx>`,
			`<c:tx><c:v>MY SALES</c:v></c:tx><c:strLit><c:v>ONE</c:v></c:strLit><c:tx><c:strRef><c:f>my!A1</c:f><c:strCache><c:v>TWO</c:v></c:strCache></c:strRef></c:tx>`},
		{chartExGrammar, cx, `<cx:strDim><cx:f>a!A1</cx:f><cx:lvl><cx:pt idx="0">one</cx:pt></cx:lvl></cx:strDim><cx:txData><cx:v>two</cx:v></cx:txData>`,
			`<cx:strDim><cx:f>a!A1</cx:f><cx:lvl><cx:pt idx="0">ONE</cx:pt></cx:lvl></cx:strDim><cx:txData><cx:v>TWO</cx:v></cx:txData>`},
		{numberingGrammar, word, `<w:lvlText w:val="Chapter %1.%2:"/><w:lvlText w:val="%1."/><w:lvlText w:val="o"/>`, `<w:lvlText w:val="CHAPTER %1.%2:"/><w:lvlText w:val="%1."/><w:lvlText w:val="o"/>`},
		{wordGrammar, word, `<w:date><w:lid w:val="en-US"/></w:date><w:date><w:lid w:val="ja-JP"/></w:date>`, `<w:date><w:lid w:val="de-DE"/></w:date><w:date><w:lid w:val="ja-JP"/></w:date>`},
		{drawingGrammar, drawing, `<a:p><a:fld type="datetime4"><a:rPr lang="en-US" dirty="0"/><a:t>May 5</a:t></a:fld><a:fld type="datetime4"><a:rPr lang="ja-JP"/><a:t>5</a:t></a:fld></a:p>`,
			`<a:p><a:fld type="datetime4"><a:rPr lang="de-DE" dirty="0"/><a:t>May 5</a:t></a:fld><a:fld type="datetime4"><a:rPr lang="ja-JP"/><a:t>5</a:t></a:fld></a:p>`},
		{wordGrammar, vml, `<v:shape><v:textpath string="draft"/></v:shape>`, `<v:shape><v:textpath string="DRAFT"/></v:shape>`},
		{odfGrammar, number, `<text:list-level-style-number text:level="1" style:num-prefix="part " style:num-suffix=")" loext:num-list-format="part %1%)"><style:a/></text:list-level-style-number>`,
			`<text:list-level-style-number text:level="1" style:num-prefix="PART " style:num-suffix=")" loext:num-list-format="PART %1%)"><style:a/></text:list-level-style-number>`},
		{odfGrammar, number, `<number:date-style number:language="en" number:country="US"><number:text> of the </number:text><number:text> de </number:text></number:date-style><number:time-style number:language="ja"/>`,
			`<number:date-style number:language="de" number:country="DE"><number:text> OF THE </number:text><number:text> de </number:text></number:date-style><number:time-style number:language="ja"/>`},
		{odfGrammar, number, `<text:index-title-template>contents</text:index-title-template><text:index-entry-span> on page </text:index-entry-span><presentation:date-time-decl>today</presentation:date-time-decl>`,
			`<text:index-title-template>CONTENTS</text:index-title-template><text:index-entry-span> ON PAGE </text:index-entry-span><presentation:date-time-decl>TODAY</presentation:date-time-decl>`},
		{odfGrammar, number, `<text:p>word<text:alphabetical-index-mark text:string-value="one" text:key1="two" text:key1-phonetic="x"/><text:toc-mark text:string-value="three" text:outline-level="1"/></text:p>`,
			`<text:p>WORD<text:alphabetical-index-mark text:string-value="ONE" text:key1="TWO" text:key1-phonetic="x"/><text:toc-mark text:string-value="THREE" text:outline-level="1"/></text:p>`},
	} {
		var out strings.Builder
		w := newLearner(t.Context()).rewriter(c.grammar, document.Options{From: "en", To: "de"}, upper)
		require.NoError(t, w.part(&out, strings.NewReader("<root "+c.root+">"+c.in+"</root>"), "part.xml"))
		assert.Equal(t, "<root "+c.root+">"+c.want+"</root>", out.String())
	}
}

// A file in a document, which only Word shows, is told.
func TestEmbeddedFiles(t *testing.T) {
	var out strings.Builder
	var left []string
	w := newLearner(t.Context()).rewriter(wordGrammar, document.Options{Left: func(page, texts int, reason string) { left = document.AddLeft(left, page, texts, reason) }}, upper)
	require.NoError(t, w.part(&out, strings.NewReader("<w:body "+word+"><w:altChunk/></w:body>"), "part.xml"))
	assert.Equal(t, []string{"1 embedded file (altChunk), which becomes text when Word saves the document"}, left)
}
