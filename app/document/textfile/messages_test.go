package textfile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
	"dragoman/app/text/markup"
)

// Small documents, translated into upper case and unchanged: the identity keeps every byte.
func TestMessageFiles(t *testing.T) {
	for name, c := range map[string]struct{ kind, text, want string }{
		"svg": {"svg", `<svg xmlns="http://www.w3.org/2000/svg"><title>one</title><style>a b</style><text x="1">two <tspan>three</tspan></text><text><tspan x="0" dy="1">four</tspan><tspan x="0" dy="2">five</tspan></text></svg>`,
			`<svg xmlns="http://www.w3.org/2000/svg"><title>ONE</title><style>a b</style><text x="1">TWO <tspan>THREE</tspan></text><text><tspan x="0" dy="1">FOUR</tspan><tspan x="0" dy="2">FIVE</tspan></text></svg>`},
		"svg with entities": {"svg", "<?xml version=\"1.0\"?>\n<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"svg11.dtd\" [\n <!ENTITY ns_svg \"http://www.w3.org/2000/svg\">\n <!ENTITY ns_x \"x\">\n]>\n<!-- made -->\n<svg xmlns=\"&ns_svg;\"><text>one</text></svg>",
			"<?xml version=\"1.0\"?>\n<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"svg11.dtd\" [\n <!ENTITY ns_svg \"http://www.w3.org/2000/svg\">\n <!ENTITY ns_x \"x\">\n]>\n<!-- made -->\n<svg xmlns=\"&ns_svg;\"><text>ONE</text></svg>"},
		"a document in an attribute": {"html", `<iframe srcdoc="<p>one &amp;amp; <b title='x'>two</b></p>"></iframe><iframe srcdoc='<p>1</p>'></iframe><object data=x><p>three</p></object>`,
			`<iframe srcdoc="&lt;p&gt;ONE &amp;amp; &lt;b title=&#39;X&#39;&gt;TWO&lt;/b&gt;&lt;/p&gt;"></iframe><iframe srcdoc='<p>1</p>'></iframe><object data=x><p>THREE</p></object>`},
		"tmx": {"tmx", "<tmx><header srclang=\"en\"/><body>\n<tu>\n <tuv xml:lang=\"de\"><seg>eins</seg></tuv>\n <tuv xml:lang=\"en-US\"><seg>one <ph>x</ph></seg></tuv>\n</tu>\n<tu><tuv xml:lang=\"en\"><seg>two</seg></tuv><tuv xml:lang=\"fr-CA\"><seg>deux</seg></tuv></tu><tu><tuv xml:lang=\"en\"><seg>three</seg></tuv><tuv xml:lang=\"fr\"><seg/></tuv></tu></body></tmx>",
			"<tmx><header srclang=\"en\"/><body>\n<tu>\n <tuv xml:lang=\"de\"><seg>eins</seg></tuv>\n <tuv xml:lang=\"en-US\"><seg>one <ph>x</ph></seg></tuv>\n <tuv xml:lang=\"fr\"><seg>ONE <ph>X</ph></seg></tuv>\n</tu>\n<tu><tuv xml:lang=\"en\"><seg>two</seg></tuv><tuv xml:lang=\"fr-CA\"><seg>deux</seg></tuv></tu><tu><tuv xml:lang=\"en\"><seg>three</seg></tuv><tuv xml:lang=\"fr\"><seg>THREE</seg></tuv></tu></body></tmx>"},
		"Fluent": {"ftl", "# a b\n-brand-name = The Name\none-a = one { $name }\n    .title = two\nthree =\n    three\n    four\nfive = { $n ->\n    [one] six\n   *[other] seven\n       eight\n }\nnine = ten { $n ->\n   *[other] eleven\n }\nsix = { $n ->\n    [one] { $m ->\n       *[other] x\n    }\n   *[other] y\n }\ntwelve = twelve\n",
			"# a b\n-brand-name = The Name\none-a = ONE { $name }\n    .title = TWO\nthree =\n    THREE\n    FOUR\nfive = { $n ->\n    [one] SIX\n   *[other] SEVEN\n       EIGHT\n }\nnine = { $n ->\n   *[other] TEN ELEVEN\n }\nsix = { $n ->\n    [one] { $m ->\n       *[other] X\n    }\n   *[other] Y\n }\ntwelve = TWELVE\n"},
		"elements of PHP": {"php", "<?php\n$string['a'] = 'one';\n$x[\"b\"]['c'] = \"two\";\ndefine('KEY', 'three');\nconst D = 'four';\nif ($x['e'] == 'five') { $x['f'] = 'six' . $g; $x['h'] = f('seven', 'eight'); $x['i'][] = 'nine'; $j = 'ten'; }\n",
			"<?php\n$string['a'] = 'ONE';\n$x[\"b\"]['c'] = \"TWO\";\ndefine('KEY', 'THREE');\nconst D = 'FOUR';\nif ($x['e'] == 'five') { $x['f'] = 'six' . $g; $x['h'] = f('seven', 'eight'); $x['i'][] = 'NINE'; $j = 'ten'; }\n"},
		"PHP": {"php", "<?php\n// it's\nreturn [\n 'key' => 'it\\'s one :name',\n \"b\" => \"two\\n\\$5\", 'c' => array('three', 'x' => ['four'], 'y' => f('five')), 'd' => 'six' . $a, 'e' => \"seven $b\", 'f' => $x['eight'],\n];\n",
			"<?php\n// it's\nreturn [\n 'key' => 'IT\\'S ONE :name',\n \"b\" => \"TWO\\n\\$5\", 'c' => array('THREE', 'x' => ['FOUR'], 'y' => f('five')), 'd' => 'six' . $a, 'e' => \"seven $b\", 'f' => $x['eight'],\n];\n"},
		"attributes of Fluent": {"ftl", "a = one\n    .style = width: 2em\n    .title = two\n    .accesskey = t\n-b = three\n    .gender = four\n", "a = ONE\n    .style = width: 2em\n    .title = TWO\n    .accesskey = t\n-b = THREE\n    .gender = four\n"},
		"a space in Qt": {"ts", "<TS language=\"fr\"><context><message><source>one</source><translation> </translation></message><message><source>two</source><translation type=\"unfinished\"> </translation></message></context></TS>",
			"<TS language=\"fr\"><context><message><source>one</source><translation> </translation></message><message><source>two</source><translation type=\"unfinished\">TWO</translation></message></context></TS>"},
		"names of translators":        {"po", "msgid \"translator-credits\"\nmsgstr \"\"\n\nmsgctxt \"NAME OF TRANSLATORS\"\nmsgid \"Your names\"\nmsgstr \"\"\n\nmsgid \"translator\"\nmsgstr \"\"\n", "msgid \"translator-credits\"\nmsgstr \"\"\n\nmsgctxt \"NAME OF TRANSLATORS\"\nmsgid \"Your names\"\nmsgstr \"\"\n\nmsgid \"translator\"\nmsgstr \"TRANSLATOR\"\n"},
		"keys that are values":        {"strings", "\"one two\" ;\nthree;\n\"a\" = four;\n", "\"one two\" = \"ONE TWO\" ;\nthree;\n\"a\" = four;\n"},
		"labels":                      {"yaml", "a:\n  title: one\n  description: two\n  other: three\nb:\n- id: x y\n  description: four\n", "a:\n  title: ONE\n  description: TWO\n  other: THREE\nb:\n- id: X Y\n  description: FOUR\n"},
		"labels of JSON":              {"json", `{"a": {"title": "one", "description": "two", "other": "three"}}`, `{"a": {"title": "ONE", "description": "TWO", "other": "THREE"}}`},
		"comments of messages":        {"json", `{"a": "one", "b": {"message": "two", "comment": ["three"]}, "c": {"comment": "four"}}`, `{"a": "ONE", "b": {"message": "TWO", "comment": ["three"]}, "c": {"comment": "FOUR"}}`},
		"words of programs":           {"properties", "a=true\nb=yyyy-MM-dd\nb2=text/plain\nb3=image/svg+xml\nc=EEEE, d 'de' MMMM\nd=HH:mm\ne=a true word\nf=add\n", "a=true\nb=yyyy-MM-dd\nb2=text/plain\nb3=image/svg+xml\nc=EEEE, d 'de' MMMM\nd=HH:mm\ne=A TRUE WORD\nf=ADD\n"},
		"version of YAML":             {"yaml", "%YAML 1.2\n---\na: one\n", "%YAML 1.2\n---\na: ONE\n"},
		"titles of containers":        {"markdown", ":::tip One two\n\nthree\n:::\n\n> ::: details four\n> five\n> :::\n\n:::note[six]{.a}\nseven\n:::\n\n::: tabs key:eight\n:::\n", ":::tip ONE TWO\n\nTHREE\n:::\n\n> ::: details FOUR\n> FIVE\n> :::\n\n:::note[SIX]{.a}\nSEVEN\n:::\n\n::: tabs key:eight\n:::\n"},
		"titles of containers in MDX": {"mdx", ":::tip One two\n\nthree\n:::\n", ":::tip ONE TWO\n\nTHREE\n:::\n"},
		"tags and Markdown in MDX":    {"mdx", "<A>\n  <B>\n      one *two*\n\n      - three\n        four\n      - five\n\n      ```js\n      six\n      ```\n      ## seven\n  </B>\n</A>\n\n    eight\n", "<A>\n  <B>\n      ONE *TWO*\n\n      - THREE\n        FOUR\n      - FIVE\n\n      ```js\n      six\n      ```\n      ## SEVEN\n  </B>\n</A>\n\n    EIGHT\n"},
		"property list":               {"strings", "/* a */\nCFBundleDisplayName = \"Name here\";\nNSCameraUsageDescription = \"Why we ask\";\n", "/* a */\nCFBundleDisplayName = \"NAME HERE\";\nNSCameraUsageDescription = \"WHY WE ASK\";\n"},
	} {
		kind := kindNamed(t, c.kind)
		got, err := rewritten(t, kind, c.text, document.Options{To: "fr"}, func(text string) string { return text })
		require.NoError(t, err, name)
		assert.Equal(t, c.text, got, name)
		got, err = rewritten(t, kind, c.text, document.Options{To: "fr"}, upper(kind.Form))
		require.NoError(t, err, name)
		assert.Equal(t, c.want, got, name)
	}
	for _, c := range [][2]string{{"php", "a"}, {"php", "<?php 'a"}, {"php", "<?php /* a"}, {"svg", "<a/>"}, {"tmx", "<a/>"}} {
		_, err := segments(t, kindNamed(t, c[0]), c[1], document.Options{})
		requireRefused(t, err)
	}
}

// A translation with signs of the format reads back as itself.
func TestSignsOfMessageFiles(t *testing.T) {
	for _, c := range []struct{ kind, text, translation, want string }{
		{"ftl", "a = b c\n", ".d { e", `a = {"."}d {"{"} e` + "\n"},
		{"ftl", "a =\n    b c\n    d\n", "[e [f g", "a =\n    {\"[\"}e [f\n    g\n"},
		{"php", "<?php return ['a b'];", `it's \n`, `<?php return ['it\'s \\n'];`},
		{"php", `<?php return ["a b"];`, `"$x" \`, `<?php return ["\"\$x\" \\"];`},
	} {
		got, err := rewritten(t, kindNamed(t, c.kind), c.text, document.Options{}, func(string) string { return c.translation })
		require.NoError(t, err)
		assert.Equal(t, c.want, got)
	}
}

// Selections of Fluent have the categories of the target, each with a whole text.
func TestFluentPlurals(t *testing.T) {
	const text = "a = you have { $n ->\n    [one] one house\n   *[other] { $n } houses\n } now\nb = { $g ->\n   [m] he\n  *[other] they\n}\nc = { $n ->\n [one] { $n } { $g ->\n   [m] man\n  *[x] \"\n }\n *[other] { \"}\" } { $n } men\n}\n"
	for to, want := range map[string]string{
		"ru": "a = { $n ->\n    [1] YOU HAVE ONE HOUSE NOW\n    [one] YOU HAVE { $n } HOUSES NOW\n    [few] YOU HAVE { $n } HOUSES NOW\n    [many] YOU HAVE { $n } HOUSES NOW\n   *[other] YOU HAVE { $n } HOUSES NOW\n }\n" +
			"b = { $g ->\n   [m] HE\n  *[other] THEY\n}\nc = { $n ->\n    [one] { $g ->\n        [m] { $n } MAN\n       *[x] { $n } \"\n     }\n    [few] { \"}\" } { $n } MEN\n    [many] { \"}\" } { $n } MEN\n   *[other] { \"}\" } { $n } MEN\n}\n",
		"ja": "a = { $n ->\n   *[other] YOU HAVE { $n } HOUSES NOW\n }\nb = { $g ->\n   [m] HE\n  *[other] THEY\n}\nc = { $n ->\n   *[other] { \"}\" } { $n } MEN\n}\n",
	} {
		got, err := rewritten(t, kindNamed(t, "ftl"), text, document.Options{To: to}, upper(markup.Text))
		require.NoError(t, err)
		assert.Equal(t, want, got, to)
		got, err = rewritten(t, kindNamed(t, "ftl"), text, document.Options{}, func(text string) string { return text })
		require.NoError(t, err)
		assert.Equal(t, text, got)
	}
	many := "a = b" + strings.Repeat(" { $n ->\n [one] c\n *[other] d\n }", 8) + "\n"
	got, err := rewritten(t, kindNamed(t, "ftl"), many, document.Options{To: "de"}, upper(markup.Text))
	require.NoError(t, err)
	assert.Equal(t, many, got)
	_, err = segments(t, kindNamed(t, "ftl"), "a = "+strings.Repeat("{ $n ->\n [one] c\n *[other] ", 12)+strings.Repeat("\n }", 12), document.Options{})
	requireRefused(t, err)
}

// A memory in another language than the source has variants in the source, which are translated, or has nothing to translate.
func TestMemoryOfAnotherLanguage(t *testing.T) {
	const text = `<tmx><header srclang="de"/><tu><tuv xml:lang="de"><seg>eins</seg></tuv><tuv xml:lang="EN-US"><seg>one</seg></tuv></tu><tu><tuv xml:lang="de"><seg>zwei</seg></tuv></tu></tmx>`
	for from, want := range map[string][]string{"": {"eins", "zwei"}, "de": {"eins", "zwei"}, "en": {"one"}, "fr": nil} {
		got, err := segments(t, kindNamed(t, "tmx"), text, document.Options{From: from, To: "ru"})
		require.NoError(t, err)
		assert.Equal(t, want, got, from)
	}
	var told []string
	_, err := rewritten(t, kindNamed(t, "tmx"), text, document.Options{From: "en", To: "ru", Left: func(page, n int, reason string) { told = document.AddLeft(told, page, n, reason) }}, strings.ToUpper)
	require.NoError(t, err)
	assert.Equal(t, []string{"1 units without a variant in the source language"}, told)
}
