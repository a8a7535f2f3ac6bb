package kinds_test

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
	"dragoman/app/document/kinds"
)

func TestFind(t *testing.T) {
	for _, c := range []struct{ name, mediaType, head, want string }{
		{"letter.txt", "", "Dear", "txt"},
		{"LETTER.TXT", "application/pdf", "Dear", "txt"},
		{`C:\files\page.HTM`, "", "", "html"},
		{"dir.md/film.srt", "", "", "srt"},
		{"", "text/markdown; charset=utf-8", "# Hi", "markdown"},
		{"", "application/xhtml+xml", "", "html"},
		{"noextension", "text/csv", "", "csv"},
		{"strings.xml", "", "<?xml version=\"1.0\"?>\n<!-- <xliff> -->\n<resources>", "android"},
		{"app.xml", "", "<xliff version='1.2'>", "xliff"},
		{"app.xml", "", "<ns0:xliff xmlns:ns0='urn:x'>", "xliff"},
		{"", "application/xml", "<resources/>", "android"},
		{"", "text/xml", "<xliff>", "xliff"},
		{"app.xlf", "", "<xliff>", "xliff"},
		{"film.xml", "", "<tt:tt xmlns:tt='http://www.w3.org/ns/ttml'>", "ttml"},
		{"app_de.TS", "", "\ufeff\n<?xml version='1.0'?><!DOCTYPE TS>\n<TS version='2.1'>", "ts"},
		{"", "text/vnd.trolltech.linguist", "<TS>", "ts"},
		{"app_de.ts", "", "\xff\xfe<\x00T\x00S\x00>\x00", "ts"},
		{"app_de.ts", "", "\x00<\x00T\x00S\x00>", "ts"},
		{"strings.xml", "", "\xfe\xff\x00<\x00r\x00e\x00s\x00o\x00u\x00r\x00c\x00e\x00s\x00>", "android"},
		{"", "text/x-ass", "[Script Info]", "ass"},
		{"Localizable.strings", "", "\xff\xfe\"\x00", "strings"},
		{"Localizable.stringsdict", "", "<plist>", "stringsdict"},
		{"Info.plist", "", "<plist>", "plist"},
		{"letter.eml", "", "From: a@b.c", "eml"},
		{"", "message/rfc822", "From: a@b.c", "eml"},
		{"report.pdf", "", "%PDF-1.7", "pdf"},
		{"", "application/pdf", "%PDF-1.4", "pdf"},
	} {
		kind, err := kinds.Find(c.name, c.mediaType, []byte(c.head))
		if assert.NoError(t, err, "%+v", c) {
			assert.Equal(t, c.want, kind.Name, "%+v", c)
		}
	}
}

func TestFindRefuses(t *testing.T) {
	for _, c := range []struct{ name, mediaType, head, reason string }{
		{"letter.txt", "", "PK\x03\x04\x14\x00", "a zip file"},
		{"letter.json", "", "%PDF-1.7", "a PDF"},
		{"letter.pdf", "", "PK\x03\x04\x14\x00", "a zip file"},
		{"letter.doc", "", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "without a password"},
		{"letter.txt", "", `{\rtf1`, "RTF"},
		{"letter.docx", "", "Hello", "no docx, which is a zip file"},
		{"letter.docx", "", "%PDF-1.7", "the extension .pdf"},
		{"letter.docx", "", `{\rtf1`, "save it as docx or odt"},
		{"letter.docx", "", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "without a password"},
		{"a.strings", "", "bplist00", "plutil"},
		{"a.po", "", "\xDE\x12\x04\x95", "the .po"},
		{"a.RST", "", "x", ".po files that Sphinx makes"},
		{"a.ini", "", "[a]\nb=c", "ini2po"},
		{"a.desktop", "text/plain", "[Desktop Entry]", "msgfmt --desktop"},
		{"en.toml", "", "a = 'b'", "YAML or JSON"},
		{"en_us.lang", "", "a=b", ".properties"},
		{"a.adoc", "", "= A", "po4a"},
		{"", "text/x-rst; charset=utf-8", "x", ".po files that Sphinx makes"},
		{"a.bin", "", "x", "a.bin is of no kind"},
		{"", "application/octet-stream", "x", "of type application/octet-stream"},
		{"", "", "x", "without a name"},
		{"a.xml", "", "<html>", "resources, xliff or tt"},
		{"a.xml", "", "no xml", "resources, xliff or tt"},
		{"app/main.ts", "", "const list = new Map<TS >()", "main.ts is no file of Qt's translations"},
		{"main.ts", "", "<xliff>", "whose root element is TS"},
		{"video.ts", "", "G@\x00\x10", "whose root element is TS"},
	} {
		_, err := kinds.Find(c.name, c.mediaType, []byte(c.head))
		var refused *document.Error
		if assert.ErrorAs(t, err, &refused, "%+v", c) {
			assert.Contains(t, refused.Reason, c.reason)
		}
	}
}

// Each extension finds its kind, except for the extension of several XML kinds.
func TestEveryKindIsFound(t *testing.T) {
	names := map[string]bool{}
	for _, k := range kinds.All() {
		require.False(t, names[k.Name], k.Name)
		names[k.Name] = true
		require.NotEmpty(t, k.Extensions, k.Name)
		for _, e := range k.Extensions {
			if e == ".xml" {
				continue
			}
			found, err := kinds.Find("name"+e, "", []byte(map[string]string{".ts": "<TS>"}[e]))
			require.NoError(t, err)
			assert.Equal(t, k.Name, found.Name)
		}
	}
}

func TestPackages(t *testing.T) {
	stored := func(media string) []byte {
		return []byte("PK\x03\x04" + strings.Repeat("\x00", 26) + "mimetype" + media + "PK\x03\x04")
	}
	for _, c := range []struct {
		name string
		head []byte
		kind string
	}{
		{"report.DOCX", []byte("PK\x03\x04"), "docx"},
		{"macro.xlsm", []byte("PK\x03\x04"), "xlsx"},
		{"a.odt", stored("application/vnd.oasis.opendocument.text"), "odt"},
		{"a.ott", stored("application/vnd.oasis.opendocument.text-template"), "odt"},
		{"a.epub", stored("application/epub+zip"), "epub"},
	} {
		k, err := kinds.Find(c.name, "", c.head)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.kind, k.Name)
	}
	_, err := kinds.Find("a.ods", "", stored("application/vnd.oasis.opendocument.text"))
	assert.ErrorContains(t, err, "opendocument.text")
}

// A text stays untranslated in all its places if its translation has lost tags. The other texts are translated in the same pass.
func TestTextsThatLostTagsStay(t *testing.T) {
	for name, text := range map[string]string{
		"docx": strings.Repeat("<w:p><w:r><w:t xml:space=\"preserve\">a </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>b</w:t></w:r></w:p><w:p><w:r><w:t>c</w:t></w:r></w:p>", 2),
		"odt":  strings.Repeat("<text:p>a<text:line-break/>b</text:p><text:p>c</text:p>", 2),
		"epub": strings.Repeat("<p>a <b>b</b></p><p>c</p>", 2),
	} {
		file := packed(t, name, text)
		kind, err := kinds.Find("x."+name, "", file[:30])
		require.NoError(t, err)
		var out bytes.Buffer
		kept, err := document.Put(t.Context(), &out, kind, bytes.NewReader(file), int64(len(file)), document.Options{}, func(text string) (string, error) {
			return map[bool]string{true: "changed", false: "lost"}[text == "c"], nil
		})
		require.NoError(t, err, name)
		assert.Equal(t, 1, kept, name)
		var texts []string
		require.NoError(t, document.Texts(t.Context(), kind, bytes.NewReader(out.Bytes()), int64(out.Len()), document.Options{}, func(text string, _ bool) error {
			texts = append(texts, text)
			return nil
		}))
		require.Len(t, texts, 4, name)
		assert.Equal(t, []string{"changed", "changed"}, []string{texts[1], texts[3]}, name)
		assert.Contains(t, texts[0], "<", name)
		assert.Equal(t, texts[0], texts[2], name)
	}
}

// The tables of docs/documents.md say of each kind what is translated and what stays, and of each sort of optional texts how to ask
// for it.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/documents.md")
	require.NoError(t, err)
	rows := map[string][]string{} // by extension
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(strings.Trim(line, "| \n"), " | "); len(cells) >= 4 {
			for _, m := range regexp.MustCompile("`(\\.[a-z]+)`").FindAllStringSubmatch(cells[1], -1) {
				rows[m[1]] = cells
			}
		}
	}
	for _, k := range kinds.All() {
		if k.Name == "pdf" {
			continue // has a section of its own
		}
		row := rows[k.Extensions[0]]
		require.NotNil(t, row, k.Name)
		for _, cell := range row {
			assert.NotEmpty(t, strings.TrimSpace(cell), k.Name)
		}
	}
	for _, also := range []string{document.AlsoAlt, document.AlsoHeaders} {
		assert.True(t, document.Also{also}.Known())
		assert.Contains(t, string(page), "- `"+also+"`:")
		assert.Contains(t, strings.Join(rows[".xlsx"], " "), "also="+also)
	}
}
