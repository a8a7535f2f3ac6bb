package source_test

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/export"
	"dragoman/model/source"
	"dragoman/model/source/hubtest"
)

const (
	killFolder = "DRAGOMAN_TEST_KILL_FOLDER"
	killMoment = "DRAGOMAN_TEST_KILL_MOMENT"
)

// moments are when an export is ended: at a message of the log, or while weights are written.
var moments = []string{"exporting the model", "weights", "exported the model"}

// endAt makes preparations call end at a moment.
func endAt(c *source.Config, moment string, end func()) {
	c.Log = slog.New(&watch{Handler: slog.DiscardHandler, at: moment, do: end})
	if moment == "weights" {
		real := c.Export
		c.Export = func(ctx context.Context, checkpoint, out string, opts export.Options) (*model.Manifest, error) {
			return real(&countdown{Context: ctx, left: 20, do: end}, checkpoint, out, opts)
		}
	}
}

// countdown does something when it was asked for its error as many times as are left.
type countdown struct {
	context.Context
	left int
	do   func()
}

func (c *countdown) Err() error {
	if c.left--; c.left == 0 {
		c.do()
	}
	return c.Context.Err()
}

// watch is a log handler that does something at a message.
type watch struct {
	slog.Handler
	at string
	do func()
}

func (w *watch) Enabled(context.Context, slog.Level) bool { return true }

func (w *watch) Handle(_ context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, w.at) {
		w.do()
	}
	return nil
}

// TestKilled kills processes that export, again and again. What one leaves goes away with
// the next, whether that has to export or not. The test runs itself as the process to kill.
func TestKilled(t *testing.T) {
	if dir := os.Getenv(killFolder); dir != "" {
		f := killable(t, dir, os.Getenv(killEndpoint))
		endAt(&f.Config, os.Getenv(killMoment), func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) })
		_, err := prepare(t.Context(), f.Config)
		require.NoError(t, err)
		return
	}
	server := hubtest.New(t, repo, bundledFiles(t))
	for _, test := range []struct {
		source, endpoint string
		moments          []string
	}{{"bundled", "", moments}, {"hub", server.Endpoint, moments[2:]}} {
		dir, source, endpoint := t.TempDir(), test.source, test.endpoint
		for _, moment := range test.moments {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, model.ManifestFile)))
			child := exec.Command(os.Args[0], "-test.run=^TestKilled$")
			child.Env = append(os.Environ(), killFolder+"="+dir, killMoment+"="+moment, killEndpoint+"="+endpoint,
				"TMPDIR="+t.TempDir()) // it leaves its own
			out, err := child.CombinedOutput()
			require.Error(t, err, "%s: %s", moment, out)
			status := child.ProcessState.Sys().(syscall.WaitStatus)
			require.True(t, status.Signaled(), "%s: %s", moment, out)
			left, err := filepath.Glob(filepath.Join(dir, ".dragoman-work-*"))
			require.NoError(t, err)
			assert.LessOrEqual(t, len(left), 2, "of this process alone: %s, %s", source, moment)
			assert.NotEmpty(t, left, "killed too late: %s, %s", source, moment)
		}
		f := killable(t, dir, endpoint)
		f.prepare(t)
		assert.Empty(t, f.exports, "the last one was killed after its export")
		assert.Empty(t, leftovers(t, dir), source)
	}
}

// killable prepares the bundled model, or the repository of a hub.
func killable(t *testing.T, dir, endpoint string) *fixture {
	f := newFixture(t, func(c *source.Config) { c.SaveWeights = dir })
	if endpoint == "" {
		return f.real()
	}
	f.Weights, f.Endpoint, f.Offline = repo, endpoint, false
	return f
}

// TestInterrupted tells a preparation to end: at once it leaves nothing but a download.
func TestInterrupted(t *testing.T) {
	for _, moment := range moments[:2] {
		ctx, cancel := context.WithCancel(t.Context())
		f := newFixture(t, func(c *source.Config) { c.SaveWeights = t.TempDir() }).real()
		endAt(&f.Config, moment, cancel)
		_, err := prepare(ctx, f.Config)
		assert.ErrorIs(t, err, context.Canceled, moment)
		entries, err := os.ReadDir(f.SaveWeights)
		require.NoError(t, err)
		require.Len(t, entries, 1, moment)
		assert.Equal(t, ".dragoman.lock", entries[0].Name())
	}
}

// TestAnotherIsAtWork: as long as a process works in the folder nobody touches its files,
// and the wait for it can be ended.
func TestAnotherIsAtWork(t *testing.T) {
	f := newFixture(t, nil)
	dir := f.prepare(t)
	for _, name := range []string{".dragoman-work-1", ".dragoman-download"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	other := flock.New(filepath.Join(dir, ".dragoman.lock"))
	require.NoError(t, other.Lock())
	f.prepare(t)
	assert.Len(t, leftovers(t, dir), 2, "they may be another's")

	require.NoError(t, os.Remove(filepath.Join(dir, model.ManifestFile)))
	ctx, cancel := context.WithCancel(t.Context())
	endAt(&f.Config, "waiting for another process", cancel)
	_, err := prepare(ctx, f.Config)
	assert.ErrorIs(t, err, context.Canceled)
	assert.DirExists(t, filepath.Join(dir, ".dragoman-work-1"))

	require.NoError(t, other.Unlock())
	f.prepare(t)
	assert.Empty(t, leftovers(t, dir))
}
