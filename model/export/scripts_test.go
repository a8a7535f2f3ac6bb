package export

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/family"
)

func TestScriptOf(t *testing.T) {
	for piece, want := range map[string]string{
		"": "", "▁": "", ",": "", "1984": "", "▁€": "", "😀": "", "ー": "", "́": "",
		"the": "Latin", "▁the": "Latin", "▁Zürich": "Latin", "s": "", "▁to": "", "▁ab1": "Latin",
		"мир": "Cyrillic", "▁о": "Cyrillic", "日": "Han", "日本の": "Hiragana", "の日": "Hiragana", "カー": "Katakana",
		"한국": "Hangul", "漢한": "Hangul", "<0xE3>": "", "▁NATO": "", "Nato": "Latin", "é": "", "él": "Latin", "▁λ": "", "λό": "Greek", "Ω": "", "ж": "Cyrillic", "♥": "", "「": "", "км": "Cyrillic", "A4": "", "USBメモリ": "Katakana", "T恤": "Han", "ा": "Devanagari", "०": "Devanagari", "ⴰⵣⵓⵍ": "Tifinagh",
	} {
		assert.Equal(t, want, scriptOf(piece, map[rune]string{}), "%q", piece)
	}
}

// The order has all ids, in runs of scripts, with ascending ids in each run.
func TestScriptOrder(t *testing.T) {
	tok, err := family.OpenTokenizer(filepath.Join("..", "bundled"), "m2m100", nil)
	require.NoError(t, err)
	vocab := tok.Size() + 5
	order, runs := scriptOrder(tok, vocab)
	require.Len(t, order, vocab)
	at, last := 0, ""
	for i, run := range runs {
		ids := order[at : at+run.Outputs]
		require.True(t, slices.IsSorted(ids))
		require.True(t, i == 0 || run.Name > last, "%v", run)
		for _, id := range ids {
			piece, ok := tok.Piece(int64(id))
			require.True(t, ok || run.Name == "")
			require.Equal(t, run.Name, scriptOf(piece, map[rune]string{}), "%q", piece)
		}
		at, last = at+run.Outputs, run.Name
	}
	assert.Equal(t, vocab, at)
	slices.Sort(order)
	for id, at := range order {
		require.EqualValues(t, id, at)
	}
}

// Models have scripts if a token in the source or in the prefix tells them the target language.
func TestScriptsOfFamilies(t *testing.T) {
	type scripts struct{ has, inSource bool }
	for name, want := range map[string]scripts{
		"nllb": {true, false}, "small100": {true, true}, "t5": {true, true}, "mbart": {}, "marian": {}, "marian-many": {}, "ctranslate2-argos": {}, "ctranslate2-codes": {},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("..", "testdata", "families", name)
			f, err := family.Recognize(model.Folder(dir), "")
			require.NoError(t, err)
			m, err := Export(t.Context(), dir, t.TempDir(), Options{Precision: model.INT8, Family: f.Name, Languages: []string{"en", "fr"}})
			require.NoError(t, err)
			require.Equal(t, want.has, m.Scripts != nil)
			if want.has {
				assert.Equal(t, want.inSource, m.Scripts.InSource)
				assert.NotEmpty(t, m.Scripts.Languages)
			}
		})
	}
}
