package kinds_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/budget"
	"dragoman/app/document"
	"dragoman/app/document/archive/archivetest"
	"dragoman/app/document/kinds"
	"dragoman/app/guard/admission"
	"dragoman/app/text/lineartest"
	"dragoman/app/text/wrap"
)

// hostile has documents of a repeated unit, by kind: the start, the unit and the end. Documents under "" are tried with all
// kinds of text.
var hostile = map[string][][3]string{
	"": {
		{"", "a\n", ""}, {"", "a ", ""}, {"", "\n", ""}, {"", "a\r", ""}, {"", "\t", ""}, {"", "a,b;c\td|e\n", ""}, {"", `"`, ""}, {"", "'", ""}, {"", `\`, ""},
		{"", "<b>a</b>", ""}, {"", "<p>a", ""}, {"", "<", ""}, {"", "<a b='c'>", ""}, {"", "<!-- a", ""}, {"", "&amp;", ""}, {"", "]]>", ""}, {"", "[", ""}, {"", "(", ""},
		{"", "- a\n", ""}, {"", "> a\n", ""}, {"", ">", ""}, {"", "# a\n", ""}, {"", "* ", ""}, {"", "|a|b|\n", ""}, {"|a|b|\n|-|-|\n", "|a|b|\n", ""}, {"", "`a", ""}, {"", "[a](b) ", ""},
		{"", "a: b\n", ""}, {"", "- - a\n", ""}, {"a: |\n", "  b\n", ""}, {"a: >\n", "  b\n", ""}, {"", "{", ""}, {"", "? a\n: b\n", ""}, {"", "&a ", ""}, {"", "日", ""}, {"", "\xff", ""},
	},
	"srt":        {{"", "1\n00:00:01,000 --> 00:00:02,000\na\n\n", ""}, {"1\n00:00:01,000 --> 00:00:02,000\n", "a\n", ""}, {"", "00:00:01,000 --> 00:00:02,000\n", ""}, {"", "1\n00:00:01,000 --> 00:00:02,000\na,\n\n", ""}, {"1\n00:00:01,000 --> 00:00:02,000\n", "♪", "\na"}, {"1\n00:00:01,000 --> 00:00:02,000\n", "(a)\n", ""}, {"1\n00:00:01,000 --> 00:00:02,000\n<b>a", "</i>", "\n"}},
	"vtt":        {{"WEBVTT\n\n", "00:01.000 --> 00:02.000\na\n\n", ""}, {"WEBVTT\n\n00:01.000 --> 00:02.000\n", "a\n", ""}, {"WEBVTT\n\n", "NOTE a\n\n", ""}, {"WEBVTT\n\n00:01.000 --> 00:02.000\n", "<i>", ""}},
	"sbv":        {{"", "0:00:01.000,0:00:02.000\na\n\n", ""}, {"0:00:01.000,0:00:02.000\n", "[a] ", "\n"}, {"0:00:01.000,0:00:02.000\n", "AB: ", "a\n"}},
	"lrc":        {{"", "[00:12.00]a\n", ""}, {"", "[00:12.00]", "a\n"}, {"[00:12.00]", "<00:12.00>a", "\n"}},
	"csv":        {{"", "a,b\n", ""}, {"a", ",b", "\n"}, {`"`, "a\n", `"`}, {"", `"a""b",`, "\n"}},
	"json":       {{"[", `"a",`, `"b"]`}, {"{", `"a b":"c",`, `"k":"d"}`}, {`"`, "a b ", `"`}, {`"`, `\u0061`, `"`}, {"", `{"a":"b"}` + "\n", ""}},
	"yaml":       {{"a:\n", "  - b\n", ""}, {"a: \"", "b ", "\"\n"}, {"", "k: 'b'\n", ""}, {"", "- {a: b}\n", ""}, {"- ", "a\n  ", "\n"}, {"a: |\n", "  b\n\n", ""}, {"- |\n", "  b\n- |\n", "  c\n"}},
	"po":         {{"", "msgid \"a\"\nmsgstr \"\"\n\n", ""}, {"msgid \"\"\n", "\"a\"\n", "msgstr \"\"\n"}, {"", "# a\n", ""}, {"", "msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"\"\n\n", ""}},
	"properties": {{"", "a=b\n", ""}, {"a=", "b\\\n", "c\n"}, {"", "\\u0061=b\n", ""}, {"a=b", " {0}", "\n"}},
	"strings":    {{"", "\"a\" = \"b\";\n", ""}, {"", "/* a */\n", ""}, {"\"a\" = \"", "b ", "\";"}},
	"xliff": {
		{`<xliff version="1.2"><file source-language="en"><body>`, `<trans-unit id="1"><source>a</source></trans-unit>`, "</body></file></xliff>"},
		{`<xliff version="1.2"><file source-language="en"><body><trans-unit id="1"><source>`, `a<g id="1">b</g>`, "</source></trans-unit></body></file></xliff>"},
		{`<xliff version="1.2">`, `<file target-language="de"><trans-unit><source>a</source></trans-unit></file>`, "</xliff>"},
		{`<xliff version="1.2"><file><trans-unit><source>`, `{b&gt;a&lt;b}`, "</source></trans-unit></file></xliff>"},
		{`<xliff version="1.2"><file><trans-unit><source>a</source><seg-source><mrk mtype="seg" mid="1">b</mrk></seg-source><target>`, `<mrk mtype="seg" mid="1"/>`, "</target></trans-unit></file></xliff>"},
	},
	"resx": {{"<root>", `<data name="a"><value>b</value></data>`, "</root>"}, {`<root><data name="a"><value>`, "b<!-- -->", "</value></data></root>"}},
	"ts": {
		{"<TS><context>", "<message><source>a</source><translation/></message>", "</context></TS>"}, {"<TS><message><source>", "a<!-- -->", "</source><translation/></message></TS>"},
		{"<TS><message><source>a</source><translation>", "<numerusform/>", "</translation></message></TS>"},
	},
	"ttml": {
		{"<tt><body>", "<p>a<br/>b</p>", "</body></tt>"}, {"<tt><p>", "a<br/>", "</p></tt>"}, {"<tt><p>", "- a<br/>", "</p></tt>"}, {"<tt><p>", "<span>a</span> ", "</p></tt>"}, {"<tt><p>", "<p>a</p>", "</p></tt>"},
		{"<tt><p>a", "<br ", "</p></tt>"}, {"<tt><p>a", "<!--<br/>-->", "</p></tt>"}, {"<tt><p>", "a<br/><br/>", "</p></tt>"},
	},
	"ass": {
		{"[Events]\n", "Dialogue: 0,0,0,a,b,0,0,0,,c\\Nd\n", ""}, {"[Events]\nFormat: Text\nDialogue: ", `a\N`, ""}, {"[Events]\nFormat: Text\nDialogue: ", `{\i1}a`, ""}, {"[Events]\nFormat: Text\nDialogue: ", `- a\N`, ""}, {"[Events]\nFormat: Text\nDialogue: ", `a\N\N`, ""},
		{"[Events]\nFormat: Text\nDialogue: ", "{a", ""}, {"[Events]\nFormat: Text\nDialogue: ", `{a\N`, "}"}, {"[Events]\nFormat: Text\nDialogue: ", `{\p1\p0`, "}a"}, {"[Events]\n", "Format: Text\n", ""},
	},
	"markdown": {{"[a](#b)\n\n", "# b\n\n[a](#b)\n\n", ""}, {"[a]: b\n\n", "[a] ", ""}, {"[a](#b)\n", "[a]: #b\n", ""}, {"# b\n", "[a](#b) `", ""}, {"[a](#b)\n", "# b\n", ""}},
	"mdx": {
		{"", "<A>\n", "a\n"}, {"", "<A b='\n", "a\n"}, {"", "{a\n", ""}, {"", "<A b={a}> ", ""}, {"", "import a\n", ""}, {"", "{/*\n", ""}, {"export a\n\n", "{//\n\nexport a\n", "\n"}, {"", "<A/>\n\na\n\n", ""}, {"", "```\n", ""},
	},
	"eml": {
		{"", "a: b\n", ""}, {"Content-Type: a;", "\n b=c;", ""}, {"Content-Type: multipart/mixed; boundary=a\n\n", "--a\n\nb\n", ""}, {"", "Content-Type: multipart/mixed; boundary=a\n\n--a\n", ""},
		{"a: b\n\n", "c d\n", ""}, {"a: b\n\n", "> ", "c"}, {"Content-Transfer-Encoding: base64\n\n", "YSBi\n", ""}, {"Content-Type: text/html\n\n", "<p>a", ""},
	},
	"svg": {{"<svg>", "<text>a</text>", "</svg>"}, {"<svg><text>", "<tspan x='1'>a</tspan>", "</text></svg>"}, {"<svg><text>", "<title>a</title>", "</text></svg>"}, {"<svg>", "<text>a", ""}},
	"tmx": {{"<tmx><body>", "<tu><tuv xml:lang='en'><seg>a</seg></tuv></tu>", "</body></tmx>"}, {"<tmx><tu>", "<tuv><seg>a</seg></tuv>", "</tu></tmx>"}},
	"ftl": {{"", "a = b\n", ""}, {"a =\n", "  b\n", ""}, {"a = { $b ->\n", "  [c] d\n", "  }\n"}, {"a = b\n", "  { $c ->\n", ""}, {"a = b\n", "  .c = d\n", ""}},
	"php": {{"<?php return [", "'a b' => 'c d',", "];"}, {"<?php ", "[", ""}, {"<?php ", "/* a */", ""}, {"<?php ", "'\\'", ""}, {"<?php ['", "a ", "'];"}, {"<?php ", "/*", ""}, {"<?php [\"", `\$a`, "\"]"}},
	"ipynb": {
		{`{"cells":[`, `{"cell_type":"markdown","source":["a"]},`, `{"cell_type":"raw"}]}`}, {`{"cells":[{"cell_type":"markdown","source":[`, `"a\n",`, `"a"]}]}`},
		{`{"cells":[{"cell_type":"markdown","source":"`, `a\n\n`, `"}]}`}, {`{"cells":[{"cell_type":"code","outputs":[`, `"a",`, `"b"]}]}`},
	},
	"android":     {{"<resources>", `<string name="a">b</string>`, "</resources>"}, {`<resources><string name="a">`, "b <b>c</b>", "</string></resources>"}, {`<resources><string-array name="a">`, "<item>b</item>", "</string-array></resources>"}},
	"plist":       {{`<plist version="1.0"><dict>`, "<key>FooterText</key><string>b</string>", "</dict></plist>"}},
	"stringsdict": {{`<plist version="1.0"><dict>`, "<key>a</key><dict><key>NSStringLocalizedFormatKey</key><string>b</string></dict>", "</dict></plist>"}},
	"xcstrings":   {{`{"sourceLanguage":"en","strings":{`, `"a b":{},`, `"c":{}}}`}},
	"html": {{"<html><body>", "<p>a</p>", "</body></html>"}, {"<p>", "<b>a</b> ", "</p>"}, {"", "<div>", ""}, {"", "<img alt='a'>", ""}, {"<table>", "<tr><td>a", ""},
		{"", "<noscript><p>a</p></noscript>", ""}, {"", "<template>a", ""}, {"", "<svg><text>a</text></svg>", ""}, {"", "<svg>", ""}, {"<p>", "<i lang='x'>a</i> ", "</p>"}, {"", "<p lang='x'>a</p>", ""}, {"", "<template><noscript>", "</noscript></template>"}},
	"docx": {
		{"", "<w:p><w:r><w:t>Good day</w:t></w:r></w:p>", ""}, {"", "<w:p/>", ""}, {"<w:p>", "<w:r><w:t>a</w:t></w:r>", "</w:p>"}, {"<w:p>", "<w:r><w:t>a</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>b</w:t></w:r>", "</w:p>"},
		{"<w:p>", "<w:r><w:br/><w:t>a</w:t></w:r>", "</w:p>"}, {"<w:p>", `<w:hyperlink><w:r><w:t>a</w:t></w:r></w:hyperlink>`, "</w:p>"}, {"<w:p>", `<w:bookmarkStart w:id="1" w:name="x"/><w:r><w:t>a</w:t></w:r><w:bookmarkEnd w:id="1"/>`, "</w:p>"},
		{"<w:p>", `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>X</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:t>a</w:t></w:r>`, "</w:p>"},
		{"", "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc></w:tr></w:tbl>", ""}, {"<w:p><w:r><w:t>", "a ", "</w:t></w:r></w:p>"}, {"", "<w:x>", ""}, {"", "<!-- a -->", ""}, {"", "a", ""},
	},
	"xlsx": {{"<sst>", "<si><t>a</t></si>", "</sst>"}, {"<sst>", "<si><r><t>a</t></r><r><rPr><b/></rPr><t>b</t></r></si>", "</sst>"}, {"<sst><si>", "<r><t>a</t></r>", "</si></sst>"}, {"<sst>", "<si><t/></si>", "</sst>"}},
	"pptx": {{"<p:sld>", "<a:p><a:r><a:t>a</a:t></a:r></a:p>", "</p:sld>"}, {"<p:sld><a:p>", "<a:r><a:t>a</a:t></a:r><a:br/>", "</a:p></p:sld>"}, {"<p:sld><a:p>", "<a:fld><a:t>a</a:t></a:fld>", "</a:p></p:sld>"}},
	"odt": {
		{"", "<text:p>a</text:p>", ""}, {"<text:p>", "<text:span>a</text:span>", "</text:p>"}, {"<text:p>", "a<text:s/>", "</text:p>"}, {"<text:p>", "a<text:line-break/>", "</text:p>"},
		{"<text:p>", `<text:bookmark-start text:name="x"/>a<text:bookmark-end text:name="x"/>`, "</text:p>"}, {"<text:p>", "<text:note><text:p>a</text:p></text:note>b", "</text:p>"}, {"<text:p>", `<text:a href="x">a</text:a>`, "</text:p>"},
		{"", `<style:style style:name="a"><style:text-properties/></style:style>`, ""},
	},
	"ods":  {{"", "<table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row>", ""}, {"", `<table:table-cell table:formula="of:=&quot;a&quot;"><text:p>a</text:p></table:table-cell>`, ""}},
	"odg":  {{"", "<draw:page><draw:frame><text:p>a</text:p></draw:frame></draw:page>", ""}},
	"fodt": {{"", "<text:p>a</text:p>", ""}, {"<text:p>", "<text:span>a</text:span>", "</text:p>"}, {"", "<style:master-page><draw:frame/></style:master-page>", ""}},
	"fods": {{"", "<table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row>", ""}},
	"fodp": {{"", "<draw:page><text:p>a</text:p></draw:page>", ""}},
	"odp":  {{"", "<draw:page><text:p>a</text:p></draw:page>", ""}},
	"epub": {{"", "<p>a</p>", ""}, {"<p>", "<b>a</b> ", "</p>"}, {"<p>", "a<br/>", "</p>"}, {"", "<div>", ""}, {"", "<img alt='a'/>", ""}},
}

// packed returns a package of a kind whose text is some XML.
func packed(t testing.TB, name, text string) []byte {
	const types = `<Types><Override PartName="/%s" ContentType="application/vnd.openxmlformats-officedocument.%s+xml"/><Override PartName="/%s" ContentType="application/vnd.openxmlformats-officedocument.%s+xml"/></Types>`
	ooxml := func(main, mainType, part, partType, open, end string) []byte {
		entries := []archivetest.Entry{{Name: "[Content_Types].xml", Content: fmt.Sprintf(types, main, mainType, part, partType)}, {Name: part, Content: open + text + end}}
		if part != main {
			entries = append(entries, archivetest.Entry{Name: main, Content: "<a/>"})
		}
		return archivetest.Zip(t, entries...)
	}
	switch name {
	case "docx":
		const main = "wordprocessingml.document.main"
		return ooxml("word/document.xml", main, "word/document.xml", main, `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>`, "</w:body></w:document>")
	case "xlsx":
		text = strings.Replace(text, "<sst>", `<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">`, 1)
		return ooxml("xl/workbook.xml", "spreadsheetml.sheet.main", "xl/sharedStrings.xml", "spreadsheetml.sharedStrings", "", "")
	case "pptx":
		text = strings.Replace(text, "<p:sld>", `<p:sld xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main">`, 1)
		return ooxml("ppt/presentation.xml", "presentationml.presentation.main", "ppt/slides/slide1.xml", "presentationml.slide", "", "")
	case "epub":
		return archivetest.Zip(t, archivetest.Entry{Name: "mimetype", Content: "application/epub+zip"},
			archivetest.Entry{Name: "META-INF/container.xml", Content: `<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="p.opf"/></rootfiles></container>`},
			archivetest.Entry{Name: "p.opf", Content: `<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>`},
			archivetest.Entry{Name: "a.xhtml", Content: `<html xmlns="http://www.w3.org/1999/xhtml"><body>` + text + "</body></html>"})
	}
	media := map[string]string{"odt": "text", "ods": "spreadsheet", "odp": "presentation", "odg": "graphics"}[strings.Replace(name, "fod", "od", 1)]
	const spaces = "urn:oasis:names:tc:opendocument:xmlns:"
	if name[0] == 'f' {
		return []byte(`<office:document office:mimetype="application/vnd.oasis.opendocument.` + media + `" xmlns:office="` + spaces + `office:1.0" xmlns:text="` + spaces + `text:1.0" xmlns:table="` + spaces + `table:1.0" xmlns:draw="` + spaces +
			`drawing:1.0" xmlns:style="` + spaces + `style:1.0"><office:body>` + text + "</office:body></office:document>")
	}
	return archivetest.Zip(t, archivetest.Entry{Name: "mimetype", Content: "application/vnd.oasis.opendocument." + media},
		archivetest.Entry{Name: "content.xml", Content: `<office:document-content xmlns:office="` + spaces + `office:1.0" xmlns:text="` + spaces + `text:1.0" xmlns:table="` + spaces + `table:1.0" xmlns:draw="` + spaces +
			`drawing:1.0" xmlns:style="` + spaces + `style:1.0"><office:body>` + text + "</office:body></office:document-content>"})
}

// ways returns the two passes over a document: the reading of its texts and the writing of their translations. Refused documents
// are no errors.
func ways(k *document.Kind, file []byte, found *int) []func(ctx context.Context) error {
	in, size := bytes.NewReader(file), int64(len(file))
	return []func(ctx context.Context) error{
		func(ctx context.Context) error {
			return unless(document.Texts(ctx, k, in, size, document.Options{}, func(string, bool) error { *found++; return nil }))
		},
		func(ctx context.Context) error {
			_, err := document.Put(ctx, io.Discard, k, in, size, document.Options{To: "fr"}, func(text string) (string, error) { return archivetest.Upper(text), nil })
			return unless(err)
		},
	}
}

// unless returns an error, or nil if it refuses the document.
func unless(err error) error {
	if _, refused := errors.AsType[*document.Error](err); refused {
		return nil
	}
	return err
}

func isText(k *document.Kind) bool {
	return !strings.HasPrefix(k.MediaType, "application/vnd.o") && k.Name != "epub"
}

// each calls do for each kind and hostile document.
func each(do func(k *document.Kind, unit string, file func(t testing.TB, size int) []byte)) {
	for _, k := range kinds.All() {
		units := hostile[k.Name]
		if isText(k) {
			units = append(units[:len(units):len(units)], hostile[""]...)
		}
		for _, u := range units {
			do(k, fmt.Sprintf("%s of %q", k.Name, u[1]), func(t testing.TB, size int) []byte {
				text := u[0] + strings.Repeat(u[1], size/len(u[1])) + u[2]
				if isText(k) {
					return []byte(text)
				}
				return packed(t, k.Name, text)
			})
		}
	}
}

// Both passes over any document are linear in its size.
func TestWorkIsLinear(t *testing.T) {
	counted := lineartest.New(t)
	const part, whole = 1 << 13, 1 << 16
	each(func(k *document.Kind, unit string, file func(t testing.TB, size int) []byte) {
		files := map[int][]byte{part: file(t, part), whole: file(t, whole)}
		counted.Assert(unit, strings.Repeat(" ", part), strings.Repeat(" ", whole), func(text string) {
			for _, way := range ways(k, files[len(text)], new(int)) {
				require.NoError(t, way(t.Context()))
			}
		})
	})
}

// Repeated output is bounded: no document becomes one of its size squared.
func TestResultsAreNoLargerThanTheirTexts(t *testing.T) {
	const size = 1 << 17
	spaces := strings.Repeat(" ", size)
	for name, text := range map[string]string{
		"a.po":     "msgid \"" + strings.Repeat("some words ", size/11) + "\"\n" + strings.Repeat("msgstr \"\"\n", size/10),
		"forms.po": "msgid \"" + strings.Repeat("some words ", size/11) + "\"\nmsgid_plural \"some words\"\n" + strings.Repeat("msgstr[0] \"\"\nmsgstr[1] \"\"\n", size/26),
		"a.md":     "a\n" + spaces + "b\n" + strings.Repeat("c\n", size/2),
		"a.txt":    "a\n" + spaces + "b\n" + strings.Repeat("c\n", size/2),
		"a.yaml":   "a: >\n" + strings.Repeat(spaces[:size/16]+"b\n", 100),
		"a.ipynb":  `{"cells":[{"cell_type":"markdown","source":[` + spaces + `"a b\n",` + spaces + `"` + strings.Repeat(`c\n\n`, size/5) + `"]}]}`,
		"a.ass":    "[Events]\nFormat: Text\nDialogue: a" + strings.Repeat(`\N`, size/4) + strings.Repeat(`b\N`, size/3),
		"a.ttml":   "<tt><p>a<br" + spaces + "/>b" + strings.Repeat("<br/>c", size/6) + "</p></tt>",
		"a.srt":    "1\n00:00:01,000 --> 00:00:02,000\na\n" + spaces + "b\n" + strings.Repeat("c\n", size/2),
	} {
		k, err := kinds.Find(name, "", []byte(text))
		require.NoError(t, err)
		var out strings.Builder
		_, err = document.Put(t.Context(), &out, k, strings.NewReader(text), int64(len(text)), document.Options{Wrapped: wrap.On},
			func(text string) (string, error) { return archivetest.Upper(text), nil })
		require.NoError(t, err, name)
		assert.NotEqual(t, text, out.String(), name)
		assert.Less(t, out.Len(), 4*len(text), name)
	}
}

// All work on a document is counted, so that it can be charged: at least its unpacked size, or for a refused document all work
// until then.
func TestWorkIsCounted(t *testing.T) {
	const size = 1 << 12
	read := 0
	each(func(k *document.Kind, unit string, file func(t testing.TB, size int) []byte) {
		found := 0
		for _, way := range ways(k, file(t, size), &found) {
			counted, err := admission.NewTurns().Do(t.Context(), "", way) // new turns have no earlier work, so nothing waits
			require.NoError(t, err)
			if found > 0 {
				read++
				assert.GreaterOrEqual(t, counted, int64(size*9/10), unit)
				assert.Less(t, counted, int64(3*size), unit)
			}
		}
	})
	assert.Greater(t, read, 300)
}

// A package with too many texts is read only as far as its first texts and the next read of unpacked bytes. A page of a book,
// whose size is bounded, is read as a whole; a sheet of ods is first read once for formulas.
func TestRefusedDocumentsAreNotReadToTheirEnd(t *testing.T) {
	const size, enough = 1 << 20, 10
	tooMany := errors.New("too many")
	for _, k := range kinds.All() {
		if !strings.HasPrefix(k.MediaType, "application/vnd.o") || strings.HasSuffix(k.Name, "ods") {
			continue
		}
		unit := hostile[k.Name][0]
		file := packed(t, k.Name, unit[0]+strings.Repeat(unit[1], size/len(unit[1]))+unit[2])
		found := 0
		read, err := admission.NewTurns().Do(t.Context(), "", func(ctx context.Context) error {
			return document.Texts(ctx, k, bytes.NewReader(file), int64(len(file)), document.Options{}, func(string, bool) error {
				if found++; found > enough {
					return tooMany
				}
				return nil
			})
		})
		assert.ErrorIs(t, err, tooMany, k.Name)
		assert.Less(t, read, int64(size/8), k.Name)
	}
}

// The unpacked contents of a small package take memory of the request, and free it: a paragraph, a page of a book, the texts of
// formulas that must stay.
func TestUnpackedMemoryIsTaken(t *testing.T) {
	const size = 1 << 20
	formulas := func(n int) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, `<table:table-cell table:formula="of:=&quot;%d&quot;"/>`, i)
		}
		return text.String()
	}
	open := map[string]string{"docx": "<w:p>", "pptx": "<a:p>", "odt": "<text:p>", "xlsx": "<si>"}
	for _, k := range kinds.All() {
		for _, unit := range hostile[k.Name] {
			text := func(size int) string { return unit[0] + strings.Repeat(unit[1], size/len(unit[1])) + unit[2] }
			switch {
			case k.Name == "ods":
				text = func(size int) string { return formulas(size / 50) }
			case k.Name != "epub" && (open[k.Name] == "" || !strings.HasSuffix(unit[0], open[k.Name])):
				continue
			}
			for size, fits := range map[int]bool{size / 64: true, size: false} {
				memory := admission.New(2 << 20)
				lease := memory.Lease("a")
				file := packed(t, k.Name, text(size))
				err := document.Texts(admission.With(t.Context(), lease), k, bytes.NewReader(file), int64(len(file)), document.Options{}, func(string, bool) error { return nil })
				if _, isRefused := errors.AsType[*document.Error](err); fits && !isRefused {
					assert.NoError(t, err, "%s of %q", k.Name, unit[1])
				} else if !fits {
					assert.ErrorIs(t, err, budget.ErrFull, "%s of %q", k.Name, unit[1])
				}
				assert.Zero(t, memory.InUse(), "%s of %q", k.Name, unit[1])
			}
		}
	}
}

// The texts of package lineartest are also documents, each of a kind of text.
func TestTimeIsLinear(t *testing.T) {
	timed := lineartest.NewTimed(t)
	assert := func(k *document.Kind, what string, file func(size int) string) {
		timed.Assert(what, file, func(file string) {
			for _, way := range ways(k, []byte(file), new(int)) {
				require.NoError(t, way(t.Context()))
			}
		})
	}
	var texts []*document.Kind
	each(func(k *document.Kind, unit string, file func(t testing.TB, size int) []byte) {
		if isText(k) && !slices.Contains(texts, k) {
			texts = append(texts, k)
		}
		assert(k, unit, func(size int) string { return string(file(t, size)) })
	})
	i := 0
	for what, text := range lineartest.Texts("a\n", "- ", "  a\n", "a: b\n", "| a ", "<a>", "=\n") {
		k := texts[i%len(texts)]
		assert(k, k.Name+" of "+what, text)
		i++
	}
}
