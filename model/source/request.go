package source

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const (
	maxRedirects = 10
	userAgent    = "dragoman-hub/1"
)

// Headers of the Hub. The Linked ones describe the file behind a redirect to
// the storage host.
const (
	headerCommit     = "X-Repo-Commit"
	headerLinkedETag = "X-Linked-Etag"
	headerLinkedSize = "X-Linked-Size"
)

// newHTTP makes the HTTP client, which takes its proxy from the environment.
func (c *Client) newHTTP() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return stallingConn{conn, c.stallTimeout}, nil
	}
	return &http.Client{Transport: transport, CheckRedirect: c.redirect}
}

// stallingConn is a connection that fails when no byte arrives for a time.
type stallingConn struct {
	net.Conn
	timeout time.Duration
}

func (c stallingConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("no data for %s: %w", c.timeout, err)
	}
	return n, err
}

// send sends a request and returns a successful answer, whose body the caller
// closes; any other answer is a *statusError. HEAD may return a redirect, see redirect.
func (c *Client) send(ctx context.Context, method string, target *url.URL, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, target.String(), nil)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept-Encoding", "identity") // or sizes and ranges would be those of compressed data
	c.authorize(req)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, networkError(target, err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		defer resp.Body.Close()
		return nil, newStatusError(resp, target)
	}
	return resp, nil
}

// authorize gives a request the token if it goes to the endpoint's origin. net/http
// would pass it on to other ports and subdomains, and signed URLs as Referer.
func (c *Client) authorize(req *http.Request) {
	req.Header.Del("Authorization")
	req.Header.Del("Referer")
	if c.cfg.Token != "" && sameOrigin(req.URL, c.endpoint) {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Token)
	}
}

// errRedirect: a server redirects to where nothing is fetched from.
var errRedirect = errors.New("redirect refused")

// redirect decides whether a redirect is followed. A HEAD stops at one to another host
// if the answer already describes the file there, as the Hub's does for files in its
// large file storage.
func (c *Client) redirect(next *http.Request, via []*http.Request) error {
	from := via[len(via)-1].URL
	described := hubHeader(next.Response, headerLinkedETag) != "" && hubHeader(next.Response, headerLinkedSize) != ""
	switch {
	case len(via) >= maxRedirects:
		return fmt.Errorf("%w: more than %d redirects", errRedirect, maxRedirects)
	case next.URL.Host == "" || next.URL.Scheme != "https" && next.URL.Scheme != "http":
		return fmt.Errorf("%w: %s redirects to what is not an http(s) URL", errRedirect, redact(from))
	case from.Scheme == "https" && next.URL.Scheme == "http":
		return fmt.Errorf("%w: %s redirects from https to unprotected %s", errRedirect, redact(from), redact(next.URL))
	case next.Method == http.MethodHead && described && !sameOrigin(next.URL, from):
		return http.ErrUseLastResponse
	}
	c.authorize(next)
	return nil
}

// hubHeader reads a header of the Hub: of the answer or of a redirect that led to it.
func hubHeader(resp *http.Response, key string) string {
	for ; resp != nil; resp = resp.Request.Response {
		if value := resp.Header.Get(key); value != "" {
			return value
		}
	}
	return ""
}

// sameOrigin reports whether two URLs have the same scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

// redact writes a URL without what may be secret: user, password and query (the
// signature of a signed URL).
func redact(u *url.URL) string {
	plain := *u
	plain.User, plain.RawQuery, plain.Fragment = nil, "", ""
	return plain.String()
}

// networkError wraps a failure to get any answer. Another try may get one, unless a
// certificate does not fit or a redirect was refused. The URL that net/http puts into its
// errors is left out: it may hold a signature.
func networkError(target *url.URL, err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	err = fmt.Errorf("%s: %w", redact(target), err)
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok || errors.Is(err, errRedirect) {
		return err
	}
	return transientError{err}
}
