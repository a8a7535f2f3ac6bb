package textfile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
	"dragoman/app/text/markup"
)

// Unreadable files are refused, with advice.
func TestRefused(t *testing.T) {
	deep := strings.Repeat
	for _, c := range []struct{ kind, text, reason string }{
		{"txt", "\xff\xfeA", "not valid UTF-16"},
		{"txt", "\xff\xfe\x00\xd8A\x00", "not valid UTF-16"},
		{"txt", "caf\xe9", "save it as UTF-8"},
		{"txt", "h\x00i\x00", "not text"},
		{"markdown", deep("> ", 200) + "deep", "deeper than 100"},
		{"srt", "just a text", "times of a subtitle"},
		{"vtt", "1\n00:00.000 --> 00:01.000\nHello", "WEBVTT"},
		{"csv", "a,\"b\nc", "not closed"},
		{"csv", "a,\"b\"c", "double the quotes"},
		{"json", `{"a": "b",}`, "from line 1 on"},
		{"json", "{\n\"a\": // comment\n\"b\"}", "from line 2 on"},
		{"json", deep("[", 600) + deep("]", 600), "deeper than 500"},
		{"yaml", "a: [b", "cannot be read"},
		{"yaml", deep("[", 600) + "a" + deep("]", 600), "deeper than 500"},
		{"po", "msgid \"a\nmsgstr \"\"", "line 1"},
		{"po", "# x\n\"text\"", "no keyword"},
		{"po", "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=KOI8-R\\n\"\n", "msgconv"},
		{"xliff", "<xliff version='1.2'>", "cannot be read"},
		{"xliff", "<resources/>", "no XLIFF"},
		{"xliff", "", "no XLIFF"},
		{"xliff", `<!DOCTYPE xliff [<!ENTITY a "b">]><xliff/>`, "declares entities"},
		{"xliff", `<?xml version="1.0" encoding="ISO-2022-JP"?><xliff/>`, "the XML is in ISO-2022-JP: save it as UTF-8"},
		{"xliff", "\xEF\xBB\xBF<?xml version='1.0' encoding='ISO-8859-1'?><xliff/>", "save it as UTF-8"},
		{"xliff", "<?xml version='1.0' encoding='windows-1253'?><xliff a='\xd2'/>", "not valid Windows 1253: save it as UTF-8"},
		{"xliff", "<?xml version='1.0' encoding='us-ascii'?><xliff a='\xd2'/>", "not valid US-ASCII: save it as UTF-8"},
		{"xliff", "<?xml version='1.0' encoding='Shift_JIS'?><xliff a='\x81'/>", "not valid Shift JIS: save it as UTF-8"},
		{"xliff", `<xliff version="1.2">` + deep("<group>", 600) + deep("</group>", 600) + "</xliff>", "deeper than 500"},
		{"android", "<plist/>", "root element is not resources"},
		{"android", "<resources><string>&nope;</string></resources>", "cannot be read"},
		{"stringsdict", "<resources/>", "root element is not plist"},
		{"resx", "<resources/>", "root element is not root"},
		{"ipynb", `{"cells":[]}{}`, "goes on behind its end"},
		{"ts", "<TS>", "cannot be read"},
		{"ts", "<xliff/>", "root element is not TS"},
		{"ts", "<TS><context>\n<message><source>a</source><translation>" + deep("<numerusform/>", 11) + "</translation></message></context></TS>", "line 2 has more than 10 forms"},
		{"ttml", "<p/>", "root element is not tt"},
		{"ttml", "<tt><p>&nbsp;</p></tt>", "cannot be read"},
		{"ass", "Dialogue: 0,0,0,a,b,0,0,0,,Text", "no section [Events]"},
		{"ass", "[Events]\nFormat: Text, Start, End\n", "not Text in line 2"},
		{"ipynb", `{"worksheets":[]}`, "nbconvert"},
		{"ipynb", "[]", "nbconvert"},
		{"ipynb", `"a"`, "an object or a list"},
		{"ipynb", `{"cells":[{"cell_type":"markdown","source":["a"`, "cannot be read"},
		{"ipynb", "{\"cells\":[\n{\"cell_type\":\"markdown\",\"source\":[1]}]}", "line 2 is no text"},
		{"ipynb", `{"cells":[{"cell_type":"markdown","source":"` + deep("> ", 200) + `deep"}]}`, "deeper than 100"},
		{"strings", `"a" "b";`, "line 1"},
		{"strings", `"a" = "b"`, "a ; after the value"},
		{"strings", "\"a\" = {\n};", "a text in quotes"},
		{"strings", "/* open", "not closed"},
	} {
		_, err := segments(t, kindNamed(t, c.kind), c.text, document.Options{})
		if assert.Error(t, err, "%s %.40q", c.kind, c.text) {
			requireRefused(t, err)
			assert.ErrorContains(t, err, c.reason, "%s %.40q", c.kind, c.text)
		}
	}
}

// The first row of a table stays if it looks like names in a program, or if the options say so.
func TestHeader(t *testing.T) {
	for _, c := range []struct {
		text   string
		header document.Header
		kept   bool
		told   bool
	}{
		{"id,text\n1,Hello there\n", "", true, true},
		{"id,first_name,zipCode,a.b,c-d\n1,Ann,2,Hello there,x\n", document.HeaderAuto, true, true},
		{"\"id\";\"text\"\r\n1;\"Hello; there\"\r\n", "", true, true},
		{"id\ttext\n1\tHello there\n", "", true, true},
		{"sep=;\nid;text\n1;Hello there\n", "", true, true},
		{"id,text\n1,Hello there\n", document.HeaderTranslate, false, false},
		{"Name,Text\n1,Hello there\n", document.HeaderKeep, true, false},
		{"Name,Text\n1,Hello there\n", "", false, false},
		{"id,the text\n1,Hello there\n", "", false, false},
		{"text,text\n1,Hello there\n", "", false, false},
		{"id,\n1,Hello there\n", "", false, false},
		{"été,text\n1,Hello there\n", "", false, false},
		{"text\nHello there\n", "", false, false},
		{"cat,dog\nhouse,tree\nA car,x\n", "", false, false},
		{"id,text\n", "", false, false},
		{"id,text", "", false, false},
	} {
		told := false
		o := document.Options{Header: c.header, HeaderKept: func() { told = true }}
		first, _, _ := strings.Cut(strings.TrimPrefix(c.text, "sep=;\n"), "\n")
		got, err := segments(t, kindNamed(t, "csv"), c.text, o)
		require.NoError(t, err)
		kept := true
		for _, s := range got {
			kept = kept && !strings.Contains(first, s)
		}
		assert.Equal(t, c.kept, kept, "%q: %q", c.text, got)
		assert.Equal(t, c.told, told, c.text)
	}
	_, err := segments(t, kindNamed(t, "csv"), "id,text\n1,\"open", document.Options{})
	requireRefused(t, err)
}

// The segments of small documents, and the translated documents.
func TestSegments(t *testing.T) {
	for name, c := range map[string]struct {
		kind, text string
		want       []string
	}{
		"empty":                            {"txt", "", nil},
		"no letters":                       {"txt", "1 + 2\n---\n", nil},
		"old line ends":                    {"txt", "one\rtwo", []string{"one", "two"}},
		"comment of TOML":                  {"markdown", "+++\ntitle = 'x'\n+++\nText", []string{"Text"}},
		"Japanese lines":                   {"markdown", "これは\n文です。", []string{"これは文です。"}},
		"formula":                          {"markdown", "See\n$$\nx = y\n$$\nabove.", []string{"See", "above."}},
		"quotation in a list":              {"markdown", "- > one\n  > two", []string{"one two"}},
		"code between tags of templates":   {"markdown", "{% highlight ruby %}\nputs it\n\nputs that\n{% endhighlight %}\nOne\n\n  {{< highlight go >}}\nputs it\n{{< /highlight >}}\n\n{% raw %}\nTwo {% endraw %} {{< highlight go >}}x y{{< /highlight >}}\n", []string{"One"}},
		"paragraphs of a footnote":         {"markdown", "One[^a]\n\n[^a]: Two\n    three\n\n    Four\n\n    - Five\n\n[^b]:\n    Six\n", []string{"One[^a]", "Two three", "Four", "Five", "Six"}},
		"blocks of HTML":                   {"markdown", "<details>\n<summary>One <!-- x --></summary>\n\nTwo\n\n</details>\n\n> <p>\n> three\n> </p>\n\n<pre>four\n\nfive</pre>\n\n<p><img src=a alt=\"six\"><code>x y</code></p>\n\n<script>\nlet seven = 'eight nine'\n</script>\n", []string{"One <!-- x -->", "Two"}},
		"abbreviations":                    {"markdown", "*[HTML]: Hypertext of the web\n", []string{"Hypertext of the web"}},
		"attributes of a block":            {"markdown", "One\n{: .a #b }\n\n1. Two\n{ .annotate }\n\n# Three\n{:toc}\n{name} four\n", []string{"One", "Two", "Three", "{name} four"}},
		"lines of pandoc":                  {"markdown", "% One\n% Two\n\n| Three\n|   four\n\n(@) Five\n(@a) six\nseven\n\n+---+\n| x |\n+===+\n\nEight\n+---+\n| y |\n+===+\n", []string{"One", "Two", "Three", "four", "Five", "six", "seven", "Eight"}},
		"containers with content":          {"markdown", "One\n!!! note \"Two\"\n\n    Three\n\n    - four\n\n            code here\n    !!! tip\n        Five\n=== \"Six\"\n    Seven\n\nEight\n??? danger \"\"\n=== Nine\n", []string{"One", "Two", "Three", "four", "Five", "Six", "Seven", "Eight", "=== Nine"}},
		"cue in another language":          {"vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nOne <lang fr>un</lang>\n\n00:02.000 --> 00:03.000\n<lang fr>deux</lang>\n", []string{"One <lang fr>un</lang>", "<lang fr>deux</lang>"}},
		"times of words":                   {"lrc", "[00:01.00] <00:01.00> One <00:02.00> two\n", []string{"One <00:02.00> two"}},
		"ids of messages":                  {"yaml", "- id: home\n  translation: One\n- id: Two\n", []string{"One", "Two"}},
		"text over lines of PHP":           {"php", "<?php return ['a' => <<<'X'\nit's 'x', \"\n  X, 'b' => 'One', 'c' => <<<Y\n it's" + "\n Y . 'z', 'd' => 'Two'];", []string{"One", "Two"}},
		"items of Fluent":                  {"ftl", "a = One:\n    - two\n      three\n    {\"*\"} four\n    {\"[\"}5] six\n    1. seven\n", []string{"One:", "- two three", `{"*"} four`, `{"["}5] six`, "1. seven"}},
		"paragraphs of Fluent":             {"ftl", "a =\n    One\n    two\n\n    three\n", []string{"One two", "three"}},
		"breaks in a line of SBV":          {"sbv", "0:00:01.000,0:00:02.000\nOne[br]two\n\n0:00:03.000,0:00:04.000\n[br]Three[br][br]- Four[br]five\n", []string{"One two", "Three", "Four five"}},
		"cue with three speakers":          {"srt", "1\n00:00:01,000 --> 00:00:02,000\n- Yes.\n-No.\n>> Well,\nwell.", []string{"Yes.", "No.", "Well, well."}},
		"cues without an empty line":       {"srt", "1\n00:00:01,000 --> 00:00:02,000\nOne\n2\n00:00:03,000 --> 00:00:04,000\nTwo", []string{"One", "Two"}},
		"cue with an empty line":           {"srt", "1\n00:00:01,000 --> 00:00:02,000\nOne\n\nmore", []string{"One", "more"}},
		"note of WebVTT":                   {"vtt", "WEBVTT\n\nNOTE x\ny\n\n00:01.000 --> 00:02.000\nText", []string{"Text"}},
		"tabs":                             {"csv", "Some words\tb, c\n", []string{"Some words", "b, c"}},
		"comments before a table":          {"csv", "# Comment, of b\nSome words\tb, c\n", []string{"# Comment, of b", "Some words", "b, c"}},
		"quoted line ends":                 {"csv", "x,\"one\r\ntwo\"\r\n", []string{"x", "one\r\ntwo"}},
		"codes in a table":                 {"tsv", "https://a.b/c\tfile_name\tText here", []string{"Text here"}},
		"description of a message":         {"json", `{"a":{"message":"One","description":"Two","placeholders":{"x":{"content":"$1","example":"Three words"}}},"b":{"description":"Four"}}`, []string{"One"}},
		"description that is shown":        {"json", `{"a":{"title":"One","description":"Two"}}`, []string{"One", "Two"}},
		"values of Rails":                  {"yaml", "en:\n  date:\n    order: [ :year, :month ] # x: y\n    a: One\n  number:\n    round_mode: default one\n  order:\n    - year\n  a:\n    order: Your order\n", []string{"One", "Your order"}},
		"strings side by side":             {"po", "msgid \"a \\\"\"\"b\" \"c\"\nmsgstr \"\"\"\"\n", []string{"a \"bc"}},
		"a description of ARB":             {"json", `{"a":"One","@a":{"x":["Two"],"y":"Three"},"b":"Four"}`, []string{"One", "Four"}},
		"values behind each other":         {"json", "{\"a\":\"One\"}\n{\"a\":\"Two\"}\n", []string{"One", "Two"}},
		"same name twice":                  {"json", `{"a":"One","a":"Two"}`, []string{"One", "Two"}},
		"documents of YAML":                {"yaml", "a: One\n---\nb: Two\n...\n", []string{"One", "Two"}},
		"tag and anchor":                   {"yaml", "a: !!str &x 'One two'\nb: *x\n", []string{"One two"}},
		"value on the next line":           {"yaml", "a: &x\n  One two\n", []string{"One two"}},
		"words that are no strings to all": {"yaml", "a: yes\nb: 'Yes'\n", []string{"Yes"}},
		"keys":                             {"yaml", "? Long key\n: Value\n", []string{"Value"}},
		"plain line ends":                  {"yaml", "a: One\n\n\n  two\n  three\n", []string{"One\n\ntwo three"}},
		"indentation that is given":        {"yaml", "a:\n  b: |2\n      One\n    two\n  c: Three\n", []string{"One", "two", "Three"}},
		"comment behind":                   {"yaml", "a: One # two\nb: >- # three\n  four\n  five\n", []string{"One", "four five"}},
		"separators that count as breaks":  {"yaml", "a: \"x\u2028y\"\nb: Two\n", []string{"x y", "Two"}},
		"languages without plural":         {"po", "msgid \"%d file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"\"\n", []string{"%d files"}},
		"lines of a catalogue":             {"po", "msgid \"\"\n\"One \"\n\"two\"\nmsgstr \"\"\n", []string{"One two"}},
		"entries without an empty line":    {"po", "msgid \"One\"\nmsgstr \"\"\nmsgid \"Two\"\nmsgstr \"\"\n", []string{"One", "Two"}},
		"octal and x":                      {"strings", `"a" = "A\101\x41 \U00e9t\u00e9";`, []string{"AAA été"}},
		"separator of properties":          {"properties", "a\\:b : One\nc\\ d  Two\ne=\n f = Th\\\n  ree\n", []string{"One", "Two", "Three"}},
		"surrogates":                       {"properties", `a=Hi \ud83d\ude00`, []string{"Hi 😀"}},
		"ISO 8859-1":                       {"properties", "a=Caf\xe9 noir", []string{"Café noir"}},
		"MessageFormat":                    {"properties", "a=It''s {0}\nb=It''s one\nc='{'{0} it''s", []string{"It's {0}", "It's one", "'{'{0} it's"}},
		"number of a character":            {"android", `<resources><string name="a">Caf\u00e9\u0020x \u2014</string></resources>`, []string{`Café\u0020x —`}},
		"items that are strings":           {"android", `<resources><item type="string" name="a">One</item><item type="id" name="b">two</item></resources>`, []string{"One"}},
		"arrays that stay":                 {"android", `<resources><string-array translatable="false"><item>One</item></string-array><string name="b">Two</string></resources>`, []string{"Two"}},
		"section beside text":              {"android", `<resources><string name="a">One <![CDATA[<b>]]></string></resources>`, []string{"One &lt;b&gt;"}},
		"resources of a form":              {"resx", `<root><data name=">>a.Name"><value>a button</value></data><data name="a.Name"><value>a button</value></data><data name="a.Text"><value>One</value></data></root>`, []string{"One"}},
		"resources of no form":             {"resx", `<root><data name="a.Name"><value>One</value></data><data name="b"><value><![CDATA[Two < three]]></value></data></root>`, []string{"One", "Two < three"}},
		"resources with more in them":      {"resx", `<root><data name="a"><value>One <b>two</b> three</value></data><data name="b"><value>Four<!-- five --></value></data></root>`, nil},
		"translation before its source":    {"ts", `<TS><context><message><translation/><source>One</source></message></context></TS>`, []string{"One"}},
		"message in a message":             {"ts", `<TS><message><source>One</source><message><source>Two</source><translation/></message><translation/></message></TS>`, []string{"Two"}},
		"forms that stand elsewhere":       {"ts", `<TS><message><x><translation><numerusform/></translation></x><source>One</source><translation/></message></TS>`, []string{"One"}},
		"paragraphs in a caption":          {"ttml", `<tt><body><p>One<p>two</p><br/>three</p><p>Four</p></body></tt>`, []string{"One<p>two</p> three", "Four"}},
		"breaks that are none":             {"ttml", `<tt><p>One <!-- two<br/>three --><![CDATA[<br/>]]><br/>four</p></tt>`, []string{"One <!-- two<br/>three -->&lt;br/&gt; four"}},
		"empty lines of a caption":         {"ttml", `<tt><p><br/>One<br/><br/> <br/>two<br/>three<br/></p></tt>`, []string{"One", "two three"}},
		"empty lines of an event":          {"ass", "[Events]\nFormat: Text\nDialogue: \\NOne\\N\\Ntwo\\Nthree\\N", []string{"One", "two three"}},
		"caption with a prefix":            {"ttml", `<t:tt xmlns:t="http://www.w3.org/ns/ttml"><t:p>One<t:br/>two</t:p></t:tt>`, []string{"One two"}},
		"fields of events":                 {"ass", "[Events]\nFormat: Start, Text\nDialogue: 0,One, two\n[Fonts]\nDialogue: 0,three\n", []string{"One, two"}},
		"too few fields":                   {"ass", "[Events]\nDialogue: 0,One\n", nil},
		"brace without its other one":      {"ass", "[Events]\nFormat: Text\nDialogue: One {two", []string{"One {two"}},
		"drawing over lines":               {"ass", "[Events]\nFormat: Text\nDialogue: {\\p1}m 0\\Nl 1{\\p0}One\\N- {\\p2}m 0 0", []string{"One"}},
		"other cells":                      {"ipynb", `{"cells":[{"cell_type":"raw","source":"One"},{"source":["Two"],"cell_type":"markdown"},{"cell_type":"markdown","source":[]},{"cell_type":"markdown"}],"nbformat":4}`, []string{"Two"}},
		"group that stays":                 {"xliff", `<xliff version="1.2"><file><group translate="no"><trans-unit><source>One</source></trans-unit><trans-unit translate="yes"><source>Two</source></trans-unit></group></file></xliff>`, []string{"Two"}},
	} {
		got, err := segments(t, kindNamed(t, c.kind), c.text, document.Options{})
		require.NoError(t, err, name)
		want := c.want
		if name == "separators that count as breaks" {
			want = got // the error of YAML's reader for the first
			require.Equal(t, "Two", got[len(got)-1])
		}
		assert.Equal(t, want, got, name)
	}
}

// Elements of a cue in another language stay; those in the source's get the target's. Angular names the language.
func TestLanguagesOfParts(t *testing.T) {
	for _, c := range [][3]string{
		{"vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\none <lang.a fr>un <b>deux</b></lang>\n<lang en-GB>two</lang> <lang fr>trois</lang>\n", "WEBVTT\n\n00:01.000 --> 00:02.000\nONE <lang.a fr>un <b>deux</b></lang>\n<lang de>TWO</lang> <lang fr>trois</lang>\n"},
		{"vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\none\n\n00:02.000 --> 00:03.000\n<lang fr>un</lang>\n", "WEBVTT\n\n00:01.000 --> 00:02.000\nONE\n\n00:02.000 --> 00:03.000\n<lang fr>un</lang>\n"},
		{"json", `{"locale":"en-US","translations":{"1":"a b","locale":"c d"}}`, `{"locale":"de","translations":{"1":"A B","locale":"C D"}}`},
		{"json", `{"locale":"the place"}`, `{"locale":"THE PLACE"}`},
	} {
		got, err := rewritten(t, kindNamed(t, c[0]), c[1], document.Options{From: "en", To: "de"}, upper(markup.Text))
		require.NoError(t, err)
		assert.Equal(t, c[2], got)
	}
}

// A translation is escaped so that it reads back the same.
func TestWritten(t *testing.T) {
	for _, c := range []struct{ kind, text, translation, want string }{
		{"txt", "a\n", "x\ny", "x y\n"},
		{"markdown", "Text", "# x", `\# x`},
		{"markdown", "Text", "1. x", `1\. x`},
		{"markdown", "Text", "[x]: http://a.b", `\[x]: http://a.b`},
		{"markdown", "# Text", "x #", `# x \#`},
		{"markdown", "Text", "", ""},
		{"markdown", "|a|b|\n|-|-|\n", "x | y", "|x \\| y|x \\| y|\n|-|-|\n"},
		{"markdown", "some words that\nare wrapped", "all - of - it 1. x", "all - of - it 1.\nx"},
		{"markdown", "> some words\n> wrapped", "- x", `> \- x`},
		{"html", `<p title="a b">x y`, `"&lt;&amp;'`, `<p title="&quot;&lt;&amp;'">"&lt;&amp;'`},
		{"html", `<img alt=word title='a b'>`, `it's &quot;so&quot;`, `<img alt="it's &quot;so&quot;" title='it&#39;s "so"'>`},
		{"srt", "1\n00:00:01,000 --> 00:00:02,000\na\nb", "one two --> three", "1\n00:00:01,000 --> 00:00:02,000\none two ->\nthree"},
		{"vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n<i>a</i>", "<i>1 < 2</i> --> <b & &amp;", "WEBVTT\n\n00:01.000 --> 00:02.000\n<i>1 &lt; 2</i> --&gt; &lt;b &amp; &amp;"},
		{"csv", "a;b\r\n", `x;"y`, "\"x;\"\"y\";\"x;\"\"y\"\r\n"},
		{"tsv", "say \"a, b\" c\td\n", "x \"y, z", "x \"y, z\t\"x \"\"y, z\"\n"},
		{"tsv", "say \"a\" b\tc d\n", "\"x\"", "\"\"\"x\"\"\"\t\"\"\"x\"\"\"\n"},
		{"markdown", "!!! note \"a b\"\n", "x \"y\" # z", "!!! note \"x ”y” # z\"\n"},
		{"json", `{"a":"b c"}`, "\"\\\n\u00e9", `{"a":"\"\\\né"}`},
		{"json", `{"a":"caf\u00e9 b"}`, "é😀x", `{"a":"\u00e9\ud83d\ude00x"}`},
		{"yaml", "a: b c # d\n", "x: y # z", "a: \"x: y # z\" # d\n"},
		{"yaml", "a: b c\n", "no", "a: \"no\"\n"},
		{"yaml", "a: 'b c'\n", "it's", "a: 'it''s'\n"},
		{"yaml", "a: 'b c'\n", "x\ny", "a: \"x\\ny\"\n"},
		{"yaml", "a: |\n  b\n  c\n", "- x: y\nz", "a: |\n  - x: y z\n  - x: y z\n"},
		{"po", "msgid \"b\"\nmsgstr \"\"\n", "x \"y\"\\\n\tz", "msgid \"b\"\nmsgstr \"\"\n\"x \\\"y\\\"\\\\\\n\"\n\"\\tz\"\n"},
		{"properties", "a=b", " x\\y\n\u00e9", `a=x\\y\n\u00e9`},
		{"properties", "a=b\u00e9", "\u00e8", "a=\u00e8"},
		{"properties", "a=b\xe9", "\u20ac\u00e8", "a=\\u20ac\\u00e8"},
		{"strings", `"a" = "b";`, "x \"y\"\\\nz", `"a" = "x \"y\"\\\nz";`},
		{"strings", "<?xml version=\"1.0\"?><!DOCTYPE plist><plist><dict><key>a b</key><string>c d</string></dict></plist>", "x < y", "<?xml version=\"1.0\"?><!DOCTYPE plist><plist><dict><key>a b</key><string>x &lt; y</string></dict></plist>"},
		{"plist", "<plist><dict><key>CFBundleName</key><string>a b</string><key>NSCameraUsageDescription</key><string>c d</string><key>Titles</key><array><string>e</string><string>f</string></array><key>X</key><string>g h</string></dict></plist>", "x < y", "<plist><dict><key>CFBundleName</key><string>a b</string><key>NSCameraUsageDescription</key><string>x &lt; y</string><key>Titles</key><array><string>x &lt; y</string><string>x &lt; y</string></array><key>X</key><string>g h</string></dict></plist>"},
		{"stringsdict", "<plist><key>one</key><string>b</string></plist>", "x < y & z", "<plist><key>one</key><string>x &lt; y &amp; z</string></plist>"},
		{"resx", `<root><data name="a"><value>b</value></data></root>`, "x < y & z", `<root><data name="a"><value>x &lt; y &amp; z</value></data></root>`},
		{"ts", `<TS><message><source>b</source><translation type='unfinished' /></message></TS>`, "x < y", `<TS><message><source>b</source><translation type="unfinished">x &lt; y</translation></message></TS>`},
		{"ttml", `<tt><p>some words<br/>here</p></tt>`, "x < <b> & y z", `<tt><p>x &lt; &lt;b&gt;<br/>&amp; y z</p></tt>`},
		{"ttml", `<tt><p><![CDATA[some]]><br/><![CDATA[words]]></p></tt>`, "x <b> y z", `<tt><p>x &lt;b&gt;<br/>y z</p></tt>`},
		{"ttml", `<tt><p><![CDATA[words]]></p></tt>`, "<![CDATA[x & y]]>", `<tt><p><![CDATA[x & y]]></p></tt>`},
		{"ttml", `<tt><p><![CDATA[- a b]]><br/><![CDATA[- c]]></p></tt>`, "- x", `<tt><p>- x<br/>- x</p></tt>`},
		{"ttml", "<tt><p>\n <tt:span a='>'><i>a<br/><br/>b<br/></i></tt:span>\n</p></tt>", "x y", "<tt><p>\n <tt:span a='>'><i>x y<br/><br/>x y<br/></i></tt:span>\n</p></tt>"},
		{"ttml", "<tt><p><span>a<br/>b</span> <span>c</span></p></tt>", "<span>x</span> <span>y</span>", "<tt><p><span>x</span><br/><span>y</span></p></tt>"},
		{"ts", `<TS><message><source>b</source><translation type="unfinished" variants="yes"><lengthvariant></lengthvariant><lengthvariant/></translation></message></TS>`, "x", `<TS><message><source>b</source><translation type="unfinished" variants="yes"><lengthvariant>x</lengthvariant><lengthvariant>x</lengthvariant></translation></message></TS>`},
		{"ts", `<TS><message><source>b</source><translation type="unfinished"><numerusform variants="yes"><lengthvariant>y</lengthvariant></numerusform><numerusform></numerusform></translation></message></TS>`, "x", `<TS><message><source>b</source><translation type="unfinished"><numerusform variants="yes"><lengthvariant>y</lengthvariant></numerusform><numerusform>x</numerusform></translation></message></TS>`},
		{"ass", "[Events]\nFormat: Text\nDialogue: some\\Nwords", `{x} \N y\h z`, "[Events]\nFormat: Text\nDialogue: ｛x｝ \\\u2060N\\Ny\\\u2060h z"},
		{"ipynb", `{"cells":[{"cell_type":"markdown","source":["a b\n", "c d"]}]}`, "# x \"y\"", `{"cells":[{"cell_type":"markdown","source":["\\# x \"y\""]}]}`},
		{"ipynb", `{"cells":[{"cell_type":"markdown","source":["a b\n", "\n", "c d"]}]}`, "x", `{"cells":[{"cell_type":"markdown","source":["x\n", "\n", "x"]}]}`},
		{"ipynb", `{"cells":[{"cell_type":"markdown","source":"caf\u00e9 b"}]}`, "é", `{"cells":[{"cell_type":"markdown","source":"\u00e9"}]}`},
		{"android", `<resources><string name="a">b</string></resources>`, `@it's "x" \y \n &amp; z\`, `<resources><string name="a">\@it\'s \"x\" \\y \n &amp; z\\</string></resources>`},
		{"android", `<resources><string name="a">b</string></resources>`, `1 < 2 & 3`, `<resources><string name="a">1 &lt; 2 &amp; 3</string></resources>`},
		{"xliff", `<xliff version="1.2"><trans-unit id="1"><source>b</source></trans-unit></xliff>`, `x <g`, `<xliff version="1.2"><trans-unit id="1"><source>b</source><target state="needs-review-translation">x &lt;g</target></trans-unit></xliff>`},
		{"xliff", `<x:xliff xmlns:x="u" version="2.0"><x:segment><x:source>b</x:source><x:target state="x"/></x:segment></x:xliff>`, `y`, `<x:xliff xmlns:x="u" version="2.0"><x:segment><x:source>b</x:source><x:target state="x">y</x:target></x:segment></x:xliff>`},
	} {
		got, err := rewritten(t, kindNamed(t, c.kind), c.text, document.Options{Unfit: func() {}}, func(string) string { return c.translation })
		require.NoError(t, err, c.text)
		assert.Equal(t, c.want, got, c.text)
	}
}

// The key around the messages of Rails is the language.
func TestTopKeys(t *testing.T) {
	for text, want := range map[string]string{
		"en:\n  a: b\n": "fr:\n  a: b\n", "\"en\":\n  a: b\n": "\"fr\":\n  a: b\n", "en-US: {a: b}\n": "fr: {a: b}\n", "'en_GB':\n  a: b\n": "'fr':\n  a: b\n",
		"it:\n  a: b\n": "it:\n  a: b\n", "en:\n  a: b\nde:\n  a: c\n": "en:\n  a: b\nde:\n  a: c\n", "- en: b\n": "- en: b\n",
	} {
		got, err := rewritten(t, kindNamed(t, "yaml"), text, document.Options{From: "en", To: "fr"}, func(text string) string { return text })
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}

// Alternative texts of images are translated on request.
func TestAlternatives(t *testing.T) {
	for _, c := range []struct{ kind, text, want string }{
		{"markdown", "![a house](a.png)\n", "![A HOUSE](a.png)\n"},
		{"markdown", "See ![ a house ](a.png \"title\") and ![a tree](b.png).\n", "SEE ![ A HOUSE ](a.png \"title\") AND ![A TREE](b.png).\n"},
		{"markdown", "[![a house](a.png)](b.html)\n", "[![A HOUSE](a.png)](b.html)\n"},
		{"markdown", "`![a house](a.png)` x ![](b.png) ![2026](c.png)\n", "`![a house](a.png)` X ![](b.png) ![2026](c.png)\n"},
		{"markdown", "> ![a house\n> of stone](a.png)\n", "> ![A HOUSE OF\n> STONE](a.png)\n"},
		{"markdown", "![a `house`](a.png)\n", "![a `house`](a.png)\n"},
		{"markdown", "|x|\n|-|\n|![a house](a.png)|\n", "|X|\n|-|\n|![A HOUSE](a.png)|\n"},
		{"ipynb", `{"cells":[{"cell_type":"markdown","source":"![a house](a.png)"}]}`, `{"cells":[{"cell_type":"markdown","source":"![A HOUSE](a.png)"}]}`},
	} {
		o := document.Options{Also: document.Also{document.AlsoAlt}}
		got, err := rewritten(t, kindNamed(t, c.kind), c.text, o, upper(markup.Text))
		require.NoError(t, err)
		assert.Equal(t, c.want, got)
		got, err = rewritten(t, kindNamed(t, c.kind), c.text, document.Options{}, func(text string) string { return text })
		require.NoError(t, err)
		assert.Equal(t, c.text, got)
	}
	got, err := rewritten(t, kindNamed(t, "markdown"), "|a|\n|-|\n|![a house](a.png)|", document.Options{Also: document.Also{document.AlsoAlt}},
		func(text string) string {
			return strings.TrimPrefix(strings.Replace("\n"+text, "\na house", "x](y) | `z", 1), "\n")
		})
	require.NoError(t, err)
	assert.Equal(t, "|a|\n|-|\n|![x\\](y) \\| \\`z](a.png)|", got)
}

func TestColumns(t *testing.T) {
	const text = "id,name,text\n1,Chair,To sit on\n2,Table,\"To eat, and drink\"\n"
	for _, c := range []struct {
		columns []string
		want    []string
	}{
		{nil, []string{"Chair", "To sit on", "Table", "To eat, and drink"}},
		{[]string{"text"}, []string{"To sit on", "To eat, and drink"}},
		{[]string{"3", "name"}, []string{"Chair", "To sit on", "Table", "To eat, and drink"}},
		{[]string{"2"}, []string{"name", "Chair", "Table"}},
	} {
		got, err := segments(t, kindNamed(t, "csv"), text, document.Options{Columns: c.columns})
		require.NoError(t, err)
		assert.Equal(t, c.want, got, c.columns)
	}
	for _, column := range []string{"nope", "0", "4", ""} {
		_, err := segments(t, kindNamed(t, "csv"), text, document.Options{Columns: []string{column}})
		requireRefused(t, err)
		assert.ErrorContains(t, err, `"name"`)
	}
}

// A table of languages gets its translations in the column of the target, or in place of the source.
func TestLanguageColumns(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"key,en,notes\nbye,\"Bye, all\",a note\nHELLO,Hi,\n", "key,fr,notes\nbye,\"BYE, ALL\",a note\nHELLO,HI,\n"},
		{"keys;en;pt_BR;fr\nbye;Bye;Tchau;\nhi;Hi;Oi;Salut\nyes\n", "keys;en;pt_BR;fr\nbye;Bye;Tchau;BYE\nhi;Hi;Oi;Salut\nyes\n"},
		{"ID\tFR\tEN\nbye\t\tBye\n", "ID\tFR\tEN\nbye\tBYE\tBye\n"},
		{"id,title,en\n1,The chair,yes it is\n", "id,title,en\n1,THE CHAIR,YES IT IS\n"},
		{"key,de\nbye,Gone away\n", "key,de\nBYE,GONE AWAY\n"},
		{"key,en\n", "KEY,EN\n"},
	} {
		got, err := rewritten(t, kindNamed(t, "csv"), c.text, document.Options{From: "en", To: "fr"}, upper(markup.Text))
		require.NoError(t, err)
		assert.Equal(t, c.want, got)
	}
}

// The target language is written if the format has a place for it.
func TestLanguage(t *testing.T) {
	for _, c := range []struct{ kind, text, want string }{
		{"html", "<html><p>", `<html lang="fr"><p>`},
		{"html", `<HTML class=a LANG=en xml:lang="en">`, `<HTML class=a LANG="fr" xml:lang="fr">`},
		{"html", "<p>", "<p>"},
		{"html", `<html lang="ar" dir="rtl"><body dir="auto">`, `<html lang="fr" dir="ltr"><body dir="auto">`},
		{"html", `<meta property="og:locale" content="en_US"><meta content='en' http-equiv="Content-Language">`, `<meta property="og:locale" content="fr_FR"><meta content="fr" http-equiv="Content-Language">`},
		{"json", `{ "en": {"a": "one"}}`, `{ "fr": {"a": "one"}}`},
		{"json", `{"de": {"a": "one"}}`, `{"de": {"a": "one"}}`},
		{"json", `{"en": "one"}`, `{"en": "one"}`},
		{"vtt", "WEBVTT\nKind: captions\nLanguage: en\n\n00:01.000 --> 00:02.000\nLanguage: en\n", "WEBVTT\nKind: captions\nLanguage: fr\n\n00:01.000 --> 00:02.000\nLanguage: en\n"},
		{"po", "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=CHARSET\\n\"\n", "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Language: fr\\n\"\n"},
		{"po", "msgid \"\"\nmsgstr \"\"\n\"Language: \\n\"\n", "msgid \"\"\nmsgstr \"\"\n\"Language: fr\\n\"\n"},
		{"ts", `<TS version="2.1">` + "</TS>", `<TS version="2.1" language="fr"></TS>`},
		{"ttml", `<tt xml:lang="en"/>`, `<tt xml:lang="fr"/>`},
		{"xliff", `<xliff version="2.1" srcLang="en"/>`, `<xliff version="2.1" srcLang="en" trgLang="fr"/>`},
		{"xliff", `<xliff version="1.2"><file target-language='de'></file></xliff>`, `<xliff version="1.2"><file target-language="fr"></file></xliff>`},
	} {
		got, err := rewritten(t, kindNamed(t, c.kind), c.text, document.Options{From: "en", To: "fr"}, func(text string) string { return text })
		require.NoError(t, err)
		assert.Equal(t, c.want, got)
	}
}

// Lines are as even as words allow.
func TestBalance(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want []string
	}{
		{"one two three four", 2, []string{"one two", "three four"}},
		{"one", 3, []string{"one"}},
		{"", 2, []string{""}},
		{"a <v Bob Smith>bc</v> de", 2, []string{"a <v Bob Smith>bc</v>", "de"}},
		{"今日は天気がいいですね", 2, []string{"今日は天気が", "いいですね"}},
		{"1 < 2 and so", 2, []string{"1 < 2", "and so"}},
	} {
		assert.Equal(t, c.want, passOf("").balance(c.text, c.n, nil), c.text)
	}
}
