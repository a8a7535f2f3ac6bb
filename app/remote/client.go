package remote

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"dragoman/model"
)

// Limits of a call.
const (
	maxAnswer   = 8 << 20 // bytes
	maxKey      = 8 << 10 // bytes of a file
	excerptSize = 300     // bytes of an answer in an error
	dialTimeout = 5 * time.Second
)

// Client calls a server. It is safe for concurrent use.
type Client struct {
	url, keyFile string
	timeout      time.Duration
	http         *http.Client
}

// NewClient returns a client of the API at url, which makes at most some number of calls at a time. The file of the key, if there
// is one, is read for each call, so it can be replaced.
func NewClient(url, keyFile string, timeout time.Duration, concurrency int) *Client {
	dialer := net.Dialer{Timeout: dialTimeout}
	return &Client{url: url, keyFile: keyFile, timeout: timeout, http: &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: dialTimeout,
			MaxIdleConnsPerHost: concurrency, IdleConnTimeout: 90 * time.Second, ForceAttemptHTTP2: true,
		},
		// The key must not go to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// CallError is the error of a call.
type CallError struct {
	Status     int           // HTTP status; 0: there is no answer
	Sent       bool          // the server may have begun to work
	RetryAfter time.Duration // as the server asks; 0: it does not
	Err        error
}

func (e *CallError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *CallError) Unwrap() error { return e.Err }

// Call sends a body to a path of the API and returns the answer. A nil body is a GET. The error is a [*CallError], or ctx's cause.
func (c *Client) Call(ctx context.Context, path string, body []byte) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	answer, err := c.call(limited, path, body)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return answer, err
}

func (c *Client) call(ctx context.Context, path string, body []byte) ([]byte, error) {
	var sent atomic.Bool
	fail := func(status int, err error) error { return &CallError{Status: status, Sent: sent.Load(), Err: err} }
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	req, err := http.NewRequestWithContext(traced, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, fail(0, err)
	}
	req.Header.Set("Content-Type", "application/json")
	if key, err := c.key(); err != nil {
		return nil, fail(http.StatusUnauthorized, err)
	} else if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fail(0, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fail(0, fmt.Errorf("read the answer: %w", err))
	case len(answer) > maxAnswer:
		return nil, fail(resp.StatusCode, fmt.Errorf("the answer has more than %d bytes", maxAnswer))
	case resp.StatusCode != http.StatusOK:
		return nil, &CallError{
			Status: resp.StatusCode, Sent: true, RetryAfter: retryAfter(resp.Header.Get("Retry-After")),
			Err: fmt.Errorf("the server answers %s: %s", resp.Status, strings.ToValidUTF8(string(answer[:min(len(answer), excerptSize)]), "?")),
		}
	}
	return answer, nil
}

// key returns the key, or "" if there is none.
func (c *Client) key() (string, error) {
	if c.keyFile == "" {
		return "", nil
	}
	raw, err := model.ReadSmall(c.keyFile, maxKey)
	if err != nil {
		return "", fmt.Errorf("key_file: %w", err)
	}
	key := strings.TrimSpace(string(raw))
	if key == "" || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("key_file %s: has no key, or more than one line", c.keyFile)
	}
	return key, nil
}

// retryAfter reads the header of that name: seconds or a date. The result is 0 for others, and at least a second.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.ParseFloat(header, 64); err == nil && seconds >= 0 && seconds < 1e6 {
		return max(time.Second, time.Duration(seconds*float64(time.Second)))
	}
	if date, err := http.ParseTime(header); err == nil {
		return max(time.Second, time.Until(date))
	}
	return 0
}
