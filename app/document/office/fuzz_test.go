package office

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/app/document"
	"dragoman/app/document/archive/archivetest"
)

// FuzzPart changes bytes of a part of a real document, in a new archive. The document is refused, or the result has the same
// entries. A translated part is well-formed if its source is.
func FuzzPart(f *testing.F) {
	files := corpus(f)
	documents := []struct{ file, part string }{
		{"report.docx", "word/document.xml"}, {"report.docx", "[Content_Types].xml"}, {"libreoffice-letter.docx", "word/document.xml"},
		{"talk.pptx", "ppt/slides/slide1.xml"}, {"talk.pptx", "ppt/slideMasters/slideMaster1.xml"},
		{"fleet.xlsx", "xl/sharedStrings.xml"}, {"fleet.xlsx", "xl/tables/table1.xml"}, {"fleet.xlsx", "xl/worksheets/sheet1.xml"}, {"fleet.xlsx", "xl/workbook.xml"},
		{"letter.odt", "content.xml"}, {"libreoffice-talk.odp", "styles.xml"}, {"libreoffice-fleet.ods", "content.xml"},
	}
	entries := make([][]archivetest.Entry, len(documents))
	for i, d := range documents {
		entries[i] = archivetest.Entries(f, files[d.file])
		f.Add(byte(i), uint32(1000), uint16(7), "<w:p>")
		f.Add(byte(i), uint32(3000), uint16(0), "</text:p><text:p>")
		f.Add(byte(i), uint32(500), uint16(40), "\x00")
	}
	f.Fuzz(func(t *testing.T, number byte, at uint32, cut uint16, put string) {
		d := documents[int(number)%len(documents)]
		changed := append([]archivetest.Entry{}, entries[int(number)%len(documents)]...)
		wasFine := true
		for i, e := range changed {
			if e.Name == d.part {
				start := int(at) % len(e.Content)
				end := min(start+int(cut), len(e.Content))
				changed[i].Content = e.Content[:start] + put + e.Content[end:]
				wasFine = wellFormed(changed[i].Content) == nil
			}
		}
		file := archivetest.Zip(t, changed...)
		k := kindOf(t, d.file)
		for _, translate := range []func(string) (string, error){same, upper} {
			out, err := rewrite(k, file, translate)
			if err != nil {
				var refused *document.Error
				require.ErrorAs(t, err, &refused)
				continue
			}
			for _, e := range archivetest.Entries(t, out) {
				if e.Name == d.part && wasFine {
					require.NoError(t, wellFormed(e.Content))
				}
			}
		}
	})
}

// FuzzFile changes bytes of a whole file.
func FuzzFile(f *testing.F) {
	files := corpus(f)
	names := []string{"letter.odt", "stock.ods", "libreoffice-letter.docx", "fleet.xlsx"}
	for i := range names {
		f.Add(byte(i), uint32(40), "\xff")
		f.Add(byte(i), uint32(1<<31), "PK\x05\x06")
	}
	f.Add(byte('t'), uint32(1<<31+259), "0") // the directory would begin before the file
	f.Fuzz(func(t *testing.T, number byte, at uint32, put string) {
		name := names[int(number)%len(names)]
		file := bytes.Clone(files[name])
		copy(file[int(at)%len(file):], put)
		err := kindOf(t, name).Rewrite(context.Background(), nil, bytes.NewReader(file), int64(len(file)), document.Options{},
			func(text string) (string, error) { return archivetest.Upper(text), nil })
		var refused *document.Error
		if err != nil {
			require.ErrorAs(t, err, &refused)
		}
	})
}
