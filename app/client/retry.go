package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// firstPause is the maximum pause before the second try, unless the service asks for more. The maximum doubles with each try.
const firstPause = 500 * time.Millisecond

// retry calls try until it succeeds, fails for good, or has failed in Config.Retries + 1 tries. Between two tries retry pauses:
// for a random time up to a limit that doubles (full jitter), on top of the time that the service asks for. If the next try could
// not begin before the deadline of ctx, retry returns at once.
//
// Of the package backoff only the pauses are used: backoff.Retry loses the last error if ctx ends, and restarts its pauses at
// each Retry-After.
func (t *transport) retry(ctx context.Context, call call, try func() error) error {
	pauses := t.pauses()
	for n := 1; ; n++ {
		err := try()
		if permanent, ok := errors.AsType[*backoff.PermanentError](err); ok {
			return permanent.Err
		}
		if err == nil || t.cfg.Retries == 0 || !retryable(err) || call.once && outcomeUnknown(err) {
			return err
		}
		if n > t.cfg.Retries {
			return fmt.Errorf("%w (after %d tries)", err, n)
		}
		pause, ok := t.pause(err, pauses)
		if !ok {
			return fmt.Errorf("%w (not tried again: the service asks to wait %s, MaxBackoff is %s)", err, pause, t.cfg.MaxBackoff)
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= pause {
			return fmt.Errorf("%w (not tried again: the deadline is sooner than a pause of %s)", err, pause)
		}
		t.cfg.Log.DebugContext(ctx, "retrying a translation", "id", call.id, "try", n+1, "of", t.cfg.Retries+1, "wait", pause, "reason", err)
		if over := wait(ctx, pause); over != nil {
			return fmt.Errorf("%w before try %d, after: %w", over, n+1, err)
		}
	}
}

// persist calls try until it succeeds or fails for good, or ctx is done: any number of times, so that persist waits for a service
// that restarts. Pauses are as between the tries of retry, and short again after a try that returns news; a pause that the
// service asks for may be longer than Config.MaxBackoff.
func (t *transport) persist(ctx context.Context, id string, try func() (news bool, err error)) error {
	pauses := t.pauses()
	for {
		news, err := try()
		if err == nil || !retryable(err) {
			return err
		}
		if news {
			pauses.Reset()
		}
		pause, _ := t.pause(err, pauses)
		t.cfg.Log.DebugContext(ctx, "retrying a request about a job", "id", id, "wait", pause, "reason", err)
		if over := wait(ctx, pause); over != nil {
			return fmt.Errorf("%w, after: %w", over, err)
		}
	}
}

// pauses returns the pauses between the tries of a call. The library's pauses are between zero and twice the interval.
func (t *transport) pauses() *backoff.ExponentialBackOff {
	pauses := &backoff.ExponentialBackOff{
		InitialInterval: min(firstPause, t.cfg.MaxBackoff) / 2, MaxInterval: t.cfg.MaxBackoff / 2,
		RandomizationFactor: 1, Multiplier: 2,
	}
	pauses.Reset()
	return pauses
}

// pause returns the pause after a failure. ok is false if the service asks for more than Config.MaxBackoff.
func (t *transport) pause(failure error, pauses *backoff.ExponentialBackOff) (d time.Duration, ok bool) {
	d = pauses.NextBackOff()
	if e, is := errors.AsType[*Error](failure); is && e.RetryAfter > 0 {
		if e.RetryAfter > t.cfg.MaxBackoff {
			return e.RetryAfter, false
		}
		// Clients that were refused together should not come back together.
		d += e.RetryAfter
	}
	return min(d, t.cfg.MaxBackoff), true
}

// wait returns after d, or with the context's error as soon as that is done.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return contextError(ctx)
	}
}

// retryable reports whether another try may succeed. Another try is always safe, because translating twice does no harm.
func retryable(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Temporary()
	}
	return outcomeUnknown(err) && !failsAgain(err)
}

// outcomeUnknown reports whether the outcome of a try is unknown.
func outcomeUnknown(err error) bool {
	_, ok := errors.AsType[*connectionError](err)
	return ok
}

// failsAgain reports whether a connection failed for a reason that will be the same at the next try: a name that does not exist,
// incompatible TLS, or a timeout of Config.HTTPClient. failsAgain lists permanent errors, not temporary ones, because net/http
// has no names for some of the ways in which a connection breaks.
func failsAgain(err error) bool {
	var (
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		alert       tls.AlertError
		timeout     net.Error
	)
	switch {
	case errors.As(err, &dns):
		return dns.IsNotFound
	case dialing(err), errors.Is(err, syscall.ETIMEDOUT): // the other machine does not answer any more
		return false
	case errors.As(err, &certificate), errors.As(err, &record), errors.As(err, &alert), errors.Is(err, http.ErrSchemeMismatch):
		return true
	}
	return errors.As(err, &timeout) && timeout.Timeout()
}

// dialing reports whether there was no connection yet.
func dialing(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// retryAfter returns the wait that an answer asks for, in seconds or as a date (RFC 9110, section 10.2.3); 0 if the answer asks
// for none, or in an unknown form. A date is relative to the date of the answer, if it has one, because the clocks of client and
// server differ; otherwise to now.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get(retryAfterHeader)
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(seconds, uint64(math.MaxInt64/time.Second))) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if sent, err := http.ParseTime(h.Get("Date")); err == nil {
		now = sent
	}
	return max(0, at.Sub(now))
}
