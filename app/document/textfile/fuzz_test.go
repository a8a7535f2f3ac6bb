package textfile

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"dragoman/app/document"
	"dragoman/app/text/markup"
)

// hostile has translations that some kind must escape.
var hostile = []string{
	"Plain words", `He said "no" & left <now>`, "It's {0} o'clock", `back\slash \n \u00e9 \`, "two\nlines\r\nhere", "a, b; c\td | e",
	"- item: x # y", "1. first", "# title #", "--> x", "]]> y", "@string/x y", "?attr z", "é日本語\U0001F600", "<b>x</b> <i>y", "  x  ", "", "&amp; &lt;b&gt; &nope;",
	"---\nx", "> quote", "| a | b |\n|---|---|", "[x]: http://a.b", "%s $1 x", "yes", "null", "1e5 x", "'", "`code` x", "<!-- x -->y", "x\u2028y\u0085z\x01", "===",
}

// fuzzKind checks a kind with arbitrary documents. The identical translation must give the same bytes. check compares a
// translated document with its source.
func fuzzKind(f *testing.F, name string, check func(t *testing.T, doc, out, translation string, before []string)) {
	kind := kindNamed(f, name)
	for file, text := range corpus(f) {
		if kindOf(f, file).Name == name {
			for _, translation := range hostile {
				f.Add(text, translation)
			}
		}
	}
	f.Fuzz(func(t *testing.T, doc, translation string) {
		var before []string
		o := document.Options{Header: document.HeaderTranslate, Also: document.Also{document.AlsoAlt}, Unfit: func() {}}
		if name == "xcstrings" {
			o.To = "fr"
		}
		same, err := rewritten(t, kind, doc, o, func(text string) string {
			before = append(before, text)
			return text
		})
		if err != nil {
			requireRefused(t, err)
			return
		}
		require.Equal(t, doc, same)
		if kind.Form != markup.Text {
			translation = markup.XML.Escape(translation)
		}
		var seen []string
		out, err := rewritten(t, kind, doc, o, func(text string) string {
			if kind.Form == markup.Text {
				checkSegment(t, kind.Form, text)
			}
			seen = append(seen, text)
			return translation
		})
		require.NoError(t, err)
		require.Equal(t, before, seen)
		if len(before) == 0 {
			require.Equal(t, doc, out)
		}
		o.To = "ru"
		if _, err := rewritten(t, kind, doc, o, func(string) string { return translation }); err != nil {
			requireRefused(t, err) // translations into another language
		}
		check(t, doc, out, cleaned(translation), before)
	})
}

// requireRefused checks that an error is a [document.Error] with a reason.
func requireRefused(t *testing.T, err error) {
	t.Helper()
	var refused *document.Error
	require.ErrorAs(t, err, &refused)
	require.NotEmpty(t, refused.Reason)
}

// cleaned returns a translation as a pass cleans it.
func cleaned(translation string) string {
	return strings.TrimSpace(strings.Map(clean, strings.ReplaceAll(translation, "\r\n", "\n")))
}

// again returns the segments of a translated document, with Unix line ends: line ends are the document's.
func again(t *testing.T, name, text string, o document.Options) []string {
	t.Helper()
	list, err := segments(t, kindNamed(t, name), text, o)
	require.NoError(t, err, text)
	for i := range list {
		list[i] = strings.ReplaceAll(list[i], "\r\n", "\n")
	}
	return list
}

// passOf returns a pass over a text, without a deadline.
func passOf(text string) *pass { return &pass{ctx: context.Background(), text: text} }

// isKept reports whether a translation is a segment when the document is read again.
func isKept(translation string) bool {
	return hasLetter(translation) && !passOf(translation).isCode(translation)
}

// sameAgain checks that the segments of a translated document are the translation.
func sameAgain(name string, read func(string) string) func(t *testing.T, doc, out, translation string, before []string) {
	return func(t *testing.T, doc, out, translation string, before []string) {
		after := again(t, name, out, document.Options{Header: document.HeaderTranslate})
		translation = read(translation)
		if !isKept(translation) || strings.ContainsAny(translation+doc, "%'") && name != "txt" && name != "csv" && name != "tsv" { // formatters have their own escapes
			return
		}
		require.Len(t, after, len(before))
		for i := range after {
			if after[i] != strings.ReplaceAll(before[i], "\r\n", "\n") { // segments equal to their translation stay
				require.Equal(t, translation, read(after[i]), out)
			}
		}
	}
}

func asItIs(text string) string { return text }

func FuzzText(f *testing.F) { fuzzKind(f, "txt", sameAgain("txt", oneLine)) }

// A translation may contain blocks of Markdown, so the test checks only that the result can be read.
func FuzzMarkdown(f *testing.F) {
	fuzzKind(f, "markdown", func(t *testing.T, doc, out, translation string, before []string) {
		after := again(t, "markdown", out, document.Options{})
		if isWords(translation) && !strings.Contains(doc, "![") {
			require.Len(t, after, len(before))
		}
	})
}

func FuzzSVG(f *testing.F)    { fuzzKind(f, "svg", readAgain("svg")) }
func FuzzTMX(f *testing.F)    { fuzzKind(f, "tmx", readAgain("tmx")) }
func FuzzFluent(f *testing.F) { fuzzKind(f, "ftl", readAgain("ftl")) }
func FuzzPHP(f *testing.F)    { fuzzKind(f, "php", readAgain("php")) }

// readAgain checks only that the result can be read.
func readAgain(name string) func(t *testing.T, doc, out, translation string, before []string) {
	return func(t *testing.T, doc, out, translation string, before []string) {
		again(t, name, out, document.Options{})
	}
}

func FuzzMDX(f *testing.F) {
	fuzzKind(f, "mdx", func(t *testing.T, doc, out, translation string, before []string) {
		again(t, "mdx", out, document.Options{})
	})
}

// isWords reports whether a text is letters and single spaces.
func isWords(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r != ' ' && (r < 'a' || r > 'z') }) && !strings.Contains(text, "  ")
}

func FuzzHTML(f *testing.F) {
	fuzzKind(f, "html", func(t *testing.T, doc, out, translation string, before []string) {
		_, err := segments(t, kindNamed(t, "html"), out, document.Options{})
		require.NoError(t, err)
	})
}

func FuzzSRT(f *testing.F) { fuzzKind(f, "srt", cuesAgain("srt")) }
func FuzzSBV(f *testing.F) {
	fuzzKind(f, "sbv", func(t *testing.T, doc, out, translation string, before []string) {
		again(t, "sbv", out, document.Options{})
	})
}
func FuzzLRC(f *testing.F) {
	fuzzKind(f, "lrc", func(t *testing.T, doc, out, translation string, before []string) {
		again(t, "lrc", out, document.Options{})
	})
}
func FuzzEML(f *testing.F) {
	for _, c := range mails {
		f.Add(strings.ReplaceAll(c.head, "\n", "\r\n")+"\r\n"+c.body, "a\n> b")
	}
	for _, text := range []string{"0:\nA", "Content-Type:text/plain;0\n\nA"} {
		f.Add(text, "\xc0")
	}
	fuzzKind(f, "eml", func(t *testing.T, doc, out, translation string, before []string) {
		again(t, "eml", out, document.Options{})
	})
}
func FuzzVTT(f *testing.F) { fuzzKind(f, "vtt", cuesAgain("vtt")) }

// cuesAgain checks that the times and settings of cues have not changed.
func cuesAgain(name string) func(t *testing.T, doc, out, translation string, before []string) {
	return func(t *testing.T, doc, out, translation string, before []string) {
		after := again(t, name, out, document.Options{Header: document.HeaderTranslate})
		require.Equal(t, times(doc), times(out))
		if isWords(translation) {
			require.Equal(t, len(before) > 0, len(after) > 0, out)
		}
	}
}

func times(text string) (list []string) {
	for _, l := range passOf(text).linesOf("\r\n") {
		if timing.MatchString(text[l.Start:l.End]) {
			list = append(list, text[l.Start:l.End])
		}
	}
	return list
}

// The test needs a named separator: a guess for arbitrary bytes may differ the second time.
func FuzzCSV(f *testing.F) {
	fuzzKind(f, "csv", func(t *testing.T, doc, out, translation string, before []string) {
		if strings.HasPrefix(doc, "sep=") && len(doc) > 5 && strings.ContainsAny(doc[5:6], "\r\n") {
			sameAgain("csv", asItIs)(t, doc, out, translation, before)
		}
	})
}

func FuzzTSV(f *testing.F) { fuzzKind(f, "tsv", sameAgain("tsv", asItIs)) }

// If a translation has lost its {0} or %s, two apostrophes or percent signs are no longer an escape, so the test skips formats.
func FuzzProperties(f *testing.F) {
	fuzzKind(f, "properties", func(t *testing.T, doc, out, translation string, before []string) {
		if !strings.ContainsAny(doc+out, "{%") {
			sameAgain("properties", asItIs)(t, doc, out, translation, before)
		}
	})
}

func FuzzStrings(f *testing.F) { fuzzKind(f, "strings", sameAgain("strings", asItIs)) }

func FuzzPlist(f *testing.F) { fuzzKind(f, "plist", sameAgain("plist", asItIs)) }

func FuzzStringsdict(f *testing.F) { fuzzKind(f, "stringsdict", sameAgain("stringsdict", asItIs)) }

func FuzzResx(f *testing.F) { fuzzKind(f, "resx", sameAgain("resx", asItIs)) }

// Translated texts are not segments any more.
func FuzzQt(f *testing.F) {
	fuzzKind(f, "ts", func(t *testing.T, doc, out, translation string, before []string) {
		after := again(t, "ts", out, document.Options{})
		if translation != "" {
			require.Subset(t, []string{translation}, after)
		}
	})
}

func FuzzTTML(f *testing.F) {
	fuzzKind(f, "ttml", func(t *testing.T, doc, out, translation string, before []string) {
		_, err := segments(t, kindNamed(t, "ttml"), out, document.Options{})
		require.NoError(t, err, out)
	})
}

// Lines keep their number, and so do texts if the translation is plain words.
func FuzzASS(f *testing.F) {
	fuzzKind(f, "ass", func(t *testing.T, doc, out, translation string, before []string) {
		after := again(t, "ass", out, document.Options{})
		require.Equal(t, len(passOf(doc).linesOf("\r\n")), len(passOf(out).linesOf("\r\n")))
		if isWords(translation) {
			require.Len(t, after, len(before))
		}
	})
}

// A notebook changes only in the sources of its cells.
func FuzzNotebook(f *testing.F) {
	fuzzKind(f, "ipynb", func(t *testing.T, doc, out, translation string, before []string) {
		_, err := segments(t, kindNamed(t, "ipynb"), out, document.Options{})
		require.NoError(t, err, out)
		require.Equal(t, withoutSources(t, doc), withoutSources(t, out))
	})
}

// withoutSources returns a notebook without the sources of its cells, or nil for other JSON.
func withoutSources(t *testing.T, text string) (notebook map[string]any) {
	if json.Unmarshal([]byte(text), &notebook) != nil {
		return nil
	}
	cells, _ := notebook["cells"].([]any)
	for _, cell := range cells {
		if members, ok := cell.(map[string]any); ok {
			delete(members, "source")
		}
	}
	return notebook
}

func FuzzJSON(f *testing.F) {
	fuzzKind(f, "json", func(t *testing.T, doc, out, translation string, before []string) {
		sameAgain("json", asItIs)(t, doc, out, translation, before)
		var a, b any
		if json.Unmarshal([]byte(strings.TrimPrefix(doc, "\uFEFF")), &a) == nil {
			require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(out, "\uFEFF")), &b))
			require.True(t, sameShape(a, b), out)
		}
	})
}

func FuzzYAML(f *testing.F) {
	fuzzKind(f, "yaml", func(t *testing.T, doc, out, translation string, before []string) {
		sameAgain("yaml", func(text string) string { return strings.Join(strings.Fields(text), " ") })(t, doc, out, translation, before)
		da, db := yaml.NewDecoder(strings.NewReader(doc)), yaml.NewDecoder(strings.NewReader(out))
		for {
			var a, b any
			errA, errB := da.Decode(&a), db.Decode(&b)
			if errors.Is(errA, io.EOF) || errA != nil {
				return
			}
			require.NoError(t, errB, out)
			require.True(t, sameShape(a, b), out)
		}
	})
}

// sameShape reports whether two values differ only in strings.
func sameShape(a, b any) bool {
	switch a := a.(type) {
	case string:
		_, ok := b.(string)
		return ok
	case []any:
		list, ok := b.([]any)
		if !ok || len(list) != len(a) {
			return false
		}
		for i := range a {
			if !sameShape(a[i], list[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		members, ok := b.(map[string]any)
		if !ok || len(members) != len(a) {
			return false
		}
		for key := range a {
			if other, ok := members[key]; !ok || !sameShape(a[key], other) {
				return false
			}
		}
		return true
	}
	return true
}

// A translated catalogue has no empty translations left, and a second pass changes nothing.
func FuzzPO(f *testing.F)    { fuzzKind(f, "po", doneAgain("po")) }
func FuzzXLIFF(f *testing.F) { fuzzKind(f, "xliff", doneAgain("xliff")) }

func doneAgain(name string) func(t *testing.T, doc, out, translation string, before []string) {
	return func(t *testing.T, doc, out, translation string, before []string) {
		after := again(t, name, out, document.Options{Header: document.HeaderTranslate})
		if translation != "" && !strings.Contains(doc, "state") {
			require.Subset(t, []string{translation}, after)
		}
	}
}

// Texts with a localization are not segments any more.
func FuzzXCStrings(f *testing.F) {
	fuzzKind(f, "xcstrings", func(t *testing.T, doc, out, translation string, before []string) {
		after := again(t, "xcstrings", out, document.Options{To: "fr"})
		if translation != "" {
			require.Subset(t, []string{translation}, after)
		}
	})
}

// A second pass with the same translation changes nothing.
func FuzzAndroid(f *testing.F) {
	fuzzKind(f, "android", func(t *testing.T, doc, out, translation string, before []string) {
		var again []string
		twice, err := rewritten(t, kindNamed(t, "android"), out, document.Options{}, func(text string) string {
			again = append(again, text)
			return translation
		})
		require.NoError(t, err, out)
		if len(again) == len(before) {
			require.Equal(t, out, twice)
		}
	})
}
