package ngrams

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// record is a record of a handmade table.
type record struct {
	sequence string
	language byte
	units    byte
}

// tableOf returns a table of records.
func tableOf(t *testing.T, codes string, records ...record) *Table {
	var lines []string
	for _, r := range records {
		h := hashOf(r.sequence)
		lines = append(lines, string([]byte{byte(h >> 24), byte(h >> 16), byte(h >> 8), byte(h), r.language, r.units}))
	}
	slices.Sort(lines)
	table, err := parse(magic + " " + codes + "\n" + strings.Join(lines, ""))
	require.NoError(t, err)
	return table
}

func TestParseRefuses(t *testing.T) {
	for name, data := range map[string]string{
		"empty":            "",
		"other magic":      "ngrams0 en\n123456",
		"no languages":     "ngrams1\n123456",
		"no records":       "ngrams1 en\n",
		"no end of line":   "ngrams1 en",
		"part of record":   "ngrams1 en\n1234567",
		"many languages":   "ngrams1" + strings.Repeat(" en", 257) + "\n123456",
		"a pointer of LFS": "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
	} {
		_, err := parse(data)
		assert.ErrorContains(t, err, "make it again", name)
	}
}

func TestScore(t *testing.T) {
	table := tableOf(t, "xx yy",
		record{"a", 0, 16}, record{"b", 0, 32}, record{"ab", 0, 8}, record{"é", 0, 48},
		record{"a", 1, 64}, record{"b", 1, 64}, record{"abab", 1, 4},
	)
	const unknown = floor
	for _, test := range []struct {
		name  string
		words []string
		want  []float64 // in bits
	}{
		{"nothing", nil, []float64{0, 0}},
		{"empty word", []string{""}, []float64{0, 0}},
		{"single letter", []string{"a"}, []float64{1, 4}},
		{"the longest sequence counts", []string{"ab"}, []float64{1 + 0.5, 4 + backoff + 4}},
		{"words are apart", []string{"a", "b"}, []float64{1 + 2, 4 + 4}},
		{"a letter of two bytes", []string{"é"}, []float64{3, unknown}},
		{"unknown letter", []string{"x"}, []float64{unknown, unknown}},
		{"unknown letter behind others", []string{"abx"},
			[]float64{1 + 0.5 + 2*backoff + unknown, 4 + backoff + 4 + 2*backoff + unknown}},
		{"a long sequence", []string{"abab"},
			[]float64{1 + 0.5 + (2*backoff + 1) + (2*backoff + 0.5), 4 + (backoff + 4) + (2*backoff + 4) + 0.25}},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.want, table.Scorer([]string{"xx", "yy"}).Score(slices.Values(test.words)))
			// The result has the caller's order of languages; languages may be missing or unknown.
			bits := table.Scorer([]string{"yy", "zz", "xx"}).Score(slices.Values(test.words))
			assert.Equal(t, test.want, []float64{bits[2], bits[0]})
			assert.GreaterOrEqual(t, bits[1], max(bits[0], bits[2]))
			assert.Equal(t, test.want[1:], table.Scorer([]string{"yy"}).Score(slices.Values(test.words)))
		})
	}
	assert.Empty(t, table.Scorer(nil).Score(slices.Values([]string{"ab"})))
}

// The records of the binary's table are sorted, and each of its languages has letters.
func TestLoad(t *testing.T) {
	table, err := Load()
	require.NoError(t, err)
	assert.Contains(t, table.Languages(), "en")
	counts := make([]int, len(table.Languages()))
	last := ""
	for at := 0; at < len(table.records); at += recordSize {
		key := table.records[at : at+5]
		if key <= last || int(key[4]) >= len(counts) {
			t.Fatalf("record %d: %x after %x, of %d languages", at/recordSize, key, last, len(counts))
		}
		last = key
		counts[key[4]]++
	}
	for i, code := range table.Languages() {
		assert.Greater(t, counts[i], 1000, code)
	}
	assert.Less(t, len(embedded), 6<<20)
}

// The reduced models distinguish the languages.
func TestEmbeddedScores(t *testing.T) {
	table, err := Load()
	require.NoError(t, err)
	codes := []string{"de", "en", "fr"}
	for text, want := range map[string]string{"the weather": "en", "das wetter": "de", "le temps": "fr"} {
		bits := table.Scorer(codes).Score(strings.FieldsSeq(text))
		assert.Equal(t, want, codes[slices.Index(bits, slices.Min(bits))])
	}
}

func TestLanguagesIsACopy(t *testing.T) {
	table := tableOf(t, "xx", record{"a", 0, 1})
	table.Languages()[0] = "changed"
	assert.Equal(t, []string{"xx"}, table.Languages())
}

func FuzzScore(f *testing.F) {
	f.Add("the weather")
	f.Add("\xff\xf0\x80 é")
	table, err := Load()
	require.NoError(f, err)
	scorer := table.Scorer(table.Languages())
	f.Fuzz(func(t *testing.T, text string) {
		for _, b := range scorer.Score(strings.FieldsSeq(text)) {
			assert.GreaterOrEqual(t, b, 0.0)
		}
	})
}
