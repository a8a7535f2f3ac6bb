package source

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
)

const (
	maxTries = 6               // maximum of consecutive failures without a new byte
	maxWait  = 5 * time.Minute // longest wait that a server may ask for
)

// retry runs op until it succeeds, fails permanently, or fails maxTries times without progress, which op reports. So a connection
// that breaks every minute can still transfer any file.
//
// backoff.Retry counts all tries alike, so only its delays are used.
func (c *Client) retry(ctx context.Context, file string, op func() (progress bool, err error)) error {
	delays := backoff.NewExponentialBackOff() // they begin at 0.5 s, with jitter
	delays.Multiplier = 3
	for failures := 1; ; failures++ {
		progress, err := op()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !retriable(err):
			return err
		}
		if progress {
			failures = 1
			delays.Reset()
		}
		if failures == maxTries {
			return fmt.Errorf("gave up after %d tries: %w", failures, err)
		}
		delay := delays.NextBackOff()
		if status, ok := errors.AsType[*statusError](err); ok {
			if status.retryAfter > maxWait {
				return fmt.Errorf("the server asks to wait %s, the maximum is %s: %w", status.retryAfter, maxWait, err)
			}
			delay = max(delay, status.retryAfter)
		}
		c.cfg.Log.Warn("retrying", "file", file, "try", failures+1, "of", maxTries, "wait", delay, "reason", err)
		if err := c.wait(ctx, delay); err != nil {
			return err
		}
	}
}

// wait returns after d, or with ctx's error when ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
