package textfile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
	"dragoman/app/text/markup"
)

// A text in another language than the source stays, as does an inline one within a text.
func TestForeignElements(t *testing.T) {
	const text = `<html lang="en"><p>one <i lang="fr">deux</i> three</p><div lang="fr"><p title="quatre">cinq</p><p xml:lang="en">seven</p><p>huit</p></div><p lang="en-GB">six</p></html>`
	o := document.Options{From: "en", To: "de"}
	got, err := rewritten(t, kindNamed(t, "html"), text, o, func(text string) string {
		if text == `one <i translate="no" lang="fr">deux</i> three` {
			return `eins <i translate="no" lang="fr">deux</i> drei`
		}
		return upper(markup.HTML)(text)
	})
	require.NoError(t, err)
	assert.Equal(t, `<html lang="de"><p>eins <i lang="fr">deux</i> drei</p><div lang="fr"><p title="quatre">cinq</p><p xml:lang="de">SEVEN</p><p>huit</p></div><p lang="de">SIX</p></html>`, got)
	got, err = rewritten(t, kindNamed(t, "html"), text, document.Options{From: "en"}, func(text string) string { return text })
	require.NoError(t, err)
	assert.Equal(t, text, got)
}

// An element within a text stays with all that is in it. A text in another language stays, too, but not a text of its own in it.
func TestForeignElementsInEachOther(t *testing.T) {
	for text, want := range map[string][]string{
		`<p>one <i lang="fr">deux <b lang="en">three</b> quatre</i> five</p>`:                      {`one <i translate="no" lang="fr">deux <b lang="en">three</b> quatre</i> five`},
		`<p>one <i lang="fr"><b lang="en">three</b> quatre <u lang="es">a</u></i> five</p>`:        {`one <i translate="no" lang="fr"><b lang="en">three</b> quatre <u lang="es">a</u></i> five`},
		`<p>one <i lang="fr">deux</i><i lang="es">tres</i> five</p>`:                               {`one <i translate="no" lang="fr">deux</i><i translate="no" lang="es">tres</i> five`},
		`<div lang="fr">un <b lang="en">two</b> trois</div> four`:                                  {"four"},
		`<div lang="fr"><b lang="en">two</b> trois</div>`:                                          nil,
		`<div lang="fr">un<p lang="en">two</p>trois<p lang="en">four <i lang="fr">x</i></p></div>`: {"two", `four <i translate="no" lang="fr">x</i>`},
		// elements without an end tag
		`<p lang="fr">un <b>deux</b><p>two <b>three</b></p>`:                                        {"two <b>three</b>"},
		`<div><p lang="fr">un<ul><li>two</ul></div><p>three`:                                        {"two", "three"},
		`<ul><li lang=fr>un<ul><li>a<li>b</ul>deux<li>two<li lang=fr>trois</ul>four`:                {"two", "four"},
		`<div><p lang=fr>un</div>two`:                                                               {"two"},
		`<dl><dt lang=fr>un<dd>two<dd lang=fr>trois<dt>four</dl>`:                                   {"two", "four"},
		`<table><tr lang=fr><td>un<td lang="en">two<td>a<tr><td>three<td lang=fr>b<th>four</table>`: {"two", "three", "four"},
		`<select><option lang=fr>un<option>two</select>`:                                            {"two"},
		`<p lang=fr>un`: nil,
	} {
		var seen []string
		got, err := rewritten(t, kindNamed(t, "html"), text, document.Options{From: "en", To: "de"}, func(text string) string {
			seen = append(seen, text)
			return text
		})
		require.NoError(t, err)
		assert.Equal(t, want, seen, text)
		assert.Equal(t, strings.ReplaceAll(text, `"en"`, `"de"`), got)
	}
}

// Elements in the direction of the source get that of the target, but those of code and those in another language.
func TestDirections(t *testing.T) {
	const text = `<body dir=ltr><table dir="LTR"><td style="color: red; direction: ltr">one</td></table><code dir="ltr">x</code><p lang="fr" dir="ltr">deux</p><p dir="auto">three</p></body>`
	for _, c := range [][3]string{
		{"en", "ar", `<body dir="rtl"><table dir="rtl"><td style="color: red; direction: rtl">ONE</td></table><code dir="ltr">x</code><p lang="fr" dir="ltr">deux</p><p dir="auto">THREE</p></body>`},
		{"en", "de", `<body dir="ltr"><table dir="LTR"><td style="color: red; direction: ltr">ONE</td></table><code dir="ltr">x</code><p lang="fr" dir="ltr">deux</p><p dir="auto">THREE</p></body>`},
	} {
		got, err := rewritten(t, kindNamed(t, "html"), text, document.Options{From: c[0], To: c[1]}, upper(markup.HTML))
		require.NoError(t, err)
		assert.Equal(t, c[2], got)
	}
}

// The contents of noscript and template and the texts of SVG are translated.
func TestHiddenElements(t *testing.T) {
	const text = `<p>one</p><noscript><p>two <img alt="three"></p></noscript><img alt="four"><template><p title="five">six</p></template><svg aria-label="label"><path d="M 0"/><title>nine</title><text>seven</text><text><tspan x="1">ten</tspan><tspan x="1">eleven</tspan></text></svg><script>"<svg><text>a</text></svg>"</script><div translate="no"><noscript>b</noscript></div><pre><template>c</template></pre><svg><text>a</svg><p>eight</p>`
	got, err := rewritten(t, kindNamed(t, "html"), text, document.Options{}, upper(markup.HTML))
	require.NoError(t, err)
	assert.Equal(t, `<p>ONE</p><noscript><p>TWO <img alt="THREE"></p></noscript><img alt="FOUR"><template><p title="FIVE">SIX</p></template><svg aria-label="LABEL"><path d="M 0"/><title>NINE</title><text>SEVEN</text><text><tspan x="1">TEN</tspan><tspan x="1">ELEVEN</tspan></text></svg><script>"<svg><text>a</text></svg>"</script><div translate="no"><noscript>b</noscript></div><pre><template>c</template></pre><svg><text>a</svg><p>EIGHT</p>`, got)
}

// A page keeps the encoding that it declares; letters that it lacks are references.
func TestEncodingOfHTML(t *testing.T) {
	for _, c := range [][3]string{
		{"<meta charset=windows-1251><p>\xe4\xe0 </p>", "да", "<meta charset=windows-1251><p>\xcd\xc5\xd2 &#233; </p>"},
		{"<META http-equiv='Content-Type' content='text/html; charset=ISO-8859-1'><p>\x93caf\xe9\x94</p>", "“café”", "<META http-equiv='Content-Type' content='text/html; charset=ISO-8859-1'><p>&#1053;&#1045;&#1058; \xe9</p>"},
		{"<meta charset=utf-8><p>da</p>", "da", "<meta charset=utf-8><p>НЕТ é</p>"},
	} {
		same, err := rewritten(t, kindNamed(t, "html"), c[0], document.Options{}, func(text string) string {
			assert.Equal(t, c[1], text)
			return text
		})
		require.NoError(t, err)
		assert.Equal(t, c[0], same)
		got, err := rewritten(t, kindNamed(t, "html"), c[0], document.Options{}, func(string) string { return "НЕТ é" })
		require.NoError(t, err)
		assert.Equal(t, c[2], got)
	}
	_, err := segments(t, kindNamed(t, "html"), "<p>caf\xe9</p>", document.Options{})
	requireRefused(t, err)
	got, err := segments(t, kindNamed(t, "html"), "<script>"+strings.Repeat("a()\n", 1000)+"</script><meta charset=windows-1251><p>\xe4\xe0</p>", document.Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{"да"}, got)
}

// A text of an old program is in the code page of its language, and its translation in UTF-8.
func TestCodePages(t *testing.T) {
	for _, c := range [][4]string{
		{"srt", "ru", "1\n00:00:01,000 --> 00:00:02,000\n\xe4\xe0\n", "1\n00:00:01,000 --> 00:00:02,000\nДА\n"},
		{"csv", "fr-CA", "caf\xe9,1\n", "CAFÉ,1\n"}, {"html", "ru", "<p>\xe4\xe0</p>", "<p>ДА</p>"}, {"txt", "el", "\xed\xe1\xe9", "ΝΑΙ"}, {"tsv", "ja", "\x93\xfa\x96{ x\ta\n", "日本 X\tA\n"},
	} {
		for to, want := range map[string]string{"": c[2], "de": "\uFEFF" + c[3]} {
			change := upper(markup.Text)
			if to == "" {
				change = func(text string) string { return text }
			}
			got, err := rewritten(t, kindNamed(t, c[0]), c[2], document.Options{From: c[1], To: to}, change)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		}
		_, err := segments(t, kindNamed(t, c[0]), c[2], document.Options{})
		requireRefused(t, err)
	}
}

// The language of a page is set wherever it stands among the attributes that are translated.
func TestLanguageBehindTitle(t *testing.T) {
	const page = `<html title="some words" lang="en" dir="ltr"><p>text</p></html>`
	out, err := rewritten(t, kindNamed(t, "html"), page, document.Options{To: "ar"}, upper(markup.HTML))
	require.NoError(t, err)
	assert.Equal(t, `<html title="SOME WORDS" lang="ar" dir="rtl"><p>TEXT</p></html>`, out)
}
