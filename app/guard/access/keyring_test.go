package access

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// watching runs a test while the gate watches its file.
func watching(t *testing.T, cfg Config, test func(t *testing.T, g *Gate, h http.Handler, log *syncBuffer)) {
	synctest.Test(t, func(t *testing.T) {
		g, log := newGate(t, cfg)
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() { g.Watch(ctx) })
		test(t, g, server(t, g), log)
		cancel()
		group.Wait()
	})
}

func TestWatch(t *testing.T) {
	alice, bob := NewKey(), NewKey()
	path := writeKeys(t, "", keyLine(t, "alice", alice))
	status := func(h http.Handler, key string) int { return send(h, "/", "X-API-Key", key).Code }
	const settled = 2*lookEvery + lookEvery/2

	watching(t, Config{KeysFile: path}, func(t *testing.T, g *Gate, h http.Handler, log *syncBuffer) {
		assert.Equal(t, 200, status(h, alice))
		assert.Equal(t, 401, status(h, bob))
		time.Sleep(time.Hour)
		assert.Empty(t, log.String(), "nothing has changed")

		writeKeys(t, path, keyLine(t, "bob", bob))
		time.Sleep(settled)
		assert.Equal(t, 401, status(h, alice))
		assert.Equal(t, 200, status(h, bob))
		assert.Contains(t, log.String(), "API keys reloaded")
		assert.EqualValues(t, 1, testutil.ToFloat64(g.metrics.reloads))

		// None of these may open the service, or close it to those who have keys.
		for i, spoil := range []func(){
			func() { writeKeys(t, path, keyLine(t, "bob", bob), "carol "+alice) },
			func() { writeKeys(t, path) },
			func() { require.NoError(t, os.Remove(path)) },
			func() { require.NoError(t, os.Mkdir(path, 0o700)) },
		} {
			spoil()
			time.Sleep(time.Hour)
			assert.Equal(t, 401, status(h, alice))
			assert.Equal(t, 200, status(h, bob))
			assert.Equal(t, i+1, strings.Count(log.String(), "level=ERROR"), "once for each fault: %s", log)
			assert.EqualValues(t, 1, testutil.ToFloat64(g.metrics.broken))
			assert.EqualValues(t, i+1, testutil.ToFloat64(g.metrics.failedReloads))
			assert.EqualValues(t, 1, testutil.ToFloat64(g.metrics.keys))
		}
		assert.Contains(t, log.String(), "line 2: this is a key itself")

		require.NoError(t, os.Remove(path))
		writeKeys(t, path, keyLine(t, "bob", bob), keyLine(t, "alice", alice))
		time.Sleep(settled)
		assert.Equal(t, 200, status(h, alice))
		assert.Equal(t, 200, status(h, bob))
		assert.Zero(t, testutil.ToFloat64(g.metrics.broken))
		assert.NotContains(t, log.String(), keyPrefix)
	})
}

// Secrets that Kubernetes mounts change by a link that is moved.
func TestWatchFollowsLinks(t *testing.T) {
	alice, bob := NewKey(), NewKey()
	folder := t.TempDir()
	for name, line := range map[string]string{"1": keyLine(t, "alice", alice), "2": keyLine(t, "bob", bob)} {
		require.NoError(t, os.Mkdir(filepath.Join(folder, name), 0o700))
		writeKeys(t, filepath.Join(folder, name, "keys"), line)
	}
	data := filepath.Join(folder, "data")
	path := filepath.Join(folder, "keys")
	require.NoError(t, os.Symlink("1", data))
	require.NoError(t, os.Symlink("data/keys", path))

	watching(t, Config{KeysFile: path}, func(t *testing.T, _ *Gate, h http.Handler, _ *syncBuffer) {
		assert.Equal(t, 200, send(h, "/", "X-API-Key", alice).Code)
		require.NoError(t, os.Symlink("2", data+".new"))
		require.NoError(t, os.Rename(data+".new", data))
		time.Sleep(3 * lookEvery)
		assert.Equal(t, 401, send(h, "/", "X-API-Key", alice).Code)
		assert.Equal(t, 200, send(h, "/", "X-API-Key", bob).Code)
	})
}

// A file that is read while it is written ends somewhere, maybe at the end of a line.
func TestLookWaitsForTheWholeFile(t *testing.T) {
	alice, bob := NewKey(), NewKey()
	first, second := keyLine(t, "alice", alice), keyLine(t, "bob", bob)
	path := writeKeys(t, "", first, second)
	g, log := newGate(t, Config{KeysFile: path})
	h := server(t, g)

	for _, lines := range [][]string{{}, {first}, {first, second[:30]}, {first, second, "# new"}} {
		writeKeys(t, path, lines...)
		g.keys.look()
		assert.Equal(t, 200, send(h, "/", "X-API-Key", bob).Code)
	}
	g.keys.look()
	assert.EqualValues(t, 1, testutil.ToFloat64(g.metrics.reloads))
	assert.Zero(t, testutil.ToFloat64(g.metrics.failedReloads))
	assert.NotContains(t, log.String(), "level=ERROR")
}

// A reload gives nobody a second helping.
func TestReloadKeepsWhatWasUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := NewKey()
		path := writeKeys(t, "", keyLine(t, "alice", key, "rate=10/m", "burst=3", "chars=60/m"))
		g, _ := newGate(t, Config{KeysFile: path})
		h := server(t, g)
		reload := func(options ...string) {
			writeKeys(t, path, keyLine(t, "alice", key, options...))
			g.keys.look()
			g.keys.look()
		}
		next := func(status int, left string) {
			t.Helper()
			w := send(h, "/?chars=20", "X-API-Key", key)
			assert.Equal(t, status, w.Code, w.Body)
			assert.Equal(t, left, w.Header().Get("RateLimit"))
		}
		next(200, `"requests";r=2;t=12, "characters";r=40;t=40`)
		next(200, `"requests";r=1;t=6, "characters";r=20;t=20`)
		reload("chars=60/m", "burst=3", "rate=10/m")
		next(200, `"requests";r=0;t=6, "characters";r=0;t=1`)
		reload("rate=20/m", "burst=5", "chars=60/m") // more, from now on
		next(429, `"requests";r=0;t=3`)
		time.Sleep(30 * time.Second)
		reload("rate=20/m", "burst=2", "chars=60/m") // less
		next(200, `"requests";r=1;t=3, "characters";r=10;t=10`)
		reload("rate=unlimited", "chars=unlimited")
		next(200, "")
		reload("rate=20/m", "burst=2")
		next(200, `"requests";r=1;t=3`)
	})
}

// Callers come while the file changes: who has a key all the time is let in all the
// time, and nobody else ever.
func TestReloadRaces(t *testing.T) {
	alice, bob, mallory := NewKey(), NewKey(), NewKey()
	path := writeKeys(t, "", keyLine(t, "alice", alice))
	g, log := newGate(t, Config{KeysFile: path})
	h := server(t, g)
	done := make(chan struct{})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				assert.Equal(t, 200, send(h, "/?chars=5", "X-API-Key", alice).Code)
				assert.Equal(t, 401, send(h, "/?chars=5", "X-API-Key", mallory).Code)
				send(h, "/?chars=5", "X-API-Key", bob)
			}
		})
	}
	const reloads = 50
	for i := range reloads {
		lines := []string{
			keyLine(t, "alice", alice, fmt.Sprintf("rate=%d000000/s", i+1), fmt.Sprintf("chars=%d000000/s", i+1)),
			keyLine(t, "bob", bob),
		}
		writeKeys(t, path, lines[:1+i%2]...)
		g.keys.look()
		g.keys.look()
	}
	close(done)
	group.Wait()
	assert.EqualValues(t, reloads, testutil.ToFloat64(g.metrics.reloads), log)
	assert.Equal(t, 200, send(h, "/", "X-API-Key", bob).Code)
}
