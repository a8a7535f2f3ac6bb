package hub

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Clock is the time in which a Client waits and measures.
type Clock interface {
	Now() time.Time
	// Wait returns after d, or with ctx's error as soon as ctx is done.
	Wait(ctx context.Context, d time.Duration) error
}

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// retry runs op until it succeeds, fails for good, or fails Config.Tries times
// without progress; op reports whether it got further than ever before. A slow
// line that breaks every minute thus carries any file in the end.
//
// backoff.Retry cannot do it: it counts all tries alike and waits on the real
// clock. Only its delays are used.
func (c *Client) retry(ctx context.Context, what string, op func() (progress bool, err error)) error {
	delays := c.cfg.BackOff()
	delays.Reset()
	for failures := 1; ; failures++ {
		progress, err := op()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !retriable(err) {
			return err
		}
		if progress {
			failures = 1
			delays.Reset()
		}
		if failures >= c.cfg.Tries {
			return fmt.Errorf("%s: given up after %d tries: %w", what, failures, err)
		}
		delay, err := c.delay(err, delays)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		c.cfg.Log.Warn("retrying", "file", what, "try", failures+1, "of", c.cfg.Tries, "wait", delay, "reason", err)
		if err := c.cfg.Clock.Wait(ctx, delay); err != nil {
			return err
		}
	}
}

// delay is how long to wait after a failure: what the server asks for, or else
// the next delay of the backoff. It fails where that is longer than allowed.
func (c *Client) delay(failure error, delays backoff.BackOff) (time.Duration, error) {
	next := delays.NextBackOff()
	if next == backoff.Stop {
		return 0, failure
	}
	status, ok := errors.AsType[*StatusError](failure)
	if !ok {
		return next, nil
	}
	if status.RetryAfter > c.cfg.MaxWait {
		return 0, fmt.Errorf("the server asks to wait %s, at most %s are allowed: %w", status.RetryAfter, c.cfg.MaxWait, failure)
	}
	return max(next, status.RetryAfter), nil
}
