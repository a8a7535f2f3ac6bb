package hub

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	maxRedirects = 10
	userAgent    = "dragoman-hub/1"
)

// send sends a request and returns a successful answer, whose body the caller
// closes; any other answer is a *StatusError. HEAD may return a redirect (see
// follow). Request and body are cut with errStalled when no byte arrives for
// Config.StallTimeout.
func (c *Client) send(ctx context.Context, method string, target *url.URL, header http.Header) (*http.Response, error) {
	guard := newGuard(ctx, c.cfg.StallTimeout)
	resp, err := c.follow(guard.ctx, method, target, header)
	if err != nil {
		guard.release()
		return nil, guard.explain(err)
	}
	resp.Body = &guardedBody{ReadCloser: resp.Body, guard: guard}
	if resp.StatusCode >= 400 {
		defer resp.Body.Close()
		return nil, newStatusError(resp, !sameOrigin(resp.Request.URL, target), c.cfg.Clock.Now())
	}
	return resp, nil
}

// follow sends a request and the ones that redirects ask for. The token goes to
// the endpoint's origin only. A HEAD stops at a redirect to another host if the
// answer already describes the file behind it, as the Hub's does for files in
// its large file storage.
func (c *Client) follow(ctx context.Context, method string, target *url.URL, header http.Header) (*http.Response, error) {
	hub := http.Header{} // what the Hub said on the way
	for range maxRedirects {
		req, err := http.NewRequestWithContext(ctx, method, target.String(), nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", redact(target), withoutURL(err))
		}
		for key, values := range header {
			req.Header[key] = values
		}
		req.Header.Set("User-Agent", userAgent)
		req.Header.Set("Accept-Encoding", "identity") // or sizes and ranges would be those of compressed data
		if c.cfg.Token != "" && sameOrigin(target, c.endpoint) {
			req.Header.Set("Authorization", "Bearer "+c.cfg.Token)
		}
		resp, err := c.http.Do(req)
		if err != nil {
			return nil, networkError(target, err)
		}
		for _, key := range []string{headerCommit, headerLinkedETag, headerLinkedSize} {
			if value := resp.Header.Get(key); value != "" {
				hub.Set(key, value)
			} else if value := hub.Get(key); value != "" {
				resp.Header.Set(key, value)
			}
		}
		next, err := redirect(resp, target)
		if err != nil {
			resp.Body.Close()
			return nil, err
		}
		described := resp.Header.Get(headerLinkedETag) != "" && resp.Header.Get(headerLinkedSize) != ""
		if next == nil || method == http.MethodHead && described && !sameOrigin(next, target) {
			return resp, nil
		}
		resp.Body.Close()
		target = next
	}
	return nil, fmt.Errorf("%s: more than %d redirects", redact(target), maxRedirects)
}

// redirect returns where an answer redirects to, nil where it does not. A
// redirect from https to http is refused.
func redirect(resp *http.Response, from *url.URL) (*url.URL, error) {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	next, err := from.Parse(resp.Header.Get("Location"))
	if err != nil || next.Host == "" || (next.Scheme != "https" && next.Scheme != "http") {
		return nil, fmt.Errorf("%s redirects (%d) to what is not an http(s) URL", redact(from), resp.StatusCode)
	}
	if from.Scheme == "https" && next.Scheme == "http" {
		return nil, fmt.Errorf("%s redirects from https to unprotected %s: refused", redact(from), redact(next))
	}
	return next, nil
}

// sameOrigin reports whether two URLs have the same scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// networkError wraps a failure to get any answer. All may pass, but for a
// certificate that does not fit.
func networkError(target *url.URL, err error) error {
	err = fmt.Errorf("%s: %w", redact(target), withoutURL(err))
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return err
	}
	return transientError{err}
}

// withoutURL drops the URL that net/http puts into its errors, which may hold a
// signature.
func withoutURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

func newStatusError(resp *http.Response, elsewhere bool, now time.Time) *StatusError {
	message := resp.Header.Get("X-Error-Message")
	if len(message) > 300 {
		message = message[:300] + "…"
	}
	return &StatusError{
		URL:        redact(resp.Request.URL),
		Status:     resp.StatusCode,
		Code:       resp.Header.Get("X-Error-Code"),
		Message:    message,
		RetryAfter: retryAfter(resp.Header, now),
		elsewhere:  elsewhere,
	}
}

// rateLimitPattern reads the header RateLimit: "name";r=requests left;t=seconds until new ones.
var rateLimitPattern = regexp.MustCompile(`;\s*r=0\s*;\s*t=(\d{1,6})\b`)

// retryAfter reads how long a server asks to wait: Retry-After in seconds or as
// a date, or the RateLimit header that the Hub sends.
func retryAfter(header http.Header, now time.Time) time.Duration {
	value := header.Get("Retry-After")
	if value == "" {
		if match := rateLimitPattern.FindStringSubmatch(header.Get("RateLimit")); match != nil {
			value = match[1]
		}
	}
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, date.Sub(now))
	}
	return 0
}

// guard cuts a request that makes no progress for a time.
type guard struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	timeout time.Duration
}

func newGuard(parent context.Context, timeout time.Duration) *guard {
	ctx, cancel := context.WithCancelCause(parent)
	timer := time.AfterFunc(timeout, func() { cancel(errStalled) })
	return &guard{ctx: ctx, cancel: cancel, timer: timer, timeout: timeout}
}

func (g *guard) release() {
	g.timer.Stop()
	g.cancel(nil)
}

// explain replaces the error of a request that the guard cut.
func (g *guard) explain(err error) error {
	if errors.Is(context.Cause(g.ctx), errStalled) {
		return transientError{fmt.Errorf("%w: no data for %s", errStalled, g.timeout)}
	}
	return err
}

// guardedBody is a body under guard: each read must bring something in time.
type guardedBody struct {
	io.ReadCloser
	guard *guard
}

func (b *guardedBody) Read(p []byte) (int, error) {
	b.guard.timer.Reset(b.guard.timeout)
	n, err := b.ReadCloser.Read(p)
	b.guard.timer.Stop() // a slow disk is no stall
	if err != nil && err != io.EOF {
		err = b.guard.explain(err)
	}
	return n, err
}

func (b *guardedBody) Close() error {
	b.guard.release()
	return b.ReadCloser.Close()
}
