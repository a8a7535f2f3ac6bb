package access

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/app/fault"
)

// syncBuffer is a log that a test may read while the gate writes it.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// newGate makes a gate and the log that it writes.
func newGate(t testing.TB, cfg Config) (*Gate, *syncBuffer) {
	log := &syncBuffer{}
	cfg.Log = slog.New(slog.NewTextHandler(log, nil))
	g, err := New(cfg)
	require.NoError(t, err)
	return g, log
}

// request makes a request as a gate is asked about it.
func request(method string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, "/", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return Proxies{}.Resolve(httptest.NewRecorder(), r)
}

// admit is the middleware that a gate is in services.
func admit(g *Gate, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := g.Enter(r, ""); err != nil {
			refuse(w, err)
			return
		}
		h(w, r)
	}
}

// refuse answers with an error as the service would.
func refuse(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	var limit *LimitError
	var large *fault.Failure
	switch {
	case errors.Is(err, ErrNoKey), errors.Is(err, ErrBadKey):
		status = http.StatusUnauthorized
	case errors.As(err, &limit):
		status = http.StatusTooManyRequests
	case errors.As(err, &large) && large.Kind == fault.TooManyCharacters:
		status = http.StatusRequestEntityTooLarge
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, err.Error())
}

// server puts a gate before routes: POST / charges as many characters as chars= in
// the query says, POST /form takes its key from a form. Both answer with the name of
// the caller.
func server(t testing.TB, g *Gate, trusted ...string) http.Handler {
	proxies, err := TrustedProxies(trusted)
	require.NoError(t, err)
	var routes http.ServeMux
	routes.HandleFunc("POST /{$}", admit(g, func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("chars"))
		if err := g.Charge(r, n); err != nil {
			refuse(w, err)
			return
		}
		_, _ = io.WriteString(w, Name(r))
	}))
	routes.HandleFunc("POST /form", func(w http.ResponseWriter, r *http.Request) {
		if err := g.Enter(r, r.PostFormValue("api_key")); err != nil {
			refuse(w, err)
			return
		}
		_, _ = io.WriteString(w, Name(r))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { routes.ServeHTTP(w, proxies.Resolve(w, r)) })
}

// send sends a POST with headers, given as names and values. The name "from" is the
// address that it comes from, and "body" is a form.
func send(h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, nil)
	for i := 0; i < len(headers); i += 2 {
		switch name, value := headers[i], headers[i+1]; name {
		case "from":
			r.RemoteAddr = value
		case "body":
			r = httptest.NewRequest(http.MethodPost, path, strings.NewReader(value))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		default:
			r.Header.Add(name, value)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// writeKeys writes a keys file of lines, and returns its path. Without a path it
// makes one.
func writeKeys(t testing.TB, path string, lines ...string) string {
	if path == "" {
		path = filepath.Join(t.TempDir(), "keys")
	}
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
	return path
}

// keyLine is the line of a caller with a key.
func keyLine(t testing.TB, name, key string, options ...string) string {
	line, err := Line(name, key, options...)
	require.NoError(t, err)
	return line
}
