package mapping_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/mapping"
)

func TestFile(t *testing.T) {
	want := bytes.Repeat([]byte("weights "), 1<<19) // two huge pages
	path := filepath.Join(t.TempDir(), "weights.bin")
	file, err := os.Create(path)
	require.NoError(t, err)
	_, err = file.Write(want)
	require.NoError(t, err)
	require.NoError(t, file.Sync())
	mapping.Forget(file)
	require.NoError(t, file.Close())

	f, err := mapping.Open(path)
	require.NoError(t, err)
	defer f.Close()
	f.Fetch(1, 3<<20)
	f.Fetch(3<<20, 1<<30)
	f.Fetch(1<<30, 2<<30)
	assert.True(t, bytes.Equal(want, f))
}

func TestOpenRefused(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	_, err := mapping.Open(empty)
	assert.ErrorContains(t, err, "map "+empty)
	_, err = mapping.Open(filepath.Join(dir, "nothing"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	mapping.File(nil).Close()
}
