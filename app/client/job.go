package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"time"
)

const jobsPath = "/jobs"

// JobState is the state of a job. Newer services may have more states.
type JobState string

// States of a job: it waits, is translated, and ends in one of the last three.
const (
	JobQueued    JobState = "queued"
	JobRunning   JobState = "running"
	JobDone      JobState = "done"
	JobFailed    JobState = "failed"
	JobCancelled JobState = "cancelled"
)

// Ended reports whether the state is final.
func (s JobState) Ended() bool { return s == JobDone || s == JobFailed || s == JobCancelled }

// JobStatus is the state of a job at some moment. Times are in UTC; a time that is not known yet is zero.
type JobStatus struct {
	ID       string    `json:"id"`
	State    JobState  `json:"state"`
	Created  time.Time `json:"created"`
	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
	Expires  time.Time `json:"expires,omitzero"` // when the service removes the job and its results
	Progress Progress  `json:"progress"`
	// Document is the translated document; zero for a job of texts.
	Document JobDocument `json:"document,omitzero"`
	Err      *Error      `json:"-"` // why the job failed; nil in all other states
}

// Progress is the progress of a job.
type Progress struct {
	Records    int `json:"records"`    // expected number of translations
	Done       int `json:"done"`       // finished translations
	Flagged    int `json:"flagged"`    // finished translations with flags after all retries
	Characters int `json:"characters"` // of all texts
}

// Job is a job of the service, which continues without a waiting client. Any process can access it by its id. A Job holds no
// resources of the service: it can be dropped at any time. It is safe for concurrent use.
type Job struct {
	client *Client
	id     string
	query  *query // the expected results; nil in a process that did not submit the request
}

// SubmitOptions are optional settings of [Client.Submit] besides the request.
type SubmitOptions struct {
	// IdempotencyKey makes a second Submit with the same key and the same request return the same job, even if this process
	// crashed between the two: 1 to 200 visible ASCII characters. "": a random key, so that the tries of one Submit never create
	// two jobs.
	IdempotencyKey string
	// Webhook is the URL that the service calls when the job has ended, if its operator allows that.
	Webhook string
}

// idempotencyKey matches the keys that the service accepts.
var idempotencyKey = regexp.MustCompile(`^[!-~]{1,200}$`)

// Submit submits r to the service, which translates it in the background and keeps the results for a while. ctx limits the
// submission, not the job. Memory that r refers to may be modified after Submit has returned. Tries and errors are as for
// [Client.Translate].
func (c *Client) Submit(ctx context.Context, r Request, o SubmitOptions) (*Job, error) {
	q, err := newQuery(jobsPath, jsonType, r, o.Webhook)
	if err != nil {
		return nil, err
	}
	job, err := c.submit(ctx, q.call, o)
	if err != nil {
		return nil, err
	}
	q.call = call{} // the call's texts are not needed any more
	job.query = q
	return job, nil
}

// submit sends a call that creates a job.
func (c *Client) submit(ctx context.Context, call call, o SubmitOptions) (*Job, error) {
	call.key, call.also = cmp.Or(o.IdempotencyKey, rand.Text()), http.StatusAccepted
	if !idempotencyKey.MatchString(call.key) {
		return nil, errors.New("client: SubmitOptions.IdempotencyKey has more than 200 characters, or others than visible ASCII ones")
	}
	answer, err := ask(ctx, c.transport, call, readJob)
	if err != nil {
		return nil, err
	}
	return c.Job(answer.Job.ID), nil
}

// Job returns a job by the id from [Job.ID], in this process or another. It does not contact the service: if there is no such
// job, the methods of the Job fail with code [CodeUnknownJob].
func (c *Client) Job(id string) *Job { return &Job{client: c, id: id} }

// Jobs returns the jobs of this client's key, the newest first, as many as the service lists.
func (c *Client) Jobs(ctx context.Context) ([]JobStatus, error) {
	answer, err := get[struct {
		Jobs []jobInput `json:"jobs"`
	}](ctx, c.transport, jobsPath)
	if err != nil {
		return nil, err
	}
	list := make([]JobStatus, len(answer.Jobs))
	for i, in := range answer.Jobs {
		list[i] = in.status()
	}
	return list, nil
}

// ID returns the id of the job, for [Client.Job] in this process or another. With the id, and the key that submitted the job if
// keys are needed, any client gets the results.
func (j *Job) ID() string { return j.id }

// Status returns the current status of the job. It fails with code [CodeUnknownJob] if the service does not know the job (any
// more). Tries are as for [Client.Translate].
func (j *Job) Status(ctx context.Context) (JobStatus, error) {
	answer, err := ask(ctx, j.client.transport, newCall(j.path()), j.read)
	if err != nil {
		return JobStatus{}, err
	}
	return answer.Job.status(), nil
}

// Wait returns the results of the job as soon as it has ended, in the form of [Client.Translate]. The service keeps the results,
// so Wait may be called again. Wait waits as long as ctx allows, also while the service restarts or is unreachable: see
// [Job.Events].
//
// The error of a failed job is an [*Error], that of a cancelled job [ErrCancelled]. If ctx is done, Wait fails with ctx's error,
// and the job continues.
func (j *Job) Wait(ctx context.Context) ([]Result, error) {
	if err := j.finish(ctx); err != nil {
		return nil, err
	}
	return askOn(ctx, j.client.transport, newCall(j.path()), j.results)
}

// finish waits until the job is done, and fails if the job ends in another way.
func (j *Job) finish(ctx context.Context) error {
	for status, err := range j.Events(ctx) {
		switch {
		case err != nil:
			return err
		case status.State == JobFailed:
			return status.Err
		case status.State == JobCancelled:
			return ErrCancelled
		}
	}
	return nil
}

// Cancel ends the job, or, if the job has ended already, removes it with its results: Cancel returns nil in both cases. Tries are
// as for [Client.Translate].
func (j *Job) Cancel(ctx context.Context) error {
	return j.client.remove(ctx, j.path(), CodeUnknownJob)
}

func (j *Job) path() string { return jobsPath + "/" + url.PathEscape(j.id) }

// jobInput is a job in the JSON of the service.
type jobInput struct {
	JobStatus
	Error *Error `json:"error"`
}

func (in jobInput) status() JobStatus {
	s := in.JobStatus
	if s.Err = in.Error; s.Err == nil && s.State == JobFailed {
		s.Err = &Error{Message: "the service does not say why the job failed"}
	}
	return s
}

// jobAnswer is an answer about one job.
type jobAnswer struct {
	Job    jobInput      `json:"job"`
	Result []resultInput `json:"result"` // results of a job that is done
}

// readJob parses an answer about any job.
func readJob(raw []byte) (jobAnswer, error) {
	answer, err := decode[jobAnswer](raw)
	if err == nil && (answer.Job.ID == "" || answer.Job.State == "") {
		err = invalid("the job has no id or no state")
	}
	return answer, err
}

// read parses an answer about this job.
func (j *Job) read(raw []byte) (jobAnswer, error) {
	answer, err := readJob(raw)
	if err == nil && answer.Job.ID != j.id {
		err = invalid("it is about job %.100q, expected %.100q", answer.Job.ID, j.id)
	}
	return answer, err
}

// results parses the answer about a job that is done.
func (j *Job) results(raw []byte) ([]Result, error) {
	answer, err := j.read(raw)
	switch {
	case err != nil:
		return nil, err
	case answer.Job.State != JobDone || answer.Result == nil:
		return nil, invalid("the job is %s, and has %d results", answer.Job.State, len(answer.Result))
	case j.query != nil:
		return j.query.match(answer.Result)
	}
	results := make([]Result, len(answer.Result))
	for i, in := range answer.Result {
		if results[i], err = in.result(); err != nil {
			return nil, err
		}
	}
	return results, nil
}
