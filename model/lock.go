package model

import (
	"context"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is how often a waiting process looks whether a lock is free. The kernel's own
// waiting could not be interrupted.
const lockPoll = 100 * time.Millisecond

// Lock locks the file at path, which it makes if need be, for one process at a time on
// all machines that share it. Where another holds the lock it calls waiting once, and
// waits until ctx is done. The kernel frees the lock when the process dies. The file
// stays: to delete it would let two others lock different files of its name.
func Lock(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	lock := newLock(path)
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

// TryLock is Lock without waiting. ok is false where another process holds the lock or
// the file cannot be locked.
func TryLock(path string) (unlock func(), ok bool) {
	lock := newLock(path)
	free, err := lock.TryLock()
	return func() { lock.Unlock() }, free && err == nil //nolint:errcheck // as above
}

func newLock(path string) *flock.Flock { return flock.New(path, flock.SetPermissions(0o644)) }
