package model

import (
	"context"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is the interval at which a waiting process tries a lock. The kernel's own wait could not be interrupted.
const lockPoll = 100 * time.Millisecond

// lockFile is the locked file in a folder.
const lockFile = ".dragoman.lock"

// Lock locks a folder for one process at a time, on all machines that share the folder, by a file that it creates if needed. If
// another process holds the lock, Lock calls waiting once, and waits until ctx ends. The kernel frees the lock when the process
// dies. The file stays, because its deletion would let two other processes lock different files of the same name.
func Lock(ctx context.Context, dir string, waiting func()) (unlock func(), err error) {
	lock := newLock(dir)
	free, err := lock.TryLock()
	if err == nil && !free {
		waiting()
		_, err = lock.TryLockContext(ctx, lockPoll)
	}
	if err != nil {
		return nil, err
	}
	return func() { lock.Unlock() }, nil //nolint:errcheck // the process's end unlocks too
}

// TryLock is Lock without waiting. ok is false if another process holds the lock or the file cannot be locked.
func TryLock(dir string) (unlock func(), ok bool) {
	lock := newLock(dir)
	free, err := lock.TryLock()
	return func() { lock.Unlock() }, free && err == nil //nolint:errcheck // as above
}

func newLock(dir string) *flock.Flock {
	return flock.New(filepath.Join(dir, lockFile), flock.SetPermissions(0o644))
}
