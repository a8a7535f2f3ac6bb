package office

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/text/markup"
)

// run rewrites a part with a grammar, and returns its segments and the result.
func rewritePart(t testing.TB, g grammar, part string, keep ...string) (segments []string, out string, err error) {
	var b strings.Builder
	w := &walker{ctx: t.Context(), grammar: g, keep: map[string]bool{}, book: newWorkbook(), styles: map[string]odfStyle{}}
	for _, name := range keep {
		w.keep[name] = true
	}
	w.translate = func(text string) (string, error) {
		segments = append(segments, text)
		return upper(text)
	}
	err = w.part(&b, strings.NewReader(part), "part.xml")
	return segments, b.String(), err
}

// The name spaces of the tests' parts.
const (
	word    = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"`
	drawing = `xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"`
	sheet   = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	odf     = `xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" ` +
		`xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" ` +
		`xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:officeooo="http://openoffice.org/2009/office" ` +
		`xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0" xmlns:form="urn:oasis:names:tc:opendocument:xmlns:form:1.0"`
)

// wordField returns a field of Word with a code and a result.
func wordField(code, result string) string {
	char := func(kind string) string { return `<w:r><w:fldChar w:fldCharType="` + kind + `"/></w:r>` }
	return char("begin") + `<w:r><w:instrText>` + code + `</w:instrText></w:r>` + char("separate") + result + char("end")
}

func TestParts(t *testing.T) {
	const preserved = `<w:t xml:space="preserve">`
	for _, c := range []struct {
		name     string
		grammar  grammar
		root     string
		in       string
		segments string // one per line
		out      string // "": unchanged
	}{
		{"strict name space, other prefix", wordGrammar, `xmlns:q="http://purl.oclc.org/ooxml/wordprocessingml/main"`,
			`<q:p><q:pPr/><q:r><q:t>a</q:t></q:r></q:p>`, "a", `<q:p><q:pPr/><q:r><q:t xml:space="preserve">A</q:t></q:r></q:p>`},
		{"spaces at the ends of text count only where it says so", wordGrammar, word,
			`<w:p><w:r><w:t> a </w:t></w:r><w:r><w:t xml:space="preserve"> b</w:t></w:r></w:p>`, "a b", `<w:p><w:r>` + preserved + `A B</w:t></w:r></w:p>`},
		{"or where the part does", wordGrammar, word + ` xml:space="preserve"`, `<w:p><w:r><w:t>a </w:t></w:r><w:r><w:t>b</w:t></w:r></w:p>`, "a b",
			`<w:p><w:r>` + preserved + `A B</w:t></w:r></w:p>`},
		{"field in a field, over paragraphs", wordGrammar, word,
			`<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>TOC \o</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>One</w:t></w:r><w:r><w:tab/></w:r>` +
				wordField("PAGEREF x", `<w:r><w:t>page</w:t></w:r>`) + `</w:p><w:p><w:r><w:t>Two</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`,
			"One\nTwo",
			`<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>TOC \o</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r>` + preserved + `ONE</w:t></w:r><w:r><w:tab/></w:r>` +
				wordField("PAGEREF x", `<w:r><w:t>page</w:t></w:r>`) + `</w:p><w:p><w:r>` + preserved + `TWO</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`},
		{"opaque field over paragraphs", wordGrammar, word,
			`<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>BIBLIOGRAPHY</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>One</w:t></w:r></w:p>` +
				`<w:p><w:hyperlink><w:r><w:t>Two</w:t></w:r></w:hyperlink><w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:t>Three</w:t></w:r></w:p>`,
			"Three",
			`<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>BIBLIOGRAPHY</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>One</w:t></w:r></w:p>` +
				`<w:p><w:hyperlink><w:r><w:t>Two</w:t></w:r></w:hyperlink><w:r><w:fldChar w:fldCharType="end"/></w:r><w:r>` + preserved + `THREE</w:t></w:r></w:p>`},
		{"a field all in one run", wordGrammar, word,
			`<w:p><w:r><w:t>a</w:t><w:fldChar w:fldCharType="begin"/><w:instrText>DATE</w:instrText><w:fldChar w:fldCharType="separate"/><w:t>May</w:t><w:fldChar w:fldCharType="end"/><w:t>b</w:t></w:r></w:p>`,
			`a<x id="1"/>b`,
			`<w:p><w:r>` + preserved + `A</w:t></w:r><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>DATE</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>May</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r><w:r>` + preserved + `B</w:t></w:r></w:p>`},
		{"hyphens that may be, and that are", wordGrammar, word, `<w:p><w:r><w:t>a-</w:t><w:softHyphen/><w:t>b</w:t><w:softHyphen/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t></w:r></w:p>`, "a-\u00adbc‑d",
			`<w:p><w:r>` + preserved + `A-</w:t><w:softHyphen/><w:t xml:space="preserve">BC‑D</w:t></w:r></w:p>`},
		{"content control", wordGrammar, word,
			`<w:p><w:r><w:t>a </w:t></w:r><w:sdt><w:sdtPr><w:id w:val="1"/></w:sdtPr><w:sdtContent><w:r><w:t>B</w:t></w:r></w:sdtContent></w:sdt></w:p>`,
			`a<g id="1">B</g>`,
			`<w:p><w:r>` + preserved + `A</w:t></w:r><w:sdt><w:sdtPr><w:id w:val="1"/></w:sdtPr><w:sdtContent><w:r>` + preserved + `B</w:t></w:r></w:sdtContent></w:sdt></w:p>`},
		{"pronunciation goes", wordGrammar, word,
			`<w:p><w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>hon</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>本</w:t></w:r></w:rubyBase></w:ruby></w:r><w:r><w:t>a</w:t></w:r></w:p>`,
			"本a", `<w:p><w:r>` + preserved + `本A</w:t></w:r></w:p>`},
		{"pronunciation stays where its text does", wordGrammar, word,
			`<w:p><w:r><w:t xml:space="preserve">at </w:t></w:r><w:r><w:rPr/><w:ruby><w:rubyPr/><w:rt><w:r><w:t>hon</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>本</w:t></w:r></w:rubyBase></w:ruby></w:r><w:r><w:t>, a</w:t></w:r></w:p>`,
			"at 本, a", `<w:p><w:r>` + preserved + `AT </w:t></w:r><w:r><w:rPr/><w:ruby><w:rubyPr/><w:rt><w:r><w:t>hon</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>本</w:t></w:r></w:rubyBase></w:ruby></w:r><w:r>` + preserved + `, A</w:t></w:r></w:p>`},
		{"deleted text stays", wordGrammar, word, `<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>`, "", ""},
		{"signs of a font stay", wordGrammar, word, `<w:p><w:r><w:rPr><w:rFonts w:ascii="Wingdings" w:hAnsi="Wingdings"/></w:rPr><w:t>à</w:t></w:r></w:p>`, "", ""},
		{"hints of fonts and languages split no text", wordGrammar, word,
			`<w:p><w:r><w:rPr><w:rFonts w:hint="eastAsia"/><w:b/></w:rPr><w:t>a</w:t></w:r><w:r><w:rPr><w:b/><w:lang w:val="en-US"/></w:rPr><w:t>b</w:t></w:r></w:p>`,
			"ab", `<w:p><w:r><w:rPr><w:rFonts w:hint="eastAsia"/><w:b/></w:rPr>` + preserved + `AB</w:t></w:r></w:p>`},

		{"slide number, line, end", drawingGrammar, drawing,
			`<a:p><a:pPr/><a:r><a:rPr lang="en-US" dirty="0"/><a:t>a</a:t></a:r><a:br><a:rPr lang="en-US"/></a:br><a:r><a:rPr lang="en-GB"/><a:t>b </a:t></a:r><a:fld id="{1}" type="slidenum"><a:t>3</a:t></a:fld><a:endParaRPr lang="en-US"/></a:p>`,
			`a<br/>b`,
			`<a:p><a:pPr/><a:r><a:rPr lang="en-US"/><a:t>A</a:t></a:r><a:br><a:rPr lang="en-US"/></a:br><a:r><a:rPr lang="en-US"/><a:t>B </a:t></a:r><a:fld id="{1}" type="slidenum"><a:t>3</a:t></a:fld><a:endParaRPr lang="en-US"/></a:p>`},
		{"masters' own text", masterGrammar, drawing,
			`<p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>Click here</a:t></a:r></a:p></p:txBody></p:sp>` +
				`<p:sp><p:nvSpPr><p:nvPr/></p:nvSpPr><p:txBody><a:p><a:r><a:t>Secret</a:t></a:r></a:p></p:txBody></p:sp>`, "Secret",
			`<p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>Click here</a:t></a:r></a:p></p:txBody></p:sp>` +
				`<p:sp><p:nvSpPr><p:nvPr/></p:nvSpPr><p:txBody><a:p><a:r><a:t>SECRET</a:t></a:r></a:p></p:txBody></p:sp>`},
		{"chart", chartGrammar, drawing,
			`<c:strCache><c:pt idx="0"><c:v>North</c:v></c:pt></c:strCache><c:numCache><c:formatCode>General</c:formatCode><c:pt><c:v>x1</c:v></c:pt></c:numCache><c:f>Sheet!A1</c:f>`, "North",
			`<c:strCache><c:pt idx="0"><c:v>NORTH</c:v></c:pt></c:strCache><c:numCache><c:formatCode>General</c:formatCode><c:pt><c:v>x1</c:v></c:pt></c:numCache><c:f>Sheet!A1</c:f>`},
		{"comment of a slide", slideCommentGrammar, drawing, `<p:cm><p:text>Why &amp; how?</p:text></p:cm>`, "Why &amp; how?", `<p:cm><p:text>WHY &amp; HOW?</p:text></p:cm>`},

		{"strings", sheetGrammar, sheet,
			"<si><t>a\nb</t></si><si><t>header</t></si><si><t>Two\nlines</t></si><si><r><t>a </t></r><r><rPr><b/></rPr><t>B</t></r><phoneticPr fontId=\"1\"/></si><si><t>本</t><rPh sb=\"0\" eb=\"1\"><t>hon</t></rPh></si><c t=\"str\"><f>A1</f><v>a</v></c>",
			"a<br/>b\nheader\n" + `a<g id="1">B</g>` + "\n本",
			"<si><t xml:space=\"preserve\">A\nB</t></si><si><t xml:space=\"preserve\">HEADER</t></si><si><t>Two\nlines</t></si><si><r><t xml:space=\"preserve\">A</t></r><r><rPr><b/></rPr><t xml:space=\"preserve\">B</t></r><phoneticPr fontId=\"1\"/></si><si><t>本</t><rPh sb=\"0\" eb=\"1\"><t>hon</t></rPh></si><c t=\"str\"><f>A1</f><v>a</v></c>"},
		{"line ends of Excel", sheetGrammar, sheet, "<si><t>a_x000D_&#10;b_x000a_c _x005F_x000D_</t></si>", "a<br/>b<br/>c _x005F_x000D_",
			"<si><t xml:space=\"preserve\">A_x000D_\nB_x000a_C _X005F_X000D_</t></si>"},
		{"inline string", sheetGrammar, sheet, `<c t="inlineStr"><is><t>a</t></is></c><c t="n"><v>1</v></c>`, "a", `<c t="inlineStr"><is><t xml:space="preserve">A</t></is></c><c t="n"><v>1</v></c>`},

		{"spaces, lines, notes", odfGrammar, odf,
			"<text:p>\n  a\n  b<text:s text:c=\"2\"/>c<text:line-break/>d<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Note</text:p></text:note-body></text:note></text:p>",
			"Note\na b  c<br/>d",
			`<text:p>A B <text:s text:c="1"/>C<text:line-break/>D<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>NOTE</text:p></text:note-body></text:note></text:p>`},
		{"styles that look the same", odfGrammar, odf,
			`<style:style style:name="T1" style:family="text"><style:text-properties officeooo:rsid="001"/></style:style><style:style style:name="T2" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style><style:style style:name="T3" style:family="text"><style:text-properties fo:font-weight="bold" officeooo:rsid="7"/></style:style>` +
				`<text:p>A <text:span text:style-name="T1">plain</text:span> and a <text:span text:style-name="T2">bo</text:span><text:span text:style-name="T3">ld</text:span> word</text:p>`,
			`A plain and a <g id="1">bold</g> word`,
			`<style:style style:name="T1" style:family="text"><style:text-properties officeooo:rsid="001"/></style:style><style:style style:name="T2" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style><style:style style:name="T3" style:family="text"><style:text-properties fo:font-weight="bold" officeooo:rsid="7"/></style:style>` +
				`<text:p>A PLAIN AND A <text:span text:style-name="T2">BOLD</text:span> WORD</text:p>`},
		{"code", odfGrammar, odf, `<text:p text:style-name="Preformatted_20_Text">x := 1</text:p><text:p>Run <text:span text:style-name="Source_20_Text">make</text:span> now</text:p>`, `Run <x id="1"/> now`,
			`<text:p text:style-name="Preformatted_20_Text">x := 1</text:p><text:p>RUN <text:span text:style-name="Source_20_Text">make</text:span> NOW</text:p>`},
		{"pronunciation goes", odfGrammar, odf, `<text:p>a <text:ruby><text:ruby-base>b</text:ruby-base><text:ruby-text>bee</text:ruby-text></text:ruby></text:p>`, "a b", `<text:p>A B</text:p>`},
		{"pronunciation stays where its text does", odfGrammar, odf, `<text:p>a <text:ruby><text:ruby-base>本</text:ruby-base><text:ruby-text>hon</text:ruby-text></text:ruby> b</text:p>`,
			"a 本 b", `<text:p>A <text:ruby><text:ruby-base>本</text:ruby-base><text:ruby-text>hon</text:ruby-text></text:ruby> B</text:p>`},
		{"text to fill in", odfGrammar, odf,
			`<text:p>Dear <text:text-input text:description="who">Sir &amp; Madam</text:text-input>, <text:placeholder text:placeholder-type="text">&lt;click here&gt;</text:placeholder> or <text:placeholder>there</text:placeholder></text:p><text:p><text:text-input>alone</text:text-input></text:p>`,
			`Dear <g id="1">Sir &amp; Madam</g>, <g id="2">click here</g> or <g id="3">there</g>` + "\nalone",
			`<text:p>DEAR <text:text-input text:description="who">SIR &amp; MADAM</text:text-input>, <text:placeholder text:placeholder-type="text">&lt;CLICK HERE&gt;</text:placeholder> OR <text:placeholder>THERE</text:placeholder></text:p><text:p><text:text-input>ALONE</text:text-input></text:p>`},
		{"text to fill in that is styled", odfGrammar, odf,
			`<style:style style:name="T2" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style><text:p>Dear <text:span text:style-name="T2"><text:text-input>Sir</text:text-input></text:span></text:p>`,
			`Dear <g id="1">Sir</g>`,
			`<style:style style:name="T2" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style><text:p>DEAR <text:span text:style-name="T2"><text:text-input>SIR</text:text-input></text:span></text:p>`},
		{"what there is to choose", odfGrammar, odf,
			`<text:p>Is it <text:drop-down text:name="d"><text:label text:value="a &amp; b"/><text:label text:value='c "d"' text:current-selected="true"/>c "d"</text:drop-down>?</text:p>`,
			`a &amp; b` + "\n" + `c "d"` + "\n" + `c "d"` + "\n" + `Is it <x id="1"/>?`,
			`<text:p>IS IT <text:drop-down text:name="d"><text:label text:value="A &amp; B"/><text:label text:value="C &quot;D&quot;" text:current-selected="true"/>C "D"</text:drop-down>?</text:p>`},
		{"what depends on something", odfGrammar, odf,
			`<text:p><text:conditional-text text:condition="x==1" text:string-value-if-true="one" text:string-value-if-false="2">one</text:conditional-text><text:hidden-text text:condition="x" text:string-value="more"/></text:p>`,
			"one\none\nmore",
			`<text:p><text:conditional-text text:condition="x==1" text:string-value-if-true="ONE" text:string-value-if-false="2">ONE</text:conditional-text><text:hidden-text text:condition="x" text:string-value="MORE"/></text:p>`},
		{"results that are text, and others", odfGrammar, odf,
			`<text:p>See <text:bookmark-ref text:reference-format="text" text:ref-name="b">the end</text:bookmark-ref> on <text:bookmark-ref text:reference-format="page" text:ref-name="b">iv</text:bookmark-ref> of <text:title>the book</text:title> by <text:author-name>Ann</text:author-name></text:p>`,
			`See <g id="1">the end</g> on <x id="2"/> of <g id="3">the book</g> by`,
			`<text:p>SEE <text:bookmark-ref text:reference-format="text" text:ref-name="b">THE END</text:bookmark-ref> ON <text:bookmark-ref text:reference-format="page" text:ref-name="b">iv</text:bookmark-ref> OF <text:title>THE BOOK</text:title> BY <text:author-name>Ann</text:author-name></text:p>`},
		{"controls of a form", odfGrammar, odf,
			`<form:button form:name="b" form:label="Send" form:title="Send it"/><form:listbox><form:option form:label="Yes" form:value="yes"/></form:listbox><form:text form:current-value="Your name"/><form:hidden form:value="secret"/>`,
			"Send\nSend it\nYes\nYour name",
			`<form:button form:name="b" form:label="SEND" form:title="SEND IT"/><form:listbox><form:option form:label="YES" form:value="yes"/></form:listbox><form:text form:current-value="YOUR NAME"/><form:hidden form:value="secret"/>`},
		{"forms of Word", wordGrammar, word,
			`<w:p><w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:name w:val="Text1"/><w:helpText w:type="text" w:val="your name"/><w:statusText w:type="autoText" w:val="entry"/><w:textInput><w:default w:val="Sir"/></w:textInput></w:ffData></w:fldChar></w:r><w:r><w:instrText>FORMTEXT</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>Sir</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>` +
				`<w:p><w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList><w:default w:val="1"/><w:listEntry w:val="red"/></w:ddList></w:ffData></w:fldChar></w:r><w:r><w:instrText>FORMDROPDOWN</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>` +
				`<w:ffData><w:textInput><w:type w:val="calculated"/><w:default w:val="=sum"/></w:textInput></w:ffData>`,
			"your name\nSir\nSir\nred",
			`<w:p><w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:name w:val="Text1"/><w:helpText w:type="text" w:val="YOUR NAME"/><w:statusText w:type="autoText" w:val="entry"/><w:textInput><w:default w:val="SIR"/></w:textInput></w:ffData></w:fldChar></w:r><w:r><w:instrText>FORMTEXT</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r>` + preserved + `SIR</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>` +
				`<w:p><w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList><w:default w:val="1"/><w:listEntry w:val="RED"/></w:ddList></w:ffData></w:fldChar></w:r><w:r><w:instrText>FORMDROPDOWN</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>` +
				`<w:ffData><w:textInput><w:type w:val="calculated"/><w:default w:val="=sum"/></w:textInput></w:ffData>`},
		{"content control to choose in", wordGrammar, word,
			`<w:p><w:sdt><w:sdtPr><w:dropDownList><w:listItem w:displayText="red" w:value="r"/></w:dropDownList></w:sdtPr><w:sdtContent><w:r><w:t>red</w:t></w:r></w:sdtContent></w:sdt></w:p>`, "red\nred",
			`<w:p><w:sdt><w:sdtPr><w:dropDownList><w:listItem w:displayText="RED" w:value="r"/></w:dropDownList></w:sdtPr><w:sdtContent><w:r>` + preserved + `RED</w:t></w:r></w:sdtContent></w:sdt></w:p>`},
		{"cells", odfGrammar, odf,
			`<table:table-cell office:value-type="float"><text:p>one</text:p></table:table-cell><table:table-cell table:formula="of:=a" office:value-type="string"><office:annotation><text:p>why</text:p></office:annotation><text:p>two</text:p></table:table-cell><table:table-cell office:value-type="string"><text:p>three</text:p></table:table-cell>`,
			"why\nthree",
			`<table:table-cell office:value-type="float"><text:p>one</text:p></table:table-cell><table:table-cell table:formula="of:=a" office:value-type="string"><office:annotation><text:p>WHY</text:p></office:annotation><text:p>two</text:p></table:table-cell><table:table-cell office:value-type="string"><text:p>THREE</text:p></table:table-cell>`},
		{"cell that a formula names", odfGrammar, odf, `<table:table-cell office:value-type="string"><text:p>Done</text:p></table:table-cell>`, "", ""},
		{"cell with its text as an attribute", odfGrammar, odf, `<table:table-cell office:value-type="string" office:string-value="three"><text:p>three</text:p></table:table-cell>`, "three\nthree",
			`<table:table-cell office:value-type="string" office:string-value="THREE"><text:p>THREE</text:p></table:table-cell>`},
		{"text that is a value", sheetGrammar, sheet, `<c r="A1" t="str"><v>a house &amp; a tree</v></c><c t="str"><f>A1</f><v>result</v></c><c><v>12</v></c><c t="str"><v>done</v></c>`, "a house &amp; a tree",
			`<c r="A1" t="str"><v>A HOUSE &amp; A TREE</v></c><c t="str"><f>A1</f><v>result</v></c><c><v>12</v></c><c t="str"><v>done</v></c>`},
		{"deleted text of OpenDocument", odfGrammar, odf, `<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion></text:changed-region></text:tracked-changes>`, "", ""},
		{"headers of OpenDocument's sheets", odfStylesGrammar, odf, `<style:master-page><style:header><style:region-left><text:p>Fleet <text:page-number>1</text:page-number></text:p></style:region-left></style:header></style:master-page>`, "Fleet",
			`<style:master-page><style:header><style:region-left><text:p>FLEET <text:page-number>1</text:page-number></text:p></style:region-left></style:header></style:master-page>`},
		{"placeholders of master pages", odfStylesGrammar, odf, `<draw:frame presentation:class="title"><text:p>Click</text:p></draw:frame><draw:frame><text:p>Own</text:p></draw:frame>`, "Own",
			`<draw:frame presentation:class="title"><text:p>Click</text:p></draw:frame><draw:frame><text:p>OWN</text:p></draw:frame>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			part := "<root " + c.root + ">" + c.in + "</root>"
			segments, out, err := rewritePart(t, c.grammar, part, "two lines", "done")
			require.NoError(t, err)
			assert.Equal(t, c.segments, strings.Join(segments, "\n"))
			want := c.out
			if want == "" {
				want = c.in
			}
			assert.Equal(t, "<root "+c.root+">"+want+"</root>", out)
		})
	}
}

func TestBounds(t *testing.T) {
	for _, c := range []struct{ name, in, reason string }{
		{"paragraph", "<w:p>" + strings.Repeat("<w:r><w:t>"+strings.Repeat("some text ", 300_000)+"</w:t></w:r>", 3) + "</w:p>", "a paragraph of more than 8 MiB"},
		{"paragraphs in each other", strings.Repeat("<w:p><w:r>", 100), "more than 16 paragraphs in each other"},
		{"elements in each other", strings.Repeat("<w:x>", 300), "more than 256 elements"},
		{"parts", "<w:p>" + strings.Repeat("<w:r><w:tab/></w:r>", 100_001) + "<w:r><w:t>a</w:t></w:r></w:p>", "more than 100000 parts"},
		{"fields", "<w:p>" + strings.Repeat(`<w:r><w:fldChar w:fldCharType="begin"/></w:r>`, 100) + "</w:p>", "more than 64 fields"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := rewritePart(t, wordGrammar, "<root "+word+">"+c.in+"</root>")
			assert.ErrorContains(t, err, c.reason)
		})
	}
}

// A style is written once per item in it, so a small part could become huge.
func TestBoundsOfWhatIsWrittenAgain(t *testing.T) {
	mega := strings.Repeat("x", 1<<20)
	large := `<w:rPr><w:b w:val="` + mega + `"/></w:rPr>`
	for name, in := range map[string]string{
		"things in a run of Word": "<w:p><w:r>" + large + strings.Repeat("<w:tab/>", 20_000) + "<w:t>a</w:t></w:r></w:p>",
		"texts in a run of Word":  "<w:p><w:r>" + large + strings.Repeat("<w:t>a</w:t><w:br/>", 20_000) + "</w:r></w:p>",
	} {
		_, _, err := rewritePart(t, wordGrammar, "<root "+word+">"+in+"</root>")
		assert.ErrorContains(t, err, "a paragraph of more than 8 MiB", name)
	}
	_, _, err := rewritePart(t, odfGrammar, "<root "+odf+`><text:p><text:span text:style-name="`+mega+`">`+strings.Repeat("a<text:tab/>", 20_000)+"</text:span></text:p></root>")
	assert.ErrorContains(t, err, "a paragraph of more than 8 MiB", "a span of OpenDocument")
	// Punctuation in runs of its own gets the usual style if other words have it, too.
	_, _, err = rewritePart(t, wordGrammar, "<root "+word+"><w:p><w:r>"+large+"<w:t>"+strings.Repeat("word. ", 9000)+"</w:t></w:r>"+
		strings.Repeat("<w:r><w:tab/></w:r><w:r><w:t>.</w:t></w:r>", 5000)+"</w:p></root>")
	require.ErrorIs(t, err, markup.ErrLost)
	assert.ErrorContains(t, err, "more than 32 MiB")
}

// The elements between a drop cap and the next paragraph are kept until the paragraph is read.
func TestBoundOfWhatIsReadAhead(t *testing.T) {
	const start, end = "<root " + word + `><w:p><w:pPr><w:framePr w:dropCap="drop" /></w:pPr><w:r><w:t>O</w:t></w:r></w:p>`, "<w:p><w:r><w:t>nce</w:t></w:r></w:p></root>"
	segments, _, err := rewritePart(t, wordGrammar, start+"\n"+end)
	require.NoError(t, err)
	assert.Equal(t, []string{"Once"}, segments)
	segments, _, err = rewritePart(t, wordGrammar, start+strings.Repeat("<![CDATA[ ]]>", 1000)+end)
	require.NoError(t, err)
	assert.Equal(t, []string{"O", "nce"}, segments)
}

func TestSortParts(t *testing.T) {
	names := []string{"docProps/core.xml", "ppt/slides/slide10.xml", "ppt/slides/slide2.xml", "ppt/charts/chart1.xml", "ppt/notesSlides/notesSlide1.xml"}
	sortParts(names)
	assert.Equal(t, []string{"ppt/slides/slide2.xml", "ppt/slides/slide10.xml", "ppt/notesSlides/notesSlide1.xml", "ppt/charts/chart1.xml", "docProps/core.xml"}, names)
}

func TestTarget(t *testing.T) {
	for _, c := range []struct{ to, word, drawing, odf string }{
		{"", `<w:lang w:val="en-US" w:eastAsia="ja-JP" w:bidi="ar-SA"/>`, `<a:rPr lang="en-US" altLang="ja"/>`, `<style:text-properties fo:language="en" fo:country="US" style:language-asian="ja" style:country-asian="JP"/>`},
		{"no language", `<w:lang w:val="en-US" w:eastAsia="ja-JP" w:bidi="ar-SA"/>`, `<a:rPr lang="en-US" altLang="ja"/>`, `<style:text-properties fo:language="en" fo:country="US" style:language-asian="ja" style:country-asian="JP"/>`},
		{"fr", `<w:lang w:val="fr-FR" w:eastAsia="ja-JP" w:bidi="ar-SA"/>`, `<a:rPr lang="fr-FR" altLang="ja"/>`, `<style:text-properties fo:language="fr" fo:country="FR" style:language-asian="ja" style:country-asian="JP"/>`},
		{"zh-Hant", `<w:lang w:val="en-US" w:eastAsia="zh-TW" w:bidi="ar-SA"/>`, `<a:rPr lang="zh-TW" altLang="ja"/>`, `<style:text-properties fo:language="en" fo:country="US" style:language-asian="zh" style:country-asian="TW"/>`},
		{"he", `<w:lang w:val="en-US" w:eastAsia="ja-JP" w:bidi="he-IL"/>`, `<a:rPr lang="he-IL" altLang="ja"/>`, `<style:text-properties fo:language="en" fo:country="US" style:language-asian="ja" style:country-asian="JP"/>`},
	} {
		to := newTarget(c.to)
		assert.Equal(t, c.word, to.word(`<w:lang w:val="en-US" w:eastAsia="ja-JP" w:bidi="ar-SA"/>`))
		assert.Equal(t, c.drawing, to.drawing(`<a:rPr lang="en-US" altLang="ja"/>`))
		assert.Equal(t, c.odf, to.odf(`<style:text-properties fo:language="en" fo:country="US" style:language-asian="ja" style:country-asian="JP"/>`))
	}
	assert.Equal(t, `<rPr><lang q:val="fr-FR"/><x:lang val="en"/></rPr>`, newTarget("fr").word(`<rPr><lang q:val="en-US"/><x:lang val="en"/></rPr>`)) // without a prefix of elements
	assert.Equal(t, `<style:text-properties fo:language="zxx" fo:country="none"/>`, newTarget("fr").odf(`<style:text-properties fo:language="zxx" fo:country="none"/>`))
}

func TestKept(t *testing.T) {
	w := newLearner(t.Context())
	for _, c := range []struct {
		grammar grammar
		part    string
	}{
		{formulaGrammar, "<root " + sheet + `><c><f>IF(A1="Is ""open""",1,0)</f></c><formula1>"yes,No"</formula1><c><f>A1&amp;""</f></c></root>`},
		{columnGrammar, "<root " + sheet + `><tableColumn name="Unit_x000a_price"/><cacheField name="Region"/></root>`},
		{odfFormulaGrammar, "<root " + odf + ` xmlns:t="urn:oasis:names:tc:opendocument:xmlns:table:1.0"><t:table-cell t:formula="of:=IF([.A1]=&quot;late&quot;;1)"/><t:content-validation t:condition="of:cell-content-is-in-list(&quot;one&quot;;&quot;two&quot;)"/></root>`},
	} {
		w.grammar = c.grammar
		require.NoError(t, w.part(io.Discard, strings.NewReader(c.part), "part.xml"))
	}
	require.NoError(t, w.look(w.followFormulas))
	for text, kept := range map[string]bool{`is "open"`: true, "Yes": true, "no": true, "Unit\nPrice": true, "region": true, "Late": true, "one": true, "two": true,
		"": false, "open": false, "yes!": false} {
		assert.Equal(t, kept, w.isKept(text), text)
	}
}
