package repository

import (
	"context"
	"time"
)

// Watch scans the repositories repeatedly, at the interval every, until ctx ends. It calls changed, and waits until that returns,
// if the snapshot differs from since and is the same as the previous snapshot, so that a folder that is still being copied is not
// taken half-finished. Watch polls, because network file systems and container mounts send no notifications.
func (s *Scanner) Watch(ctx context.Context, since Snapshot, every time.Duration, changed func(Snapshot)) {
	seen, handled := since.Fingerprint, since.Fingerprint
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := s.Scan()
		settled := now.Fingerprint == seen
		seen = now.Fingerprint
		if settled && seen != handled {
			handled = seen
			changed(now)
		}
	}
}
