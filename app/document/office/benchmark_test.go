package office

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/app/document"
	"dragoman/app/document/archive/archivetest"
)

// BenchmarkPages makes both passes over a document of 500 pages with 12 paragraphs each.
func BenchmarkPages(b *testing.B) {
	const pages, paragraphs = 500, 12
	var body strings.Builder
	body.WriteString(`<w:document ` + word + `><w:body>`)
	for range pages * paragraphs {
		body.WriteString(`<w:p w:rsidR="00A1"><w:pPr><w:jc w:val="both"/></w:pPr><w:r w:rsidR="00A1"><w:t xml:space="preserve">The harbour was </w:t></w:r>` +
			`<w:r w:rsidR="00A2"><w:rPr><w:b/></w:rPr><w:t>busier</w:t></w:r><w:proofErr w:type="spellStart"/>` +
			strings.Repeat(`<w:r w:rsidR="00B1"><w:t xml:space="preserve"> than ever in the year before, and nobody complained.</w:t></w:r>`, 5) + `</w:p>`)
	}
	body.WriteString(`</w:body></w:document>`)
	file := archivetest.Zip(b,
		archivetest.Entry{Name: contentTypes, Content: `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`},
		archivetest.Entry{Name: "word/document.xml", Content: body.String()})
	k := kindOf(b, "x.docx")
	b.ReportAllocs()
	for b.Loop() {
		for _, out := range []io.Writer{nil, new(bytes.Buffer)} {
			err := k.Rewrite(context.Background(), out, bytes.NewReader(file), int64(len(file)), document.Options{},
				func(text string) (string, error) { return "A " + text, nil })
			require.NoError(b, err)
		}
	}
	b.ReportMetric(pages*float64(b.N)/b.Elapsed().Seconds(), "pages/s")
}
