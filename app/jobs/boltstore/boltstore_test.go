package boltstore

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/jobs"
	"dragoman/app/jobs/jobstest"
)

func TestStore(t *testing.T) {
	jobstest.Run(t, func(t *testing.T, cfg jobs.StoreConfig) jobstest.Fixture {
		c := jobstest.NewClock()
		cfg.Now = c.Now
		path := filepath.Join(t.TempDir(), "new", "jobs.db")
		s, err := Open(path, cfg)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, s.Close()) })
		return jobstest.Fixture{Store: s, Advance: c.Advance, Again: func() jobs.Store {
			require.NoError(t, s.Close())
			again, err := Open(path, cfg)
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, again.Close()) })
			return again
		}}
	})
}

// Where another process has the file, or it is none, that is said at once.
func TestOpenFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "jobs.db")
	s, err := Open(path, jobs.StoreConfig{})
	require.NoError(t, err)
	_, err = Open(path, jobs.StoreConfig{})
	host, _ := os.Hostname()
	assert.EqualError(t, err, fmt.Sprintf("another process (process %d on %s) has the file of jobs %s open", os.Getpid(), host, path))
	require.NoError(t, s.Close())
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	other := filepath.Join(dir, "other")
	require.NoError(t, os.WriteFile(other, []byte("this is not a file of jobs, but some text of somebody else's"), 0o600))
	_, err = Open(other, jobs.StoreConfig{})
	assert.ErrorContains(t, err, other)
	_, err = Open(filepath.Join(other, "jobs.db"), jobs.StoreConfig{}) // below a file
	assert.Error(t, err)
}

// What was claimed when the process ended can be claimed at once by the next.
func TestClaimsEndWithTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	cfg := jobs.StoreConfig{TTL: time.Hour, PerOwner: 1, MaxBytes: 1}
	s, err := Open(path, cfg)
	require.NoError(t, err)
	_, _, err = s.Create(t.Context(), jobs.Draft{ID: "a"})
	require.NoError(t, err)
	first, err := s.Claim(t.Context(), jobs.Work, time.Hour)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	s, err = Open(path, cfg)
	require.NoError(t, err)
	defer func() { assert.NoError(t, s.Close()) }()
	second, err := s.Claim(t.Context(), jobs.Work, time.Hour)
	require.NoError(t, err)
	assert.Equal(t, 2, second.Job.Attempts)
	assert.ErrorIs(t, s.End(t.Context(), first, jobs.Done, nil), jobs.ErrLost)
}
