package moses

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDamagedCodesAreRefused(t *testing.T) {
	for name, test := range map[string]struct{ file, want string }{
		"empty":                   {"", "no codes"},
		"a version alone":         {"#version: 0.2\n", "no codes"},
		"another version":         {"#version: 0.3\na b\n", `codes of version "0.3", 0.1 and 0.2`},
		"no version":              {"#version:\na b\n", `codes of version ""`},
		"one symbol":              {"#version: 0.2\na b\nab\nc d\n", "line 3"},
		"three symbols":           {"a b c\n", "line 1"},
		"an empty symbol":         {"a b\na  b\n", "line 2"},
		"an empty line":           {"a b\n\nc d\n", "line 2"},
		"a SentencePiece model":   {"\n\x0e\n\x05<unk>\x15\x00\x00\x00\x00\x18\x02\xff", "not in UTF-8"},
		"too many lines":          {strings.Repeat("a b\n", maxMerges), "524289 lines of codes"},
		"too large":               {strings.Repeat(" ", maxCodes+1), "more than 16 MB"},
		"a long line is cut here": {strings.Repeat("a", 1<<20), `line 1 is "` + strings.Repeat("a", 60) + `", not`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseCodes([]byte(test.file))
			require.ErrorContains(t, err, test.want)
			assert.Less(t, len(err.Error()), 300)
		})
	}
}

func TestForms(t *testing.T) {
	for name, file := range map[string]string{
		"with CRLF": "#version: 0.2\r\na b\r\nab c</w>\r\n", "with lines at the end": "#version: 0.2\na b\nab c</w>\n\n\n",
		"without the last": "#version: 0.2\na b\nab c</w>", "with spaces": "#version: 0.2.0\n a b \nab c</w> \n",
		"a pair twice": "#version: 0.2\na b\nab c</w>\nb c</w>\na b\n",
	} {
		t.Run(name, func(t *testing.T) {
			codes, err := ParseCodes([]byte(file))
			require.NoError(t, err)
			assert.Equal(t, []string{"abc", "x@@", "ab@@", "d"}, split(Words{NewLanguage("en"), codes}, "abc xabd"))
		})
	}
}

// sacremoses turns DOTMULTI into a dot, and fails at the dash before "li".
func TestWhatDiffers(t *testing.T) {
	en, cs := NewLanguage("en"), NewLanguage("cs")
	assert.Equal(t, []string{"DOTMULTI", "...", "DOTDOTMULTI", "."}, en.Tokenize("DOTMULTI... DOTDOTMULTI."))
	assert.Equal(t, "x' - li", cs.Detokenize("x&apos; - li"))
	w := Words{en, open(t, "learned.codes")}
	assert.Equal(t, "hello wor", w.Join([]string{"hel@@", "lo", "wor@@"}))
	assert.Empty(t, w.Join([]string{"@@"}))
	assert.Empty(t, w.Join(nil))
}

func TestListsAreComplete(t *testing.T) {
	d := lists()
	assert.Len(t, d.words, 38)
	assert.Len(t, d.classes, 10)
	for name, class := range d.classes {
		assert.NotEmpty(t, class.R16, name)
		for _, r := range class.R16 {
			assert.LessOrEqual(t, r.Lo, r.Hi, name)
		}
	}
	for code, words := range d.ahead {
		assert.NotEmpty(t, words, code)
	}
	assert.True(t, d.words["en"]["Mr"])
	assert.True(t, d.ahead["en"]["No"])
}

// FuzzWords checks that the words have all characters of a text except spaces and quotation marks, that the pieces make up the
// words, and that no function panics.
func FuzzWords(f *testing.F) {
	goldens(f, "pieces", func(g golden) { f.Add(read[string](f, g.Of), "fr") })
	codes := open(f, "odd.codes")
	f.Fuzz(func(t *testing.T, text, code string) {
		l := NewLanguage(code)
		words := l.Tokenize(l.Normalize(text))
		pieces := split(Words{l, codes}, text)
		require.Equal(t, strings.Join(words, " "), strings.ReplaceAll(strings.Join(pieces, " "), "@@ ", ""))
		for _, word := range words {
			require.NotEmpty(t, word)
			require.False(t, strings.ContainsFunc(word, IsSpace), "%q", word)
		}
		kept := func(s string) string {
			return strings.Map(func(r rune) rune {
				if IsSpace(r) || r < ' ' {
					return -1
				}
				return r
			}, s)
		}
		if utf8.ValidString(text) {
			require.Equal(t, kept(text), kept(unescape.Replace(strings.Join(l.Tokenize(text), ""))))
		}
		joined := Words{l, codes}.Join(pieces)
		require.Equal(t, strings.TrimFunc(joined, IsSpace), joined)
		l.Detokenize(text)
	})
}

// FuzzParseCodes checks that each file is parsed or refused, and that parsed codes split any word into parts of it.
func FuzzParseCodes(f *testing.F) {
	f.Add([]byte("#version: 0.2\na b\nab c</w>\n"), "abc")
	f.Add([]byte("a b\nb </w>\na b</w>"), "aab")
	f.Add([]byte("a b\nab ab\nb a\n"), "ababab")
	f.Fuzz(func(t *testing.T, file []byte, word string) {
		codes, err := ParseCodes(file)
		if err != nil || word == "" || !utf8.ValidString(word) {
			return
		}
		var b strings.Builder
		codes.split(new(merger), word, func(piece []byte) { b.WriteString(strings.TrimSuffix(string(piece), "@@")) })
		if !strings.Contains(word, "@") {
			require.Equal(t, word, b.String())
		}
	})
}
