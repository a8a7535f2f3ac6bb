package model

import (
	"context"
	"time"

	"github.com/gofrs/flock"
)

// lockPoll is the interval at which a waiting process tries a lock. The kernel's own wait could not be interrupted.
const lockPoll = 100 * time.Millisecond

// Lock locks the file at path, which it creates if needed, for one process at a time on all machines that share it. If another
// process holds the lock, it calls waiting once, and waits until ctx ends. The kernel frees the lock when the process dies. The
// file stays: its deletion would let two other processes lock different files of the same name.
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

// TryLock is Lock without waiting. ok is false if another process holds the lock or the file cannot be locked.
func TryLock(path string) (unlock func(), ok bool) {
	lock := newLock(path)
	free, err := lock.TryLock()
	return func() { lock.Unlock() }, free && err == nil //nolint:errcheck // as above
}

func newLock(path string) *flock.Flock { return flock.New(path, flock.SetPermissions(0o644)) }
