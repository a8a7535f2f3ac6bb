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

func TestOffline(t *testing.T) {
	files := repoFiles()
	s := hubtest.New(t, repo, files)
	dir := t.TempDir()
	online := newClient(t, s)
	offline := newClient(t, s, func(c *source.Config) { c.Offline = true })

	_, err := offline.Pull(t.Context(), ref(t, repo), dir)
	require.ErrorIs(t, err, source.ErrOffline)
	require.ErrorIs(t, err, source.ErrIncomplete)
	assert.ErrorContains(t, err, "HF_HUB_OFFLINE")
	assert.Empty(t, s.Requests())

	want, err := online.Pull(t.Context(), ref(t, repo), dir)
	require.NoError(t, err)
	before := len(s.Requests())
	for _, name := range []string{repo, repo + "@" + want} {
		got, err := offline.Pull(t.Context(), ref(t, name), dir)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for name, text := range map[string]string{
		"owner/other":    `holds "owner/m2m100", not owner/other`,
		repo + "@v2":     "holds revision main",
		s.Base:           "holds",
		"owner/m2m100-b": "holds",
	} {
		_, err = offline.Pull(t.Context(), ref(t, name), dir)
		require.ErrorIs(t, err, source.ErrOffline, name)
		assert.ErrorContains(t, err, text)
	}
	require.NoError(t, os.Truncate(filepath.Join(dir, weight), 5))
	_, err = offline.Pull(t.Context(), ref(t, repo), dir)
	require.ErrorIs(t, err, source.ErrIncomplete)

	assert.Len(t, s.Requests(), before, "not one request")
}

func TestInterruptedUpdateIsNotCompleteOffline(t *testing.T) {
	s := hubtest.New(t, repo, repoFiles())
	dir := t.TempDir()
	_, err := newClient(t, s).Pull(t.Context(), ref(t, repo), dir)
	require.NoError(t, err)
	s.Push("main", repoFiles(map[string][]byte{"config.json": []byte(`{"d_model": 8}`), weight: noise(9, size)}))
	s.Fail(hubtest.Fault{File: weight, Status: http.StatusInternalServerError, Times: -1})
	_, err = newClient(t, s).Pull(t.Context(), ref(t, repo), dir)
	require.ErrorContains(t, err, "gave up after 6 tries")

	_, err = newClient(t, s, func(c *source.Config) { c.Offline = true }).Pull(t.Context(), ref(t, repo), dir)
	require.ErrorIs(t, err, source.ErrIncomplete, "new config.json beside old weights")
}

// What Hugging Face's libraries have in their cache is the snapshot of the main branch, or the only one.
func TestFolderOfACache(t *testing.T) {
	const a, b = "00112233445566778899aabbccddeeff00112233", "aa112233445566778899aabbccddeeff00112233"
	cache := t.TempDir()
	for repo, snapshots := range map[string][]string{"models--Helsinki-NLP--opus-mt-en-fr": {a, b}, "models--o--one": {b}, "models--o--two": {a, b}, "models--o--other": nil, "models--gpt2": {a}, "models--": {a}} {
		for _, commit := range snapshots {
			require.NoError(t, os.MkdirAll(filepath.Join(cache, repo, "snapshots", commit), 0o755))
		}
	}
	refs := filepath.Join(cache, "models--Helsinki-NLP--opus-mt-en-fr", "refs")
	require.NoError(t, os.Mkdir(refs, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(refs, "main"), []byte(b), 0o600))
	for from, want := range map[string][2]string{
		"models--Helsinki-NLP--opus-mt-en-fr":                {"models--Helsinki-NLP--opus-mt-en-fr/snapshots/" + b, "opus-mt-en-fr"},
		"models--Helsinki-NLP--opus-mt-en-fr/snapshots/" + a: {"models--Helsinki-NLP--opus-mt-en-fr/snapshots/" + a, "opus-mt-en-fr"},
		"models--o--one":   {"models--o--one/snapshots/" + b, "one"},
		"models--gpt2":     {"models--gpt2/snapshots/" + a, "gpt2"},
		"models--":         {"models--/snapshots/" + a, a},
		"models--o--other": {"models--o--other", "models--o--other"},
	} {
		r := ref(t, filepath.Join(cache, from))
		assert.Equal(t, filepath.Join(cache, want[0]), r.String())
		assert.Equal(t, want[1], r.Name())
	}
	_, err := source.ParseRef(filepath.Join(cache, "models--o--two"), "")
	assert.ErrorContains(t, err, "there are 2 revisions in its folder snapshots: name the folder of one")
}
