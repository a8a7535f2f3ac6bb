package repository

import (
	"context"
	"time"
)

// Watch scans the repositories again and again, with the time every in between, until ctx is
// done. It calls changed, and waits for it, when what it found is not what since was and is the
// same as the time before: a folder that is still being copied is not taken half. It looks
// instead of being told, since file systems over a network and mounts in containers do not tell.
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
