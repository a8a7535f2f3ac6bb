package faults

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"mime/multipart"
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

	"dragoman/app/store/redistest"
)

// term sends SIGTERM during the work. Each accepted request must get a complete answer.
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

// waitingForDocuments are the routes whose requests wait for a document, each with a mark of a complete answer.
var waitingForDocuments = map[string]struct{ path, field, complete string }{
	"LibreTranslate": {"/translate_file", "file", "translatedFileUrl"},
	"Azure":          {"/translator/document:translate?api-version=2024-05-01&sourceLanguage=en&targetLanguage=fr", "document", "livre"},
	"MCP":            {"/mcp", "", `"blob"`},
}

// sendDocument sends a document to translate, and returns the outcome.
func (s *service) sendDocument(t *testing.T, kind, text string) (outcome string, err error) {
	way, contentType := waitingForDocuments[kind], "application/json"
	var body bytes.Buffer
	if way.field == "" {
		fmt.Fprintf(&body, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"translate_document","arguments":{"name":"a.txt","from":"en","to":"fr","content":%q}}}`,
			base64.StdEncoding.EncodeToString([]byte(text)))
	} else {
		form := multipart.NewWriter(&body)
		file, err := form.CreateFormFile(way.field, "a.txt")
		require.NoError(t, err)
		_, err = io.WriteString(file, text)
		require.NoError(t, err)
		require.NoError(t, form.WriteField("source", "en"))
		require.NoError(t, form.WriteField("target", "fr"))
		require.NoError(t, form.Close())
		contentType = form.FormDataContentType()
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+s.address+way.path, &body)
	require.NoError(t, err)
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := s.client.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return "", err
	case resp.StatusCode == 503, resp.StatusCode == 200 && strings.Contains(string(raw), "again in"):
		return "turned away", nil
	case resp.StatusCode != 200 || !strings.Contains(string(raw), way.complete):
		return "", fmt.Errorf("status %d: %s", resp.StatusCode, raw)
	}
	return "answered", nil
}

// endOfDocuments ends a service while clients wait for documents. It returns the outcomes of their requests.
func endOfDocuments(t *testing.T, s *service, end func()) *counts {
	outcomes := newCounts()
	var ending atomic.Bool
	var group sync.WaitGroup
	for kind := range waitingForDocuments {
		for i := range 4 {
			group.Go(func() {
				for n := 0; ; n++ {
					text := strings.Repeat(fmt.Sprintf("I have read %d books about trains this year, and %d last year.\n", i, n), 5)
					outcome, err := s.sendDocument(t, kind, text)
					switch {
					case errors.Is(err, syscall.ECONNREFUSED):
						outcome = "turned away"
					case err != nil:
						outcome = "lost"
						t.Logf("%s: %v", kind, err)
					}
					outcomes.add(outcome)
					if outcome != "answered" && (ending.Load() || err != nil) {
						return
					}
				}
			})
		}
	}
	time.Sleep(3 * time.Second) // of work
	ending.Store(true)
	end()
	group.Wait()
	return outcomes
}

// unended returns the number of a service's jobs that have not ended.
func (s *service) unended(t *testing.T) (n int) {
	resp, err := s.client.Get("http://" + s.address + "/jobs")
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, 200, resp.StatusCode)
	return strings.Count(string(raw), `"running"`) + strings.Count(string(raw), `"queued"`)
}

// documentServices returns functions that start a single process, or a gateway with a worker. They can be called again.
func documentServices(t *testing.T) map[string]func() *service {
	file := "JOB_FILE=" + filepath.Join(t.TempDir(), "jobs.db")
	fleet := []string{"BROKER_URL=redis://" + redistest.Start(t), "FLEET_SECRET=0123456789abcdef0123456789abcdef", "GRPC_PORT=0"}
	serve(t, append(fleet, "ROLE=worker")...)
	return map[string]func() *service{
		"alone":   func() *service { return start(t, file, "JOBS_PER_KEY=100000", "GRPC_PORT=0") },
		"gateway": func() *service { return start(t, append(fleet, "ROLE=gateway", "JOBS_PER_KEY=100000")...) },
	}
}

// termDocuments checks that requests that wait for documents are answered after SIGTERM.
func termDocuments(t *testing.T) {
	for name, begin := range documentServices(t) {
		s := begin()
		outcomes := endOfDocuments(t, s, func() { assert.NoError(t, s.stop()) })
		t.Logf("%s: %s; ended with %v", name, outcomes, s.process.ProcessState)
		assert.Zero(t, outcomes.of["lost"], name)
		assert.NotZero(t, outcomes.of["answered"], name)
		again := begin()
		assert.Zero(t, again.unended(t), name)
		require.NoError(t, again.stop())
	}
}

// killDocuments checks that after a kill no job stays whose request has ended with the process.
func killDocuments(t *testing.T) {
	for name, begin := range documentServices(t) {
		s := begin()
		outcomes := endOfDocuments(t, s, func() {
			require.NotZero(t, s.unended(t))
			require.NoError(t, s.process.Process.Kill())
			require.Error(t, <-s.exited, "it was killed")
		})
		t.Logf("%s: %s", name, outcomes)
		again := begin()
		since := time.Now()
		eventually(t, time.Minute, "no job is left that has not ended", func() bool { return again.unended(t) == 0 })
		t.Logf("%s: after %.0f s no job is left", name, time.Since(since).Seconds())
		require.NoError(t, again.stop())
	}
}

// exports ends the program at any moment of an export, and then starts it again. The exported folder must then equal that of an
// undisturbed start.
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

// endExport starts an export and sends it a signal within a second.
func endExport(t *testing.T, folder string, signal syscall.Signal) {
	require.NoError(t, os.RemoveAll(filepath.Join(folder, "dragoman.json"))) // so that the export has work to do
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

// exported starts and ends the program normally, and returns the size of its folder.
func exported(t *testing.T, folder string) int64 {
	require.NoError(t, start(t, "SAVE_WEIGHTS="+folder).stop())
	return sizeOf(t, folder)
}

// sizeOf returns the total size of the files below a folder.
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
