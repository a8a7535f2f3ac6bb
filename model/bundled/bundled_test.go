package bundled

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// If Version stayed, an export of another checkpoint would still be served.
func TestVersion(t *testing.T) {
	h := sha256.New()
	entries, err := fs.ReadDir(files, ".")
	require.NoError(t, err)
	for _, e := range entries {
		content, err := fs.ReadFile(files, e.Name())
		require.NoError(t, err)
		h.Write([]byte(e.Name()))
		h.Write(content)
	}
	assert.Equal(t, hex.EncodeToString(h.Sum(nil))[:12], Version, "the files have changed: so must Version")
}
