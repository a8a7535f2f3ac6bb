package boltstore

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/glossary"
	"dragoman/app/glossary/glossarytest"
)

func TestStore(t *testing.T) {
	glossarytest.Run(t, func(t *testing.T) glossarytest.Fixture {
		path := filepath.Join(t.TempDir(), "new", "glossaries.db")
		s, err := Open(path)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, s.Close()) })
		return glossarytest.Fixture{Store: s, Again: func() glossary.Store {
			require.NoError(t, s.Close())
			again, err := Open(path)
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, again.Close()) })
			return again
		}}
	})
}

// Where another process has the file, or it is none, that is said at once.
func TestOpenFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "glossaries.db")
	s, err := Open(path)
	require.NoError(t, err)
	_, err = Open(path)
	host, _ := os.Hostname()
	assert.EqualError(t, err, fmt.Sprintf("another process (process %d on %s) has the file of glossaries %s open", os.Getpid(), host, path))
	require.NoError(t, s.Close())

	other := filepath.Join(dir, "other")
	require.NoError(t, os.WriteFile(other, []byte("this is not a file of glossaries, but some text of somebody else's"), 0o600))
	_, err = Open(other)
	assert.ErrorContains(t, err, other)
}
