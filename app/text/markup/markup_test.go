package markup

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// kindNames are the kinds by their numbers.
var kindNames = [...]string{
	"number", "sign", "emoji",
	"placeholder", "code", "tag", "entity", "markdown", "term", "fixed term", "formula",
}

// found writes what Parse finds as kind:text, without signs.
func found(s Sentence) []string {
	var list []string
	for i, span := range s.Spans {
		if span.Kind == Sign {
			continue
		}
		list = append(list, kindNames[span.Kind]+":"+s.spanText(i))
	}
	return list
}

func TestParse(t *testing.T) {
	for text, want := range map[string][]string{
		"":                nil,
		"Hello world":     nil,
		"a\xffb \xf0\x9f": {"code:a\xffb"},
		"\x00":            nil,

		"\"Hello,\" he said.": nil, // the quote ends no line of a file of messages

		// Numbers.
		"I have 5 cats.":                   {"number:5"},
		"1,234.5 and 1.234,5 and 1 234,5.": {"number:1,234.5", "number:1.234,5", "number:1 234,5"},
		"at 12:30, on 2024-05-06":          {"number:12:30", "code:2024-05-06"},
		"50% off, 100% sure":               {"number:50%", "number:100%"},
		"$20, 20 €, €1.50, -5°C, (-3)":     {"number:$20", "number:20 €", "number:€1.50", "code:-5°C", "number:-3"},
		"the 3rd, 5kg, the 1990s, 4K":      {"number:3rd", "code:5kg", "number:1990s", "code:4K"},
		"iPhone15 and H2O and COVID-19":    {"code:iPhone15", "code:H2O", "code:COVID-19"},
		"ages 10-20, 5–6":                  {"number:10-20", "number:5–6"},
		"call +1 (555) 123-4567 now":       {"code:+1 (555) 123-4567"},
		"第3回は10万円です":                       {"number:3", "number:10万"},
		"２０２４年１月":                          {"code:２０２４年１月"},
		"في عام ٢٠٢٤":                      {"number:٢٠٢٤"},
		"ب15 شخص":                          {"number:15"},
		"C++ and C# and F#":                {"code:C++", "code:C#", "code:F#"},
		"version 1.2.3.":                   {"code:1.2.3"},
		"foo v1.2.3-beta, %50 of X2":       {"code:v1.2.3-beta", "code:%50", "code:X2"},
		"page #1":                          {"code:#1"},
		"1920x1080":                        {"code:1920x1080"},

		// URLs.
		"See https://example.com/a?b=c#d.":            {"code:https://example.com/a?b=c#d"},
		"(http://example.com/a_(b))":                  {"code:http://example.com/a_(b)"},
		"<https://example.com>, \"http://b.org/\"":    {"code:<https://example.com>", `code:"http://b.org/"`},
		"詳しくはhttps://example.com/をご覧ください。":            {"code:https://example.com/"},
		"example.com을 방문":                             {"code:example.com"},
		"https://fr.wikipedia.org/wiki/Élysée, oui":   {"code:https://fr.wikipedia.org/wiki/Élysée"},
		"www.example.org:80/x?y=1! and bbc.co.uk":     {"code:www.example.org:80/x?y=1", "code:bbc.co.uk"},
		"This is the end.Start again. Node. e.g. i.e": nil,
		"http:// and ://x and https://":               {"code:http://", "code:://x", "code:https://"},
		"p.s.No, Ph.D. at 5 p.m. U.S.A.":              {"number:5"},
		"ftp://a.b/c;d,":                              {"code:ftp://a.b/c;d"},
		"https://例え.jp/a？ http://東京 http://。":         {"code:https://例え.jp/a", "code:http://", "code:http://"},

		// E-mail addresses.
		"Write to a.b+c@example.co.uk.": {"code:a.b+c@example.co.uk"},
		"a@b and @ and a@ and @.com":    {"code:a@b", "code:@", "code:a@", "code:@.com"},
		"<bob@example.com>":             {"code:<bob@example.com>"},
		"宛先はa@example.comまで":            {"code:a@example.com"},

		// Paths.
		"Open /usr/bin/env or ~/notes or ./run.sh.": {"code:/usr/bin/env", "code:~/notes", "code:./run.sh"},
		`In C:\Users\me\a.txt, \\host\share`:        {`code:C:\Users\me\a.txt`, `code:\\host\share`},
		"edit src/main.go and README.md":            {"code:src/main.go", "code:README.md"},
		"and/or, he/she, TCP/IP, km/h.":             {"code:TCP/IP", "code:km/h"},
		"report.pdf and Node.js":                    {"code:report.pdf", "code:Node.js"},
		"End.So it was. Done.Go":                    nil,

		// Placeholders.
		"Hi {name}, {0} {} {:.2f} {a.b[0]!r:>10}":                                  {"placeholder:{name}", "placeholder:{0}", "placeholder:{}", "placeholder:{:.2f}", "placeholder:{a.b[0]!r:>10}"},
		"@if (a.b(c)) { one } @else { two } @let x = y; a @case (of it) and @else": {"placeholder:@if (a.b(c)) {", "code:}", "placeholder:@else {", "code:}", "placeholder:@let x = y;", "code:@case", "code:@else"},
		"{{user}} {{{raw}}} {% if x %} {# y #}":                                    {"placeholder:{{user}}", "placeholder:{{{raw}}}", "placeholder:{% if x %}", "placeholder:{# y #}"},
		"{n, plural, one {# file} other {# files}}!":                               {"placeholder:{n, plural, one {# file} other {# files}}"},
		"${a.b} $(c) $name #{d}":                                                   {"placeholder:${a.b}", "placeholder:$(c)", "code:$name", "placeholder:#{d}"},
		"%1% of %2%, at %3%. 5 %1%2":                                               {"placeholder:%1%", "placeholder:%2%", "placeholder:%3%", "number:5", "placeholder:%1%2"},
		"%s %d %5.2f %1$s %(name)s %{x} %name% %@":                                 {"placeholder:%s", "placeholder:%d", "placeholder:%5.2f", "placeholder:%1$s", "placeholder:%(name)s", "placeholder:%{x}", "placeholder:%name%", "placeholder:%@"},
		"%dx%d, %dpx, %1 of %2":                                                    {"code:%dx%d", "placeholder:%dpx", "placeholder:%1", "placeholder:%2"},
		"<%= user.name %> has":                                                     {"placeholder:<%= user.name %>"},
		"100% sure, 50 % de, %complete":                                            {"number:100%", "number:50 %", "code:%complete"},
		"a { b } c {see the long note below} { {":                                  {"placeholder:{ b }", "code:{see the long note below}", "code:{", "code:{"},
		`one\ntwo\n`: {`placeholder:\n`, `placeholder:\n`},

		// Names.
		"@bob and @bob_2: hi #topic #話題# #1":      {"code:@bob", "code:@bob_2", "code:#topic", "code:#話題#", "code:#1"},
		":smile: at 12:30:45, a:b:c, Note: this:": {"code::smile:", "code:12:30:45", "code:a:b:c"},
		"set MAX_LENGTH and snake_case.":          {"code:MAX_LENGTH", "code:snake_case"},

		// Emoji.
		"Hi 😀! 👨‍👩‍👧‍👦 👍🏽 🇯🇵🇫🇷 1️⃣ #️⃣ *️⃣": {"emoji:😀", "emoji:👨‍👩‍👧‍👦", "emoji:👍🏽", "emoji:🇯🇵🇫🇷", "emoji:1️⃣", "emoji:#️⃣", "emoji:*️⃣"},
		"😂😂😂 ☎ ✓ ⭐ ❤️ ©️":                   {"emoji:😂😂😂", "emoji:☎", "emoji:✓", "emoji:⭐", "emoji:❤️", "emoji:©️"},
		"© 2024 ™ → ←":                      {"code:© 2024 ™ → ←"},
		"\u200d\ufe0f":                      {"code:\u200d\ufe0f"},

		// Tags and entities.
		"a <b>bold</b> and <br/> <br>":                {"tag:<b>", "tag:</b>", "tag:<br/>", "tag:<br>"},
		`<a href="x > y" disabled>z</a>`:              {`tag:<a href="x > y" disabled>`, "tag:</a>"},
		"a < b and c > d, a <b and c> d, 1<2":         {"code:a <", "code:c > d, a <b and c> d", "code:1<2"},
		"I <3 you, <-, <>, </>, < b>, <a b, <a 'x'>":  {"code:<3", "code:<-, <>, </>, < b>", "code:<a", "code:<a 'x'>"},
		"<!-- note --> <![CDATA[x]]> <!DOCTYPE html>": {"tag:<!-- note -->", "tag:<![CDATA[x]]>", "tag:<!DOCTYPE html>"},
		"run <code>ls -l</code> <code>":               {"code:<code>ls -l</code>", "tag:<code>"},
		"<0>here</0> <x id=\"1\"/>":                   {"tag:<0>", "tag:</0>", `tag:<x id="1"/>`},
		"AT&amp;T &lt; &#39; &#x1F600; &nope; & x;":   {"code:AT&amp;T", "entity:&lt;", "entity:&#39;", "entity:&#x1F600;", "code:&nope"},
		"&copyx; R&D; Q&A":                            {"code:&copyx", "code:R&D", "code:Q&A"},

		// Markdown.
		"**bold** and *it* and ~~x~~ and ***b***": {"markdown:**", "markdown:**", "markdown:*", "markdown:*", "markdown:~~", "markdown:~~", "markdown:***", "markdown:***"},
		"*it*. Done.":                              {"markdown:*", "markdown:*"},
		"これは**重要**です":                              {"markdown:**", "markdown:**"},
		"see [the docs](https://x.y/a_(b) \"T\").": {"markdown:[", "markdown:](https://x.y/a_(b) \"T\")"},
		"![alt](a.png) [![i](b.png)](c)":           {"markdown:![alt](a.png)", "markdown:[", "markdown:![i](b.png)", "markdown:](c)"},
		"use `x y` and ``a ` b`` but `":            {"code:`x y`", "code:``a ` b``", "code:`"},
		"2 * 3 * 4, 5*3*2, f***ing, *note, a_b_":   {"code:2 * 3 * 4", "code:5*3*2", "code:f***ing", "code:*note", "code:a_b_"},
		"[1] [x] (y) [see](this is prose) \\*a\\*": {"number:1", "code:[see](this", "code:\\*a\\*"},
		"`quoted' and `other'":                     {"code:quoted", "code:other"},
	} {
		t.Run(text, func(t *testing.T) {
			assert.Equal(t, want, found(read(text, Text)))
		})
	}
}

func TestParseHTML(t *testing.T) {
	for text, want := range map[string][]string{
		"a <b class=x y>bold</b> **no** `no`":     {"tag:<b class=x y>", "tag:</b>", "code:**no**", "code:`no`"},
		"a < b, AT&T &amp;lt; &lt;b>":             {"code:a < b", "code:AT&T", "entity:&amp;lt;", "entity:&lt;b>"},
		`<code>x<b>y</b></code> <code/> <code>z`:  {"code:<code>x<b>y</b></code>", "tag:<code/>", "tag:<code>"},
		`<i class="a notranslate">x</i> <i>y</i>`: {`code:<i class="a notranslate">x</i>`, "tag:<i>", "tag:</i>"},
		`<s translate=no>a<s>b</s>c</s> d`:        {"code:<s translate=no>a<s>b</s>c</s>"},
		"{name} <!-- x --> <%= y %> <a":           {"placeholder:{name}", "tag:<!-- x -->", "placeholder:<%= y %>", "code:<a"},
		"see http://a.b/?x=1&y=2 now":             {"code:http://a.b/?x=1&y=2"},
	} {
		t.Run(text, func(t *testing.T) {
			assert.Equal(t, want, found(read(text, HTML)))
		})
	}
}

func TestPairs(t *testing.T) {
	for text, want := range map[string][]int{
		"<b>x</b>":             {1, -1},
		"<b><i>x</i></b>":      {1, 2, -2, -1},
		"<b>x<b>y</b></b>":     {1, 2, -2, -1},
		"</b> x <i>":           {-1, 2},
		"<br> <x/> <!-- --> 5": {0, 0, 0, 0},
		"<b><i>x</b></i>":      {1, 2, -1, -3}, // the <i> has no end
		"**[x](y)** *z":        {1, 2, -2, -1, 0},
		"<P>a</p>":             {1, -1},
	} {
		t.Run(text, func(t *testing.T) {
			var got []int
			for _, span := range read(text, Text).Spans {
				got = append(got, span.Pair)
			}
			assert.Equal(t, want, got)
		})
	}
}

func TestSlice(t *testing.T) {
	s := read("Go to <b>x.y</b>. It is 5 km.", Text)
	assert.Equal(t, []string{"tag:<b>", "tag:</b>", "number:5 km"}, found(s))
	part := s.Slice(6, 17)
	assert.Equal(t, "<b>x.y</b>.", part.Text)
	assert.Equal(t, []Span{{End: 3, Kind: Tag, Pair: 1}, {Start: 6, End: 10, Kind: Tag, Pair: -1}}, part.Spans)
	assert.Equal(t, "b>x", s.Slice(7, 10).Text)
	assert.Empty(t, s.Slice(7, 10).Spans, "half a tag")
	for _, cut := range [][2]int{{-5, 0}, {9, 3}, {1000, 2000}, {0, -1}} {
		assert.Empty(t, s.Slice(cut[0], cut[1]).Text)
	}
	assert.Equal(t, s, s.Slice(-1, 1000))

	var inside []int
	for at := -1; at <= len(s.Text)+1; at++ {
		if s.Inside(at) {
			inside = append(inside, at)
		}
	}
	assert.Equal(t, []int{7, 8, 13, 14, 15, 25, 26, 27}, inside)
}

func TestAsIsAndBlank(t *testing.T) {
	for text, want := range map[string][2]bool{ // as it is, blank
		"":                    {true, true},
		"Hello":               {true, false},
		"5 of 6":              {true, false},
		"5, 6!":               {true, true},
		"Hello 😀":             {false, false},
		"😀 https://x.y/z {a}": {false, true},
		"<b>5</b>":            {false, true},
		"<b>five</b>":         {false, false},
	} {
		s := read(text, Text)
		assert.Equal(t, want, [2]bool{s.AsIs(), s.Blank()}, text)
	}
}

func TestOriginal(t *testing.T) {
	assert.Equal(t, "a < b & <b>c</b>", read("a < b & <b>c</b>", Text).Original())
	assert.Equal(t, "a &lt; b &amp; <b>c</b> http://a.b/?x&amp;y &amp;lt;", read("a < b & <b>c</b> http://a.b/?x&y &amp;lt;", HTML).Original())
}

// hostile are texts that look like the start of everything.
func hostile(size int) map[string]string {
	list := map[string]string{}
	for _, unit := range []string{
		"<", "{", "%", "1,", "http://", "😀", "[", "](", "](]", "`", "` `` ", "*", "**a ", "_a", "<a b=\"", "<a b='\" ", "<b>", "</b>", "<b><i></b>",
		"<code>", "<!--", "<%", "{{", "{%", "${", "{a,plural,", "a.a", "a@", "@a", ":a", "#", "&", "&a", "~/", "/a", "./", "\\", "a\\", "1 234 ", "-1", "+1 ",
		"\u200d", "👨\u200d", "1\ufe0f\u20e3", "万", "一", "a/b.", "www.", "x:// ", "<a>", "[a](b", "![", "!", "(", "日本", "٣", "\xff", "a_", "a_ ",
		"<p>", "a<br>", "<pre>", "<svg>.</svg>", "<b>.</b>", "<b translate=no>",
		"a + ", "x ? ", "x : ", "? ", "f(", "f(x ", "a[i]", "AB ", "x, ", "| a ", "5\" ", "x/", "e/f ", "it''", "'%", "(?i)", "∈ ", "«", "»„", "tel:!", "1:0 ", "aΔ", "<a ", "<ruby>",
	} {
		list[unit] = strings.Repeat(unit, size/len(unit))
	}
	return list
}
