package source_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/source"
	"dragoman/model/source/hubtest"
)

func TestCommit(t *testing.T) {
	s := hubtest.New(t, repo, repoFiles())
	main, old := s.Push("main", repoFiles()), strings.Repeat("0", 40)
	offline := func(c *source.Config) { c.Offline = true }
	away := func(c *source.Config) { c.Endpoint = "http://127.0.0.1:1" }
	for name, test := range map[string]struct {
		ref  string
		edit func(*source.Config)
		want string
	}{
		"a branch":  {repo, func(*source.Config) {}, main},
		"a commit":  {repo + "@" + old, away, old},
		"offline":   {repo, offline, ""},
		"no answer": {repo, away, ""},
		"a URL":     {s.Endpoint + "/x", away, ""},
	} {
		t.Run(name, func(t *testing.T) {
			commit, err := newClient(t, s, test.edit).Commit(t.Context(), ref(t, test.ref))
			require.NoError(t, err)
			assert.Equal(t, test.want, commit)
		})
	}
	// A URL has none, but what changes with its files.
	before, err := newClient(t, s).Pull(t.Context(), ref(t, s.Base), t.TempDir())
	require.NoError(t, err)
	require.NotEmpty(t, before)
	again, err := newClient(t, s).Commit(t.Context(), ref(t, s.Base))
	require.NoError(t, err)
	assert.Equal(t, before, again)
	s.Push("main", repoFiles(map[string][]byte{weight: noise(9, size)}))
	after, err := newClient(t, s).Commit(t.Context(), ref(t, s.Base))
	require.NoError(t, err)
	assert.NotEqual(t, before, after)

	_, err = newClient(t, s).Commit(t.Context(), ref(t, "nobody/nothing"))
	require.ErrorIs(t, err, source.ErrRepoNotFound)
}
