package textfile

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	xencoding "golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"dragoman/app/document"
	"dragoman/app/text/markup"
)

var update = flag.Bool("update", false, "write the goldens")

// named returns the kind of a name.
func kindNamed(t testing.TB, name string) *document.Kind {
	t.Helper()
	for _, k := range Kinds() {
		if k.Name == name {
			return k
		}
	}
	require.Fail(t, "no kind", name)
	return nil
}

// rewritten returns a document with its segments translated.
func rewritten(t testing.TB, kind *document.Kind, text string, o document.Options, translate func(string) string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := kind.Rewrite(t.Context(), &out, strings.NewReader(text), int64(len(text)), o,
		func(text string) (string, error) { return translate(text), nil })
	return out.String(), err
}

// segments returns the segments of a document.
func segments(t testing.TB, kind *document.Kind, text string, o document.Options) ([]string, error) {
	t.Helper()
	var list []string
	_, err := rewritten(t, kind, text, o, func(text string) string {
		list = append(list, text)
		return text
	})
	return list, err
}

// upper simulates a translation into upper case, which leaves markup and placeholders unchanged.
func upper(form markup.Format) func(string) string { return changed(form, strings.ToUpper) }

// changed simulates a translation by change, which leaves markup and placeholders unchanged.
func changed(form markup.Format, change func(text string) string) func(string) string {
	plain := func(text string) string { return changedText(text, change) }
	if form == markup.Text {
		return plain
	}
	return func(text string) string {
		var out strings.Builder
		opaque := 0
		for _, part := range xmlParts(text) {
			switch {
			case part.sort == 'c':
				part.raw = "<![CDATA[" + plain(part.raw) + "]]>"
			case part.sort == 't' && opaque == 0:
				part.raw = plain(part.raw)
			case strings.HasSuffix(part.raw, "/>") || part.sort == 't':
			case strings.HasPrefix(part.raw, "</") && opaque > 0:
				opaque--
			case opaque > 0, strings.HasPrefix(part.raw, "<bpt"), strings.HasPrefix(part.raw, "<ept"), strings.HasPrefix(part.raw, "<xliff:g"):
				opaque++
			}
			out.WriteString(part.raw)
		}
		return out.String()
	}
}

func changedText(text string, change func(text string) string) string {
	s := passOf(text).parse(text)
	var out strings.Builder
	at := 0
	for _, span := range s.Spans {
		out.WriteString(change(text[at:span.Start]) + text[span.Start:span.End])
		at = span.End
	}
	return out.String() + change(text[at:])
}

// kindOf returns the kind of a file of the corpus.
func kindOf(t testing.TB, file string) *document.Kind {
	t.Helper()
	if filepath.Base(file) == "strings.xml" {
		return kindNamed(t, "android")
	}
	for _, k := range Kinds() {
		for _, e := range k.Extensions {
			if strings.HasSuffix(file, e) {
				return k
			}
		}
	}
	require.Fail(t, "no kind", file)
	return nil
}

// corpus returns the documents in testdata, by file.
func corpus(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.*")
	require.NoError(t, err)
	all := map[string]string{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		all[file] = string(raw)
	}
	require.NotEmpty(t, all)
	return all
}

// The goldens are the corpus in upper case, from English to French, so that a person can see what was translated. Other readers
// find the same contents in both: film.ass and old.ssa are written and read by pysubs2 1.8.1, analysis.ipynb by nbformat 5.11.1.
func TestCorpus(t *testing.T) {
	for file, text := range corpus(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			kind := kindOf(t, file)
			got, err := rewritten(t, kind, text, document.Options{From: "en", To: "fr"}, upper(kind.Form))
			require.NoError(t, err)
			checkGolden(t, "upper", file, got)
		})
	}
}

// checkGolden compares a document with a file's golden in a folder.
func checkGolden(t *testing.T, folder, file, got string) {
	t.Helper()
	golden := filepath.Join("testdata", folder, filepath.Base(file))
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestIdentityKeepsEveryByte(t *testing.T) {
	for file, text := range corpus(t) {
		kind := kindOf(t, file)
		for name, doc := range map[string]string{
			"as it is":         text,
			"byte order mark":  "\uFEFF" + text,
			"lines of Windows": strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n"),
			"UTF-16":           utf16Little.write(t, text),
			"UTF-32":           utf32Little.write(t, text),
			"UTF-32, big":      utf32Big.write(t, text),
			"UTF-16, big":      utf16Big.write(t, text),
		} {
			o := document.Options{}
			if kind.Name == "xcstrings" {
				o.To = "fr"
			}
			got, err := rewritten(t, kind, doc, o, func(text string) string { return text })
			require.NoError(t, err, "%s, %s", file, name)
			require.Equal(t, doc, got, "%s, %s", file, name)
		}
	}
}

// XML in encodings other than UTF-8 keeps its encoding. A letter that the encoding lacks becomes a reference; a CDATA section
// ends before it.
func TestEncodingsOfXML(t *testing.T) {
	docs := map[string][2]string{
		"resx":        {`<root><data name="a" xml:space="preserve"><value>`, `</value></data></root>`},
		"ts":          {`<TS><context><message><source>`, `</source><translation></translation></message></context></TS>`},
		"ttml":        {`<tt><body><p>`, `</p></body></tt>`},
		"xliff":       {`<xliff version="1.2"><file><body><trans-unit id="1"><source>`, `</source></trans-unit></body></file></xliff>`},
		"android":     {`<resources><string name="a">`, `</string></resources>`},
		"plist":       {`<plist version="1.0"><dict><key>FooterText</key><string>`, `</string></dict></plist>`},
		"stringsdict": {`<plist version="1.0"><dict><key>k</key><dict><key>NSStringLocalizedFormatKey</key><string>`, `</string></dict></dict></plist>`},
	}
	for name, doc := range docs {
		kind := kindNamed(t, name)
		for label, e := range map[string]encoding{
			"ISO-8859-1": latin1, "windows-1252": {form: charmap.Windows1252}, "iso8859-15": {form: charmap.ISO8859_15}, "KOI8-R": {form: charmap.KOI8R},
			"UTF-16": utf16Little, "utf-16be": utf16Big, "UTF-16LE": {form: utf16Little.form}, "UTF-16BE": {form: utf16Big.form},
			"us-ascii": {form: ianaForm(t, "US-ASCII")}, "Shift_JIS": {form: japanese.ShiftJIS}, "euc-jp": {form: japanese.EUCJP}, "GB2312": {form: simplifiedchinese.GBK},
			"GB18030": {form: simplifiedchinese.GB18030}, "Big5": {form: traditionalchinese.Big5}, "EUC-KR": {form: korean.EUCKR},
		} {
			source, translation, lacking := "caf\u00e9 open", "café “été” 日", []string{"“", "”", "日"}
			if label == "KOI8-R" {
				source, translation, lacking = "кафе открыто", "Ёлка “да” 日", []string{"“", "”", "日"}
			}
			if form := fmt.Sprint(e.form); !e.isWide() && regexp.MustCompile("ASCII|JI?[PS]|GB|Big|KR").MatchString(form) {
				source, translation, lacking = "ソ表 open", "表 “大” ы ไ", []string{"ไ"}
				switch form {
				case "US-ASCII":
					source, lacking = "cafe open", []string{"表", "“", "大", "”", "ы", "ไ"}
				case "Big5":
					source, translation = "功許 open", "許 “大” ไ"
				case "EUC-KR":
					source, translation = "한국 open", "국 “大” ไ"
				case "GB18030":
					lacking = nil
				}
			}
			if e.isWide() {
				lacking = nil
			} else if label == "windows-1252" {
				lacking = []string{"日"}
			}
			whole := "<?xml version='1.0' encoding='" + label + "'?><!-- " + string([]rune(source)[:3]) + " -->" + doc[0] + source + doc[1]
			got, err := rewritten(t, kind, e.write(t, whole), document.Options{}, func(text string) string { return text })
			require.NoError(t, err, "%s in %s", name, label)
			require.Equal(t, e.write(t, whole), got)
			got, err = rewritten(t, kind, e.write(t, whole), document.Options{}, func(text string) string { return strings.Replace(text, source, translation, 1) })
			require.NoError(t, err)
			for _, letter := range lacking {
				translation = strings.ReplaceAll(translation, letter, fmt.Sprintf("&#%d;", []rune(letter)[0]))
			}
			want, again := e.write(t, whole[:len(whole)-len(source+doc[1])]), e.write(t, translation+doc[1])[len(e.mark):]
			require.True(t, strings.HasPrefix(got, want) || name == "ts" || name == "xliff", "%s in %s: %q", name, label, got)
			require.Contains(t, got, again[:len(again)-len(e.write(t, doc[1]))+len(e.mark)], "%s in %s", name, label)
		}
	}
	const section = "<?xml version='1.0' encoding='latin1'?><resources><string name=\"a\"><![CDATA[a <b>caf\u00e9</b>]]></string></resources>"
	got, err := rewritten(t, kindNamed(t, "android"), latin1.write(t, section), document.Options{}, func(text string) string { return strings.Replace(text, "caf\u00e9", "日é本", 1) })
	require.NoError(t, err)
	require.Contains(t, got, "<![CDATA[a <b>]]>&#26085;<![CDATA[\xe9]]>&#26412;<![CDATA[</b>]]>")
}

// The first cell of a row without a leading bar keeps its start: a tag must not become text. A bar after any number of
// backslashes ends no cell.
func TestFirstCellsKeepTheirStart(t *testing.T) {
	for doc, want := range map[string]string{
		"<b>Note</b> one | two\n---|---\nthree | four\n":  "<b>NOTE</b> ONE | TWO\n---|---\nTHREE | FOUR\n",
		"![x](y) one | two\n---|---\n":                    "![x](y) ONE | TWO\n---|---\n",
		"\\| a | b |\n|---|---|\n| c | d |\n":             "\\| A | B |\n|---|---|\n| C | D |\n",
		"| a \\| x | b |\n|---|---|\n| c \\\\| d | e |\n": "| A \\| X | B |\n|---|---|\n| C \\\\| D | E |\n",
	} {
		kind := kindNamed(t, "markdown")
		got, err := rewritten(t, kind, doc, document.Options{}, upper(kind.Form))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	kind := kindNamed(t, "markdown")
	got, err := rewritten(t, kind, "one | two\n---|---\n", document.Options{}, func(string) string { return "- a | b" })
	require.NoError(t, err)
	require.Equal(t, "\\- a \\| b | - a \\| b\n---|---\n", got)
}

// ianaForm returns an encoding by its name.
func ianaForm(t testing.TB, name string) xencoding.Encoding {
	t.Helper()
	form, err := ianaindex.IANA.Encoding(name)
	require.NoError(t, err)
	return form
}

// Windows line ends only change the line ends of the result.
func TestLineEndsStay(t *testing.T) {
	const unix, windows = "\n", "\r\n"
	all := corpus(t)
	all["a.csv"] = "a,b\n\"One\ntwo\",Three\n"
	all["strings.xml"] = "<resources>\n<string name=\"a\">One\ntwo</string>\n</resources>\n"
	all["a.xlf"] = "<xliff version=\"1.2\"><file>\n<trans-unit><source>One\ntwo</source></trans-unit>\n</file></xliff>\n"
	all["a.md"] = ":::tip One two\n\nthree\n:::\n\n!!! note \"Four\"\n    five\n\n=== \"Six\"\n    seven\n\n!!! note\n    eight\n"
	all["a.mdx"] = mdxText + "\n<A>\n    one\n    - two\n      three\n\n    ```\n    four\n    ```\n</A>\n"
	all["a.php"] = "<?php return ['one\ntwo', <<<A\nthree\nA, \"a|b c\"];\n"
	all["a.ftl"] = "a = one\n    .style = two\n    .b =\n    three\n\n    four\n"
	all["a.html"] = "<p title=\"One\ntwo\">\nThree\nfour</p>\n"
	for file, text := range all {
		kind := kindOf(t, file)
		text = strings.ReplaceAll(text, windows, unix)
		for name, o := range map[string]document.Options{"to": {To: "fr"}, "only texts": {}} {
			if kind.Name == "xcstrings" {
				o.To = "fr"
			}
			want, err := rewritten(t, kind, text, o, upper(kind.Form))
			require.NoError(t, err, file)
			got, err := rewritten(t, kind, strings.ReplaceAll(text, unix, windows), o, upper(kind.Form))
			require.NoError(t, err, file)
			require.Equal(t, strings.ReplaceAll(want, unix, windows), got, "%s, %s", file, name)
		}
	}
}

// write returns a text in the encoding, with its byte order mark.
func (e encoding) write(t testing.TB, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := e.writer(&out)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.String()
}

// checkSegment checks a segment against the rules of package document.
func checkSegment(t *testing.T, form markup.Format, text string) {
	t.Helper()
	require.Equal(t, strings.TrimSpace(text), text)
	require.True(t, strings.ContainsFunc(text, unicode.IsLetter), "%q", text)
}

// Both passes over a document must be much faster than the engine, which translates some hundred segments per second.
func BenchmarkRewrite(b *testing.B) {
	for file, text := range corpus(b) {
		kind := kindOf(b, file)
		b.Run(filepath.Base(file), func(b *testing.B) {
			segments := 0
			for b.Loop() {
				_, err := rewritten(b, kind, text, document.Options{From: "en", To: "fr"}, func(text string) string {
					segments++
					return text + "x"
				})
				require.NoError(b, err)
			}
			b.ReportMetric(float64(segments)/b.Elapsed().Seconds(), "segments/s")
		})
	}
}
