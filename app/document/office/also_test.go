package office

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
	"dragoman/app/text/markup"
)

// Texts that are translated only on request stay untranslated by default.
func TestAlso(t *testing.T) {
	const (
		wp   = word + ` xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:v="urn:schemas-microsoft-com:vml"`
		svg  = odf + ` xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:loext="urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0"`
		adec = ` xmlns:adec="http://schemas.microsoft.com/office/drawing/2017/decorative"`
	)
	for _, c := range []struct {
		name     string
		grammar  grammar
		root     string
		in       string
		segments string // one per line
		out      string // "": unchanged
	}{
		{"picture of Word", wordGrammar, wp, `<w:p><w:r><w:drawing><wp:docPr id="1" name="Picture 1" descr="a &quot;big&quot; house" title='old'/></w:drawing></w:r></w:p>`,
			"a \"big\" house\nold", `<w:p><w:r><w:drawing><wp:docPr id="1" name="Picture 1" descr="A &quot;BIG&quot; HOUSE" title="OLD"/></w:drawing></w:r></w:p>`},
		{"with a name space of its own", drawingGrammar, drawing, `<q:cNvPr xmlns:q="urn:x" name="n" descr="a &lt; b"><a:hlinkClick r="1"/></q:cNvPr>`, "a &lt; b",
			`<q:cNvPr xmlns:q="urn:x" name="n" descr="A &lt; B"><a:hlinkClick r="1"/></q:cNvPr>`},
		{"lines", drawingGrammar, drawing, `<p:cNvPr descr="a house&#10;&#10;made by a program"/>`, `a house<br/><br/>made by a program`,
			`<p:cNvPr descr="A HOUSE&#10;&#10;MADE BY A PROGRAM"/>`},
		{"picture of a master", masterGrammar, drawing, `<p:pic><p:nvPicPr><p:cNvPr descr="logo"/></p:nvPicPr></p:pic>`, "logo", `<p:pic><p:nvPicPr><p:cNvPr descr="LOGO"/></p:nvPicPr></p:pic>`},
		{"empty, and without letters", drawingGrammar, drawing, `<p:cNvPr id="2" descr="" title="1 – 2"/>`, "", ""},
		{"decorative", drawingGrammar, drawing + adec, `<p:cNvPr descr="line"><a:extLst><a:ext><adec:decorative val="1"/></a:ext></a:extLst></p:cNvPr>`, "", ""},
		{"not decorative", drawingGrammar, drawing + adec, `<p:cNvPr descr="line"><a:extLst><a:ext><adec:decorative val="0"/></a:ext></a:extLst></p:cNvPr>`, "line",
			`<p:cNvPr descr="LINE"><a:extLst><a:ext><adec:decorative val="0"/></a:ext></a:extLst></p:cNvPr>`},
		{"table and old shape of Word", wordGrammar, wp, `<w:tblPr><w:tblCaption w:val="sales"/></w:tblPr><v:shape type="#t" alt="a boat"><v:textbox/></v:shape>`, "sales\na boat",
			`<w:tblPr><w:tblCaption w:val="SALES"/></w:tblPr><v:shape type="#t" alt="A BOAT"><v:textbox/></v:shape>`},
		{"OpenDocument", odfGrammar, svg, `<text:p><draw:frame draw:name="n"><svg:title>old</svg:title><svg:desc>a house &amp; a tree</svg:desc></draw:frame></text:p>`, "old\na house &amp; a tree",
			`<text:p><draw:frame draw:name="n"><svg:title>OLD</svg:title><svg:desc>A HOUSE &amp; A TREE</svg:desc></draw:frame></text:p>`},
		{"decorative in OpenDocument", odfStylesGrammar, svg, `<draw:frame loext:decorative="true"><svg:desc>line</svg:desc></draw:frame>`, "", ""},
		{"what a chart shows", odfGrammar, svg, `<office:chart><table:table-cell><draw:g><svg:desc>Fleet.A2:Fleet.A3</svg:desc></draw:g></table:table-cell></office:chart>`, "", ""},
		{"headers of a sheet", sheetGrammar, sheet, `<headerFooter differentFirst="1"><oddHeader>&amp;L&amp;"Arial,Bold"&amp;12Report&amp;R&amp;A</oddHeader><firstFooter>Page &amp;P of &amp;N</firstFooter></headerFooter>`,
			"Report\nPage <x id=\"1\"/> of",
			`<headerFooter differentFirst="1"><oddHeader>&amp;L&amp;"Arial,Bold"&amp;12REPORT&amp;R&amp;A</oddHeader><firstFooter>PAGE &amp;P OF &amp;N</firstFooter></headerFooter>`},
		{"line ends of a header", headerGrammar, sheet, `<oddHeader>&amp;COne_x000a_two</oddHeader>`, `One<br/>two`, `<oddHeader>&amp;CONE_x000a_TWO</oddHeader>`},
		{"header of a sheet of a chart", headerGrammar, "xmlns:x=\"http://purl.oclc.org/ooxml/spreadsheetml/main\"", `<x:evenFooter>Sales</x:evenFooter>`, "Sales", `<x:evenFooter>SALES</x:evenFooter>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			part := "<root " + c.root + ">" + c.in + "</root>"
			for _, also := range []document.Also{nil, {document.AlsoAlt, document.AlsoHeaders}} {
				var segments []string
				var out strings.Builder
				w := &walker{ctx: t.Context(), grammar: c.grammar, styles: map[string]odfStyle{}, options: document.Options{Also: also}}
				w.translate = func(text string) (string, error) {
					segments = append(segments, text)
					return upper(text)
				}
				require.NoError(t, w.part(&out, strings.NewReader(part), "part.xml"))
				if also == nil {
					assert.Empty(t, segments)
					assert.Equal(t, part, out.String())
					continue
				}
				assert.Equal(t, c.segments, strings.Join(segments, "\n"))
				want := c.out
				if want == "" {
					want = c.in
				}
				assert.Equal(t, "<root "+c.root+">"+want+"</root>", out.String())
			}
		})
	}
}

func TestHeader(t *testing.T) {
	long := strings.Repeat("long ", 49)
	for _, c := range []struct {
		source, translation, want string
		unfit                     int
	}{
		{"", "x", "", 0},
		{"&C&P&R&D", "x", "&C&P&R&D", 0},
		{"Sales", "x & y", "x && y", 0},
		{"Sales && more", "x &amp; y", "x && y", 0},
		{"&CSales", "12 x", "&C12 x", 0},
		{"&C&12Sales", "12 x", "&C&12 12 x", 0},
		{"&C&12Sales&14&PSales", "12 x", "&C&12 12 x&14&P12 x", 0},
		{"&12 2026 sales", "2026 x", "&12 2026 x", 0},
		{"&K01+000Sales&KFF00AAmore", "x", "&K01+000x&KFF00AAx", 0},
		{"&L&\"-,Regular\"&B&USales\n&Gmore", "x<br/><x id=\"1\"/>y", "&L&\"-,Regular\"&B&Ux\n&Gy", 0},
		{"Page &P of &N in all", `<x id="2"/> ab <x id="1"/>`, "&N ab &P", 0},
		{"Page &P of &N in all", `<x id="2"/> ab`, "Page &P of &N in all", 1},
		{"Page &P of &N", `ab <x id="1"/>+1`, "Page &P of &N", 1},
		{"Page &P+1 of", `<x id="1"/> ab`, "&P+1 ab", 0},
		{"&L" + long + "&Rend", "x", "&Lx &Rx", 0},
		{"&Lend&R" + long, "a longer end", "&Lend&Ra longer end ", 1},
		{"&Lend", strings.Repeat("é", 253), "&L" + strings.Repeat("é", 253), 0},
		{"&Lend", strings.Repeat("é", 254), "&Lend", 1},
		{"&Lend", strings.Repeat("😀", 127), "&Lend", 1},
		{"&Lend&", "x", "&Lx&", 0},
	} {
		unfit := 0
		w := &walker{ctx: t.Context(), options: document.Options{Unfit: func() { unfit++ }}, translate: func(string) (string, error) { return c.translation, nil }}
		header, err := headerOf(w, c.source)
		require.NoError(t, err)
		assert.Equal(t, c.want, header)
		assert.Equal(t, c.unfit, unfit, c.source)
	}
	w := &walker{ctx: t.Context(), translate: func(string) (string, error) { return strings.Repeat("a", 256), nil }}
	_, err := headerOf(w, "Sales")
	assert.ErrorIs(t, err, document.ErrTooLong)
}

// headerOf returns a header that a walker rewrites, or its error.
func headerOf(w *walker, source string) (header string, err error) {
	err = w.look(func() { header = w.header(source) })
	return header, err
}

// Codes stay in all translations.
func FuzzHeader(f *testing.F) {
	f.Add("&L&\"Arial,Bold\"&12Annual report&RPage &P of &N", "5 x")
	f.Add("R&&D &K01+000a&P+1", "+1&x")
	f.Fuzz(func(t *testing.T, source, translation string) {
		w := &walker{ctx: t.Context(), options: document.Options{Unfit: func() {}}, translate: same}
		header, err := headerOf(w, source)
		require.NoError(t, err)
		require.Equal(t, source, header)
		w.translate = func(string) (string, error) { return markup.XML.Escape(translation), nil }
		header, err = headerOf(w, source)
		require.NoError(t, err)
		require.Equal(t, strings.Join(codesOf(source), " "), strings.Join(codesOf(header), " "))
		require.LessOrEqual(t, characters(header), max(maxHeader, characters(source)))
	})
}
