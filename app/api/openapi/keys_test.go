package openapi_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/httpapi"
	"dragoman/app/guard/access"
)

// Answers of a service with keys and limits match the description.
func TestAnswersWithKeys(t *testing.T) {
	key := access.NewKey()
	line, err := access.Line("alice", key, "rate=4/h", "burst=4", "chars=40/d")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(path, []byte(line+"\n"), 0o600))
	gate, err := access.New(access.Config{KeysFile: path, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	api := newAPIWith(t, gate)
	api.Ready(capitals{}, func() []httpapi.Model { return nil })

	h, c := api.Handler(), newContract(t)
	for _, test := range []struct {
		name, path, body, key string
		status                int
	}{
		{"none", "/translation", text("one"), "", 401},
		{"another", "/translation", text("one"), "dgm_nope", 401},
		{"none, LibreTranslate", "/translate", `{"q":"one","source":"en","target":"fr"}`, "", 400},
		{"another, LibreTranslate", "/translate", `{"q":"one","source":"en","target":"fr","api_key":"x"}`, "", 403},
		{"none, DeepL", "/v2/translate", `{"text":["one"],"target_lang":"FR"}`, "", 403},
		{"right", "/translation", text("one"), key, 200},
		{"right, DeepL", "/v2/translate", `{"text":["one"],"target_lang":"FR"}`, key, 200},
		{"too many characters", "/translation", text(strings.Repeat("a", 45)), key, 413},
		{"no characters left", "/translation/stream", text(strings.Repeat("a", 39)), key, 429},
		{"no requests left", "/translation", text("one"), key, 429},
		{"no requests left, LibreTranslate", "/translate", `{"q":"one","source":"en","target":"fr"}`, key, 429},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := call(t, c, h, "POST", test.path, test.body, "X-API-Key", test.key)
			assert.Equal(t, test.status, w.Code, w.Body)
			assert.Equal(t, test.key == key, w.Header().Get("RateLimit") != "")
		})
	}
}
