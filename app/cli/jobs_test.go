package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/client"
)

const (
	runningJob = `{"id":"4f2c","state":"running","created":"2026-11-21T12:00:00Z","progress":{"records":2,"done":1}}`
	doneJob    = `{"id":"4f2c","state":"done","created":"2026-11-21T12:00:00Z","expires":"2026-11-22T12:00:30Z","progress":{"records":2,"done":2}}`
)

// jobEvents answers /jobs/ID/events.
func jobEvents(jobs ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, job := range jobs {
			fmt.Fprintf(w, "event: job\ndata: {\"job\":%s}\n\n", job)
		}
	}
}

// oneJob is a service with one job. It translates into capitals.
type oneJob struct {
	routes
	asked string // body of POST /jobs
	keys  map[string]bool
}

func newOneJob() *oneJob {
	s := &oneJob{asked: `{"payload":{"records":[{"id":"1","text":"one."},{"id":"2","text":"two."}]}}`, keys: map[string]bool{}}
	s.routes = routes{
		"POST /jobs": func(w http.ResponseWriter, r *http.Request) {
			raw, err := io.ReadAll(r.Body)
			s.asked = string(raw)
			if err != nil {
				panic(err)
			}
			answer(202, `{"job":`+runningJob+`}`)(w, r)
		},
		"GET /jobs":             answer(200, `{"jobs":[`+runningJob+`,`+doneJob+`]}`),
		"GET /jobs/4f2c/events": jobEvents(runningJob, doneJob),
		"GET /jobs/4f2c": func(w http.ResponseWriter, _ *http.Request) {
			var asked struct {
				Payload struct{ Records []struct{ ID, Text string } }
			}
			if err := json.Unmarshal([]byte(s.asked), &asked); err != nil {
				panic(err)
			}
			var results []string
			for _, r := range asked.Payload.Records {
				results = append(results, fmt.Sprintf(`{"id":%q,"text":%q}`, r.ID, strings.ToUpper(r.Text)))
			}
			fmt.Fprintf(w, `{"job":%s,"result":[%s]}`, doneJob, strings.Join(results, ","))
		},
		"DELETE /jobs/4f2c": answer(200, `{"job":`+doneJob+`}`),
	}
	return s
}

func (s *oneJob) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.keys[r.Header.Get("Authorization")] = true
	s.routes.ServeHTTP(w, r)
}

// serve starts the service; url is its address.
func (s *oneJob) serve(t *testing.T) (url string) {
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server.URL
}

// asJob returns the command line that submits a job.
func asJob(url string, args ...string) []string {
	return append([]string{"translate", "--job", "--from", "en", "--to", "fr", "--url", url}, args...)
}

func TestTranslateAsJob(t *testing.T) {
	const payload = `{"payload":{"fromLang":"en","toLang":"fr","records":[{"id":"%s 1","text":"one."},{"id":"%[1]s 2","text":"two."}]%s}}`
	lines := file(t, "one.\ntwo.\n")
	for _, test := range []struct {
		name, stdin string
		args        []string
		want        string // the request
	}{
		{"arguments", "", []string{"one.", "two."}, fmt.Sprintf(payload, "argument", "")},
		{"standard input", "one.\r\ntwo.", nil, fmt.Sprintf(payload, "line", "")},
		{"a file", "ignored", []string{"--file", lines}, fmt.Sprintf(payload, lines+" line", "")},
		{"model and beams", "one.\ntwo.\n", []string{"--model", "m:2", "--beams", "3"}, fmt.Sprintf(payload, "line", `,"model":"m:2","options":{"beams":3}`)},
		{"alternatives", "one.\ntwo.\n", []string{"--alternatives", "3"}, fmt.Sprintf(payload, "line", `,"alternatives":3`)},
	} {
		t.Run(test.name, func(t *testing.T) {
			service := newOneJob()
			url := service.serve(t)
			r := execute(t, test.stdin, nil, asJob(url, append(test.args, "--key", "sesame")...)...)
			require.Equal(t, ExitOK, r.code, r.stderr)
			assert.JSONEq(t, test.want, service.asked)
			assert.Equal(t, "ONE.\nTWO.\n", r.stdout)
			assert.Equal(t, []string{"job 4f2c: `dragoman jobs wait 4f2c --url " + url + " --key KEY` picks it up again"}, r.errorLines())
			assert.Equal(t, map[string]bool{"Bearer sesame": true}, service.keys)
		})
	}
}

// The default address is that of serve with the same environment.
func TestJobOfThisMachine(t *testing.T) {
	host, port, _ := strings.Cut(strings.TrimPrefix(newOneJob().serve(t), "http://"), ":")
	r := execute(t, "", []string{"APP_HOST=" + host, "APP_PORT=" + port}, "translate", "--job", "--from", "en", "--to", "fr", "one.")
	require.Equal(t, ExitOK, r.code, r.stderr)
	assert.Equal(t, "ONE.\n", r.stdout)
	assert.Equal(t, []string{"job 4f2c: `dragoman jobs wait 4f2c` picks it up again"}, r.errorLines())
}

func TestNothingIsNoJob(t *testing.T) {
	service := newOneJob()
	r := execute(t, "", nil, asJob(service.serve(t))...)
	assert.Equal(t, result{}, r)
	assert.Empty(t, service.keys, "nothing was asked for")
}

func TestJobsThatFail(t *testing.T) {
	failed := func(end string) http.HandlerFunc { return jobEvents(runningJob, `{"id":"4f2c",`+end+`,"progress":{}}`) }
	for _, test := range []struct {
		name, route string
		handler     http.HandlerFunc
		code        int
		want        string
	}{
		{"too large", "POST /jobs", answer(413, `{"error":{"code":"too_many_records","message":"2 records, at most 1 are allowed"}}`), ExitError, "2 records, at most 1 are allowed"},
		{"unknown language", "POST /jobs", answer(400, `{"error":{"code":"unknown_language","message":"\"fr\" is not a language"}}`), ExitUsage, `"fr" is not a language`},
		{"not the service", "POST /jobs", answer(404, `nothing here`), ExitError, "Not Found: nothing here"},
		{"failed", "GET /jobs/4f2c/events", failed(`"state":"failed","error":{"code":"unfinished","message":"record \"line 2\": no end"}`), ExitError, `record "line 2": no end`},
		{"cancelled", "GET /jobs/4f2c/events", failed(`"state":"cancelled"`), ExitError, "job 4f2c was cancelled"},
		{"forgotten", "GET /jobs/4f2c/events", answer(404, `{"error":{"code":"unknown_job","message":"there is no such job"}}`), ExitError, "there is no such job"},
		{"no sense", "GET /jobs/4f2c", answer(200, `{}`), ExitError,
			"job 4f2c: client: the answer is not valid: the job has no id or no state; `dragoman jobs wait 4f2c --url URL` picks it up again"},
	} {
		t.Run(test.name, func(t *testing.T) {
			service := newOneJob()
			service.routes[test.route] = test.handler
			url := service.serve(t)
			r := execute(t, "one.\ntwo.\n", nil, asJob(url)...)
			assert.Equal(t, test.code, r.code)
			assert.Empty(t, r.stdout)
			lines := r.errorLines()
			require.NotEmpty(t, lines)
			assert.Equal(t, "dragoman: "+strings.ReplaceAll(test.want, "URL", url), lines[len(lines)-1])
		})
	}
}

// A text of a job that alone has no translation is reported, and the others are printed.
func TestJobWithATextThatFails(t *testing.T) {
	service := newOneJob()
	service.routes["GET /jobs/4f2c"] = answer(200, `{"job":`+doneJob+`,"result":[{"id":"line 1","text":"","error":{"code":"unfinished","message":"no end"}},{"id":"line 2","text":"TWO."}]}`)
	r := execute(t, "one.\ntwo.\n", nil, asJob(service.serve(t))...)
	assert.Equal(t, ExitPartly, r.code)
	assert.Equal(t, "\nTWO.\n", r.stdout)
	assert.Equal(t, []string{"dragoman: text 1: no end", "dragoman: 1 of 2 texts were not translated: see above"}, r.errorLines()[1:])
}

// After Ctrl-C the command prints how to resume the job, and that command works.
func TestInterruptedJob(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	service := newOneJob()
	ends := service.routes["GET /jobs/4f2c/events"]
	service.routes["GET /jobs/4f2c/events"] = func(w http.ResponseWriter, r *http.Request) {
		jobEvents(runningJob)(w, r)
		assert.NoError(t, http.NewResponseController(w).Flush())
		interrupt()
		<-r.Context().Done()
	}
	url := service.serve(t)
	var stdout, stderr bytes.Buffer
	p := &Program{Stdin: strings.NewReader("one.\ntwo.\n"), Stdout: &stdout, Stderr: &stderr}
	code := p.Run(ctx, asJob(url))
	assert.Equal(t, 130, code)
	assert.Empty(t, stdout.String())
	assert.Contains(t, stderr.String(), "dragoman: interrupted: job 4f2c goes on; `dragoman jobs wait 4f2c --url "+url+
		"` picks it up again, `dragoman jobs cancel 4f2c --url "+url+"` ends it\n")

	service.routes["GET /jobs/4f2c/events"] = ends
	r := execute(t, "", nil, "jobs", "wait", "4f2c", "--url", url)
	assert.Equal(t, result{ExitOK, "ONE.\nTWO.\n", ""}, r)
}

func TestJobsCommand(t *testing.T) {
	service := newOneJob()
	url := service.serve(t)
	r := execute(t, "", nil, "jobs", "--url", url)
	assert.Equal(t, result{ExitOK, strings.Join([]string{
		"ID    STATE    DONE    CREATED               KEPT UNTIL",
		"4f2c  running  1 of 2  2026-11-21 12:00:00Z  ",
		"4f2c  done     2 of 2  2026-11-21 12:00:00Z  2026-11-22 12:00:30Z",
	}, "\n") + "\n", ""}, r)

	assert.Equal(t, result{}, execute(t, "", nil, "jobs", "cancel", "4f2c", "--url", url))
	r = execute(t, "", nil, "jobs", "cancel", "4f2d", "--url", url)
	assert.Equal(t, ExitError, r.code)
	assert.Equal(t, []string{"dragoman: Not Found: 404 page not found"}, r.errorLines())
}

// A terminal shows the progress of a job.
func TestProgressOfAJob(t *testing.T) {
	c, err := client.New(client.Config{URL: newOneJob().serve(t)})
	require.NoError(t, err)
	defer c.Close()
	for _, visible := range []bool{true, false} {
		var out bytes.Buffer
		last, err := follow(t.Context(), c.Job("4f2c"), &out, visible)
		require.NoError(t, err)
		assert.Equal(t, client.JobDone, last.State)
		assert.Equal(t, visible, strings.Contains(out.String(), "running"), out.String())
		assert.Equal(t, visible, strings.Contains(out.String(), "2/2"), out.String())
	}
}
