// Package boltfile opens the files that a process keeps something in.
package boltfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// lockTimeout is how long to wait for another process to let the file go: one that is about to
// end, at most.
const lockTimeout = 200 * time.Millisecond

// Open opens the file at a path, and makes it and its folder where they are not there: begin makes
// in it what is missing. Nobody but its owner may read it. noun is what the file is of, for errors.
// The caller closes it. Where another process has it, the error is an [*InUseError].
func Open(path, noun string, begin func(*bolt.Tx) error) (*bolt.DB, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: lockTimeout})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		owner, _ := os.ReadFile(ownerOf(path)) // for people; who made it may not say
		return nil, &InUseError{Path: path, Noun: noun, Owner: strings.TrimSpace(string(owner))}
	case err != nil:
		return nil, fmt.Errorf("open the file of %s %s: %w", noun, path, err)
	}
	if err := db.Update(begin); err != nil {
		return nil, errors.Join(fmt.Errorf("read the file of %s %s: %w", noun, path, err), db.Close())
	}
	host, _ := os.Hostname()
	// It helps people to find the process, and nothing depends on it.
	_ = os.WriteFile(ownerOf(path), fmt.Appendf(nil, "process %d on %s\n", os.Getpid(), host), 0o600)
	return db, nil
}

// ownerOf is the file that says which process has a file open.
func ownerOf(path string) string { return path + ".owner" }

// InUseError is the error of a file that another process has open.
type InUseError struct {
	Path, Noun string
	Owner      string // which process; "" where that is not known
}

func (e *InUseError) Error() string {
	owner := ""
	if e.Owner != "" {
		owner = " (" + e.Owner + ")"
	}
	return fmt.Sprintf("another process%s has the file of %s %s open", owner, e.Noun, e.Path)
}
