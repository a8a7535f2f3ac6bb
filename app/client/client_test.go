package client

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNewRefuses(t *testing.T) {
	const url = "http://localhost:9527"
	for name, test := range map[string]struct {
		cfg  Config
		want string
	}{
		"no URL":             {Config{}, `URL is "": use one such as http://localhost:9527`},
		"no scheme":          {Config{URL: "localhost:9527"}, `URL is "localhost:9527": use one such`},
		"another scheme":     {Config{URL: "ftp://localhost"}, `URL is "ftp://localhost": use one such`},
		"no host":            {Config{URL: "http:///translation"}, `use one such as`},
		"query":              {Config{URL: url + "?key=1"}, `leave out what follows ? or #`},
		"fragment":           {Config{URL: url + "#top"}, `leave out what follows ? or #`},
		"not a URL":          {Config{URL: "http://a b"}, `client: URL: parse`},
		"end of line in key": {Config{URL: url, Key: "secret\n"}, `Key or UserAgent has control characters`},
		"NUL in user agent":  {Config{URL: url, UserAgent: "a\x00"}, `Key or UserAgent has control characters`},
		"negative pause":     {Config{URL: url, MaxBackoff: -time.Second}, `MaxBackoff -1s`},
		"negative size":      {Config{URL: url, MaxResponseBytes: -1}, `MaxResponseBytes -1`},
		"password in URL":    {Config{URL: "ftp://me:secret@host"}, `ftp://me:xxxxx@host`},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := New(test.cfg)
			assert.Nil(t, c)
			assert.ErrorContains(t, err, test.want)
			assert.NotContains(t, err.Error(), "secret")
		})
	}
}

func TestDefaults(t *testing.T) {
	c, err := New(Config{URL: "https://example.com"})
	require.NoError(t, err)
	defer c.Close()
	assert.Equal(t, [...]any{3, 30 * time.Second, int64(64 << 20)},
		[...]any{c.cfg.Retries, c.cfg.MaxBackoff, c.cfg.MaxResponseBytes})
	assert.NotNil(t, c.cfg.Log)
	assert.Equal(t, 128, c.http.Transport.(*http.Transport).MaxIdleConnsPerHost)
	assert.True(t, c.own)

	c, err = New(Config{URL: "https://example.com", Retries: -1})
	require.NoError(t, err)
	defer c.Close()
	assert.Zero(t, c.cfg.Retries)
}

func TestURLs(t *testing.T) {
	for given, want := range map[string]string{
		"http://host": "/translation", "http://host/": "/translation", "http://host?": "/translation",
		"http://host/mt": "/mt/translation", "http://host/a%2Fb//": "/a%2Fb/translation",
	} {
		c, err := New(Config{URL: given})
		require.NoError(t, err)
		assert.Equal(t, "http://host"+want, c.base+translationPath, given)
		c.Close()
	}
}

// A given http.Client keeps its settings, and is not changed.
func TestHTTPClientOfTheCaller(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(silent))
	defer server.Close()
	given := server.Client()
	given.Timeout = 20 * time.Millisecond
	c, err := New(Config{URL: server.URL, HTTPClient: given})
	require.NoError(t, err)
	defer c.Close()
	assert.False(t, c.own)
	assert.Nil(t, given.CheckRedirect)

	// The timeout ends the only try: a further try would take as long.
	_, err = c.Translate(t.Context(), hello)
	var timeout net.Error
	require.ErrorAs(t, err, &timeout)
	assert.True(t, timeout.Timeout())
	assert.NotContains(t, err.Error(), "tries")
}

// Redirects that keep the method are followed. Others would turn a POST into a GET.
func TestRedirections(t *testing.T) {
	for status, followed := range map[int]bool{301: false, 302: false, 303: false, 307: true, 308: true} {
		moved := func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/new/") {
				capitals(w, r)
				return
			}
			http.Redirect(w, r, "/new"+r.URL.Path, status)
		}
		inBubble(t, Config{}, moved, func(t *testing.T, c *Client) {
			results, err := c.Translate(t.Context(), hello)
			if followed {
				require.NoError(t, err)
				assert.Equal(t, hellos, results)
				return
			}
			e := requireError(t, err)
			assert.Equal(t, status, e.Status)
			assert.Contains(t, e.Message, "has moved to http://service/new/translation: use its address as the URL")
		})
	}
	round := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path, http.StatusPermanentRedirect)
	}
	inBubble(t, Config{}, round, func(t *testing.T, c *Client) {
		_, err := c.Translate(t.Context(), hello)
		assert.Equal(t, 308, requireError(t, err).Status, "a circle is left")
	})
}

// countConnections serves on a real socket and counts the connections.
func countConnections(t *testing.T, service http.HandlerFunc) (url string, connections *atomic.Int32) {
	connections = &atomic.Int32{}
	server := httptest.NewUnstartedServer(service)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return server.URL, connections
}

// The connection is reused after any answer.
func TestConnectionIsKept(t *testing.T) {
	var requests atomic.Int32
	url, connections := countConnections(t, inTurn(&requests,
		capitals, problem(400, "invalid_value"), problem(503, "busy"), answer(502, strings.Repeat("<p>", 10_000)),
		answer(200, "no JSON"), answer(200, `{"done":{"results":1}}`+"\n"),
		answer(200, `{"result":{"id":"1","text":"x"}}`+"\n"+`{"done":{"results":1}}`+"\n"), capitals))
	c, err := New(Config{URL: url, Retries: -1})
	require.NoError(t, err)
	defer c.Close()
	for range 5 {
		_, _ = c.Translate(t.Context(), hello)
	}
	for range 2 {
		_, _ = collect(t.Context(), c, hello)
	}
	results, err := c.Translate(t.Context(), hello)
	require.NoError(t, err)
	assert.Equal(t, hellos, results)
	assert.EqualValues(t, 8, requests.Load())
	// The connection of a stream with false results is not reused.
	assert.LessOrEqual(t, connections.Load(), int32(2))
}

// A connection that broke while idle costs no try.
func TestDeadConnection(t *testing.T) {
	var requests atomic.Int32
	inBubble(t, Config{Retries: 1}, inTurn(&requests, capitals, broken(""), capitals), func(t *testing.T, c *Client) {
		start := time.Now()
		for range 2 {
			results, err := c.Translate(t.Context(), hello)
			require.NoError(t, err)
			assert.Equal(t, hellos, results)
		}
		assert.Zero(t, time.Since(start), "without a pause")
	})
	assert.EqualValues(t, 3, requests.Load())
}

func TestCallsEndWithTheirContext(t *testing.T) {
	calls := map[string]func(context.Context, *Client) error{
		"Translate": func(ctx context.Context, c *Client) error { _, err := c.Translate(ctx, hello); return err },
		"Stream": func(ctx context.Context, c *Client) (last error) {
			for _, err := range c.Stream(ctx, hello) {
				last = err
			}
			return last
		},
		"Submit": func(ctx context.Context, c *Client) error {
			_, err := c.Submit(ctx, hello, SubmitOptions{})
			return err
		},
		"Jobs":      func(ctx context.Context, c *Client) error { _, err := c.Jobs(ctx); return err },
		"Status":    func(ctx context.Context, c *Client) error { _, err := c.Job("a").Status(ctx); return err },
		"Wait":      func(ctx context.Context, c *Client) error { _, err := c.Job("a").Wait(ctx); return err },
		"Cancel":    func(ctx context.Context, c *Client) error { return c.Job("a").Cancel(ctx) },
		"Languages": func(ctx context.Context, c *Client) error { _, err := c.Languages(ctx, ""); return err },
		"Info":      func(ctx context.Context, c *Client) error { _, err := c.Info(ctx); return err },
		"Ready":     func(ctx context.Context, c *Client) error { return c.Ready(ctx) },
		"WaitReady": func(ctx context.Context, c *Client) error { return c.WaitReady(ctx) },
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Config{}, silent, func(t *testing.T, c *Client) {
				start := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				assert.ErrorIs(t, call(ctx, c), context.DeadlineExceeded)
				assert.Equal(t, time.Second, time.Since(start))

				assert.ErrorIs(t, call(ctx, c), context.DeadlineExceeded, "over before it begins")
				ctx, stop := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { stop(net.ErrClosed) })
				err := call(ctx, c)
				assert.ErrorIs(t, err, context.Canceled)
				assert.ErrorIs(t, err, net.ErrClosed, "the cause")
				assert.Equal(t, 2*time.Second, time.Since(start))
			})
		})
	}
}

// The context also bounds the reading of an answer.
func TestContextEndsInTheMiddleOfAnAnswer(t *testing.T) {
	half := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"result":[`)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	inBubble(t, Config{}, half, func(t *testing.T, c *Client) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.Translate(ctx, hello)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}
