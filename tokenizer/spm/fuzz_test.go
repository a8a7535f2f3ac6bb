package spm

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/tokenizer/internal/goldentest"
)

// FuzzReadModel gives Parse damaged files. What it accepts must encode and decode
// without panics.
func FuzzReadModel(f *testing.F) {
	small := newModelFile()
	f.Add(small.raw, "a b <unk> \xff")
	f.Add(newModelFile().charsmap(rawCharsmap("b\x00 \x00", oneRule('q', 0)...)).raw, "qaq")
	f.Add(newModelFile().trainer(varint(24, 1)).normalizer(varint(5, 0)).raw, " a  b ")
	for _, ref := range references(f)[2:] { // the variants, a few KB each
		f.Add(ref.file, ref.records[0].Input())
	}
	f.Fuzz(func(t *testing.T, file []byte, text string) {
		model, err := Parse(file)
		if err != nil {
			return
		}
		for _, s := range []string{text, "Hello 世界\u0301 \x00\xff\u2581  </s>"} {
			requireCover(t, model, []byte(s))
			normalized := model.AppendNormalized(nil, s)
			requireCover(t, model, normalized)
			require.Equal(t, plainly(model, s), string(normalized))
			model.Decode(model.Encode(s))
		}
	})
}

// FuzzNormalize compares the normalizer's shortcuts with the plain walk, and
// checks that tokens cover the text.
func FuzzNormalize(f *testing.F) {
	for _, r := range goldentest.Read(f, "../testdata/hostile.jsonl.gz") {
		if len(r.Input()) < 100 {
			f.Add(r.Input())
		}
	}
	model, err := Open(bundledModel)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		normalized := model.AppendNormalized(nil, text)
		require.Equal(t, plainly(model, text), string(normalized))
		requireCover(t, model, normalized)
	})
}
