package textfile

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
)

// A catalogue that has translations into another language is refused, unless they are what is translated.
func TestCataloguesOfAnotherLanguage(t *testing.T) {
	for _, c := range []struct{ kind, text, want string }{
		{"po", "msgid \"\"\nmsgstr \"\"\n\"Language: fr\\n\"\n\nmsgid \"Open\"\nmsgstr \"\"\n\"Ouvrir\"\n", "msgid \"\"\nmsgstr \"\"\n\"Language: de\\n\"\n\nmsgid \"Open\"\nmsgstr \"Ouvrir!\"\n"},
		{"po", "msgid \"\"\nmsgstr \"\"\n\"Language: fr\\n\"\n\"Plural-Forms: nplurals=2; plural=(n > 1);\\n\"\n\nmsgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"un\"\nmsgstr[1] \"deux\"\n", "msgid \"\"\nmsgstr \"\"\n\"Language: de\\n\"\n\"Plural-Forms: nplurals=2; plural=(n != 1);\\n\"\n\nmsgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"un!\"\nmsgstr[1] \"deux!\"\n"},
		{"xliff", `<xliff version="1.2"><file target-language="fr"><trans-unit id="1"><source>Open</source><target>Ouvrir</target></trans-unit></file></xliff>`, `<xliff version="1.2"><file target-language="de"><trans-unit id="1"><source>Open</source><target state="needs-review-translation">Ouvrir!</target></trans-unit></file></xliff>`},
		{"xliff", `<xliff version="2.0" trgLang="fr-FR"><unit><segment><source>Open</source><target><ph id="1"/>Ouvrir</target></segment></unit></xliff>`, `<xliff version="2.0" trgLang="de"><unit><segment><source>Open</source><target><ph id="1"/>Ouvrir!</target></segment></unit></xliff>`},
		{"ts", `<TS language="fr_FR"><message><source>Open</source><translation>l&apos;ouvrir</translation></message></TS>`, `<TS language="de"><message><source>Open</source><translation type="unfinished">l'ouvrir!</translation></message></TS>`},
	} {
		o := document.Options{To: "de"}
		add := func(text string) string { return text + "!" }
		_, err := rewritten(t, kindNamed(t, c.kind), c.text, o, add)
		require.Error(t, err, c.text)
		requireRefused(t, err)
		assert.ErrorContains(t, err, "--as-source")
		o.Also = document.Also{document.AlsoSource}
		got, err := rewritten(t, kindNamed(t, c.kind), c.text, o, add)
		require.NoError(t, err)
		assert.Equal(t, c.want, got)
	}
	for _, c := range [][3]string{ // the script counts, the region stays
		{"po", "zh", "msgid \"\"\nmsgstr \"\"\n\"Language: zh_TW\\n\"\n\nmsgid \"House\"\nmsgstr \"房屋\"\n"},
		{"xliff", "sr", `<xliff version="2.0" trgLang="sr-Latn"><unit><segment state="initial"><source>House</source><target>House</target></segment><segment><source>Open</source><target>Otvori</target></segment></unit></xliff>`},
	} {
		_, err := rewritten(t, kindNamed(t, c[0]), c[2], document.Options{To: c[1]}, func(text string) string { return text })
		require.Error(t, err, c[2])
		requireRefused(t, err)
	}
	for _, c := range [][4]string{
		{"po", "pt", "msgid \"\"\nmsgstr \"\"\n\"Language: pt_BR\\n\"\n\nmsgid \"House\"\nmsgstr \"Casa\"\n", "Language: pt_BR"},
		{"po", "pt-PT", "msgid \"\"\nmsgstr \"\"\n\"Language: pt_BR\\n\"\n\nmsgid \"House\"\nmsgstr \"Casa\"\n", "Language: pt_PT"},
		{"po", "no", "msgid \"\"\nmsgstr \"\"\n\"Language: nb\\n\"\n\nmsgid \"House\"\nmsgstr \"Hus\"\n", "Language: nb"},
		{"xliff", "de", `<xliff version="1.2"><file target-language="fr"><trans-unit id="1"><source>House</source><target state="new">House</target></trans-unit></file></xliff>`, `target-language="de"`},
		{"xliff", "de", `<xliff version="2.0" trgLang="fr"><unit><segment state="initial"><source>House</source><target>House</target></segment></unit></xliff>`, `trgLang="de"`},
	} {
		got, err := rewritten(t, kindNamed(t, c[0]), c[2], document.Options{To: c[1]}, func(text string) string { return text + "!" })
		require.NoError(t, err, c[2])
		assert.Contains(t, got, c[3])
	}
	for _, text := range []string{
		"msgid \"\"\nmsgstr \"\"\n\"Language: fr\\n\"\n\nmsgid \"Open\"\nmsgstr \"\"\n\n#~ msgid \"x\"\n#~ msgstr \"y\"\n",
		"msgid \"\"\nmsgstr \"\"\n\"Language: de_AT\\n\"\n\nmsgid \"Open\"\nmsgstr \"Öffnen\"\n",
	} {
		_, err := rewritten(t, kindNamed(t, "po"), text, document.Options{To: "de"}, func(text string) string { return text })
		require.NoError(t, err, text)
	}
}

// A catalogue whose texts are in another language than the request says is refused, with the language to send.
func TestSourceOfCatalogues(t *testing.T) {
	for kind, text := range map[string]string{
		"xliff":     `<xliff version="1.2"><file source-language="en-US"><trans-unit id="1"><source>Open</source></trans-unit></file></xliff>`,
		"ts":        `<TS sourcelanguage="en_US"><message><source>Open</source><translation type="unfinished"></translation></message></TS>`,
		"xcstrings": `{"sourceLanguage":"en","strings":{"Open":{}}}`,
	} {
		for from, isRefused := range map[string]bool{"fr": true, "en": false, "en-GB": false, "": false} {
			for _, text := range []string{text, strings.NewReplacer("1.2", "2.1", "<file source-language", "<file x", "<xliff ", `<xliff srcLang="en" `, "trans-unit", "segment").Replace(text)} {
				got, err := rewritten(t, kindNamed(t, kind), text, document.Options{From: from, To: "de"}, func(text string) string { return text + "!" })
				if !isRefused {
					require.NoError(t, err)
					assert.Contains(t, got, "Open!")
					continue
				}
				require.Error(t, err, text)
				requireRefused(t, err)
				assert.ErrorContains(t, err, "send en")
			}
		}
	}
}

// A tool may say en-US by default: texts that are in the request's language are translated.
func TestSourceByDefault(t *testing.T) {
	const german = "Möchten Sie die Änderungen an der Datei <x id='1'/>speichern, bevor Sie das Fenster schließen?"
	for kind, text := range map[string]string{
		"xliff": `<xliff version="1.2"><file source-language="en-US"><trans-unit id="1"><source xml:lang="en-US">` + german + `</source></trans-unit></file></xliff>`,
		"ts":    `<TS sourcelanguage="en_US"><message><source>` + strings.Replace(german, "<x id='1'/>", "", 1) + `</source><translation type="unfinished"></translation></message></TS>`,
	} {
		got, err := rewritten(t, kindNamed(t, kind), text, document.Options{From: "de", To: "fr"}, strings.ToUpper)
		require.NoError(t, err, kind)
		assert.Contains(t, got, "DATEI", kind)
		_, err = rewritten(t, kindNamed(t, kind), text, document.Options{From: "es", To: "fr"}, strings.ToUpper)
		require.Error(t, err, kind)
		requireRefused(t, err)
	}
}

// A text that is marked as another language than the source stays, and one in the language of the source gets that of the target.
func TestTextsInOtherLanguages(t *testing.T) {
	const text = "I know <%[1]s xml:lang='fr'>je ne sais pas</%[1]s> and <%[1]s xml:lang=\"en-GB\">so on</%[1]s>"
	for _, c := range []struct{ kind, in, want string }{
		{"ttml", "<tt><p>" + fmt.Sprintf(text, "span") + "</p><p><span xml:lang='fr'>un</span></p></tt>", "<tt xml:lang=\"de\"><p>I KNOW <span xml:lang='fr'>je ne sais pas</span> AND <span xml:lang=\"de\">SO ON</span></p><p><span xml:lang='fr'>un</span></p></tt>"},
		{"tmx", "<tmx><header srclang=\"en\"/><body><tu><tuv xml:lang=\"en\"><seg>" + fmt.Sprintf(text, "hi") + "</seg></tuv></tu></body></tmx>", "AND <hi xml:lang=\"de\">SO ON</hi></seg></tuv></tu>"},
		{"xliff", "<xliff version=\"2.0\"><unit><segment><source>" + fmt.Sprintf(text, "mrk") + "</source></segment></unit></xliff>", "<target>I KNOW <mrk xml:lang='fr'>je ne sais pas</mrk> AND "},
		{"xliff", `<xliff version="1.2"><file source-language="en"><trans-unit id="1"><source xml:lang="fr">un</source></trans-unit><trans-unit id="2"><source xml:lang="en-GB">one</source></trans-unit></file></xliff>`,
			`<source xml:lang="fr">un</source></trans-unit><trans-unit id="2"><source xml:lang="en-GB">one</source><target state="needs-review-translation">ONE</target></trans-unit>`},
		{"xliff", `<xliff version="1.2"><file source-language="en"><trans-unit id="1"><source>one</source><target xml:lang="fr" state="new">one</target></trans-unit></file></xliff>`, `<target xml:lang="de" state="needs-review-translation">ONE</target>`},
		{"svg", `<svg xml:lang="en"><title xml:lang="en">one</title><desc xml:lang="fr">un</desc><switch><text systemLanguage="fr, de">un</text><text>one</text></switch><text><tspan xml:lang="fr" x="1">un</tspan><tspan x="2">two</tspan></text></svg>`,
			`<svg xml:lang="de"><title xml:lang="de">ONE</title><desc xml:lang="fr">un</desc><switch><text systemLanguage="fr, de">un</text><text>ONE</text></switch><text><tspan xml:lang="fr" x="1">un</tspan><tspan x="2">TWO</tspan></text></svg>`},
		{"svg", `<svg><text x="0">one <tspan dy="1">two</tspan> three<tspan x="0" dy="1em">four</tspan> five<tspan x="3" xml:lang="fr">un</tspan></text><flowPara>six</flowPara></svg>`,
			`<svg><text x="0">ONE <tspan dy="1">TWO</tspan> THREE<tspan x="0" dy="1em">FOUR</tspan> FIVE<tspan x="3" xml:lang="fr">un</tspan></text><flowPara>SIX</flowPara></svg>`},
		{"android", `<resources xmlns:tools="t" tools:locale="en"><string name="b">b</string></resources>`, `<resources xmlns:tools="t" tools:locale="de"><string name="b">B</string></resources>`},
		{"svg", `<svg><text><tspan>one <tspan x="1" xml:lang="en">two <tspan y="2">three</tspan> <a>four</a></tspan></tspan><tspan x="2" xml:lang="fr">un <tspan x="3">deux</tspan></tspan></text></svg>`,
			`<svg><text><tspan>ONE <tspan x="1" xml:lang="de">TWO <tspan y="2">THREE</tspan> <a>FOUR</a></tspan></tspan><tspan x="2" xml:lang="fr">un <tspan x="3">deux</tspan></tspan></text></svg>`},
		{"svg", `<svg><foreignObject><div><p>one</p><p lang="fr">un</p></div></foreignObject></svg>`, `<svg><foreignObject><div><p>ONE</p><p lang="fr">un</p></div></foreignObject></svg>`},
		{"html", `<p>one</p><noscript lang="fr">un</noscript><template lang="en"><p>two</p></template>`, `<p>ONE</p><noscript lang="fr">un</noscript><template lang="de"><p>TWO</p></template>`},
	} {
		got, err := rewritten(t, kindNamed(t, c.kind), c.in, document.Options{From: "en", To: "de"}, func(text string) string {
			parts := tagOrElement.FindAllString(text, -1)
			for i, part := range parts {
				if !strings.HasPrefix(part, "<") {
					parts[i] = strings.ToUpper(part)
				}
			}
			return strings.Join(parts, "")
		})
		require.NoError(t, err)
		assert.Contains(t, got, c.want)
	}
	_, err := rewritten(t, kindNamed(t, "xliff"), `<xliff version="1.2"><file><trans-unit id="1"><source>one</source><target xml:lang="fr">un</target></trans-unit></file></xliff>`, document.Options{To: "de"}, strings.ToUpper)
	require.Error(t, err)
	requireRefused(t, err)
	assert.ErrorContains(t, err, "translations into fr")
}

// What stays is written from left to right also in a page that no longer is.
func TestDirectionOfWhatStays(t *testing.T) {
	const text = `<p>one <i lang="fr">un</i></p><p lang="fr">deux</p><p lang="he">x</p><p dir="auto" lang="fr">y</p><PRE class="a">z</PRE><p>two</p><svg><text lang="fr">v</text></svg>`
	for to, want := range map[string]string{
		"ar": `<p>one <i dir="ltr" lang="fr">un</i></p><p dir="ltr" lang="fr">deux</p><p lang="he">x</p><p dir="auto" lang="fr">y</p><PRE dir="ltr" class="a">z</PRE><p>two</p><svg><text lang="fr">v</text></svg>`,
		"de": text, "": text,
	} {
		got, err := rewritten(t, kindNamed(t, "html"), text, document.Options{From: "en", To: to}, func(text string) string { return text })
		require.NoError(t, err)
		assert.Equal(t, want, got, to)
	}
}

// tagOrElement matches an element that stays, a tag, or a text.
var tagOrElement = regexp.MustCompile(`<[^<>]*translate="no"[^<>]*>[^<]*</[^<>]*>|<[^<>]*>|[^<]+`)

// Codes of languages have the form of the file: pt_BR for gettext and Qt.
func TestPosix(t *testing.T) {
	for code, want := range map[string]string{"de": "de", "pt-BR": "pt_BR", "zh-Hans": "zh_CN", "zh-Hant": "zh_TW", "zh": "zh", "en-US": "en_US", "sr-Latn": "sr", "x y-z": "x y-z"} {
		assert.Equal(t, want, posix(code))
	}
}

// Translations in gettext are marked as fuzzy on request, once for each entry.
func TestFuzzy(t *testing.T) {
	const text = "#, c-format\nmsgctxt \"x\"\nmsgid \"a %d\"\nmsgid_plural \"b %d\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n\n#, fuzzy\nmsgid \"c\"\nmsgstr \"\"\n\nmsgid \"d\"\nmsgstr \"e\"\n"
	got, err := rewritten(t, kindNamed(t, "po"), text, document.Options{Also: document.Also{document.AlsoFuzzy}}, func(text string) string { return text + "!" })
	require.NoError(t, err)
	assert.Equal(t, "#, c-format\n#, fuzzy\nmsgctxt \"x\"\nmsgid \"a %d\"\nmsgid_plural \"b %d\"\nmsgstr[0] \"a %d!\"\nmsgstr[1] \"b %d!\"\n\n#, fuzzy\nmsgid \"c\"\nmsgstr \"c!\"\n\nmsgid \"d\"\nmsgstr \"e\"\n", got)
}

// The header of a template becomes that of msginit 0.21 with --no-translator, and a catalogue in another language has no team.
func TestHeaderOfTemplates(t *testing.T) {
	const head = "msgid \"\"\nmsgstr \"\"\n\"POT-Creation-Date: 2024-01-01 12:00+0000\\n\"\n\"PO-Revision-Date: %s\\n\"\n\"Last-Translator: %s\\n\"\n\"Language-Team: %s\\n\"\n\"Language: %s\\n\"\n\nmsgid \"a b\"\nmsgstr \"\"\n"
	for _, c := range [][2]string{
		{"# x\n#, fuzzy\n" + fmt.Sprintf(head, "YEAR-MO-DA HO:MI+ZONE", "FULL NAME <EMAIL@ADDRESS>", "LANGUAGE <LL@li.org>", ""), "# x\n" + fmt.Sprintf(head, "2024-01-01 12:00+0000", "Automatically generated", "none", "de")},
		{"#, fuzzy, x\n" + fmt.Sprintf(head, "2024", "Ann", "French <fr@li.org>", "fr"), "#, x\n" + fmt.Sprintf(head, "2024", "Ann", "none", "de")},
		{"# x\n" + fmt.Sprintf(head, "2024", "Ann", "German <de@li.org>", "de_AT"), "# x\n" + fmt.Sprintf(head, "2024", "Ann", "German <de@li.org>", "de_AT")},
	} {
		got, err := rewritten(t, kindNamed(t, "po"), c[0], document.Options{To: "de"}, func(text string) string { return text })
		require.NoError(t, err)
		assert.Equal(t, c[1], got)
	}
}

// A catalogue of Xcode has one name for a language, and stale entries stay.
func TestNamesOfXcode(t *testing.T) {
	const text = `{"sourceLanguage":"en","strings":{"Open":{"localizations":{"zh-Hans":{"stringUnit":{"state":"translated","value":"x"}}}},"Old one":{"extractionState":"stale","localizations":{}},"Close":{"localizations":{}}}}`
	got, err := rewritten(t, kindNamed(t, "xcstrings"), text, document.Options{To: "zh"}, func(text string) string { return text + "!" })
	require.NoError(t, err)
	assert.Contains(t, got, `"zh-Hans" : {`)
	assert.NotContains(t, got, `"zh"`)
	assert.NotContains(t, got, "Old one!")
	assert.NotContains(t, got, "Open!")
	assert.Contains(t, got, "Close!")
	assert.Contains(t, got, `"needs_review"`)
	got, err = rewritten(t, kindNamed(t, "xcstrings"), `{"sourceLanguage":"en","strings":{"a":{"localizations":{"en":{"stringSet":{"state":"new","values":["One","two"]}}}}}}`, document.Options{To: "zh"}, strings.ToUpper)
	require.NoError(t, err)
	assert.Contains(t, got, `"zh" : {"stringSet":{"state":"needs_review","values":["ONE","TWO"]}}`)
}
