package hub

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockFile is locked for as long as a pull works on its folder. It stays there:
// to delete it would let two others lock different files of its name.
const lockFile = ".dragoman-pull.lock"

// lockPoll is how often a waiting pull looks whether the lock is free. The
// kernel's own waiting could not be interrupted.
const lockPoll = 100 * time.Millisecond

// lock waits for the folder's lock and returns its release. The kernel releases
// it when the process dies.
func (c *Client) lock(ctx context.Context, dir string) (unlock func(), err error) {
	path := filepath.Join(dir, lockFile)
	lock := flock.New(path)
	free, err := lock.TryLock()
	if err == nil && !free {
		c.cfg.Log.Info("another pull is at work in the folder, waiting for it", "dir", dir)
		_, err = lock.TryLockContext(ctx, lockPoll)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("waiting for another pull into %s was interrupted: %w", dir, ctx.Err())
		}
		return nil, fmt.Errorf("cannot lock %s: %w", path, err)
	}
	return func() {
		if err := lock.Close(); err != nil {
			c.cfg.Log.Warn("cannot release the lock", "file", path, "reason", err.Error())
		}
	}, nil
}
