package client

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// faulty puts faults in front of a service: the first word of a path says which. Faults that pass are of the first try of a
// request, which its id tells.
func faulty(service http.Handler) http.Handler {
	var tries sync.Map
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fault, path, _ := strings.Cut(r.URL.Path[1:], "/")
		r2 := r.Clone(r.Context())
		r2.URL.Path = "/" + path
		_, again := tries.LoadOrStore(fault+r.Header.Get("X-Request-Id"), true)
		busy := func() {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = fmt.Fprint(w, `{"error":{"code":"busy","message":"wait"}}`)
		}
		switch {
		case fault == "moved":
			http.Redirect(w, r, "http://127.0.0.2/"+path, http.StatusFound)
		case fault == "wrong":
			_, _ = fmt.Fprint(w, `{"result":[{"id":"other","text":"ONE"}]}`)
		case fault == "failed":
			_, _ = fmt.Fprint(w, `{"result":[{"id":"0","error":{"code":"unfinished","message":"no end"}},{"id":"1","text":"TWO"}]}`)
		case fault == "html":
			_, _ = fmt.Fprint(w, "<html>")
		case fault == "down":
			busy()
		case fault == "never":
			w.Header().Set("Retry-After", "3600")
			busy()
		case fault == "key":
			w.WriteHeader(http.StatusUnauthorized)
		case fault == "deaf" && strings.HasSuffix(path, "/events"):
			w.Header().Set("Content-Type", "text/event-stream")
		case fault == "busy" && !again:
			busy()
		case fault == "cut" && !again:
			panic(http.ErrAbortHandler)
		case fault == "half" && !again:
			recorder := httptest.NewRecorder()
			service.ServeHTTP(recorder, r2)
			w.Header().Set("Content-Length", fmt.Sprint(recorder.Body.Len()))
			_, _ = w.Write(recorder.Body.Bytes()[:recorder.Body.Len()/4])
			panic(http.ErrAbortHandler)
		case fault == "lost" && !again:
			service.ServeHTTP(httptest.NewRecorder(), r2)
			panic(http.ErrAbortHandler)
		case strings.Contains(" busy cut half lost deaf ", " "+fault+" "):
			service.ServeHTTP(w, r2)
		default:
			service.ServeHTTP(w, r)
		}
	})
}

// The clients for other languages do the same against the service's own handlers.
func TestOtherLanguages(t *testing.T) {
	for _, test := range []struct {
		name, folder string
		command      []string
	}{
		{"Python", "python", []string{"python3", "-W", "error", "-m", "unittest", "-q", "test_client"}},
		{"JavaScript", "javascript", []string{"node", "--test", "--test-reporter=spec", "--test-timeout=600000", "client.test.mjs"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			program, err := exec.LookPath(test.command[0])
			if err != nil {
				t.Skipf("there is no %s", test.command[0])
			}
			service := newJobService(t, filepath.Join(t.TempDir(), "jobs.db"), nil)
			server := httptest.NewUnstartedServer(faulty(service))
			server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
			server.Start()
			t.Cleanup(func() {
				server.Close()
				service.end()
			})
			cmd := exec.Command(program, test.command[1:]...)
			cmd.Dir = test.folder
			cmd.Env = append(os.Environ(), "DRAGOMAN_URL="+server.URL, "PYTHONDONTWRITEBYTECODE=1")
			var output bytes.Buffer
			cmd.Stdout, cmd.Stderr = &output, &output
			assert.NoError(t, cmd.Run(), "%s", &output)
		})
	}
}
