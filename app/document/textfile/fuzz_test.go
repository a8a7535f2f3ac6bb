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

// hostile are translations that some kind has to escape.
var hostile = []string{
	"Plain words", `He said "no" & left <now>`, "It's {0} o'clock", `back\slash \n \u00e9 \`, "two\nlines\r\nhere", "a, b; c\td | e",
	"- item: x # y", "1. first", "# title #", "--> x", "]]> y", "@string/x y", "?attr z", "é日本語\U0001F600", "<b>x</b> <i>y", "  x  ", "", "&amp; &lt;b&gt; &nope;",
	"---\nx", "> quote", "| a | b |\n|---|---|", "[x]: http://a.b", "%s $1 x", "yes", "null", "1e5 x", "'", "`code` x", "<!-- x -->y", "x\u2028y\u0085z\x01", "===",
}

// fuzzKind checks a kind on documents of any sort. again says what the segments of a document become
// that was translated: each a text that is equal to what a translation is to be read as, or nil where that
// is another one.
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
		check(t, doc, out, cleaned(translation), before)
	})
}

// requireRefused fails where an error is no [document.Error] with a reason.
func requireRefused(t *testing.T, err error) {
	t.Helper()
	var refused *document.Error
	require.ErrorAs(t, err, &refused)
	require.NotEmpty(t, refused.Reason)
}

// cleaned is a translation as a pass sees it.
func cleaned(translation string) string {
	return strings.TrimSpace(strings.Map(clean, strings.ReplaceAll(translation, "\r\n", "\n")))
}

// again are the segments of a document that was translated. Line ends are not compared: they are the document's.
func again(t *testing.T, name, text string, o document.Options) []string {
	t.Helper()
	list, err := segments(t, kindNamed(t, name), text, o)
	require.NoError(t, err, text)
	for i := range list {
		list[i] = strings.ReplaceAll(list[i], "\r\n", "\n")
	}
	return list
}

// passOf is a way through a text that nothing ends.
func passOf(text string) *pass { return &pass{ctx: context.Background(), text: text} }

// isKept says whether a translation is a segment when it is read again.
func isKept(translation string) bool {
	return hasLetter(translation) && !passOf(translation).isCode(translation)
}

// sameAgain fails where a document that was translated has other segments than the translation.
func sameAgain(name string, read func(string) string) func(t *testing.T, doc, out, translation string, before []string) {
	return func(t *testing.T, doc, out, translation string, before []string) {
		after := again(t, name, out, document.Options{Header: document.HeaderTranslate})
		translation = read(translation)
		if !isKept(translation) {
			return
		}
		require.Len(t, after, len(before))
		for i := range after {
			if after[i] != strings.ReplaceAll(before[i], "\r\n", "\n") { // those stay that equal their translation
				require.Equal(t, translation, read(after[i]), out)
			}
		}
	}
}

func asItIs(text string) string { return text }

func FuzzText(f *testing.F) { fuzzKind(f, "txt", sameAgain("txt", oneLine)) }

// A translation in Markdown may have blocks of its own; what is certain is that it can be read.
func FuzzMarkdown(f *testing.F) {
	fuzzKind(f, "markdown", func(t *testing.T, doc, out, translation string, before []string) {
		after := again(t, "markdown", out, document.Options{})
		if isWords(translation) && !strings.Contains(doc, "![") {
			require.Len(t, after, len(before))
		}
	})
}

// isWords says whether a text is letters and single spaces.
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
func FuzzVTT(f *testing.F) { fuzzKind(f, "vtt", cuesAgain("vtt")) }

// cuesAgain fails where the times of cues, or what is beside them, have changed.
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

// A separator that is not named is guessed, of a table of any bytes perhaps another one the second time.
func FuzzCSV(f *testing.F) {
	fuzzKind(f, "csv", func(t *testing.T, doc, out, translation string, before []string) {
		if strings.HasPrefix(doc, "sep=") {
			sameAgain("csv", asItIs)(t, doc, out, translation, before)
		}
	})
}

func FuzzTSV(f *testing.F) { fuzzKind(f, "tsv", sameAgain("tsv", asItIs)) }

// Where a translation has lost its {0}, two apostrophes are two.
func FuzzProperties(f *testing.F) {
	fuzzKind(f, "properties", func(t *testing.T, doc, out, translation string, before []string) {
		if !messageFormat.MatchString(doc + out) {
			sameAgain("properties", asItIs)(t, doc, out, translation, before)
		}
	})
}

func FuzzStrings(f *testing.F) { fuzzKind(f, "strings", sameAgain("strings", asItIs)) }

func FuzzStringsdict(f *testing.F) { fuzzKind(f, "stringsdict", sameAgain("stringsdict", asItIs)) }

func FuzzResx(f *testing.F) { fuzzKind(f, "resx", sameAgain("resx", asItIs)) }

// What has its translation has no segments any more.
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

// The fields before the texts, the tags and the drawings are the same.
func FuzzASS(f *testing.F) {
	fuzzKind(f, "ass", func(t *testing.T, doc, out, translation string, before []string) {
		after := again(t, "ass", out, document.Options{})
		require.Equal(t, len(passOf(doc).linesOf("\r\n")), len(passOf(out).linesOf("\r\n")))
		if isWords(translation) {
			require.Len(t, after, len(before))
		}
	})
}

// What is certain is that the document can be read, with as many texts where nothing is joined.
func FuzzRST(f *testing.F) {
	fuzzKind(f, "rst", func(t *testing.T, doc, out, translation string, before []string) {
		_, err := segments(t, kindNamed(t, "rst"), out, document.Options{})
		require.NoError(t, err, out)
	})
}

// All but the sources of cells is the same.
func FuzzNotebook(f *testing.F) {
	fuzzKind(f, "ipynb", func(t *testing.T, doc, out, translation string, before []string) {
		_, err := segments(t, kindNamed(t, "ipynb"), out, document.Options{})
		require.NoError(t, err, out)
		require.Equal(t, withoutSources(t, doc), withoutSources(t, out))
	})
}

// withoutSources is a notebook without the sources of its cells, nil where it is none.
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

// sameShape says whether two values differ in strings alone.
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

// What was empty is done when a catalogue is read again, and a second pass changes nothing.
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

// What has its localization has no segments any more.
func FuzzXCStrings(f *testing.F) {
	fuzzKind(f, "xcstrings", func(t *testing.T, doc, out, translation string, before []string) {
		after := again(t, "xcstrings", out, document.Options{To: "fr"})
		if translation != "" {
			require.Subset(t, []string{translation}, after)
		}
	})
}

// The same translation twice is the same document.
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
