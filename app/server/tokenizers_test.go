package server

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/tokenizer"
)

// Models share a tokenizer if its files are equal, whatever their names.
func TestTokenizersAreShared(t *testing.T) {
	manifest := func(pieces, vocabulary, weights string) *model.Manifest {
		return &model.Manifest{Sources: []string{"en"}, Targets: []string{"fr"}, Files: map[string]model.File{
			"bpe.model": {SHA256: pieces}, "shared_vocabulary.json": {SHA256: vocabulary, Size: 10}, model.WeightsFile: {SHA256: weights, Size: 1000},
		}}
	}
	var shared tokenizers
	get := func(m *model.Manifest) *tokenizer.Tokenizer {
		tok, err := shared.get("ctranslate2", m, func() (*tokenizer.Tokenizer, error) { return new(tokenizer.Tokenizer), nil })
		require.NoError(t, err)
		return tok
	}
	first := get(manifest("a", "b", "c"))
	assert.Same(t, first, get(manifest("a", "b", "other")), "weights are none of its files")
	assert.NotSame(t, first, get(manifest("a", "other", "c")))
	assert.NotSame(t, first, get(manifest("other", "b", "c")))
	assert.EqualValues(t, 40, tokenizerBytes(manifest("a", "b", "c")))
	runtime.KeepAlive(first)
}
