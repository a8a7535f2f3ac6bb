package cpu

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

func TestPrepackKey(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, model.ManifestFile), []byte("{}"), 0o644))
	config := sessionConfig{threads: 1, entries: map[string]string{"a": "1", "b": "2"}}
	key, err := newPrepackKey(t.Context(), dir, "1.30.0", config)
	require.NoError(t, err)
	name, err := key.name()
	require.NoError(t, err)
	assert.Regexp(t, "^[0-9a-f]{16}$", name)

	same, err := newPrepackKey(t.Context(), dir, "1.30.0", sessionConfig{threads: 2, entries: config.entries})
	require.NoError(t, err)
	assert.Equal(t, key, same, "threads do not matter")

	for what, change := range map[string]func(*prepackKey){
		"format":  func(k *prepackKey) { k.Format++ },
		"model":   func(k *prepackKey) { k.Model = "other" },
		"runtime": func(k *prepackKey) { k.Runtime = "1.31.0" },
		"arch":    func(k *prepackKey) { k.Arch = "other" },
		"CPU":     func(k *prepackKey) { k.CPU = append(k.CPU[:len(k.CPU):len(k.CPU)], "other") },
		"options": func(k *prepackKey) { k.Options = map[string]string{"a": "1"} },
	} {
		other := key
		change(&other)
		otherName, err := other.name()
		require.NoError(t, err)
		assert.NotEqual(t, name, otherName, what)
	}
	_, err = newPrepackKey(t.Context(), t.TempDir(), "1.30.0", config)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// TestPublishRefusesAnotherExport exports the model again while its weights are
// packed.
func TestPublishRefusesAnotherExport(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, model.ManifestFile), []byte("{}"), 0o644))
	s := &prepackStore{dir: dir, root: filepath.Join(dir, prepackFolder), name: "key",
		key: prepackKey{Model: "before"}, log: slog.New(slog.DiscardHandler)}
	work := filepath.Join(s.root, ".work-1")
	require.NoError(t, os.MkdirAll(work, 0o755))
	assert.ErrorContains(t, s.publish(t.Context(), work, &prepackManifest{Key: s.key}), "was exported again")
	assert.NoDirExists(t, filepath.Join(s.root, "key"))
}
