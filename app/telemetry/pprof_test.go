package telemetry

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/guard/access"
	"dragoman/app/store/porttest"
)

func TestProfiles(t *testing.T) {
	handler := profiles()
	for _, test := range []struct {
		method, path string
		want         int
	}{
		{"GET", "/debug/pprof/", 200},
		{"GET", "/debug/pprof/goroutine?debug=1", 200},
		{"GET", "/debug/pprof/cmdline", 200},
		{"GET", "/debug/pprof/symbol", 200},
		{"POST", "/debug/pprof/symbol", 200},
		{"GET", "/debug/pprof/nothing", 404},
		{"POST", "/debug/pprof/profile", 405},
		{"GET", "/", 404},
		{"GET", "/debug/vars", 404},
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(test.method, test.path, nil))
		assert.Equal(t, test.want, w.Code, "%s %s", test.method, test.path)
	}
}

func TestStartPprof(t *testing.T) {
	var log strings.Builder
	stop, err := StartPprof(porttest.Hold(t), access.Sites{}.Private, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	assert.Contains(t, log.String(), "level=INFO")
	_, address, found := strings.Cut(strings.TrimSpace(log.String()), "address=")
	require.True(t, found)
	resp, err := http.Get("http://" + address + "/debug/pprof/cmdline")
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	assert.NoError(t, stop())
	assert.NoError(t, stop(), "stopping again does nothing")
	_, err = http.Get("http://" + address + "/debug/pprof/cmdline")
	assert.Error(t, err)
}

func TestStartPprofSadPaths(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	log := slog.New(slog.DiscardHandler)
	for _, address := range []string{taken.Addr().String(), "nonsense", "localhost:port"} {
		_, err := StartPprof(address, access.Sites{}.Private, log)
		assert.ErrorContains(t, err, "cannot listen on "+address+" for profiles", address)
		assert.ErrorContains(t, err, "PPROF_ADDR")
	}
	stop, err := StartPprof("", access.Sites{}.Private, log)
	require.NoError(t, err)
	assert.NoError(t, stop())
}

// An address that other machines can reach causes a warning.
func TestPprofOpenToTheNetwork(t *testing.T) {
	var log strings.Builder
	stop, err := StartPprof(":0", access.Sites{}.Private, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	assert.NoError(t, stop())
	assert.Contains(t, log.String(), "level=WARN")
}
