package source

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
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

// Headers of the Hub. The headers with Linked describe the file to which a redirect to the storage host leads.
const (
	headerCommit     = "X-Repo-Commit"
	headerLinkedETag = "X-Linked-Etag"
	headerLinkedSize = "X-Linked-Size"
)

// newHTTP makes the HTTP client. The environment sets its proxy.
func (c *Client) newHTTP() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if err := c.lookup(ctx, address); err != nil {
			return nil, err
		}
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return stallingConn{conn, c.stallTimeout}, nil
	}
	return &http.Client{Transport: transport, CheckRedirect: c.redirect}
}

// lookupTimeout limits the search for the addresses of a host.
const lookupTimeout = 5 * time.Second

// Lookup fails if no address of a host (address may have a port) is found within 5 s. The error is a *net.DNSError with a remedy.
func Lookup(ctx context.Context, address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	lookup, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	if _, err = net.DefaultResolver.LookupHost(lookup, host); err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("there is no address of %s: check its name, the network and the DNS of this machine: %w", host, err)
}

// stallingConn is a connection whose reads fail after a time without a byte.
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

// send sends a request and returns a successful answer, whose body the caller must close. Any other answer is a *statusError. HEAD
// may return a redirect, see redirect.
func (c *Client) send(ctx context.Context, method string, target *url.URL, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, target.String(), nil)
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept-Encoding", "identity") // otherwise sizes and ranges would be of compressed data
	c.authorize(req)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.networkError(target, err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		defer resp.Body.Close()
		return nil, newStatusError(resp, target)
	}
	return resp, nil
}

// headOrGet sends HEAD, or GET without reading the body to a server that refuses HEAD, for example of a URL that is signed for GET.
// The caller must close the body.
func (c *Client) headOrGet(ctx context.Context, target *url.URL) (*http.Response, error) {
	resp, err := c.send(ctx, http.MethodHead, target, nil)
	if status, ok := errors.AsType[*statusError](err); ok && status.code == "" {
		switch status.status {
		case http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented:
			return c.send(ctx, http.MethodGet, target, nil)
		}
	}
	return resp, err
}

// errPage means that a server answers with a web page instead of the file.
var errPage = errors.New("a web page is there in place of the file: the server wants somebody to sign in, or has a page for what it lacks")

// refusePage fails if an answer is a web page. It reads the beginning of the body, because some servers call any file HTML.
func (c *Client) refusePage(ctx context.Context, resp *http.Response) error {
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		return nil
	}
	page, err := c.send(ctx, http.MethodGet, resp.Request.URL, nil)
	if err != nil {
		return err
	}
	defer page.Body.Close()
	start, err := io.ReadAll(io.LimitReader(body{page.Body}, 512))
	if err == nil && strings.HasPrefix(http.DetectContentType(start), "text/html") {
		err = fmt.Errorf("%s: %w", redact(page.Request.URL), errPage)
	}
	return err
}

// authorize adds the token to requests to the endpoint's origin. It removes the Referer, which may be a signed URL, and the token
// that net/http copies to other ports and subdomains.
func (c *Client) authorize(req *http.Request) {
	req.Header.Del("Authorization")
	req.Header.Del("Referer")
	if c.cfg.Token != "" && sameOrigin(req.URL, c.endpoint) {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Token)
	}
}

// errRedirect means that a redirect is not allowed.
var errRedirect = errors.New("redirect refused")

// redirect decides whether to follow a redirect. HEAD stops at a redirect to another host if the answer with the redirect already
// describes the file, as the Hub's answer does for large files.
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

// hubHeader returns a header of the answer, or of a redirect before it.
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

// redact returns a URL without user, password and query, which may be secret.
func redact(u *url.URL) string {
	plain := *u
	plain.User, plain.RawQuery, plain.Fragment = nil, "", ""
	return plain.String()
}

// networkError wraps a failure to get an answer. The error is transient unless a certificate is wrong, a redirect was refused, or a
// name has no address; see [Config.Patient]. Its text leaves out net/http's URL, which may have a signature.
func (c *Client) networkError(target *url.URL, err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	err = fmt.Errorf("%s: %w", redact(target), err)
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok || errors.Is(err, errRedirect) {
		return err
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && !(c.cfg.Patient && (dns.IsTemporary || dns.IsTimeout)) {
		return err
	}
	return transientError{err}
}
