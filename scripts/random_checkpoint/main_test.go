package main

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/family"
)

// write runs the command and returns the folder.
func write(t *testing.T, args ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "new", "folder")
	var log bytes.Buffer
	require.NoError(t, run(append([]string{"--out", dir}, args...), &log))
	assert.Contains(t, log.String(), "MB of F")
	return dir
}

// weights returns the bytes of a folder's weights.
func weights(t *testing.T, dir string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, model.SafetensorsFile))
	require.NoError(t, err)
	return raw
}

func TestRandomCheckpoint(t *testing.T) {
	c, err := checkpoint.Open(write(t, "--shape", "tiny"))
	require.NoError(t, err)
	defer func() { assert.NoError(t, c.Close()) }()
	assert.Equal(t, 5, c.Spec().Generation.Beams)

	tests := []struct {
		name      string
		mean, std float64
	}{
		{"model.shared.weight", 0, 0.125}, // 64^-0.5
		{"model.encoder.layers.1.fc1.weight", 0, 0.02},
		{"model.decoder.layers.0.fc2.bias", 0, 0.02},
		{"model.decoder.layers.0.encoder_attn_layer_norm.weight", 1, 0.02},
		{"model.encoder.layer_norm.bias", 0, 0.02},
		{"model.decoder.layer_norm.weight", 0, 1},
	}
	for _, test := range tests {
		tensor, err := c.Tensor(test.name)
		require.NoError(t, err)
		values := make([]float32, tensor.Len())
		require.NoError(t, tensor.ReadFloat32(values, 0))
		mean, std := moments(values)
		tolerance := 4 * test.std / math.Sqrt(float64(len(values)))
		assert.InDelta(t, test.mean, mean, tolerance, test.name)
		assert.InDelta(t, test.std, std, tolerance, test.name)
	}
	shared, err := c.Tensor(checkpoint.SharedEmbedding)
	require.NoError(t, err)
	row := make([]float32, 3*64)
	require.NoError(t, shared.ReadFloat32(row, 0))
	assert.NotContains(t, row[:64], float32(0))
	assert.Equal(t, make([]float32, 64), row[64:128], "the row of the padding token")
	assert.NotContains(t, row[128:], float32(0))
}

// moments returns the mean and the standard deviation.
func moments(values []float32) (mean, std float64) {
	var sum, squares float64
	for _, x := range values {
		sum += float64(x)
		squares += float64(x) * float64(x)
	}
	n := float64(len(values))
	return sum / n, math.Sqrt(squares/n - sum/n*sum/n)
}

func TestSeedAndType(t *testing.T) {
	a := weights(t, write(t, "--shape", "tiny", "--seed", "3"))
	assert.Equal(t, a, weights(t, write(t, "--shape", "tiny", "--seed", "3")))
	assert.NotEqual(t, a, weights(t, write(t, "--shape", "tiny", "--seed", "4")))
	assert.Less(t, len(weights(t, write(t, "--shape", "tiny", "--dtype", "f16"))), len(a)*2/3)
}

// The values of a chunk depend neither on the requested block nor on other chunks.
func TestFillChunks(t *testing.T) {
	d := distribution{0, 1}
	whole := make([]float32, 3*chunk+7)
	d.fill(whole, 0, 1, 2)
	part := make([]float32, chunk+7)
	d.fill(part, 2*chunk, 1, 2)
	assert.Equal(t, whole[2*chunk:], part)
	other := make([]float32, chunk)
	d.fill(other, 0, 1, 3)
	assert.NotEqual(t, whole[:chunk], other)
	assert.NotEqual(t, whole[:chunk], whole[chunk:2*chunk])
}

func TestOpus(t *testing.T) {
	c, err := checkpoint.Open(write(t, "--shape", "opus-tiny"))
	require.NoError(t, err)
	defer func() { assert.NoError(t, c.Close()) }()
	spec := c.Spec()
	assert.True(t, spec.PostNorm && spec.NeverPad && spec.ForcedEnd)
	assert.EqualValues(t, 1200, spec.Pad)
	last, err := c.Tensor("model.decoder.layers.1.final_layer_norm.weight")
	require.NoError(t, err)
	values := make([]float32, last.Len())
	require.NoError(t, last.ReadFloat32(values, 0))
	_, std := moments(values)
	assert.InDelta(t, 1, std, 0.4)
	for name := range shapes() {
		config, _, err := configs(options{shape: name})
		require.NoError(t, err)
		_, _, err = family.ParseConfig("", config, nil)
		require.NoError(t, err, name)
	}
}

func TestMBart(t *testing.T) {
	c, err := checkpoint.Open(write(t, "--shape", "mbart-tiny"))
	require.NoError(t, err)
	defer func() { assert.NoError(t, c.Close()) }()
	assert.True(t, c.Spec().EmbeddingNorm && c.Spec().ForcedEnd)
	norm, err := c.Tensor("model.encoder.layernorm_embedding.weight")
	require.NoError(t, err)
	values := make([]float32, norm.Len())
	require.NoError(t, norm.ReadFloat32(values, 0))
	mean, _ := moments(values)
	assert.InDelta(t, 1, mean, 0.1)
}

func TestMadlad(t *testing.T) {
	c, err := checkpoint.Open(write(t, "--shape", "madlad-tiny"))
	require.NoError(t, err)
	defer func() { assert.NoError(t, c.Close()) }()
	want := model.Stack{Layers: 2, Heads: 2, FFN: 64, HeadWidth: 128}
	assert.Equal(t, want, c.Spec().Encoder)
	assert.Equal(t, want, c.Spec().Decoder)
	assert.True(t, c.Spec().RMSNorm && c.Spec().Gated && !c.Spec().TiedHead)
}

func TestClearRow(t *testing.T) {
	for offset, want := range map[int][]float32{
		0: {1, 1, 1, 0, 0, 0, 1, 1}, 4: {0, 0, 1, 1, 1, 1, 1, 1}, 6: {1, 1, 1, 1, 1, 1, 1, 1}, 2: {1, 0, 0, 0, 1, 1, 1, 1},
	} {
		dst := []float32{1, 1, 1, 1, 1, 1, 1, 1}
		clearRow(dst, offset, 1, 3)
		assert.Equal(t, want, dst, "offset %d", offset)
	}
	short := []float32{1, 1, 1, 1}
	clearRow(short, 0, 1, 3)
	assert.Equal(t, []float32{1, 1, 1, 0}, short)
}

func TestConfigFile(t *testing.T) {
	source := "../../model/checkpoint/testdata"
	dir := write(t, "--config", filepath.Join(source, model.ConfigFile), "--dtype", "f16")
	want, err := checkpoint.ReadSpec(source)
	require.NoError(t, err)
	c, err := checkpoint.Open(dir)
	require.NoError(t, err)
	defer func() { assert.NoError(t, c.Close()) }()
	got := c.Spec()
	assert.Equal(t, 5, got.Generation.Beams)
	got.Generation = want.Generation // the only file that is not kept
	assert.Equal(t, want, got)
}

func TestRefuses(t *testing.T) {
	out := t.TempDir()
	blocked := filepath.Join(out, "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o644))
	marian := filepath.Join(out, "marian.json")
	require.NoError(t, os.WriteFile(marian, []byte(`{"model_type": "bart"}`), 0o644))
	tests := map[string]struct {
		args []string
		want string
	}{
		"no folder":     {nil, "--out is missing"},
		"shape":         {[]string{"--out", out, "--shape", "9T"}, `--shape is "9T": use 1.2B, 418M, madlad-3B, madlad-tiny, mbart-50, mbart-tiny, nllb-1.3B, nllb-600M, opus-base, opus-tc-big, opus-tiny, small100, tiny, or --config`},
		"type":          {[]string{"--out", out, "--dtype", "int8"}, `--dtype is "int8": use f32 or f16`},
		"argument":      {[]string{"--out", out, "more"}, `unexpected argument "more"`},
		"seed":          {[]string{"--out", out, "--seed", "-1"}, "invalid value"},
		"config":        {[]string{"--out", out, "--config", filepath.Join(out, "absent.json")}, "no such file"},
		"other model":   {[]string{"--out", out, "--config", marian}, `"model_type" is "bart"`},
		"out is a file": {[]string{"--out", blocked, "--shape", "tiny"}, "not a directory"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.ErrorContains(t, run(test.args, io.Discard), test.want)
		})
	}
}
