// Package boltfile opens the files that a process keeps something in.
package boltfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// lockTimeout is how long to wait for another process to let the file go: one that is about to
// end, at most.
const lockTimeout = 200 * time.Millisecond

// Open opens the file at a path, and makes it and its folder where they are not there: begin makes
// in it what is missing. Nobody but its owner may read it. noun is what the file is of, for errors.
// The caller closes it.
func Open(path, noun string, begin func(*bolt.Tx) error) (*bolt.DB, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: lockTimeout})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, fmt.Errorf("another process has the file of %s %s open", noun, path)
	case err != nil:
		return nil, fmt.Errorf("open the file of %s %s: %w", noun, path, err)
	}
	if err := db.Update(begin); err != nil {
		return nil, errors.Join(fmt.Errorf("read the file of %s %s: %w", noun, path, err), db.Close())
	}
	return db, nil
}
