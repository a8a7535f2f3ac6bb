package modeltest

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

// CheckFiles checks the files of an exported folder against its manifest.
func CheckFiles(t testing.TB, dir string, m *model.Manifest) {
	t.Helper()
	for name, want := range m.Files {
		got, err := model.HashFile(t.Context(), filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, want, got, name)
	}
}
