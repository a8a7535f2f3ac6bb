package faults

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// term ends the service in the middle of the work. A request that the service has
// accepted must be answered in full.
func term(t *testing.T) {
	s, outcomes := start(t), newCounts()
	var ending atomic.Bool
	var group sync.WaitGroup
	for i := range 32 {
		group.Go(func() {
			for n := 0; ; n++ {
				text := fmt.Sprintf("I have read %d books about trains this year, and %d last year.", i, n)
				status, results, err := s.post(t.Context(), s.client, "/translation", body(text, "It is raining."))
				switch {
				case err == nil && status == http.StatusOK && results == 2:
					outcomes.add("answered")
					continue
				case errors.Is(err, syscall.ECONNREFUSED), ending.Load() && err == nil && status == http.StatusServiceUnavailable:
					outcomes.add("turned away")
				default:
					outcomes.add("lost")
				}
				return
			}
		})
	}
	time.Sleep(2 * time.Second) // of work
	ending.Store(true)
	begin := time.Now()
	assert.NoError(t, s.stop())
	group.Wait()
	t.Logf("%s; ended after %.1f s with %v", outcomes, time.Since(begin).Seconds(), s.process.ProcessState)
	assert.Zero(t, outcomes.of["lost"])
}

// exports ends the program while it exports, at any moment, and then lets it start. What
// is in the exported folder then must be what a first start leaves there.
func exports(t *testing.T) {
	dir := t.TempDir()
	first := exported(t, filepath.Join(dir, "first"))
	folder, most := filepath.Join(dir, "killed"), int64(0)
	for i := range 50 {
		signal := syscall.SIGKILL
		if i%5 == 4 {
			signal = syscall.SIGTERM
		}
		endExport(t, folder, signal)
		most = max(most, sizeOf(t, folder))
	}
	last := exported(t, folder)
	t.Logf("%.0f MB in the folder at most, %.0f after the next start: %.0f of them beside the model",
		float64(most)/1e6, float64(last)/1e6, float64(last-first)/1e6)
	assert.LessOrEqual(t, last, first+1<<20)
}

// endExport starts an export and sends it a signal within a second of its beginning.
func endExport(t *testing.T, folder string, signal syscall.Signal) {
	require.NoError(t, os.RemoveAll(filepath.Join(folder, "dragoman.json"))) // so that there is something to do
	process := exec.CommandContext(t.Context(), *binary, "serve")
	process.Env = append(os.Environ(), "APP_HOST=127.0.0.1", "APP_PORT=0", "SAVE_WEIGHTS="+folder)
	stderr, err := process.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && !strings.Contains(lines.Text(), "exporting the model") {
	}
	time.Sleep(rand.N(time.Second))
	require.NoError(t, process.Process.Signal(signal))
	for lines.Scan() {
	}
	if err := process.Wait(); signal == syscall.SIGTERM {
		require.NoError(t, err)
	}
}

// exported lets the program start and end as usual, and returns the size of its folder.
func exported(t *testing.T, folder string) int64 {
	require.NoError(t, start(t, "SAVE_WEIGHTS="+folder).stop())
	return sizeOf(t, folder)
}

// sizeOf is the number of bytes of all files below a folder.
func sizeOf(t *testing.T, folder string) (sum int64) {
	require.NoError(t, filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	}))
	return sum
}
