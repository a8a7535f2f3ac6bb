package compattest

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/guard/access"
)

// Exchange is a request with its expected answer.
type Exchange struct {
	Name                            string
	Method, Path, ContentType, Body string   // POST and JSON if empty; ContentType "-" means none
	Headers                         []string // names and values, alternating
	Status                          int
	Want                            string
}

// Check sends requests to a server and compares the answers.
func Check(t *testing.T, server http.Handler, exchanges []Exchange) {
	t.Helper()
	for _, x := range exchanges {
		t.Run(x.Name, func(t *testing.T) {
			switch x.ContentType {
			case "":
				x.ContentType = "application/json"
			case "-":
				x.ContentType = ""
			}
			if x.Method == "" {
				x.Method = http.MethodPost
			}
			w := Send(t.Context(), server, x.Method, x.Path, x.ContentType, x.Body, x.Headers...)
			assert.Equal(t, x.Status, w.Code)
			assert.Equal(t, x.Want, Body(w))
			if x.Status == http.StatusTooManyRequests || x.Status == http.StatusServiceUnavailable {
				assert.NotEmpty(t, w.Header().Get("Retry-After"))
			}
		})
	}
}

// Keys returns a gate that requires keys, and a valid key.
func Keys(t *testing.T) (gate *access.Gate, key string) {
	t.Helper()
	key = access.NewKey()
	line, err := access.Line("alice", key)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(file, []byte(line+"\n"), 0o600))
	gate, err = access.New(access.Config{KeysFile: file, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return gate, key
}
