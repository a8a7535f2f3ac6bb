package tokenizer

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/tokenizer/internal/goldentest"
)

// within returns the sorted ids of the pieces within a source.
func within(t *Tokenizer, source []int64) (ids []int64) {
	t.Within(source, func(id int64) { ids = append(ids, id) })
	slices.Sort(ids)
	return slices.Compact(ids)
}

func TestWithin(t *testing.T) {
	tok := open(t)
	for name, c := range map[string]struct{ source, wanted, unwanted string }{
		"a name":                {"I am Mary.", "Maryは", "Tom"},
		"in the middle":         {"I like Facebook!", "はFacebookは", ""},
		"capitals":              {"HELLO TOM", "Hello Tom hello tom", "Mary"},
		"no capitals":           {"they were here", "They Were here", "ere"},
		"another script":        {"Das Wort トム heißt Tom.", "トム", "メアリー"},
		"two words, not joined": {"over time", "over time", "▁overtime"},
		"a common word":         {"they facebook", "facebook They", "ace"},
		"nothing":               {"", "", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			source, err := tok.Encode("en", "ja", c.source)
			require.NoError(t, err)
			ids := within(tok, source)
			wanted, err := tok.EncodeTarget(c.wanted)
			require.NoError(t, err)
			for _, id := range wanted {
				if piece, _ := tok.Piece(id); !strings.Contains(piece, "は") && spoken(piece) != "" {
					assert.Contains(t, ids, id, "%q", piece)
				}
			}
			if unwanted, ok := tok.target.vocab.ids[c.unwanted]; ok {
				assert.NotContains(t, ids, unwanted)
			}
		})
	}
	assert.Empty(t, within(tok, []int64{-1, 0, 1, 2, 1 << 40}), "no text")
}

// all returns what Within finds by looking for each piece.
func all(t *Tokenizer, source []int64) (ids []int64) {
	words, tokens := []string{""}, map[string]bool{}
	for _, id := range source {
		piece, ok := t.Piece(id)
		if !ok || strings.HasPrefix(piece, "▁") {
			words = append(words, "")
		}
		words[len(words)-1] += strings.TrimPrefix(piece, "▁")
		tokens[spoken(piece)] = true
	}
	words = slices.DeleteFunc(words, func(w string) bool {
		return !strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLower(r) })
	})
	names := strings.ToLower(strings.Join(words, "\xff"))
	for id := range int64(t.Size()) {
		if piece, ok := t.Piece(id); ok && spoken(piece) != "" && (tokens[spoken(piece)] || strings.Contains(names, spoken(piece))) {
			ids = append(ids, id)
		}
	}
	return ids
}

// All pieces are found, whatever the text.
func TestWithinFindsAll(t *testing.T) {
	tok := open(t)
	for _, file := range []string{"testdata/corpus.jsonl.gz", "testdata/hostile.jsonl.gz"} {
		records := goldentest.Read(t, file)
		for i := 0; i < len(records); i += 1 + len(records)/60 {
			source, err := tok.Encode("en", "ja", records[i].Text[:min(len(records[i].Text), 500)])
			require.NoError(t, err)
			require.Equal(t, all(tok, source), within(tok, source), "%q", records[i].Text)
		}
	}
}

func FuzzWithin(f *testing.F) {
	tok := open(f)
	for _, text := range []string{"", "Mary", "MARY", "ﬁ İ ẞ", "a\xffb", "▁▁", "<0x41>", "トムはTOMです"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		source, err := tok.Encode("en", "ja", text)
		require.NoError(t, err)
		require.Equal(t, all(tok, source), within(tok, source))
	})
}

func BenchmarkWithin(b *testing.B) {
	tok, records := open(b), goldentest.Read(b, "testdata/corpus.jsonl.gz")
	found := 0
	tok.Within(records[0].IDs, func(int64) {})
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range records {
			tok.Within(r.IDs, func(int64) { found++ })
		}
	}
	report(b, records)
}
