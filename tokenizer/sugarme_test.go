package tokenizer

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sugarme "github.com/sugarme/tokenizer"

	"dragoman/tokenizer/internal/golden"
)

// TestSugarmePipeline compares the library's whole pipeline with our own way.
func TestSugarmePipeline(t *testing.T) {
	tok := open(t)
	pipeline := tok.Sugarme()
	records := slices.Concat(golden.Read(t, "testdata/corpus.jsonl.gz"), golden.Read(t, "testdata/hostile.jsonl.gz"))
	for _, r := range records {
		if r.Bytes != nil || len(r.Text) > 5_000 { // it panics on broken UTF-8 and is slow on long texts
			continue
		}
		encoding, err := pipeline.EncodeSingle(r.Text)
		require.NoError(t, err, "%q", r.Text)
		var ids []int64
		for _, id := range encoding.Ids {
			ids = append(ids, int64(id))
		}
		require.True(t, slices.Equal(r.IDs[1:len(r.IDs)-1], ids), "%q", r.Text)
		require.True(t, slices.Equal(r.Pieces, encoding.Tokens), "%q", r.Text)
		require.Equal(t, r.HFDecoded, pipeline.Decode(encoding.Ids, true))
	}
}

// TestSugarmeOffsets checks that tokens point to the text that they came from.
func TestSugarmeOffsets(t *testing.T) {
	text := "  I like ｔｅａ\a and ﬁsh ☃."
	encoding, err := open(t).Sugarme().EncodeSingle(text)
	require.NoError(t, err)
	var sources []string
	for _, o := range encoding.Offsets {
		sources = append(sources, text[o[0]:o[1]])
	}
	assert.Equal(t, []string{"▁I", "▁like", "▁tea", "▁and", "▁fish", "▁", "☃", "."}, encoding.Tokens)
	assert.Equal(t, []string{"I", " like", " ｔｅａ\a", " and", " ﬁsh", " ", "☃", "."}, sources)
}

func TestAlign(t *testing.T) {
	for name, test := range map[string]struct {
		origins       []int
		textBytes     int
		forward, back [][]int
	}{
		"nothing":         {nil, 0, nil, [][]int{}},
		"all dropped":     {nil, 2, nil, [][]int{{0, 0}, {0, 0}}},
		"one to one":      {[]int{0, 1, 2}, 2, [][]int{{0, 1}, {1, 2}}, [][]int{{0, 1}, {1, 2}}},
		"one becomes two": {[]int{0, 0, 1}, 1, [][]int{{0, 1}, {0, 1}}, [][]int{{0, 2}}},
		"two become one":  {[]int{0, 2}, 2, [][]int{{0, 2}}, [][]int{{0, 1}, {0, 1}}},
		"dropped at both": {[]int{1, 2}, 4, [][]int{{1, 2}}, [][]int{{0, 0}, {0, 1}, {1, 1}, {1, 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			forward, back := align(test.origins, test.textBytes)
			assert.Equal(t, test.forward, forward)
			assert.Equal(t, test.back, back)
		})
	}
}

func TestSugarmeModel(t *testing.T) {
	tok := open(t)
	var m sugarme.Model = sugarmeModel{tok}
	vocab := m.GetVocab()
	assert.Len(t, vocab, m.GetVocabSize())
	assert.Equal(t, tok.Size()-madeUpWords, m.GetVocabSize())
	for token, want := range vocab {
		id, ok := m.TokenToId(token)
		require.True(t, ok)
		require.Equal(t, want, id)
		back, ok := m.IdToToken(id)
		require.True(t, ok)
		require.Equal(t, token, back)
	}
	english, _ := tok.LanguageID("en")
	id, ok := m.TokenToId("__en__")
	assert.True(t, ok)
	assert.Equal(t, int(english), id)
	for _, token := range []string{"", "__", "____", "__xx__", "not a token"} {
		_, ok := m.TokenToId(token)
		assert.False(t, ok, token)
	}
	for _, id := range []int{-1, m.GetVocabSize(), tok.Size()} {
		_, ok := m.IdToToken(id)
		assert.False(t, ok, id)
	}
	assert.ErrorIs(t, m.Save("folder"), errors.ErrUnsupported)
}

func TestSugarmeDecoder(t *testing.T) {
	decoder := open(t).Sugarme().GetDecoder()
	tokens := []string{"__en__", "▁I", "▁like", "☃", "</s>", "<unk>"}
	assert.Equal(t, "I like☃", decoder.Decode(tokens))
	assert.Equal(t, []string{"I like☃"}, decoder.DecodeChain(tokens))
	assert.Equal(t, "", decoder.Decode(nil))
}

// TestEncodeAvoidsPipeline encodes what the library cannot.
func TestEncodeAvoidsPipeline(t *testing.T) {
	tok := open(t)
	assert.Panics(t, func() { _, _ = tok.Sugarme().EncodeSingle("caf\xe9") },
		"the library has learned to take broken UTF-8: say so in Sugarme's comment")
	ids, err := tok.Encode("en", "caf\xe9")
	require.NoError(t, err)
	requireText(t, tok, ids)
}
