package onnx_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/onnx"
)

func bytesOf(b ...byte) func(io.Writer) error {
	return func(w io.Writer) error { _, err := w.Write(b); return err }
}

func TestDataAlignsAndHashes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "weights.bin")
	d, err := onnx.CreateData(path)
	require.NoError(t, err)
	defer d.Close()
	_, err = d.Add("a", onnx.Uint8, []int{3}, bytesOf(1, 2, 3))
	require.NoError(t, err)
	_, err = d.Add("b", onnx.Float16, []int{1, 2}, bytesOf(4, 5, 6, 7))
	require.NoError(t, err)
	size, sum, err := d.Finish()
	require.NoError(t, err)

	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.EqualValues(t, onnx.Alignment+4, size)
	assert.Len(t, raw, int(size))
	assert.Equal(t, []byte{1, 2, 3}, raw[:3])
	assert.Equal(t, []byte{4, 5, 6, 7}, raw[onnx.Alignment:])
	want := sha256.Sum256(raw)
	assert.Equal(t, hex.EncodeToString(want[:]), sum)

	known, ok := d.Weight("a")
	assert.True(t, ok)
	assert.Equal(t, []int{3}, known.Shape)
	_, ok = d.Weight("c")
	assert.False(t, ok)
}

func TestDataRefuses(t *testing.T) {
	broken := errors.New("disk on fire")
	for name, c := range map[string]struct {
		weight string
		shape  []int
		write  func(io.Writer) error
		want   string
	}{
		"too few bytes":  {"w", []int{2, 2}, bytesOf(1, 2, 3), "weight w: 3 bytes written, its shape [2 2] needs 4"},
		"too many bytes": {"w", []int{1}, bytesOf(1, 2), "weight w: 2 bytes written, its shape [1] needs 1"},
		"same name":      {"known", []int{1}, bytesOf(1), "weight known is added twice"},
		"failing writer": {"w", []int{1}, func(io.Writer) error { return broken }, "weight w: disk on fire"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := onnx.CreateData(filepath.Join(t.TempDir(), "weights.bin"))
			require.NoError(t, err)
			defer d.Close()
			_, err = d.Add("known", onnx.Int8, []int{1}, bytesOf(1))
			require.NoError(t, err)
			_, err = d.Add(c.weight, onnx.Int8, c.shape, c.write)
			assert.EqualError(t, err, c.want)
		})
	}
}

func TestCreateDataInMissingFolder(t *testing.T) {
	_, err := onnx.CreateData(filepath.Join(t.TempDir(), "absent", "weights.bin"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}
