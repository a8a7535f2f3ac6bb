package model_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

func TestParameters(t *testing.T) {
	small := model.Spec{VocabSize: 8109, DModel: 256, Encoder: model.Stack{Layers: 4, Heads: 4, FFN: 1024},
		Decoder: model.Stack{Layers: 3, Heads: 4, FFN: 1024}, TiedHead: true}
	assert.Equal(t, 8_396_288, small.Parameters()) // of the bundled checkpoint: the size of its safetensors file divided by two bytes
	large := model.Spec{VocabSize: 128112, DModel: 1024, Encoder: model.Stack{Layers: 12, Heads: 16, FFN: 4096},
		Decoder: model.Stack{Layers: 12, Heads: 16, FFN: 4096}, TiedHead: true}
	assert.Equal(t, 483_905_536, large.Parameters()) // facebook/m2m100_418M
	large.TiedHead = false
	assert.Equal(t, 483_905_536+128112*1024, large.Parameters())

	madlad := madlad3B()
	assert.Equal(t, 2_940_374_016, madlad.Parameters()) // transformers 5.23.0's count for this shape
	assert.Equal(t, 2*2048*2, madlad.TokenBytes(true))
	assert.Equal(t, 2*2048*4, madlad.TokenBytes(false))
	assert.Equal(t, 128, madlad.Decoder.HeadDim(madlad.DModel))
	assert.False(t, madlad.CPUOnly())
	assert.True(t, model.Spec{Recurrent: true}.CPUOnly())
}

// madlad3B has the sizes of google/madlad400-3b-mt.
func madlad3B() model.Spec {
	stack := model.Stack{Layers: 32, Heads: 16, FFN: 8192, HeadWidth: 128}
	return model.Spec{VocabSize: 256_000, DModel: 1024, MaxPositions: 512, Encoder: stack, Decoder: stack, Buckets: 32, MaxDistance: 128,
		Positions: model.RelativePositions, Activation: model.GELUTanh, RMSNorm: true, Unbiased: true, Unscaled: true, Gated: true, EOS: 2}
}

func TestManifestOfRelativePositions(t *testing.T) {
	dir := t.TempDir()
	good := model.Manifest{Format: model.ManifestFormat, Spec: madlad3B()}
	require.NoError(t, good.Write(dir))
	got, err := model.ReadManifest(dir)
	require.NoError(t, err)
	assert.Equal(t, good.Spec, got.Spec)
	for want, change := range map[string]func(*model.Spec){
		"encoder.head_width is 4096, 0 to 2048 are supported": func(s *model.Spec) { s.Encoder.HeadWidth = 4096 },
		"decoder.head_width is -1":                            func(s *model.Spec) { s.Decoder.HeadWidth = -1 },
		"buckets is 2 and max_distance 128":                   func(s *model.Spec) { s.Buckets = 2 },
		"buckets is 256 and max_distance 128":                 func(s *model.Spec) { s.Buckets = 256 },
		"buckets is 32 and max_distance 1048576":              func(s *model.Spec) { s.MaxDistance = 1 << 20 },
		"encoder.heads is 0":                                  func(s *model.Spec) { s.Encoder.Heads = 0 },
	} {
		bad := good
		change(&bad.Spec)
		require.NoError(t, bad.Write(dir))
		_, err := model.ReadManifest(dir)
		assert.ErrorIs(t, err, model.ErrDamaged)
		assert.ErrorContains(t, err, want)
	}
}

// A corrupted manifest must not cause a large allocation.
func TestManifestWithSizesThatNoModelHas(t *testing.T) {
	good := model.Manifest{Format: model.ManifestFormat, Spec: model.Spec{VocabSize: 100, DModel: 8, MaxPositions: 16,
		Encoder: model.Stack{Layers: 1, Heads: 2, FFN: 8}, Decoder: model.Stack{Layers: 1, Heads: 2, FFN: 8}, EOS: 2}}
	dir := t.TempDir()
	require.NoError(t, good.Write(dir))
	_, err := model.ReadManifest(dir)
	require.NoError(t, err)
	for want, change := range map[string]func(*model.Spec){
		"max_positions is 1048576, 1 to 8192 are supported": func(s *model.Spec) { s.MaxPositions = 1 << 20 },
		"max_positions is -1":                               func(s *model.Spec) { s.MaxPositions = -1 },
		"vocab_size is 2097152":                             func(s *model.Spec) { s.VocabSize = 1 << 21 },
		"d_model is 16384":                                  func(s *model.Spec) { s.DModel = 1 << 14 },
		"decoder.layers is 129":                             func(s *model.Spec) { s.Decoder.Layers = 129 },
		"encoder.ffn is 0":                                  func(s *model.Spec) { s.Encoder.FFN = 0 },
		"encoder.heads is 0":                                func(s *model.Spec) { s.Encoder.Heads = 0 },
		"source_vocab is -1":                                func(s *model.Spec) { s.SourceVocab = -1 },
		`activation is "tanh"`:                              func(s *model.Spec) { s.Activation = "tanh" },
		`positions is "rotary"`:                             func(s *model.Spec) { s.Positions = "rotary" },
		"d_model is 8, which 2 and 3 heads do not divide":   func(s *model.Spec) { s.Decoder.Heads = 3 },
		"eos is 100, 0 to 99 are supported":                 func(s *model.Spec) { s.EOS = 100 },
	} {
		bad := good
		change(&bad.Spec)
		require.NoError(t, bad.Write(dir))
		_, err := model.ReadManifest(dir)
		assert.ErrorIs(t, err, model.ErrDamaged)
		assert.ErrorContains(t, err, want)
	}
}

// A manifest with any byte changed is refused or has the same meaning. A manifest without a checksum is from an older build.
func TestManifestIsChecked(t *testing.T) {
	dir := t.TempDir()
	good := model.Manifest{Format: model.ManifestFormat, Source: "owner/name", Languages: []string{"de", "en"}, Files: map[string]model.File{"x": {Size: 1}},
		Spec: model.Spec{VocabSize: 100, DModel: 8, MaxPositions: 16, Encoder: model.Stack{Layers: 1, Heads: 2, FFN: 16}, Decoder: model.Stack{Layers: 1, Heads: 2, FFN: 16}}}
	require.NoError(t, good.Write(dir))
	path := filepath.Join(dir, model.ManifestFile)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	refused := 0
	for i := range raw {
		for _, to := range []byte{raw[i] ^ 1, raw[i] ^ 32, '1'} {
			changed := bytes.Clone(raw)
			changed[i] = to
			require.NoError(t, os.WriteFile(path, changed, 0o644))
			got, err := model.ReadManifest(dir)
			if err != nil {
				refused++
			} else {
				assert.Equal(t, &good, got, "byte %d is %q", i, to)
			}
		}
	}
	assert.Greater(t, refused, 2*len(raw))
	lines := bytes.SplitAfter(raw, []byte("\n"))
	require.Contains(t, string(lines[1]), "checksum")
	require.NoError(t, os.WriteFile(path, bytes.Join(append(lines[:1:1], lines[2:]...), nil), 0o644))
	got, err := model.ReadManifest(dir)
	require.NoError(t, err)
	assert.Equal(t, &good, got)
}

func TestManifestThatDoesNotEnd(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, model.ManifestFile), bytes.Repeat([]byte("["), 2<<20), 0o644))
	_, err := model.ReadManifest(dir)
	assert.ErrorIs(t, err, model.ErrDamaged)
}
