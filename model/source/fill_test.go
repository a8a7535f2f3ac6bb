package source_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/export"
	"dragoman/model/modeltest"
	"dragoman/model/source"
	"dragoman/model/source/hubtest"
)

// fill fills a new folder.
func (f *fixture) fill(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, preparer(t, f.Config).Fill(t.Context(), dir))
	m, err := model.ReadManifest(dir)
	require.NoError(t, err)
	modeltest.CheckFiles(t, dir, m)
	return dir
}

func (f *fixture) holds(t *testing.T, dir string) bool {
	return preparer(t, f.Config).Holds(t.Context(), dir) == nil
}

func TestFill(t *testing.T) {
	f := newFixture(t, nil)
	dir := f.fill(t)
	assert.True(t, f.holds(t, dir))
	assert.False(t, f.holds(t, t.TempDir()))
	f.Precision = model.INT8
	assert.False(t, f.holds(t, dir), "another precision")
	f.Precision = ""
	require.NoError(t, os.Truncate(filepath.Join(dir, model.WeightsFile), 1))
	assert.False(t, f.holds(t, dir), "damaged")
}

// TestFillCopies: an exported folder is copied, and is told from others by all of its manifest.
func TestFillCopies(t *testing.T) {
	f := newFixture(t, nil)
	f.Weights = f.prepare(t)
	dir := f.fill(t)
	assert.Len(t, f.exports, 1)
	assert.True(t, f.holds(t, dir))
	m, err := model.ReadManifest(dir)
	require.NoError(t, err)
	m.Revision = "another"
	require.NoError(t, m.Write(dir))
	assert.False(t, f.holds(t, dir))

	require.NoError(t, os.Remove(filepath.Join(f.Weights, model.VocabFile)))
	assert.ErrorIs(t, preparer(t, f.Config).Fill(t.Context(), t.TempDir()), model.ErrDamaged)
}

// TestFillFromHub: a newer commit is another model, unless the hub cannot be asked.
func TestFillFromHub(t *testing.T) {
	files := bundledFiles(t)
	server := hubtest.New(t, repo, files)
	f := newFixture(t, func(c *source.Config) { c.Weights, c.Endpoint, c.Offline, c.Cache = repo, server.Endpoint, false, "" })
	dir := f.fill(t)
	assert.True(t, f.holds(t, dir))

	files = maps.Clone(files)
	files["README.md"] = []byte("newer")
	commit := server.Push("main", files)
	assert.False(t, f.holds(t, dir))
	assert.True(t, f.holds(t, f.fill(t)))
	f.Revision = commit
	assert.False(t, f.holds(t, dir))
}

// TestFillKeepsDownloads: what was downloaded outlives the folder that it was meant for.
func TestFillKeepsDownloads(t *testing.T) {
	server := hubtest.New(t, repo, bundledFiles(t))
	f := newFixture(t, func(c *source.Config) {
		c.Weights, c.Endpoint, c.Offline, c.Downloads = repo, server.Endpoint, false, t.TempDir()
	})
	f.Export = func(context.Context, string, string, export.Options) (*model.Manifest, error) {
		return nil, errors.New("disk full")
	}
	require.ErrorContains(t, preparer(t, f.Config).Fill(t.Context(), t.TempDir()), "disk full")
	f.Export = f.exportStub
	f.fill(t)
	assert.EqualValues(t, len(bundledFiles(t)["model.safetensors"]), server.Sent("model.safetensors"))
	left, err := os.ReadDir(f.Downloads)
	require.NoError(t, err)
	assert.Empty(t, left)
}
