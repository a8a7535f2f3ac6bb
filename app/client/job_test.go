package client

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// desk is a service that translates a record of each job per second, into capitals.
type desk struct {
	mu    sync.Mutex
	jobs  []*deskJob // job i has the id "job i"
	trips []string   // method and path of all requests
}

type deskJob struct {
	payload payload
	webhook string
	key     string
	created time.Time
	ended   JobState // time at which it was cancelled
	fault   string   // the error of a failed job, in JSON
}

// newDesk returns a desk with one job of n records, which begins with the first request.
func newDesk(records int) *desk {
	j := &deskJob{}
	for i := range records {
		j.payload.Records = append(j.payload.Records, Record{ID: fmt.Sprint(i), Text: "hello"})
	}
	return &desk{jobs: []*deskJob{j}}
}

func (d *desk) handler() http.HandlerFunc {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /jobs", d.submit)
	mux.HandleFunc("GET /jobs", func(w http.ResponseWriter, _ *http.Request) {
		d.mu.Lock()
		defer d.mu.Unlock()
		var list []string
		for i := range d.jobs {
			list = append(list, d.jobs[i].write(i))
		}
		_, _ = fmt.Fprintf(w, `{"jobs":[%s]}`, strings.Join(list, ","))
	})
	mux.HandleFunc("GET /jobs/{id}", d.one(d.get))
	mux.HandleFunc("GET /jobs/{id}/events", d.one(d.events))
	mux.HandleFunc("DELETE /jobs/{id}", d.one(func(w http.ResponseWriter, _ *http.Request, i int) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.jobs[i].state().Ended() {
			d.jobs[i] = nil
			w.WriteHeader(http.StatusNoContent)
			return
		}
		d.jobs[i].ended = JobCancelled
		_, _ = fmt.Fprintf(w, `{"job":%s}`, d.jobs[i].write(i))
	}))
	return func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		if len(d.jobs) > 0 && d.jobs[0] != nil && d.jobs[0].created.IsZero() {
			d.jobs[0].created = time.Now()
		}
		d.trips = append(d.trips, r.Method+" "+r.URL.Path)
		d.mu.Unlock()
		mux.ServeHTTP(w, r)
	}
}

func (d *desk) submit(w http.ResponseWriter, r *http.Request) {
	var asked body
	if err := json.UnmarshalRead(r.Body, &asked); err != nil {
		panic(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	key, at := r.Header.Get("Idempotency-Key"), -1
	for i, j := range d.jobs {
		if j.key == key {
			at = i
		}
	}
	if at < 0 {
		at = len(d.jobs)
		d.jobs = append(d.jobs, &deskJob{payload: asked.Payload, webhook: asked.Webhook, key: key, created: time.Now()})
		w.WriteHeader(http.StatusAccepted)
	}
	_, _ = fmt.Fprintf(w, `{"job":%s}`, d.jobs[at].write(at))
}

// one returns the job in a path.
func (d *desk) one(serve func(w http.ResponseWriter, r *http.Request, i int)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var i int
		_, err := fmt.Sscanf(r.PathValue("id"), "job %d", &i)
		d.mu.Lock()
		found := err == nil && i < len(d.jobs) && d.jobs[i] != nil
		d.mu.Unlock()
		if !found {
			problem(404, CodeUnknownJob)(w, r)
			return
		}
		serve(w, r, i)
	}
}

func (d *desk) get(w http.ResponseWriter, _ *http.Request, i int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	j, result := d.jobs[i], ""
	if j.state() == JobDone {
		var list []string
		for _, record := range j.payload.Records {
			list = append(list, fmt.Sprintf(`{"id":%q,"text":%q}`, record.ID, strings.ToUpper(record.Text)))
		}
		result = `,"result":[` + strings.Join(list, ",") + `]`
	}
	_, _ = fmt.Fprintf(w, `{"job":%s%s}`, j.write(i), result)
}

// events sends the job, and again each second until it has ended.
func (d *desk) events(w http.ResponseWriter, r *http.Request, i int) {
	w.Header().Set("Content-Type", eventsType)
	for r.Context().Err() == nil {
		d.mu.Lock()
		event, ended := d.jobs[i].write(i), d.jobs[i].state().Ended()
		d.mu.Unlock()
		_, _ = fmt.Fprintf(w, ": hello\n\nevent: other\ndata: {}\n\nevent: job\ndata: {\"job\":%s}\n\n", event)
		_ = http.NewResponseController(w).Flush()
		if ended {
			return
		}
		time.Sleep(time.Second)
	}
}

func (j *deskJob) done() int {
	return min(int(time.Since(j.created)/time.Second), len(j.payload.Records))
}

func (j *deskJob) state() JobState {
	switch {
	case j.ended != "":
		return j.ended
	case j.done() == len(j.payload.Records):
		return JobDone
	}
	return JobRunning
}

func (j *deskJob) write(i int) string {
	fault := ""
	if j.fault != "" {
		fault = `,"error":` + j.fault
	}
	return fmt.Sprintf(`{"id":"job %d","state":%q,"created":%q,"progress":{"records":%d,"done":%d,"characters":5},"new":{}%s}`,
		i, j.state(), j.created.UTC().Format(time.RFC3339), len(j.payload.Records), j.done(), fault)
}

func TestSubmit(t *testing.T) {
	d := &desk{}
	inBubble(t, Config{}, d.handler(), func(t *testing.T, c *Client) {
		start := time.Now()
		records := []Record{{"1", "hello"}, {"1", "you"}}
		job, err := c.Submit(t.Context(), Request{From: "en", To: "fr", Records: records}, SubmitOptions{Webhook: "https://example.com/hook"})
		require.NoError(t, err)
		records[0] = Record{"2", "something else"} // the caller may change it
		assert.Equal(t, "job 0", job.ID())
		assert.Zero(t, time.Since(start), "Submit does not wait")
		assert.Equal(t, "https://example.com/hook", d.jobs[0].webhook)

		want := []Result{{ID: "1", Text: "HELLO", To: "fr"}, {ID: "1", Text: "YOU", To: "fr"}}
		results, err := job.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, results)
		assert.Equal(t, 2*time.Second, time.Since(start))
		results, err = job.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, results, "again")

		for i := range want {
			want[i].To = "" // only the client that submitted the job knows the request
		}
		results, err = c.Job("job 0").Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, results, "in another process")

		list, err := c.Jobs(t.Context())
		require.NoError(t, err)
		status, err := job.Status(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []JobStatus{{ID: "job 0", State: JobDone, Created: start.UTC(), Progress: Progress{Records: 2, Done: 2, Characters: 5}}}, list)
		assert.Equal(t, list[0], status)
	})
}

// Retries of Submit, and calls with the same key, make one job.
func TestSubmitMakesOneJob(t *testing.T) {
	d := &desk{}
	var requests atomic.Int32
	lost := func(w http.ResponseWriter, r *http.Request) { // the job is made, but its answer is lost
		d.handler()(&nowhere{header: http.Header{}}, r)
		broken("")(w, r)
	}
	inBubble(t, Config{}, inTurn(&requests, problem(503, CodeBusy), lost, lost, d.handler()), func(t *testing.T, c *Client) {
		job, err := c.Submit(t.Context(), hello, SubmitOptions{})
		require.NoError(t, err)
		assert.Equal(t, "job 0", job.ID())
		require.Len(t, d.jobs, 1)
		assert.Len(t, d.jobs[0].key, 26)

		for range 2 {
			job, err = c.Submit(t.Context(), hello, SubmitOptions{IdempotencyKey: "mine"})
			require.NoError(t, err)
			assert.Equal(t, "job 1", job.ID())
		}
		for _, key := range []string{"a b", "é", "a\n", strings.Repeat("a", 201)} {
			_, err = c.Submit(t.Context(), hello, SubmitOptions{IdempotencyKey: key})
			assert.ErrorContains(t, err, "SubmitOptions.IdempotencyKey")
		}
		assert.Len(t, d.jobs, 2)
	})
}

// nowhere discards an answer.
type nowhere struct{ header http.Header }

func (n *nowhere) Header() http.Header       { return n.header }
func (*nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (*nowhere) WriteHeader(int)             {}

func TestSubmitFails(t *testing.T) {
	for name, test := range map[string]struct {
		service http.HandlerFunc
		check   func(t *testing.T, err error)
	}{
		"refused":  {problem(413, CodeTooManyRecords), func(t *testing.T, err error) { assert.True(t, IsCode(err, CodeTooManyRecords)) }},
		"no job":   {answer(202, `{}`), func(t *testing.T, err error) { assert.ErrorIs(t, err, ErrInvalidAnswer) }},
		"no JSON":  {answer(202, `<html>`), func(t *testing.T, err error) { assert.ErrorIs(t, err, ErrInvalidAnswer) }},
		"no state": {answer(202, `{"job":{"id":"a"}}`), func(t *testing.T, err error) { assert.ErrorIs(t, err, ErrInvalidAnswer) }},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Config{}, test.service, func(t *testing.T, c *Client) {
				job, err := c.Submit(t.Context(), hello, SubmitOptions{})
				assert.Nil(t, job)
				test.check(t, err)
			})
		})
	}
}

func TestJobsThatHaveNoResults(t *testing.T) {
	end := func(state JobState, fault string) http.HandlerFunc {
		d := newDesk(3)
		d.jobs[0].ended, d.jobs[0].fault = state, fault
		return d.handler()
	}
	event := func(data string) http.HandlerFunc {
		return answer(200, "event: job\ndata: "+data+"\n\n", "Content-Type", eventsType)
	}
	results := func(data string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/events") {
				event(`{"job":{"id":"job 0","state":"done"}}`)(w, r)
				return
			}
			answer(200, data)(w, r)
		}
	}
	for name, test := range map[string]struct {
		service http.HandlerFunc
		want    string
	}{
		"cancelled":         {end(JobCancelled, ""), ErrCancelled.Error()},
		"failed":            {end(JobFailed, `{"code":"unfinished","message":"no end","field":"payload.records[1].text"}`), "dragoman: unfinished: no end"},
		"failed, no reason": {end(JobFailed, ""), "the service does not say why"},
		"unknown":           {problem(404, CodeUnknownJob), "404 unknown_job"},
		"another key":       {problem(401, CodeUnauthorized), "401 unauthorized"},
		"another job":       {event(`{"job":{"id":"job 1","state":"done"}}`), `it is about job "job 1", expected "job 0"`},
		"no job":            {event(`{}`), "no id or no state"},
		"no JSON":           {event(`<html>`), ErrInvalidAnswer.Error()},
		"no results":        {results(`{"job":{"id":"job 0","state":"done"}}`), "the job is done, and has 0 results"},
		"not done":          {results(`{"job":{"id":"job 0","state":"running"}}`), "the job is running"},
		"another's results": {results(`{"job":{"id":"job 1","state":"done"},"result":[]}`), `it is about job "job 1"`},
		"nameless":          {results(`{"job":{"id":"job 0","state":"done"},"result":[{"text":"a"}]}`), "no id or no text"},
		"results are gone":  {results(`no JSON`), ErrInvalidAnswer.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Config{}, test.service, func(t *testing.T, c *Client) {
				start := time.Now()
				results, err := c.Job("job 0").Wait(t.Context())
				assert.Nil(t, results)
				assert.ErrorContains(t, err, test.want)
				assert.Zero(t, time.Since(start), "at once")
			})
		})
	}
}

// The client checks the results of a job that it has submitted.
func TestResultsMustFitTheRequest(t *testing.T) {
	d := &desk{}
	inBubble(t, Config{}, d.handler(), func(t *testing.T, c *Client) {
		job, err := c.Submit(t.Context(), hello, SubmitOptions{})
		require.NoError(t, err)
		d.jobs[0].payload.Records[0].ID = "other"
		_, err = job.Wait(t.Context())
		assert.ErrorIs(t, err, ErrInvalidAnswer)
		assert.ErrorContains(t, err, `result 0 is of record "other"`)
	})
}

func TestCancel(t *testing.T) {
	inBubble(t, Config{}, newDesk(3).handler(), func(t *testing.T, c *Client) {
		job := c.Job("job 0")
		require.NoError(t, job.Cancel(t.Context()))
		status, err := job.Status(t.Context())
		require.NoError(t, err)
		assert.Equal(t, JobCancelled, status.State)
		require.NoError(t, job.Cancel(t.Context()), "which removes it")
		assert.True(t, IsCode(job.Cancel(t.Context()), CodeUnknownJob))
		_, err = job.Status(t.Context())
		assert.True(t, IsCode(err, CodeUnknownJob))
	})
	var requests atomic.Int32
	inBubble(t, Config{}, inTurn(&requests, broken(""), problem(404, CodeUnknownJob)), func(t *testing.T, c *Client) {
		assert.NoError(t, c.Job("a").Cancel(t.Context()), "the first try removed it")
	})
}

// Ids are data in any form.
func TestJobIDs(t *testing.T) {
	d := newDesk(1)
	inBubble(t, Config{}, d.handler(), func(t *testing.T, c *Client) {
		for _, id := range []string{"", "..", "../languages", "a/b?c#d", "job 0/events", "\n"} {
			_, err := c.Job(id).Status(t.Context())
			assert.Error(t, err, id)
		}
		_, err := c.Job("job 0").Status(t.Context())
		assert.NoError(t, err)
	})
	assert.Contains(t, d.trips, "GET /jobs/a/b?c#d", "within the path")
}

func TestWaitEndsWithItsContext(t *testing.T) {
	d := newDesk(10)
	inBubble(t, Config{}, d.handler(), func(t *testing.T, c *Client) {
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := c.Job("job 0").Wait(ctx)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "2 of 10 records are done")
		assert.Equal(t, 2500*time.Millisecond, time.Since(start))

		results, err := c.Job("job 0").Wait(t.Context())
		assert.NoError(t, err, "the job goes on")
		assert.Len(t, results, 10)
	})
}
