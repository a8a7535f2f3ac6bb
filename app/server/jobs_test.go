package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/cli"
)

// jobAnswer is an answer about a job.
type jobAnswer struct {
	Job struct {
		ID, State, URL string
		Progress       struct{ Records, Done, Characters int }
		Error          *struct{ Code, Field, Message string }
	}
	Result []record
	Error  *struct{ Code, Message string }
}

// ask sends a request about jobs.
func ask(t *testing.T, method, url, body string, headers ...string) (status int, answer jobAnswer) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	if len(raw) > 0 {
		require.NoError(t, json.Unmarshal(raw, &answer), "%s", raw)
	}
	return resp.StatusCode, answer
}

// jobOfMany returns a job of n different records. More than 256 records are several slices.
func jobOfMany(n int, more string) string {
	records := make([]record, n)
	for i := range records {
		records[i] = record{ID: fmt.Sprint(i), Text: fmt.Sprintf("It is number %d.", i)}
	}
	raw, _ := json.Marshal(records)
	return `{"payload":{"fromLang":"en","toLang":"fr","records":` + string(raw) + `}` + more + `}`
}

// eventsOf reads the events of a job until its stream ends or see returns true.
func eventsOf(t *testing.T, url string, see func(jobAnswer) (enough bool)) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", url+"/events", nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, 200, resp.StatusCode)
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var answer jobAnswer
		require.NoError(t, json.Unmarshal([]byte(data), &answer))
		if see(answer) {
			return
		}
	}
}

// ended waits for the end of a job, and returns it with its results.
func ended(t *testing.T, url string) jobAnswer {
	t.Helper()
	last := ""
	eventsOf(t, url, func(a jobAnswer) bool { last = a.Job.State; return false })
	status, answer := ask(t, "GET", url, "")
	require.Equal(t, 200, status)
	require.Equal(t, last, answer.Job.State, "the last event is of the end")
	return answer
}

// A job has the results of the same request.
func TestJob(t *testing.T) {
	r := service(t, "JOB_FILE="+filepath.Join(t.TempDir(), "jobs.db"))
	body := jobOfMany(300, "")
	status, submitted := ask(t, "POST", r.url+"/jobs", body, "Idempotency-Key", "once")
	require.Equal(t, 202, status)
	assert.Equal(t, "/jobs/"+submitted.Job.ID, submitted.Job.URL)
	status, again := ask(t, "POST", r.url+"/jobs", body, "Idempotency-Key", "once")
	assert.Equal(t, 200, status)
	assert.Equal(t, submitted.Job.ID, again.Job.ID)

	done := ended(t, r.url+submitted.Job.URL)
	assert.Equal(t, "done", done.Job.State)
	assert.Equal(t, 300, done.Job.Progress.Done)
	status, direct := ask(t, "POST", r.url+"/translation", body)
	require.Equal(t, 200, status)
	assert.Equal(t, direct.Result, done.Result)

	status, _ = ask(t, "DELETE", r.url+submitted.Job.URL, "")
	assert.Equal(t, 204, status)
	status, gone := ask(t, "GET", r.url+submitted.Job.URL, "")
	assert.Equal(t, 404, status)
	assert.Equal(t, "unknown_job", gone.Error.Code)
}

// A record of a job may be longer than a record of a request.
func TestJobOfALongRecord(t *testing.T) {
	r := service(t, "JOB_FILE="+filepath.Join(t.TempDir(), "jobs.db"), "MAX_CHARS=100", "MAX_SENTENCES=2", "MAX_TOKENS=20")
	text := strings.TrimSpace(strings.Repeat("It is raining. ", 20))
	body := `{"payload":{"fromLang":"en","toLang":"fr","records":[{"id":"1","text":"` + text + `"}]}}`
	status, _ := ask(t, "POST", r.url+"/translation", body)
	assert.Equal(t, 400, status)
	status, submitted := ask(t, "POST", r.url+"/jobs", body)
	require.Equal(t, 202, status)
	done := ended(t, r.url+submitted.Job.URL)
	require.Equal(t, "done", done.Job.State)
	assert.Len(t, strings.Split(done.Result[0].Text, ". "), 20)
}

// A job that a shutdown interrupts continues after the next start.
func TestJobOutlivesTheService(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.db")
	start := func(onStep func(context.Context)) *running {
		return startServer(t, onStep, func(http.Handler) {}, "JOB_FILE="+file, "CACHE_BYTES=0", "NUM_BEAMS=1")
	}
	holds := make(chan bool, 1) // the model must wait
	r := start(func(ctx context.Context) {
		select {
		case hold := <-holds:
			if hold {
				<-ctx.Done()
			}
		default:
		}
	})
	body := jobOfMany(300, "")
	status, direct := ask(t, "POST", r.url+"/translation", body)
	require.Equal(t, 200, status)
	status, submitted := ask(t, "POST", r.url+"/jobs", body)
	require.Equal(t, 202, status)
	saved := 0
	eventsOf(t, r.url+submitted.Job.URL, func(a jobAnswer) bool { saved = a.Job.Progress.Done; return saved > 0 })
	holds <- true
	r.stop()
	require.NoError(t, <-r.result)

	r = start(func(context.Context) {})
	status, now := ask(t, "GET", r.url+submitted.Job.URL, "")
	require.Equal(t, 200, status)
	assert.GreaterOrEqual(t, now.Job.Progress.Done, saved)
	done := ended(t, r.url+submitted.Job.URL)
	assert.Equal(t, direct.Result, done.Result)
	r.stop()
	require.NoError(t, <-r.result)
}

// After a kill of the process, no saved result is lost or repeated.
func TestJobOutlivesAKilledProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.db")
	start := func() (url string, kill func()) {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Args = []string{"dragoman"}
		cmd.Env = append(os.Environ(), environment(asProgram+"=1", "JOB_FILE="+file, "CACHE_BYTES=0", "NUM_BEAMS=1")...)
		stderr, err := cmd.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := logged(t, stderr, "listening", "ready")
		return "http://" + lines["listening"]["address"].(string), func() {
			require.NoError(t, cmd.Process.Kill())
			assert.Error(t, cmd.Wait())
		}
	}
	url, kill := start()
	body := jobOfMany(300, "")
	status, submitted := ask(t, "POST", url+"/jobs", body, "Idempotency-Key", "k")
	require.Equal(t, 202, status)
	eventsOf(t, url+submitted.Job.URL, func(a jobAnswer) bool { return a.Job.Progress.Done > 0 })
	kill()

	url, kill = start()
	status, again := ask(t, "POST", url+"/jobs", body, "Idempotency-Key", "k")
	assert.Equal(t, 200, status)
	assert.Equal(t, submitted.Job.ID, again.Job.ID)
	assert.Positive(t, again.Job.Progress.Done)
	done := ended(t, url+submitted.Job.URL)
	require.Equal(t, "done", done.Job.State)
	status, direct := ask(t, "POST", url+"/translation", body)
	require.Equal(t, 200, status)
	assert.Equal(t, direct.Result, done.Result)
	kill()
}

func TestJobIsCancelled(t *testing.T) {
	entered := make(chan struct{}, 1)
	r := startServer(t, func(ctx context.Context) {
		select {
		case entered <- struct{}{}:
			<-ctx.Done() // no request waits for the sentences any more
		default:
		}
	}, func(http.Handler) {}, "JOB_FILE="+filepath.Join(t.TempDir(), "jobs.db"), "CACHE_BYTES=0")
	status, submitted := ask(t, "POST", r.url+"/jobs", jobOfMany(3, ""))
	require.Equal(t, 202, status)
	<-entered
	status, cancelled := ask(t, "DELETE", r.url+submitted.Job.URL, "")
	assert.Equal(t, 200, status)
	assert.Equal(t, "cancelled", cancelled.Job.State)
	assert.Equal(t, "cancelled", ended(t, r.url+submitted.Job.URL).Job.State)
	r.stop()
	require.NoError(t, <-r.result)
}

func TestJobWebhook(t *testing.T) {
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	receiver, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	told := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		assert.NoError(t, receiver.Verify(body, r.Header))
		told <- string(body)
	}))
	defer server.Close()
	r := service(t, "JOB_FILE="+filepath.Join(t.TempDir(), "jobs.db"), "JOB_WEBHOOK_SECRET="+secret, "JOB_WEBHOOK_PRIVATE=true")
	status, submitted := ask(t, "POST", r.url+"/jobs", jobOfMany(1, `,"webhook":"`+server.URL+`"`))
	require.Equal(t, 202, status)
	var message struct {
		Type, Timestamp string
		Data            jobAnswer
	}
	require.NoError(t, json.Unmarshal([]byte(<-told), &message))
	assert.Equal(t, "job.done", message.Type)
	assert.Equal(t, submitted.Job.ID, message.Data.Job.ID)
	assert.Nil(t, message.Data.Result)
}

// If the default file cannot be used, jobs are off, and the rest works.
func TestJobsWithoutAFile(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	t.Setenv("XDG_CACHE_HOME", blocked)
	r := service(t, "JOB_FILE=")
	status, refused := ask(t, "POST", r.url+"/jobs", jobOfMany(1, ""))
	assert.Equal(t, 503, status)
	assert.Equal(t, "jobs_unavailable", refused.Error.Code)
	assert.Contains(t, refused.Error.Message, "JOB_FILE")
	status, _ = ask(t, "POST", r.url+"/translation", jobOfMany(1, ""))
	assert.Equal(t, 200, status)
}

// The default folder of files is in XDG_DATA_HOME, if that is set. A read-only default folder, as in a container without a
// volume, causes no warning.
func TestFilesWithoutNames(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/cache")
	for data, want := range map[string]string{"": "/cache/dragoman/jobs.db", "/data": "/data/dragoman/jobs.db"} {
		t.Setenv("XDG_DATA_HOME", data)
		path, err := fileOf("", "jobs.db")
		assert.NoError(t, err)
		assert.Equal(t, want, path)
	}
	for cause, level := range map[error]string{syscall.EROFS: "INFO", syscall.EACCES: "WARN"} {
		var log strings.Builder
		err := &os.PathError{Op: "mkdir", Path: "/data/dragoman", Err: cause}
		f := &frontend{log: slog.New(slog.NewTextHandler(&log, nil)), missing: []missing{{err: err}, {err: fmt.Errorf("open: %w", err)}}}
		f.warn()
		assert.Equal(t, 2, strings.Count(log.String(), "level="+level+` msg="there are no `), log.String())
	}
}

// If another process has a configured file, the service does not start.
func TestJobFileOfAnotherProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.db")
	service(t, "JOB_FILE="+file)
	p := &program{environ: environment("JOB_FILE=" + file), stderr: io.Discard, loadRuntime: loadRuntime}
	assert.ErrorContains(t, p.runService(t.Context()), fmt.Sprintf("JOB_FILE: another process (process %d on ", os.Getpid()))
}

// If a variable about jobs is set, the service does not start without them. Otherwise it logs that another process has the file.
func TestSecondProcess(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	service(t, "JOB_FILE=", "GLOSSARY_FILE=")
	owner := fmt.Sprintf("another process (process %d on ", os.Getpid())
	for variable, want := range map[string]string{"JOB_TTL=1h": "JOB_FILE: " + owner, "GLOSSARIES_PER_KEY=3": "GLOSSARY_FILE: " + owner} {
		p := &program{environ: environment("JOB_FILE=", "GLOSSARY_FILE=", variable), stderr: io.Discard, loadRuntime: loadRuntime}
		err := p.runService(t.Context())
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, "or give each its own file")
	}
	cfg, _, err := cli.Configure(environment("JOB_FILE=", "GLOSSARY_FILE="), io.Discard)
	require.NoError(t, err)
	var log strings.Builder
	f, err := openFrontend(t.Context(), "", cfg, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	f.warn()
	assert.Equal(t, 2, strings.Count(log.String(), owner), log.String())
	assert.NoError(t, f.Close())
}
