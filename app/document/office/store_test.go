package office

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document/archive/archivetest"
	"dragoman/app/document/xmlpart"
)

// What Word shows as a copy is translated at its source too: elements of stores, properties, and texts in codes of fields.
func TestCopies(t *testing.T) {
	types := `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/>` +
		`<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>` +
		`<Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/></Types>`
	control := func(properties, path, text string) string {
		return `<w:sdt><w:sdtPr><w:dataBinding w:xpath="` + path + `"/>` + properties + `</w:sdtPr><w:sdtContent><w:p><w:r><w:t xml:space="preserve">` + text + `</w:t></w:r></w:p></w:sdtContent></w:sdt>`
	}
	file := archivetest.Zip(t,
		archivetest.Entry{Name: contentTypes, Content: types},
		archivetest.Entry{Name: "customXml/item1.xml", Content: `<c:Page xmlns:c="urn:c"><c:Code>Red</c:Code><c:Title>First</c:Title><c:Title>Second one</c:Title></c:Page>`},
		archivetest.Entry{Name: "customXml/item2.xml", Content: `<Other><Title>Not shown</Title></Other>`},
		archivetest.Entry{Name: "docProps/core.xml", Content: `<cp:p xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"><cp:category>Reports</cp:category><cp:keywords>house, garden</cp:keywords></cp:p>`},
		archivetest.Entry{Name: "word/document.xml", Content: `<w:document ` + word + `>` + control(`<w:text/>`, "/n:Page[1]/n:Title[2]", "Second one") +
			control(`<w:dropDownList/>`, "/n:Page[1]/n:Code[1]", "Red") + `</w:document>`})
	out, err := rewrite(kindOf(t, "x.docx"), file, upper)
	require.NoError(t, err)
	parts := map[string]string{}
	for _, e := range archivetest.Entries(t, out) {
		parts[e.Name] = e.Content
	}
	assert.Equal(t, `<c:Page xmlns:c="urn:c"><c:Code>Red</c:Code><c:Title>First</c:Title><c:Title>SECOND ONE</c:Title></c:Page>`, parts["customXml/item1.xml"])
	assert.Equal(t, `<Other><Title>Not shown</Title></Other>`, parts["customXml/item2.xml"])
	assert.Contains(t, parts["docProps/core.xml"], `<cp:category>REPORTS</cp:category><cp:keywords>HOUSE, GARDEN</cp:keywords>`)
	assert.Contains(t, parts["word/document.xml"], ">SECOND ONE<")
}

func TestFieldCodes(t *testing.T) {
	for _, c := range []struct{ code, want string }{ // parts of the code are separated by |
		{` MACROBUTTON NoMacro [Click here] `, ` MACROBUTTON NoMacro [CLICK HERE] `},
		{` IF "a" = "b" "Dear Sir" "Dear Madam" `, ` IF "a" = "b" "DEAR SIR" "DEAR MADAM" `},
		{` XE "red apple:sort" \t "See pear" \f "a" `, ` XE "RED APPLE:SORT" \t "SEE PEAR" \f "a" `},
		{` XE "|red apple|" `, ` XE "RED APPLE"|| `},
		{` IF 1 = 1 "|Dear| Sir &amp; Co|" "Mad|am"| `, ` IF 1 = 1 "DEAR SIR &amp; CO"||| "MADAM"|| `},
		{` MACROBUTTON NoMacro [Click| here|] `, ` MACROBUTTON NoMacro [CLICK HERE] ||`},
		{` |MACROBUTTON NoMacro |Click| here`, ` |MACROBUTTON NoMacro CLICK HERE||`},
		{` IF 1 = 1 "Dear| Sir `, ` IF 1 = 1 "DEAR| SIR `},
		{` IF 1 = 1 "|12|" `, ` IF 1 = 1 "|12|" `},
		{` IF 1 = 1 "Dear</w:instrText></w:r><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> MERGEFIELD Name </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:instrText> hello" `, ` IF 1 = 1 "DEAR</w:instrText></w:r><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> MERGEFIELD Name </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:instrText> HELLO" `},
		{` HYPERLINK "https://example.com" \o "Our page" `, ` HYPERLINK "https://example.com" \o "OUR PAGE" `},
		{` FILLIN "Your name" `, ` FILLIN "YOUR NAME" `},
		{` TC "One chapter" \f c `, ` TC "ONE CHAPTER" \f c `},
		{` IF 1 = 1 "Dear Sir: hello" "Time: now" `, ` IF 1 = 1 "DEAR SIR: HELLO" "TIME: NOW" `},
		{` ASK who "Your name" \d "Nobody" `, ` ASK who "YOUR NAME" \d "Nobody" `},
		{` AUTOTEXTLIST "Pick one" \s Style \t "Click here" `, ` AUTOTEXTLIST "PICK ONE" \s Style \t "CLICK HERE" `},
		{` MERGEFIELD Name \b "Dear " \f ", hello" \* Caps `, ` MERGEFIELD Name \b "DEAR " \f ", HELLO" \* Caps `},
		{` REF here "no text" `, ` REF here "no text" `},
	} {
		field := func(code string) string {
			return `<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r>` + strings.ReplaceAll("<w:r><w:instrText>"+code+"</w:instrText></w:r>", "|", "</w:instrText></w:r><w:r><w:instrText>") +
				`<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`
		}
		_, out, err := rewritePart(t, wordGrammar, "<root "+word+">"+field(c.code)+"</root>")
		require.NoError(t, err)
		assert.Equal(t, "<root "+word+">"+field(c.want)+"</root>", out)
	}
	_, out, err := rewritePart(t, wordGrammar, "<root "+word+`><w:p><w:fldSimple w:instr=" IF 1 = 1 &quot;yes&quot; &quot;no&quot; "><w:r><w:t>yes</w:t></w:r></w:fldSimple><w:fldSimple w:instr=' MACROBUTTON x [Click "here"] '/><w:fldSimple w:instr="DATE"/></w:p></root>`)
	require.NoError(t, err)
	assert.Equal(t, "<root "+word+`><w:p><w:fldSimple w:instr=" IF 1 = 1 &quot;YES&quot; &quot;NO&quot; "><w:r><w:t xml:space="preserve">YES</w:t></w:r></w:fldSimple><w:fldSimple w:instr=" MACROBUTTON x [CLICK &quot;HERE&quot;] "/><w:fldSimple w:instr="DATE"/></w:p></root>`, out)
	w := &walker{ctx: t.Context(), reader: xmlpart.NewReader(strings.NewReader("<a>"+strings.Repeat("<b/>", maxCodeAhead)+"</a>"), "part.xml", xmlpart.Options{})}
	require.NoError(t, w.look(func() { w.codeAhead("", ` XE "`) }))
	size := 0
	for _, token := range w.ahead {
		size += len(token.Raw)
	}
	assert.LessOrEqual(t, size, maxCodeAhead+len("<b/>"))
	for code, shown := range map[string]bool{"IF 1 = 1 a b": true, "DOCPROPERTY Category": true, `docproperty "Title"`: true, "DOCPROPERTY Client": false, "INFO title": true, "INFO Author": false, "FILLIN a": true, "DATE": false} {
		assert.Equal(t, shown, isShown(code), code)
	}
}

// The help of cells and links is translated, within Excel's bounds.
func TestTooltips(t *testing.T) {
	for _, c := range []struct {
		grammar  grammar
		root     string
		in, want string
	}{
		{sheetGrammar, sheet, `<dataValidation prompt="Choose" promptTitle="` + strings.Repeat("a", 33) + `" error="Wrong" sqref="B2"/><hyperlink tooltip="Open it" display="d"/>`,
			`<dataValidation prompt="CHOOSE" promptTitle="` + strings.Repeat("a", 33) + `" error="WRONG" sqref="B2"/><hyperlink tooltip="OPEN IT" display="d"/>`},
		{drawingGrammar, drawing, `<a:hlinkClick tooltip="Open it"/>`, `<a:hlinkClick tooltip="OPEN IT"/>`},
		{odfGrammar, odf, `<table:help-message table:title="Choose"><text:p>one</text:p></table:help-message>`, `<table:help-message table:title="CHOOSE"><text:p>ONE</text:p></table:help-message>`},
		{wordGrammar, word, `<w:p><w:hyperlink w:tooltip="Go"><w:r><w:t xml:space="preserve">there</w:t></w:r></w:hyperlink></w:p>`, `<w:p><w:hyperlink w:tooltip="GO"><w:r><w:t xml:space="preserve">THERE</w:t></w:r></w:hyperlink></w:p>`},
	} {
		var out strings.Builder
		unfit := 0
		w := &walker{ctx: t.Context(), grammar: c.grammar, styles: map[string]odfStyle{}, translate: upper}
		w.options.Unfit = func() { unfit++ }
		require.NoError(t, w.part(&out, strings.NewReader("<root "+c.root+">"+c.in+"</root>"), "part.xml"))
		assert.Equal(t, "<root "+c.root+">"+c.want+"</root>", out.String())
		assert.Equal(t, strings.Count(c.in, "promptTitle"), unfit)
	}
}
