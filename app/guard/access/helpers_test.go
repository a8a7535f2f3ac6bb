package access

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"
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

// admit is the middleware that a gate is in services.
func admit(g *Gate) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := g.Enter(c, ""); err != nil {
			c.Abort()
			refuse(c, err)
		}
	}
}

// refuse answers with an error as the service would.
func refuse(c *gin.Context, err error) {
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
	c.String(status, err.Error())
}

// server puts a gate before routes: POST / charges as many characters as chars= in
// the query says, POST /form takes its key from a form. Both answer with the name of
// the caller.
func server(t testing.TB, g *Gate, trusted ...string) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	proxies, err := TrustedProxies(trusted)
	require.NoError(t, err)
	router.Use(proxies.Resolve)
	router.POST("/", admit(g), func(c *gin.Context) {
		n, _ := strconv.Atoi(c.Query("chars"))
		if err := g.Charge(c, n); err != nil {
			refuse(c, err)
			return
		}
		c.String(http.StatusOK, Name(c))
	})
	router.POST("/form", func(c *gin.Context) {
		if err := g.Enter(c, c.PostForm("api_key")); err != nil {
			refuse(c, err)
			return
		}
		c.String(http.StatusOK, Name(c))
	})
	return router
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
