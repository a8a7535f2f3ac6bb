package client

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Defaults of a [Config].
const (
	defaultRetries          = 3
	defaultMaxBackoff       = 30 * time.Second
	defaultMaxResponseBytes = 64 << 20
	defaultUserAgent        = "dragoman-go-client"
)

// keptConnections is the number of idle connections that a client keeps.
const keptConnections = 128

// Config configures a [Client]. Only URL is required.
type Config struct {
	// URL of the service, such as http://localhost:9527. A path in the URL is put in front of the service's paths, for a service
	// below a path of another site.
	URL string
	// Key is the API key; "" for none.
	Key string
	// HTTPClient sends the requests. nil: a new one, which keeps up to 128 connections. Its Timeout, if set, limits each try, not
	// the call.
	HTTPClient *http.Client
	// Retries is the number of tries after the first. 0: 3; negative: none.
	Retries int
	// MaxBackoff is the longest pause between two tries. If the service asks for a longer pause by Retry-After, there is no
	// further try. 0: 30 s.
	MaxBackoff time.Duration
	// MaxResponseBytes limits an answer, and each line of a stream. 0: 64 MiB.
	MaxResponseBytes int64
	// UserAgent is the User-Agent of requests. "": dragoman-go-client.
	UserAgent string
	// Log gets a line for each try that is followed by another, at debug level, never with texts. nil: slog.Default().
	Log *slog.Logger
}

// withDefaults validates the numbers and sets the defaults.
func (c Config) withDefaults() (Config, error) {
	if c.MaxBackoff < 0 || c.MaxResponseBytes < 0 {
		return c, fmt.Errorf("client: MaxBackoff %s and MaxResponseBytes %d: use 0 for the default, or more", c.MaxBackoff, c.MaxResponseBytes)
	}
	if strings.ContainsFunc(c.Key+c.UserAgent, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return c, errors.New("client: Key or UserAgent has control characters, such as the end of a line: leave them out")
	}
	c.Retries = cmp.Or(c.Retries, defaultRetries)
	c.MaxBackoff = cmp.Or(c.MaxBackoff, defaultMaxBackoff)
	c.MaxResponseBytes = cmp.Or(c.MaxResponseBytes, defaultMaxResponseBytes)
	c.UserAgent = cmp.Or(c.UserAgent, defaultUserAgent)
	c.Retries = max(c.Retries, 0)
	c.Log = cmp.Or(c.Log, slog.Default())
	return c, nil
}

// Client sends requests to one service. It is safe for concurrent use; make one and share it, so that requests share connections.
// The caller must close it.
type Client struct{ *transport }

// transport sends the requests of a Client, with the pauses and tries of its configuration.
type transport struct {
	cfg  Config // configuration with defaults in place of zeros
	base string // URL without a slash at its end
	http *http.Client
	own  bool // whether http belongs to the client
}

// New returns a client. It does not contact the service: see [Client.Ready]. The error names the invalid field of cfg.
func New(cfg Config) (*Client, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	base, err := baseURL(cfg.URL)
	if err != nil {
		return nil, err
	}
	t := &transport{cfg: cfg, base: base}
	t.http, t.own = httpClient(cfg)
	return &Client{t}, nil
}

// baseURL returns the prefix of the service's paths.
func baseURL(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "", fmt.Errorf("client: URL: %w", err)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return "", fmt.Errorf("client: URL is %q: use one such as http://localhost:9527", u.Redacted())
	case u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("client: URL is %q: leave out what follows ? or #", u.Redacted())
	}
	u.ForceQuery = false // removes a ? without a query
	return strings.TrimRight(u.String(), "/"), nil
}

// httpClient returns the client that sends the requests of a Client, and whether the HTTP client belongs to the Client.
func httpClient(cfg Config) (hc *http.Client, own bool) {
	hc = &http.Client{}
	if cfg.HTTPClient != nil {
		*hc = *cfg.HTTPClient // a copy, for CheckRedirect; the transport is shared
	} else {
		hc.Transport, own = newTransport(), true
	}
	if hc.CheckRedirect == nil {
		hc.CheckRedirect = keepMethod
	}
	return hc, own
}

// newTransport returns a transport that keeps its connections. The first byte of an answer has no timeout: translations may take
// long, and the context limits them.
func newTransport() *http.Transport {
	dialer := net.Dialer{Timeout: 10 * time.Second}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: keptConnections,
		// Less than the two minutes after which the service closes an idle connection: if the service closed first, the client
		// might send a request to a closed connection.
		IdleConnTimeout: 90 * time.Second,
		// A dead connection that all requests share must be detected.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 10 * time.Second},
	}
}

// keepMethod follows a redirection only if the request stays the same: most statuses change a POST to a GET, which would be
// another request.
func keepMethod(req *http.Request, via []*http.Request) error {
	if first := via[0]; req.Method != first.Method || len(via) >= 10 {
		return http.ErrUseLastResponse
	}
	return nil
}

// Close closes idle connections. Calls in progress are not affected. Close may be called several times.
func (c *Client) Close() {
	if c.own {
		c.http.CloseIdleConnections()
	}
}
