package client

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inBubble runs a test with its own clock and a service in memory. The test fails if a goroutine is left at the end.
func inBubble(t *testing.T, cfg Config, service http.HandlerFunc, test func(t *testing.T, c *Client)) {
	synctest.Test(t, func(t *testing.T) { test(t, dialed(t, cfg, service)) })
}

// dialed returns a client of a service in memory. Its transport is the client's default, except for the dialing.
func dialed(t *testing.T, cfg Config, service http.HandlerFunc) *Client {
	l := &pipes{made: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: service, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) })
	transport := newTransport()
	transport.Proxy, transport.DialContext = nil, l.dial

	cfg.URL, cfg.HTTPClient = "http://service", &http.Client{Transport: transport}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	c, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		c.Close()
		transport.CloseIdleConnections()
		assert.NoError(t, server.Close())
		serving.Wait()
	})
	return c
}

// pipes is a listener for connections in memory, which a bubble's clock does not wait for.
type pipes struct {
	made   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.made <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.made:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

// capitals is a service that writes texts in capitals.
func capitals(w http.ResponseWriter, r *http.Request) {
	asked := read(r)
	langs := asked.ToLangs
	if len(langs) == 0 {
		langs = []string{""}
	}
	var answer struct {
		Result []map[string]any `json:"result"`
	}
	for _, to := range langs {
		for _, record := range asked.Records {
			result := map[string]any{"id": record.ID, "text": strings.ToUpper(record.Text)}
			if to != "" {
				result["toLang"] = to
			}
			answer.Result = append(answer.Result, result)
		}
	}
	encoded, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", jsonType)
	_, _ = w.Write(encoded)
}

// read returns the request's payload.
func read(r *http.Request) payload {
	var asked body
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(raw, &asked)
	}
	if err != nil {
		panic(err)
	}
	return asked.Payload
}

// answer returns a service with one answer. Headers are alternating names and values.
func answer(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// problem returns a service with one error, in the service's form.
func problem(status int, code string, headers ...string) http.HandlerFunc {
	return answer(status, `{"error":{"code":"`+code+`","message":"no"}}`, headers...)
}

// broken returns a service that writes to the connection and then closes it.
func broken(written string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(conn, written)
		_ = conn.Close()
	}
}

// silent returns a service that never answers.
func silent(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// inTurn answers each request by the next of several services, and later requests by the last one. It counts the requests.
func inTurn(count *atomic.Int32, services ...http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n := int(count.Add(1))
		services[min(n, len(services))-1](w, r)
	}
}

// hello is a request of one record.
var hello = Request{From: "en", To: "fr", Records: []Record{{ID: "1", Text: "hello"}}}

// hellos is the answer of capitals to it.
var hellos = []Result{{ID: "1", Text: "HELLO", To: "fr"}}

// the returns a request of one record with a text.
func the(text string) Request {
	return Request{From: "en", To: "fr", Records: []Record{{Text: text}}}
}

// requireError returns the *Error that err must be or wrap.
func requireError(t *testing.T, err error) *Error {
	t.Helper()
	var e *Error
	require.Truef(t, errors.As(err, &e), "%v is not an *Error", err)
	return e
}
