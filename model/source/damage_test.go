package source_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/source"
	"dragoman/model/source/hubtest"
)

// damages are what disks and clumsy hands do to a file.
var damages = map[string]func(t *testing.T, path string){
	"gone": func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) },
	"cut":  func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 10)) },
	"one bit": func(t *testing.T, path string) {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		raw[len(raw)/2] ^= 1
		require.NoError(t, os.WriteFile(path, raw, 0o644))
	},
}

// A damaged export is exported again where its source is there.
func TestDamagedExportIsMadeAgain(t *testing.T) {
	f := newFixture(t, nil)
	dir := f.prepare(t)
	exports := 1
	for file, damage := range map[string]string{model.WeightsFile: "one bit", model.DecoderFile: "gone", model.VocabFile: "cut"} {
		damages[damage](t, filepath.Join(dir, file))
		f.prepare(t) // checks the files
		exports++
		assert.Len(t, f.exports, exports, "%s: %s", file, damage)
		assert.Empty(t, leftovers(t, dir))
	}
	f.prepare(t)
	assert.Len(t, f.exports, exports, "now it is whole")
}

// hubOf makes a fixture that serves a repository.
func hubOf(t *testing.T, server *hubtest.Server, change func(*source.Config)) *fixture {
	return newFixture(t, func(c *source.Config) {
		c.Weights, c.Endpoint, c.Offline, c.SaveWeights = repo, server.Endpoint, false, t.TempDir()
		change(c)
	})
}

// A download is fetched again, or taken from where it was kept.
func TestDamagedExportOfADownload(t *testing.T) {
	server := hubtest.New(t, repo, bundledFiles(t))
	one := server.Sent("model.safetensors") + int64(len(bundledFiles(t)["model.safetensors"]))
	for _, keep := range []bool{false, true} {
		f := hubOf(t, server, func(c *source.Config) { c.KeepCheckpoint = keep })
		dir := f.prepare(t)
		before := server.Sent("model.safetensors")
		damages["one bit"](t, filepath.Join(dir, model.WeightsFile))
		if keep {
			f.Offline = true
		}
		f.prepare(t)
		assert.Len(t, f.exports, 2)
		want := before
		if !keep {
			want += one
		}
		assert.Equal(t, want, server.Sent("model.safetensors"))
	}
}

// Where the source is not there the error says both what is damaged and why it stays.
func TestDamagedExportThatCannotBeMadeAgain(t *testing.T) {
	server := hubtest.New(t, repo, bundledFiles(t))
	f := hubOf(t, server, func(*source.Config) {})
	dir := f.prepare(t)
	f.Offline = true
	damages["one bit"](t, filepath.Join(dir, model.WeightsFile))
	_, err := prepare(t.Context(), f.Config)
	assert.ErrorIs(t, err, model.ErrDamaged)
	assert.ErrorContains(t, err, "weights.bin is corrupt")
	assert.ErrorContains(t, err, "it cannot be exported again: offline mode")
	assert.ErrorContains(t, err, "unset HF_HUB_OFFLINE")
	assert.FileExists(t, filepath.Join(dir, model.WeightsFile), "it may be of use")

	// A folder that cannot be written; the super-user may write everywhere.
	lock := filepath.Join(dir, ".dragoman.lock")
	require.NoError(t, os.Remove(lock))
	require.NoError(t, os.Mkdir(lock, 0o755))
	_, err = prepare(t.Context(), f.Config)
	assert.ErrorIs(t, err, model.ErrDamaged)
	assert.ErrorContains(t, err, "it cannot be exported again: lock "+dir)
	assert.Len(t, f.exports, 1)
}

// A kept checkpoint that is damaged, too, is not exported: the model would be wrong.
func TestDamagedCheckpoint(t *testing.T) {
	server := hubtest.New(t, repo, bundledFiles(t))
	f := hubOf(t, server, func(c *source.Config) { c.KeepCheckpoint = true })
	dir := f.prepare(t)
	whole, err := model.HashFile(t.Context(), filepath.Join(dir, model.WeightsFile))
	require.NoError(t, err)
	for _, online := range []bool{false, true} {
		if f.Offline = !online; !online {
			damages["one bit"](t, filepath.Join(dir, ".checkpoint", "model.safetensors"))
			damages["one bit"](t, filepath.Join(dir, model.WeightsFile))
		}
		_, err := prepare(t.Context(), f.Config)
		assert.Equal(t, online, err == nil, err)
	}
	again, err := model.HashFile(t.Context(), filepath.Join(dir, model.WeightsFile))
	require.NoError(t, err)
	assert.Equal(t, whole, again)
}

// An exported folder that MODEL_WEIGHTS names is the user's: nothing in it changes.
func TestDamagedFolderOfTheUser(t *testing.T) {
	dir := newFixture(t, nil).prepare(t)
	damages["cut"](t, filepath.Join(dir, model.WeightsFile))
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".dragoman-work-1"), 0o755))
	before, err := os.ReadDir(dir)
	require.NoError(t, err)
	f := newFixture(t, func(c *source.Config) { c.Weights = dir })
	_, err = prepare(t.Context(), f.Config)
	assert.ErrorIs(t, err, model.ErrDamaged)
	assert.ErrorContains(t, err, "left as it is: delete it and export again")
	after, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Equal(t, names(before), names(after))
	assert.Empty(t, f.exports)
}

func names(entries []os.DirEntry) (list []string) {
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}
