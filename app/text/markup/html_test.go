package markup

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// units writes units as they are and other pieces in braces.
func units(pieces []HTMLPiece) []string {
	var list []string
	for _, p := range pieces {
		if p.Unit {
			list = append(list, p.Raw)
		} else {
			list = append(list, "{"+p.Raw+"}")
		}
	}
	return list
}

func TestSplitHTML(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                  nil,
		"Hello":                             {"Hello"},
		" \n ":                              {"{ \n }"},
		"<p>Hello</p>":                      {"{<p>}", "Hello", "{</p>}"},
		"<p>\n  Hello\n</p>":                {"{<p>\n  }", "Hello", "{\n</p>}"},
		"<P>A <b>b</b> c<br/>d<p>e":         {"{<P>}", "A <b>b</b> c", "{<br/>}", "d", "{<p>}", "e"},
		"a<br>b<BR>c":                       {"a", "{<br>}", "b", "{<BR>}", "c"},
		"<ul><li>a<li><a href=x>b</a></ul>": {"{<ul><li>}", "a", "{<li>}", "<a href=x>b</a>", "{</ul>}"},
		"<!DOCTYPE html><html><head><title>T</title><style>p{}</style></head><body>x</body></html>": {
			"{<!DOCTYPE html><html><head><title>}", "T", "{</title><style>p{}</style></head><body>}", "x", "{</body></html>}"},
		"<script>if (a<b) x('<p>hi</p>')</script>y":   {"{<script>if (a<b) x('<p>hi</p>')</script>}", "y"},
		"<p>Run <code>ls</code> now</p>":              {"{<p>}", "Run <code>ls</code> now", "{</p>}"},
		"<pre>a\n b</pre>c":                           {"{<pre>a\n b</pre>}", "c"},
		"<p translate=no>a</p>b":                      {"{<p translate=no>a</p>}", "b"},
		"a <span class='x notranslate'>b</span>":      {"a <span class='x notranslate'>b</span>"},
		"<span class='notranslate'>b</span>":          {"{<span class='notranslate'>b</span>}"},
		"<div class=notranslate><div>a</div>b</div>c": {"{<div class=notranslate><div>a</div>b</div>}", "c"},
		"<li translate=no>a<li>b":                     {"{<li translate=no>a<li>}", "b"},
		"x <!-- <p>c</p> --> y":                       {"x <!-- <p>c</p> --> y"},
		"<td>5</td><td>&nbsp;</td><td>&eacute;</td>":  {"{<td>}", "5", "{</td><td>&nbsp;</td><td>}", "&eacute;", "{</td>}"},
		"<b><i></i></b><img alt='x'>":                 {"{<b><i></i></b><img alt='x'>}"},
		"a < b <a href='":                             {"a < b", "{ <a href='}"},
		"a </ b> </> c":                               {"a </ b> </> c"},
		"<textarea>a</textarea><button>b</button>":    {"{<textarea>a</textarea><button>}", "b", "{</button>}"},
		"<svg><text>a</text></svg> b":                 {"<svg><text>a</text></svg> b"},
		"<svg><text>a":                                {"{<svg><text>a}"},
		"<p>a</p>\x00<p>\xff":                         {"{<p>}", "a", "{</p>\x00<p>\xff}"},
		"<plaintext>a<p>b":                            {"{<plaintext>a<p>b}"},
	} {
		t.Run(text, func(t *testing.T) {
			assert.Equal(t, want, units(must(SplitHTML(lasting, text))))
		})
	}
}

// Elements beside each other without text between them are units, in HTML those of
// formatting excepted.
func TestSplitSiblings(t *testing.T) {
	for text, want := range map[string][]string{
		"<label>Name</label><label>City</label>":       {"{<label>}", "Name", "{</label><label>}", "City", "{</label>}"},
		"<x-a><x-b>One</x-b> <x-b>Two</x-b></x-a>":     {"{<x-a><x-b>}", "One", "{</x-b> <x-b>}", "Two", "{</x-b></x-a>}"},
		"<x-a>One <x-b>two</x-b></x-a>":                {"{<x-a>}", "One <x-b>two</x-b>", "{</x-a>}"},
		"un<b>believ</b>able":                          {"un<b>believ</b>able"},
		"<b>Good morning.</b> <i>Thank you.</i>":       {"<b>Good morning.</b> <i>Thank you.</i>"},
		"<p>Read <a href=x>this</a> <a href=y>or</a>!": {"{<p>}", "Read <a href=x>this</a> <a href=y>or</a>!"},
	} {
		assert.Equal(t, want, units(must(SplitHTML(lasting, text))), text)
	}
}

func TestSplitXML(t *testing.T) {
	for text, want := range map[string][]string{
		`<r><s n="a">One</s><s n="b">Two</s></r>`:  {`{<r><s n="a">}`, "One", `{</s><s n="b">}`, "Two", "{</s></r>}"},
		"<A>x</A><a>y</a>":                         {"{<A>}", "x", "{</A><a>}", "y", "{</a>}"},
		"<p>One <B>two</b> three</p>":              {"{<p>}", "One <B>two</b> three", "{</p>}"},
		"<title>One <i>two</i></title>":            {"{<title>}", "One <i>two</i>", "{</title>}"},
		"<a><![CDATA[One <b>]]></a>":               {"{<a><![CDATA[}", "One <b>", "{]]></a>}"},
		"<a>One <![CDATA[<b>]]></a>":               {"{<a>}", "One <![CDATA[<b>]]>", "{</a>}"},
		`<?xml version="1.0"?><a><?p x > y?>b</a>`: {`{<?xml version="1.0"?><a>}`, "<?p x > y?>b", "{</a>}"},
		"<!DOCTYPE a [<!ENTITY b '>'>]><a>x</a>":   {"{<!DOCTYPE a [<!ENTITY b '>'>]><a>}", "x", "{</a>}"},
		"<a><br/>One<名前>x</名前></a>":                {"{<a>}", "<br/>One<名前>x</名前>", "{</a>}"},
		`<a><b mtype="protected">x</b><c>y</c>`:    {`{<a><b mtype="protected">x</b><c>}`, "y", "{</c>}"},
		`<a><b translatable="false">x</b><c>y</c>`: {`{<a><b translatable="false">x</b><c>}`, "y", "{</c>}"},
		"a < b <c":     {"a < b", "{ <c}"},
		"<pre>x</pre>": {"{<pre>}", "x", "{</pre>}"},
	} {
		assert.Equal(t, want, units(must(SplitXML(lasting, text))), text)
	}
	for raw, want := range map[string]string{
		"<a>x &firm; &amp;firm; &lt;b/&gt; &eacute;</a>": "<a>x &firm; &amp;firm; &lt;b/&gt; é</a>",
		"<a><![CDATA[a & b]]></a>":                       "<a><![CDATA[a & b]]></a>",
	} {
		var out strings.Builder
		for _, p := range must(SplitXML(lasting, raw)) {
			if p.Unit {
				out.WriteString(must(p.Parse(lasting)).Original())
			} else {
				out.WriteString(p.Raw)
			}
		}
		assert.Equal(t, want, out.String())
	}
	assert.Equal(t, "a]]]]><![CDATA[>b", CDATA.Escape("a]]>b"))
}

// A space that the model puts before an end tag goes.
func TestNoSpaceInsideOfPairs(t *testing.T) {
	m := mask(t, "<b>Good morning.</b> <i>Thank you.</i>", HTML)
	got, err := m.Restore(lasting, "[1] Guten Morgen. [2] Danke. [3]")
	assert.NoError(t, err)
	assert.Equal(t, "<b>Guten Morgen.</b> <i>Danke.</i>", got)
}

func TestHTMLPieceText(t *testing.T) {
	for raw, want := range map[string]string{
		"caf&eacute; &amp; bar":           "café & bar",
		"a\n\t b  c":                      "a b c",
		"a <b\nclass=x>b</b>":             "a <b\nclass=x>b</b>",
		"1 &lt; 2 &gt; 0":                 "1 < 2 > 0",
		"use &lt;b&gt; and &lt;/b&gt;":    "use &lt;b&gt; and &lt;/b&gt;",
		"&amp;lt; &amp;amp; &amp; &amp;x": "&amp;lt; &amp;amp; & &x",
		"&amp;#38; &amp;copy 5":           "&amp;#38; &amp;copy 5",
		"&copy; 2024&nbsp;x &#128512;":    "© 2024\u00a0x 😀",
		"<code>a  &lt;\n</code>  b":       "<code>a  &lt;\n</code> b",
		"a <!-- x  y --> b":               "a <!-- x  y --> b",
		"&nope; AT&T":                     "&nope; AT&T",
	} {
		t.Run(raw, func(t *testing.T) {
			text := must(HTMLPiece{Raw: raw, Unit: true}.Text(lasting))
			assert.Equal(t, want, text)
			again := HTMLPiece{Raw: read(text, HTML).Original()}
			assert.Equal(t, text, must(again.Text(lasting)), "what is written says the same")
		})
	}
}

// What a document says, tags apart, is what its translation by a model that changes
// nothing says.
func TestHTMLRoundTrip(t *testing.T) {
	const page = `<!DOCTYPE html>
<html lang=en><head><title>Cats &amp; dogs</title><script>var a = "<p>";</script></head>
<body><h1>Hello,   <em>world</em>!</h1>
<p>Tom &amp; Jerry say &quot;5 &lt; 6&quot; &mdash; see <a href="?a=1&amp;b=2" title='x > y'>this</a>.<br>
Write &lt;b&gt; for <b>bold</b>.</p>
<ul><li>one<li>two</ul><pre>  keep
 this </pre></body></html>`
	var out strings.Builder
	for _, p := range must(SplitHTML(lasting, page)) {
		if p.Unit {
			out.WriteString(must(p.Parse(lasting)).Original())
		} else {
			out.WriteString(p.Raw)
		}
	}
	want := strings.NewReplacer("Hello,   <em>", "Hello, <em>", "&quot;", `"`, "&mdash;", "—").Replace(page)
	assert.Equal(t, want, out.String())
}

func TestEntities(t *testing.T) {
	for _, test := range []struct{ raw, translation, want string }{
		{"All rights reserved &copy; by us", "Tous droits réservés © par nous", "Tous droits réservés &copy; par nous"},
		{"Wait&#8230; &#x2014; go", "Attends… — va", "Attends&#8230; &#x2014; va"},
		{"&copy; and ©", "© et ©", "© et ©"},
		{"caf&eacute; &amp; bar &lt;3", "café &amp; bar &lt;3", "café &amp; bar &lt;3"},
		{"5&nbsp;km", "5\u00a0km", "5&nbsp;km"},
		{"no reference", "©", "©"},
		{"&unknown; &copy", "©", "©"},
	} {
		sentence := must(must(SplitHTML(lasting, test.raw))[0].Parse(lasting))
		if entities := sentence.Entities(test.raw); entities != nil {
			test.translation = entities.Replace(test.translation)
		}
		assert.Equal(t, test.want, test.translation, test.raw)
	}
	assert.Nil(t, read("&copy;", Text).Entities("&copy;"))
}
