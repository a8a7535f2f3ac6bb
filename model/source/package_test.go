package source_test

import (
	"archive/zip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/source"
	"dragoman/model/source/hubtest"
)

// argosPackage packs an Argos package of the goldens, whose pieces are in a file of this name, as Argos packs it.
func argosPackage(t *testing.T, folder, pieces string) string {
	path := filepath.Join(t.TempDir(), "translate-en_fr-1_9.argosmodel")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	z := zip.NewWriter(f)
	for name, in := range map[string]string{"metadata.json": "", pieces: "", "model.bin": "model/", "config.json": "model/", "shared_vocabulary.json": "model/"} {
		raw, err := os.ReadFile(filepath.Join("..", "testdata", "families", folder, name))
		require.NoError(t, err)
		w, err := z.Create("en_fr/" + in + name)
		require.NoError(t, err)
		_, err = w.Write(raw)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return path
}

// install unpacks a package as Argos does, and returns its folder.
func install(t *testing.T, file string) string {
	z, err := zip.OpenReader(file)
	require.NoError(t, err)
	defer func() { require.NoError(t, z.Close()) }()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, z))
	return filepath.Join(dir, "en_fr")
}

func TestArgosPackage(t *testing.T) {
	for name, test := range map[string]struct {
		folder, pieces string
		installed      bool
	}{
		"SentencePiece": {"ctranslate2-argos", "sentencepiece.model", false},
		"codes":         {"ctranslate2-codes", "bpe.model", false},
		"installed":     {"ctranslate2-argos", "sentencepiece.model", true},
	} {
		t.Run(name, func(t *testing.T) {
			path, pieces := argosPackage(t, test.folder, test.pieces), test.pieces
			if test.installed {
				path = install(t, path)
			}
			f := newFixture(t, func(c *source.Config) { c.Weights = path }).real()
			dir := f.prepare(t)
			m, err := model.ReadManifest(dir)
			require.NoError(t, err)
			assert.Equal(t, "ctranslate2", m.Family)
			assert.Equal(t, path, m.Source)
			assert.Equal(t, []string{"en"}, m.Sources)
			assert.Equal(t, []string{"fr"}, m.Targets)
			assert.Equal(t, "CC-BY-4.0", m.License)
			assert.Equal(t, 4, m.Spec.Generation.Beams, "as Argos")
			assert.Empty(t, leftovers(t, dir))
			before, err := os.Stat(filepath.Join(dir, model.ManifestFile))
			require.NoError(t, err)
			assert.Equal(t, dir, f.prepare(t))
			after, err := os.Stat(filepath.Join(dir, model.ManifestFile))
			require.NoError(t, err)
			assert.Equal(t, before.ModTime(), after.ModTime(), "nothing to do")
			assert.Contains(t, m.Files, pieces)
		})
	}
}

func TestArgosPackageRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "en_fr.argosmodel")
	_, err := prepare(t.Context(), newFixture(t, func(c *source.Config) { c.Weights = path }).real().Config)
	assert.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, []byte("no zip"), 0o600))
	_, err = prepare(t.Context(), newFixture(t, func(c *source.Config) { c.Weights = path }).real().Config)
	assert.ErrorContains(t, err, "an Argos package is a zip file")
}

// TestPointers: of any file that a clone lacks, users are told how to get it.
func TestPointers(t *testing.T) {
	for file, folder := range map[string]string{
		"model.safetensors": "families/marian", "config.json": "families/marian", "source.spm": "families/marian", "vocab.json": "families/marian",
		"sentencepiece.bpe.model": "families/nllb", "spiece.model": "families/t5", "model.bin": "families/ctranslate2-argos", "shared_vocabulary.json": "families/ctranslate2-argos",
		"model.enfr.intgemm.alphas.bin": "firefox", "vocab.enfr.spm": "firefox", "en_fr.argosmodel": "",
	} {
		t.Run(file, func(t *testing.T) {
			from := filepath.Join(t.TempDir(), "opus-en-fr")
			if folder != "" {
				require.NoError(t, os.CopyFS(from, os.DirFS(filepath.Join("..", "testdata", folder))))
			}
			f := newFixture(t, func(c *source.Config) { c.Weights = from }).real()
			if folder == "" {
				f.Weights = filepath.Join(filepath.Dir(from), file)
				from = filepath.Dir(from)
			}
			pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
			require.NoError(t, os.WriteFile(filepath.Join(from, file), []byte(pointer), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(from, "rust_model.ot"), []byte(pointer), 0o600))
			_, err := prepare(t.Context(), f.Config)
			assert.ErrorContains(t, err, "Git LFS has left a pointer in place of "+file+": run `git lfs pull`")
		})
	}
}

// Models of other programs come from a hub's repository as they do from a folder.
func TestRepositoryOfOthers(t *testing.T) {
	for name, test := range map[string]struct {
		folder, weights string
		family          string
		languages       []string
	}{
		"Argos's":   {"families/ctranslate2-argos", repo, "ctranslate2", []string{"en", "fr"}},
		"Firefox's": {"firefox", repo, "firefox", []string{"en", "fr"}},
		"its file":  {"firefox-separate", repo + "/model.enfr.intgemm.alphas.bin", "firefox", []string{"en", "fr"}},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string][]byte{}
			entries, err := os.ReadDir(filepath.Join("..", "testdata", test.folder))
			require.NoError(t, err)
			for _, e := range entries {
				files[e.Name()], err = os.ReadFile(filepath.Join("..", "testdata", test.folder, e.Name()))
				require.NoError(t, err)
			}
			server := hubtest.New(t, repo, files)
			f := newFixture(t, func(c *source.Config) { c.Weights, c.Endpoint, c.Offline = test.weights, server.Endpoint, false }).real()
			dir := f.prepare(t)
			m, err := model.ReadManifest(dir)
			require.NoError(t, err)
			assert.Equal(t, test.family, m.Family)
			assert.Equal(t, test.weights+"@main", m.Source)
			assert.Equal(t, test.languages, append(m.Sources, m.Targets...))
			assert.Zero(t, server.Sent("goldens.json.gz"))
			assert.Empty(t, leftovers(t, dir))
		})
	}
}
