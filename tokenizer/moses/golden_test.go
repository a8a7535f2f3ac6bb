package moses

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// golden is a line of testdata/goldens.jsonl.gz, which testdata/make.py writes.
type golden struct {
	Kind  string          `json:"kind"`
	Of    json.RawMessage `json:"of"`
	Gives []struct {      // by languages
		Languages []string        `json:"languages"`
		Result    json.RawMessage `json:"result"`
	} `json:"gives"`
	Codes  string   `json:"codes"` // the file
	Pieces []string `json:"pieces"`
	Text   string   `json:"text"` // of the pieces
}

// goldens calls do with each golden of a kind.
func goldens(t testing.TB, kind string, do func(golden)) {
	f, err := os.Open(filepath.Join("testdata", "goldens.jsonl.gz"))
	require.NoError(t, err)
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	require.NoError(t, err)
	lines, n := bufio.NewScanner(unzipped), 0
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var g golden
		require.NoError(t, json.Unmarshal(lines.Bytes(), &g))
		if g.Kind == kind {
			do(g)
			n++
		}
	}
	require.NoError(t, lines.Err())
	require.Greater(t, n, 100)
}

func read[T any](t testing.TB, raw json.RawMessage) (value T) {
	require.NoError(t, json.Unmarshal(raw, &value))
	return value
}

// spacedNumber matches what the reference makes another number.
var spacedNumber = regexp.MustCompile(`\pN\x{a0}\pN`)

// A number with no-break spaces is that with spaces.
func TestNumbersKeepTheirValue(t *testing.T) {
	for code, text := range map[string]string{"en": "10 000 people", "fr": "1 234 567,89 euros", "de": "10 000 Euro", "ru": "10 000 5 10"} {
		l := NewLanguage(code)
		assert.Equal(t, l.Tokenize(text), l.Tokenize(l.Normalize(strings.ReplaceAll(text, " ", "\u00a0"))), code)
	}
}

func TestWordsAreThoseOfSacremoses(t *testing.T) {
	goldens(t, "words", func(g golden) {
		text := read[string](t, g.Of)
		if spacedNumber.MatchString(text) {
			return
		}
		for _, gives := range g.Gives {
			want := read[struct {
				Normalized string
				Words, Raw []string
			}](t, gives.Result)
			for _, code := range gives.Languages {
				l := NewLanguage(code)
				normalized := l.Normalize(text)
				assert.Equal(t, want.Normalized, normalized, "%s %q", code, text)
				assert.Equal(t, want.Words, l.Tokenize(normalized), "%s %q", code, normalized)
				assert.Equal(t, want.Raw, l.Tokenize(text), "%s %q", code, text)
			}
		}
	})
}

func TestTextsAreThoseOfSacremoses(t *testing.T) {
	goldens(t, "detokenized", func(g golden) {
		words := strings.Join(read[[]string](t, g.Of), " ")
		for _, gives := range g.Gives {
			want := read[*string](t, gives.Result)
			for _, code := range gives.Languages {
				if got := NewLanguage(code).Detokenize(words); want != nil { // else sacremoses fails
					assert.Equal(t, *want, got, "%s %q", code, words)
				}
			}
		}
	})
}

func TestPiecesAreThoseOfArgos(t *testing.T) {
	goldens(t, "pieces", func(g golden) {
		codes := open(t, g.Codes)
		text := read[string](t, g.Of)
		if spacedNumber.MatchString(text) {
			return
		}
		pieces := split(Words{NewLanguage("en"), codes}, text)
		assert.Equal(t, g.Pieces, pieces, "%s %q", g.Codes, text)
		assert.Equal(t, g.Text, Words{NewLanguage("fr"), codes}.Join(pieces), "%s %q", g.Codes, text)
	})
}

func TestWordsAreSplitAsBySubwordNMT(t *testing.T) {
	goldens(t, "split", func(g golden) {
		word, pieces := read[string](t, g.Of), []string{}
		open(t, g.Codes).split(new(merger), word, func(piece []byte) { pieces = append(pieces, string(piece)) })
		assert.Equal(t, g.Pieces, pieces, "%s %q", g.Codes, word)
	})
}

func open(t testing.TB, file string) *Codes {
	raw, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	codes, err := ParseCodes(raw)
	require.NoError(t, err)
	return codes
}

func split(w Words, text string) []string {
	pieces := []string{}
	w.Split(text, func(piece []byte) { pieces = append(pieces, string(piece)) })
	return pieces
}
