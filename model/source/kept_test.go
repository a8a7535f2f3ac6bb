package source_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/source"
	"dragoman/model/source/hubtest"
)

// What an earlier pull left complete is used where the Hub cannot be reached, but not
// where the Hub says no, nor for another revision.
func TestHubIsDown(t *testing.T) {
	files := repoFiles()
	s := hubtest.New(t, repo, files)
	dir := t.TempDir()
	first, err := newClient(t, s).Pull(t.Context(), ref(t, repo), dir)
	require.NoError(t, err)

	s.Fail(hubtest.Fault{Method: http.MethodHead, Status: http.StatusBadGateway, Times: -1})
	kept, err := newClient(t, s).Pull(t.Context(), ref(t, repo), dir)
	require.NoError(t, err)
	assert.Equal(t, first, kept)
	_, err = newClient(t, s).Pull(t.Context(), ref(t, repo+"@other"), dir)
	assert.ErrorContains(t, err, "502")
	gone := hubtest.New(t, "somebody/else", files)
	_, err = newClient(t, gone).Pull(t.Context(), ref(t, repo), dir)
	assert.ErrorIs(t, err, source.ErrRepoNotFound)
	require.NoError(t, os.Truncate(filepath.Join(dir, weight), 1))
	_, err = newClient(t, s).Pull(t.Context(), ref(t, repo), dir)
	assert.ErrorContains(t, err, "502", "incomplete")
}

// A file that a disk has changed is fetched again, the others are not.
func TestRemoveDamaged(t *testing.T) {
	files := repoFiles()
	s := hubtest.New(t, repo, files)
	dir := t.TempDir()
	_, err := newClient(t, s).Pull(t.Context(), ref(t, repo), dir)
	require.NoError(t, err)
	require.NoError(t, source.RemoveDamaged(t.Context(), dir))
	assertHolds(t, dir, files, usual...)

	changed := append([]byte{files[weight][0] ^ 1}, files[weight][1:]...)
	require.NoError(t, os.WriteFile(filepath.Join(dir, weight), changed, 0o644))
	require.NoError(t, source.RemoveDamaged(t.Context(), dir))
	assert.NoFileExists(t, filepath.Join(dir, weight))
	_, err = newClient(t, s).Pull(t.Context(), ref(t, repo), dir)
	require.NoError(t, err)
	assertHolds(t, dir, files, usual...)
	assert.EqualValues(t, len(files["vocab.json"]), s.Sent("vocab.json"), "fetched once")

	assert.NoError(t, source.RemoveDamaged(t.Context(), t.TempDir()), "nothing was pulled there")
}
