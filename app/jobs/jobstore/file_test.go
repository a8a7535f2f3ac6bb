package jobstore

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"dragoman/app/jobs"
)

func TestInFile(t *testing.T) {
	runSuite(t, func(t *testing.T, cfg jobs.StoreConfig) fixture {
		c := newClock()
		cfg.Now = c.Now
		path := filepath.Join(t.TempDir(), "new", "jobs.db")
		s, err := OpenFile(path, cfg)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, s.Close()) })
		return fixture{Store: s, Advance: c.Advance, Again: func() jobs.Store {
			require.NoError(t, s.Close())
			again, err := OpenFile(path, cfg)
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, again.Close()) })
			return again
		}}
	})
}

// Jobs that were claimed when the process ended can be claimed at once by the next one. Jobs that requests awaited are gone.
func TestClaimsEndWithTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	cfg := jobs.StoreConfig{TTL: time.Hour, PerOwner: 1, MaxBytes: 1}
	s, err := OpenFile(path, cfg)
	require.NoError(t, err)
	_, _, err = s.Create(t.Context(), jobs.Draft{ID: "a"})
	require.NoError(t, err)
	first, err := s.Claim(t.Context(), jobs.Work, time.Hour)
	require.NoError(t, err)
	_, _, err = s.Create(t.Context(), jobs.Draft{ID: "b", Owner: "b", Lease: time.Hour})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	s, err = OpenFile(path, cfg)
	require.NoError(t, err)
	defer func() { assert.NoError(t, s.Close()) }()
	second, err := s.Claim(t.Context(), jobs.Work, time.Hour)
	require.NoError(t, err)
	assert.Equal(t, 2, second.Job.Attempts)
	assert.ErrorIs(t, s.End(t.Context(), first, jobs.Done, nil), jobs.ErrLost)
	_, err = s.Get(t.Context(), "b")
	assert.ErrorIs(t, err, jobs.ErrUnknown)
}

// change changes a file that is not open.
func change(t *testing.T, path string, do func(*bolt.Tx) error) {
	db, err := bolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.Update(do))
	require.NoError(t, db.Close())
}

// A queued id without a record does not stop the jobs after it, and does not count for its owner. An unreadable record stops the
// start.
func TestFileWithoutRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	clock := newClock()
	cfg := jobs.StoreConfig{TTL: time.Hour, PerOwner: 9, MaxBytes: 1, Now: clock.Now}
	s, err := OpenFile(path, cfg)
	require.NoError(t, err)
	for _, id := range []string{"a", "b"} {
		_, _, err = s.Create(t.Context(), jobs.Draft{ID: id})
		require.NoError(t, err)
		clock.Advance(time.Second)
	}
	require.NoError(t, s.Close())
	change(t, path, func(tx *bolt.Tx) error { return tx.Bucket([]byte("jobs")).Delete([]byte("a")) })
	s, err = OpenFile(path, cfg)
	require.NoError(t, err)
	c, err := s.Claim(t.Context(), jobs.Work, time.Hour)
	require.NoError(t, err)
	assert.Equal(t, "b", c.Job.ID)
	list, err := s.List(t.Context(), "", 9)
	require.NoError(t, err)
	assert.Len(t, list, 1)
	require.NoError(t, s.Close())
	change(t, path, func(tx *bolt.Tx) error { return tx.Bucket([]byte("jobs")).Put([]byte("a"), []byte("{")) })
	_, err = OpenFile(path, cfg)
	assert.ErrorContains(t, err, path)
	assert.ErrorContains(t, err, "cannot be read")
}
