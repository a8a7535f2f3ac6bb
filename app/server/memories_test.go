package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sendTo sends a body with a media type.
func sendTo(t *testing.T, method, url, media, body string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", media)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.NoError(t, resp.Body.Close())
	return resp.StatusCode, string(raw)
}

// Translations of people are used by requests, streams, jobs and documents, also after the service was started again.
func TestMemoriesOfAService(t *testing.T) {
	dir := t.TempDir()
	settings := []string{"MEMORY_FILE=" + filepath.Join(dir, "memories.db"), "JOB_FILE=" + filepath.Join(dir, "jobs.db")}
	start := func() *running {
		return startServer(t, func(context.Context) {}, func(http.Handler) {}, settings...)
	}
	r := start()
	status, answer := sendTo(t, "POST", r.url+"/memories/m/entries", "application/json",
		`{"from":"en","to":"fr","entries":[{"source":"Where is the bus?","target":"Mais où est donc le car ?"},{"source":"Line 3 of 7","target":"Ligne 3 sur 7"}]}`)
	require.Equal(t, 201, status, answer)
	r.stop()
	require.NoError(t, <-r.result)
	r = start()
	body := `{"payload":{"fromLang":"en","toLang":"fr","memoryId":"m","detail":true,"records":[{"id":"1","text":"Where is the bus?"},{"id":"2","text":"Line 4 of 9"}]}}`
	status, answer = sendTo(t, "POST", r.url+"/translation", "application/json", body)
	require.Equal(t, 200, status, answer)
	assert.Contains(t, answer, `"text":"Mais où est donc le car ?"`)
	assert.Contains(t, answer, `"text":"Ligne 4 sur 9"`)
	assert.Contains(t, answer, `"memory":{"segments":1}`)
	assert.Contains(t, answer, `"memory":{"source":"Line 3 of 7","similarity":1}`)
	_, streamed := sendTo(t, "POST", r.url+"/translation/stream", "application/json", body)
	assert.Contains(t, streamed, `"text":"Mais où est donc le car ?"`)
	status, submitted := ask(t, "POST", r.url+"/jobs", body)
	require.Equal(t, 202, status)
	assert.Equal(t, "Mais où est donc le car ?", ended(t, r.url+submitted.Job.URL).Result[0].Text)
	near := strings.Replace(strings.Replace(body, `"detail":true`, `"alternatives":3`, 1), "the bus", "the red bus", 1)
	_, answer = sendTo(t, "POST", r.url+"/translation", "application/json", near)
	assert.Contains(t, answer, `{"text":"Mais où est donc le car ?","score":0,"memory":{"source":"Where is the bus?","similarity":0.8`)
	for _, path := range []string{"/translation", "/jobs"} {
		status, answer = sendTo(t, "POST", r.url+path, "application/json", strings.Replace(body, `"m"`, `"none"`, 1))
		assert.Equal(t, 404, status, answer)
		assert.Contains(t, answer, `"unknown_memory"`)
	}
	r.stop()
	require.NoError(t, <-r.result)
}

// If another process has a configured file, the service does not start.
func TestMemoryFileOfAnotherProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "memories.db")
	r := service(t, "MEMORY_FILE="+file)
	p := &program{environ: environment("MEMORY_FILE=" + file), stderr: io.Discard, loadRuntime: loadRuntime}
	assert.ErrorContains(t, p.runService(t.Context()), fmt.Sprintf("MEMORY_FILE: another process (process %d on ", os.Getpid()))
	status, _ := get(t, r.url+"/memories")
	assert.Equal(t, 200, status)
}
