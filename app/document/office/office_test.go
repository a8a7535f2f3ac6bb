package office

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
	"dragoman/app/document/archive/archivetest"
	"dragoman/app/text/markup"
)

var update = flag.Bool("update", false, "write the segments of testdata")

// kindOf returns the kind of a file's name.
func kindOf(t testing.TB, name string) *document.Kind {
	for _, k := range Kinds() {
		if slices.Contains(k.Extensions, filepath.Ext(name)) {
			return k
		}
	}
	require.Fail(t, "no kind", name)
	return nil
}

// corpus returns the documents of testdata by their names.
func corpus(t testing.TB) map[string][]byte {
	files := map[string][]byte{}
	entries, err := os.ReadDir("testdata")
	require.NoError(t, err)
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); e.Type().IsRegular() && ext != ".txt" && ext != ".md" {
			files[e.Name()], err = os.ReadFile(filepath.Join("testdata", e.Name()))
			require.NoError(t, err)
		}
	}
	require.NotEmpty(t, files)
	return files
}

func rewrite(k *document.Kind, file []byte, translate func(string) (string, error)) ([]byte, error) {
	var out bytes.Buffer
	o := document.Options{Also: document.Also{document.AlsoAlt, document.AlsoHeaders}}
	err := k.Rewrite(context.Background(), &out, bytes.NewReader(file), int64(len(file)), o,
		func(text string) (string, error) { return translate(text) })
	return out.Bytes(), err
}

// segments returns a document's segments. Nothing is written.
func segments(t testing.TB, k *document.Kind, file []byte) []string {
	var list []string
	err := k.Rewrite(context.Background(), nil, bytes.NewReader(file), int64(len(file)), document.Options{},
		func(text string) (string, error) {
			list = append(list, text)
			return text, nil
		})
	require.NoError(t, err)
	return list
}

func same(text string) (string, error)  { return text, nil }
func upper(text string) (string, error) { return archivetest.Upper(text), nil }

func TestSegments(t *testing.T) {
	for name, file := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(segments(t, kindOf(t, name), file), "\n") + "\n"
			golden := filepath.Join("testdata", name+".txt")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), got)
		})
	}
}

// TestSame translates with a model that repeats its input: all entries have the same bytes, in the same order.
func TestSame(t *testing.T) {
	for name, file := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			out, err := rewrite(kindOf(t, name), file, same)
			require.NoError(t, err)
			want, got := map[string]string{}, map[string]string{}
			for _, e := range archivetest.Entries(t, file) {
				want[e.Name] = e.Content
			}
			for _, e := range archivetest.Entries(t, out) {
				got[e.Name] = e.Content
			}
			assert.Equal(t, want, got)
			assert.Equal(t, archivetest.Entries(t, file)[0].Name, archivetest.Entries(t, out)[0].Name)
		})
	}
}

// TestTranslated translates with a model that writes capitals: the texts are those of the original in upper case.
func TestTranslated(t *testing.T) {
	for name, file := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			k := kindOf(t, name)
			out, err := rewrite(k, file, upper)
			require.NoError(t, err)
			var want []string
			for _, s := range segments(t, k, file) {
				want = append(want, archivetest.Upper(s))
			}
			assert.Equal(t, want, segments(t, k, out))
			for _, e := range archivetest.Entries(t, out) {
				if strings.HasSuffix(e.Name, ".xml") {
					assert.NoError(t, wellFormed(e.Content), e.Name)
				}
			}
		})
	}
}

func wellFormed(content string) error {
	d := xml.NewDecoder(strings.NewReader(content))
	for {
		if _, err := d.Token(); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
	}
}

// TestWordOrder checks runs against the order of ECMA-376: properties come first, and text keeps its spaces.
func TestWordOrder(t *testing.T) {
	for name, file := range corpus(t) {
		if filepath.Ext(name) != ".docx" {
			continue
		}
		out, err := rewrite(kindOf(t, name), file, upper)
		require.NoError(t, err)
		for _, e := range archivetest.Entries(t, out) {
			if e.Name != "word/document.xml" {
				continue
			}
			assert.NotRegexp(t, `<w:r(?: [^>]*)?>(?:<w:rPr>.*?</w:rPr>)?<w:r[ >]`, e.Content, "a run in a run")
			assert.NotRegexp(t, `</w:t>\s*<w:rPr>`, e.Content)
			assert.NotRegexp(t, `<w:t>(?: |[^<]* </w:t>)`, e.Content)
			for _, run := range regexp.MustCompile(`(?s)<w:r(?: [^>]*)?>(.*?)</w:r>`).FindAllStringSubmatch(e.Content, -1) {
				if at := strings.Index(run[1], "<w:rPr"); at > 0 {
					assert.Fail(t, "properties behind other things", run[0])
				}
			}
			for _, p := range regexp.MustCompile(`(?s)<w:p(?: [^>]*)?>(.*?)</w:p>`).FindAllStringSubmatch(e.Content, -1) {
				if at := strings.Index(p[1], "<w:pPr"); at > 0 {
					assert.Fail(t, "properties behind other things", p[0])
				}
			}
		}
	}
}

// TestMarkup translates as package translate does, with markers in place of tags. All documents accept its results.
func TestMarkup(t *testing.T) {
	for name, file := range corpus(t) {
		_, err := rewrite(kindOf(t, name), file, func(text string) (string, error) {
			var out strings.Builder
			pieces, err := markup.SplitXML(t.Context(), text)
			require.NoError(t, err)
			for _, piece := range pieces {
				if !piece.Unit {
					out.WriteString(piece.Raw)
					continue
				}
				s, err := piece.Parse(t.Context())
				require.NoError(t, err)
				masked, ok, err := s.Mask(t.Context(), 0)
				require.NoError(t, err)
				if !ok || s.AsIs() {
					translation, err := s.Verify(t.Context(), text)
					require.NoError(t, err, text)
					out.WriteString(translation)
					continue
				}
				// Upper case also changes the markers.
				translation, err := masked.Restore(t.Context(), strings.ToUpper(masked.Text))
				require.NoError(t, err, text)
				out.WriteString(translation)
			}
			return out.String(), nil
		})
		require.NoError(t, err, name)
	}
}

func TestLanguage(t *testing.T) {
	files := corpus(t)
	for _, c := range []struct{ file, part, before, after string }{
		{"report.docx", "word/styles.xml", `<w:lang w:val="en-US"`, `<w:lang w:val="fr-FR"`},
		{"libreoffice-report.odt", "styles.xml", `fo:language="en" fo:country="US"`, `fo:language="fr" fo:country="FR"`},
	} {
		for to, want := range map[string]string{"": c.before, "fr": c.after} {
			var out bytes.Buffer
			file := files[c.file]
			err := kindOf(t, c.file).Rewrite(context.Background(), &out, bytes.NewReader(file), int64(len(file)), document.Options{To: to},
				func(text string) (string, error) { return text, nil })
			require.NoError(t, err)
			for _, e := range archivetest.Entries(t, out.Bytes()) {
				if e.Name == c.part {
					assert.Contains(t, e.Content, want, c.file)
					assert.Equal(t, to == "", strings.Contains(e.Content, c.before), c.file)
				}
			}
		}
	}
}

func TestErrorsOfOthers(t *testing.T) {
	file := corpus(t)["report.docx"]
	k := kindOf(t, "report.docx")
	gone := errors.New("the model is gone")
	_, err := rewrite(k, file, func(string) (string, error) { return "", gone })
	assert.ErrorIs(t, err, gone)

	_, err = rewrite(k, file, func(text string) (string, error) { return strings.ReplaceAll(text, "</g>", ""), nil })
	assert.ErrorIs(t, err, markup.ErrLost)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err = k.Rewrite(ctx, io.Discard, bytes.NewReader(file), int64(len(file)), document.Options{}, nil)
	assert.ErrorIs(t, err, context.Canceled)

	full := errors.New("the disk is full")
	err = k.Rewrite(context.Background(), failing{full}, bytes.NewReader(file), int64(len(file)), document.Options{},
		func(text string) (string, error) { return text, nil })
	assert.ErrorIs(t, err, full)

	broken := errors.New("the disk is broken")
	err = k.Rewrite(context.Background(), nil, failing{broken}, int64(len(file)), document.Options{}, nil)
	assert.ErrorIs(t, err, broken)
}

// failing fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error)         { return 0, f.err }
func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }

func TestOtherKinds(t *testing.T) {
	files := corpus(t)
	for _, c := range []struct{ file, as, reason string }{
		{"fleet.xlsx", ".docx", "taken for a document of the kind docx, but it is xlsx"},
		{"report.docx", ".pptx", "it is docx"},
		{"letter.odt", ".ods", "it is odt"},
		{"letter.odt", ".docx", "it is odt"},
		{"talk.pptx", ".odp", "it is pptx"},
	} {
		_, err := rewrite(kindOf(t, "x"+c.as), files[c.file], same)
		var wrong *document.Error
		require.ErrorAs(t, err, &wrong)
		assert.Contains(t, wrong.Reason, c.reason)
	}
}

// Names of parts are compared without regard to case.
func TestNamesOfParts(t *testing.T) {
	const spreadsheet = "application/vnd.openxmlformats-officedocument.spreadsheetml."
	out, err := rewrite(kindOf(t, "x.xlsx"), archivetest.Zip(t,
		archivetest.Entry{Name: contentTypes, Content: `<Types><Override PartName="/xl/workbook.xml" ContentType="` + spreadsheet + `sheet.main+xml"/><Override PartName="/xl/sharedStrings.xml" ContentType="` + spreadsheet + `sharedStrings+xml"/><Override PartName="/xl/Sheet1.xml" ContentType="` + spreadsheet + `worksheet+xml"/></Types>`},
		archivetest.Entry{Name: "xl/workbook.xml", Content: `<workbook ` + sheet + ` xmlns:r="r"><sheets><sheet name="Own" r:id="s"/></sheets></workbook>`},
		archivetest.Entry{Name: "xl/_Rels/workbook.xml.rels", Content: `<Relationships><Relationship Id="s" Target="SHEET1.xml"/></Relationships>`},
		archivetest.Entry{Name: "xl/sheet1.xml", Content: `<worksheet ` + sheet + `><sheetData><row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c><f>LEN(Own!A1)</f></c></row></sheetData></worksheet>`},
		archivetest.Entry{Name: "xl/SharedStrings.xml", Content: `<sst ` + sheet + `><si><t>one</t></si><si><t>two</t></si></sst>`}), upper)
	require.NoError(t, err)
	assert.Contains(t, archivetest.Entries(t, out), archivetest.Entry{Name: "xl/SharedStrings.xml", Content: `<sst ` + sheet + `><si><t>one</t></si><si><t xml:space="preserve">TWO</t></si></sst>`})
}

// TestMacros checks that macros are kept and that a binary workbook is refused.
func TestMacros(t *testing.T) {
	types := func(main string) archivetest.Entry {
		return archivetest.Entry{Name: contentTypes, Content: `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
			`<Default Extension="bin" ContentType="application/vnd.ms-office.vbaProject"/><Override PartName="/main.xml" ContentType="` + main + `"/></Types>`}
	}
	text := archivetest.Entry{Name: "main.xml", Content: "<w:document " + word + "><w:p><w:r><w:t>Run me</w:t></w:r></w:p></w:document>"}
	macros := archivetest.Entry{Name: "vbaProject.bin", Content: "\xD0\xCFSub AutoOpen()"}
	out, err := rewrite(kindOf(t, "x.docm"), archivetest.Zip(t, types("application/vnd.ms-word.document.macroEnabled.main+xml"), text, macros), upper)
	require.NoError(t, err)
	entries := archivetest.Entries(t, out)
	assert.Contains(t, entries[1].Content, "RUN ME")
	assert.Equal(t, macros, entries[2])

	for main, reason := range map[string]string{
		"application/vnd.ms-excel.sheet.binary.macroEnabled.main": "save it as .xlsx",
		"application/octet-stream":                                "no document of the kind docx",
	} {
		_, err = rewrite(kindOf(t, "x.docx"), archivetest.Zip(t, types(main), text), same)
		assert.ErrorContains(t, err, reason)
	}
}

// TestPassword has an encrypted OpenDocument file.
func TestPassword(t *testing.T) {
	_, err := rewrite(kindOf(t, "x.odt"), archivetest.Zip(t,
		archivetest.Entry{Name: "mimetype", Content: "application/vnd.oasis.opendocument.text"},
		archivetest.Entry{Name: "META-INF/manifest.xml", Content: `<manifest:manifest xmlns:manifest="m"><manifest:file-entry><manifest:encryption-data/></manifest:file-entry></manifest:manifest>`},
		archivetest.Entry{Name: "content.xml", Content: "\x00\x01"}), same)
	assert.ErrorContains(t, err, "has a password")
}

// A drop cap of Word is translated together with its paragraph, and gets the first letter of the translation.
func TestDropCaps(t *testing.T) {
	const frame = `<w:pPr><w:framePr w:dropCap="drop" w:lines="3"/></w:pPr>`
	paragraph := func(properties, text string) string {
		return "<w:p>" + properties + `<w:r><w:t xml:space="preserve">` + text + "</w:t></w:r></w:p>"
	}
	for name, c := range map[string]struct{ body, segments, translation, out string }{
		"a letter": {paragraph(frame, "T") + "\n " + paragraph("", "he man"), "The man", "Un homme",
			paragraph(frame, "U") + "\n " + paragraph("", "n homme")},
		"a letter that is a word": {paragraph(frame, "A") + paragraph("", " man"), "A man", "Un homme",
			paragraph(frame, "U") + paragraph("", "n homme")},
		"a word": {paragraph(frame, "Once") + paragraph("", " again"), "Once again", "Encore une fois",
			paragraph(frame, "Encore") + paragraph("", " une fois")},
		"a quotation": {paragraph(frame, "“W") + paragraph("", "here?”"), "“Where?”", "« Où ? »",
			paragraph(frame, "« O") + paragraph("", "ù ? »")},
		"into characters":      {paragraph(frame, "T") + paragraph("", "he man"), "The man", "男です", paragraph(frame, "男") + paragraph("", "です")},
		"marks and references": {paragraph(frame, "E") + paragraph("", "t &amp; al"), "Et &amp; al", "E\u0301t &lt; al", paragraph(frame, "E\u0301") + paragraph("", "t &lt; al")},
		"no paragraph behind":  {paragraph(frame, "T") + "<w:tbl/>" + paragraph("", "he man"), "T|he man", "x", paragraph(frame, "x") + "<w:tbl/>" + paragraph("", "x")},
		"the last":             {paragraph("", "he man") + paragraph(frame, "T"), "he man|T", "x", paragraph("", "x") + paragraph(frame, "x")},
		"two":                  {paragraph(frame, "T") + paragraph(frame, "h") + paragraph("", "e man"), "h|T|e man", "x", paragraph(frame, "x") + paragraph(frame, "x") + paragraph("", "x")},
		"a long one": {paragraph(frame, "This is no letter") + paragraph("", "at all"), "This is no letter|at all", "x",
			paragraph(frame, "x") + paragraph("", "x")},
		"the same": {paragraph(frame, "T") + paragraph("", "he man"), "The man", "The man", paragraph(frame, "T") + paragraph("", "he man")},
	} {
		t.Run(name, func(t *testing.T) {
			const head = `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>`
			const tail = "</w:body></w:document>"
			var seen []string
			w := &walker{ctx: t.Context(), grammar: wordGrammar, to: newTarget(""), translate: func(text string) (string, error) {
				seen = append(seen, text)
				return c.translation, nil
			}}
			var out strings.Builder
			require.NoError(t, w.part(&out, strings.NewReader(head+c.body+tail), "x"))
			assert.Equal(t, c.segments, strings.Join(seen, "|"))
			assert.Equal(t, head+c.out+tail, out.String())
		})
	}
}
