package markup

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// document is the one of DeepL's documentation.
const document = `<document>
  <meta>
    <title>A document's title</title>
  </meta>
  <content>
    <par>This is the first sentence. Followed by a second one.</par>
    <par>This is the <b>third</b> sentence.</par>
  </content>
</document>
`

// texts are the units of pieces.
func texts(pieces []HTMLPiece) (list []string) {
	for _, p := range pieces {
		if p.Unit {
			list = append(list, p.Raw)
		}
	}
	return list
}

func TestOutline(t *testing.T) {
	parts := []string{"A document's title", "This is the first sentence. Followed by a second one.", "This is the <b>third</b> sentence."}
	const firm = "<par>The firm said it had been </par><par> conducting an internal investigation.</par>"
	for name, test := range map[string]struct {
		text    string
		outline Outline
		want    []string
	}{
		"detected":                 {document, Outline{}, parts},
		"set by hand":              {document, Outline{Undetected: true, Splitting: []string{"par", "title"}}, parts},
		"not detected":             {"<d><a>One.</a><a>Two.</a></d>", Outline{Undetected: true}, []string{"<d><a>One.</a><a>Two.</a></d>"}},
		"not detected, but one":    {"<d><a>One.</a><b>Two.</b><a>Three.</a></d>", Outline{Undetected: true, Splitting: []string{"b"}}, []string{"<d><a>One.</a>", "Two.", "<a>Three.</a></d>"}},
		"beside each other":        {firm, Outline{}, []string{"The firm said it had been", "conducting an internal investigation."}},
		"non-splitting":            {firm, Outline{NonSplitting: []string{"par"}}, []string{firm}},
		"non-splitting in a unit":  {"<d>" + firm + "<t>x</t></d>", Outline{NonSplitting: []string{"par"}}, []string{firm, "x"}},
		"by name, with its case":   {firm, Outline{NonSplitting: []string{"PAR", "pa"}}, []string{"The firm said it had been", "conducting an internal investigation."}},
		"inline in running text":   {"<p>Press <i>Continue</i> to advance.</p>", Outline{}, []string{"Press <i>Continue</i> to advance."}},
		"splitting in text":        {"<p>One <note>a <i>note</i></note> two <br/> three</p>", Outline{Splitting: []string{"note", "br"}}, []string{"One", "a <i>note</i>", "two", "three"}},
		"both":                     {"<p>a<b>c</b></p>", Outline{Splitting: []string{"b"}, NonSplitting: []string{"b"}}, []string{"a", "c"}},
		"splitting without an end": {"<p>a<b>c</p>", Outline{Splitting: []string{"b"}}, []string{"a", "c"}},
		"a line end is a space":    {"<div>She bought oat\nbiscuits.</div>", Outline{}, []string{"She bought oat\nbiscuits."}},
		"a line end splits":        {"<div>She bought oat\r\n  biscuits.\n\n</div>", Outline{Lines: true}, []string{"She bought oat", "biscuits."}},
		"lines and tags":           {"<p>a <b\n>c\nd</b> e</p>", Outline{Lines: true}, []string{"a <b\n>c", "d</b> e"}},
		"lines of a section":       {"<p>a <![CDATA[b\nc]]> d</p>", Outline{Lines: true}, []string{"a <![CDATA[b\nc]]> d"}},
		"what stays":               {"<p>a <x translate=\"no\">b\nc</x> d</p>", Outline{Lines: true}, []string{"a <x translate=\"no\">b\nc</x> d"}},
	} {
		t.Run(name, func(t *testing.T) {
			pieces := must(test.outline.Split(lasting, test.text))
			assert.Equal(t, test.want, texts(pieces))
			assert.Equal(t, test.text, joined(pieces))
		})
	}
}

// joined is the document that pieces are of.
func joined(pieces []HTMLPiece) string {
	var out strings.Builder
	for _, p := range pieces {
		out.WriteString(p.Raw)
	}
	return out.String()
}

// The strings of an Android app are units, each for itself.
func TestAndroidStrings(t *testing.T) {
	const resources = `<?xml version="1.0" encoding="utf-8"?>
<resources xmlns:xliff="urn:oasis:names:tc:xliff:document:1.2">
    <!-- The first screen. -->
    <string name="app_name" translatable="false">Dragoman</string>
    <string name="welcome">Welcome, <b>%1$s</b>! You have <xliff:g id="count" example="3">%2$d</xliff:g> messages.</string>
    <string name="ok">OK</string>
    <string-array name="days"><item>Monday</item><item>Tuesday</item></string-array>
    <plurals name="songs">
        <item quantity="one">%d song found.</item>
        <item quantity="other">%d songs found.</item>
    </plurals>
    <string name="terms"><![CDATA[Read the <a href="%s">terms</a>.]]></string>
</resources>
`
	want := []string{
		`Welcome, <b>%1$s</b>! You have <xliff:g id="count" example="3">%2$d</xliff:g> messages.`, "OK", "Monday", "Tuesday",
		"%d song found.", "%d songs found.", `Read the <a href="%s">terms</a>.`,
	}
	for _, o := range []Outline{{}, {Lines: true}, {Undetected: true, Splitting: []string{"string", "item"}}} {
		pieces := must(o.Split(lasting, resources))
		assert.Equal(t, want, texts(pieces))
		assert.Equal(t, resources, joined(pieces))
	}
}

// Whatever the text and the outline, the pieces are those of the text, and units have no white
// space around them.
func FuzzOutline(f *testing.F) {
	f.Add(document, "par,title", "b", true, true)
	f.Add("<a><b>x\n</b><![CDATA[y\n]]></a", "b", "a", false, true)
	f.Add("<a><b>x</a></b><b/>z", "", "b", true, false)
	f.Add("\n<!-- <b>\n --><b\n>", "b", "b", false, true)
	f.Fuzz(func(t *testing.T, text, splitting, inline string, undetected, lines bool) {
		o := Outline{Splitting: strings.Split(splitting, ","), NonSplitting: strings.Split(inline, ","), Undetected: undetected, Lines: lines}
		pieces := must(o.Split(lasting, text))
		assert.Equal(t, text, joined(pieces))
		for i, p := range pieces {
			if !p.Unit {
				assert.False(t, i > 0 && !pieces[i-1].Unit, "two pieces that stay beside each other")
				continue
			}
			if p.format != CDATA {
				assert.Equal(t, strings.Trim(p.Raw, htmlSpace), p.Raw)
			}
			_ = must(p.Parse(lasting))
		}
	})
}
