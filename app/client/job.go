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

// JobState is what has become of a job. Newer services may have more states.
type JobState string

// The states of a job: it waits, is translated, and ends in one of the last three.
const (
	JobQueued    JobState = "queued"
	JobRunning   JobState = "running"
	JobDone      JobState = "done"
	JobFailed    JobState = "failed"
	JobCancelled JobState = "cancelled"
)

// Ended tells whether the state stays as it is.
func (s JobState) Ended() bool { return s == JobDone || s == JobFailed || s == JobCancelled }

// JobStatus is a job at some moment. Times are in UTC, and zero where they are not known yet.
type JobStatus struct {
	ID       string    `json:"id"`
	State    JobState  `json:"state"`
	Created  time.Time `json:"created"`
	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
	Expires  time.Time `json:"expires,omitzero"` // when the service forgets the job and its results
	Progress Progress  `json:"progress"`
	// Document is the one that is translated; zero for a job of texts.
	Document JobDocument `json:"document,omitzero"`
	Err      *Error      `json:"-"` // why the job failed; nil in all other states
}

// Progress is how far a job is.
type Progress struct {
	Records    int `json:"records"`    // translations that it has in all
	Done       int `json:"done"`       // those that are made
	Flagged    int `json:"flagged"`    // those of them that look wrong after all retries
	Characters int `json:"characters"` // of all texts
}

// Job is work that the service goes on with when nobody waits for it. Any process can pick it up
// by its id. A Job holds nothing of the service: it can be dropped at any time. It is safe for
// concurrent use.
type Job struct {
	client *Client
	id     string
	query  *query // what the results must fit; nil where another process knows that
}

// SubmitOptions are what [Client.Submit] sends beside the request. All may be missing.
type SubmitOptions struct {
	// IdempotencyKey makes a second Submit with the same key and the same request the same
	// job, also after a crash in between: 1 to 200 visible ASCII characters. "": a random
	// one, so that the tries of one Submit never make two jobs.
	IdempotencyKey string
	// Webhook is the URL that the service calls when the job has ended, where its operator
	// allows that.
	Webhook string
}

// idempotencyKey is what the service takes as one.
var idempotencyKey = regexp.MustCompile(`^[!-~]{1,200}$`)

// Submit hands r over to the service, which translates it in its own time and keeps the results
// for a while. ctx bounds the handing over, not the job. What r refers to may be changed once
// Submit has returned. Tries and errors are as for [Client.Translate].
func (c *Client) Submit(ctx context.Context, r Request, o SubmitOptions) (*Job, error) {
	q, err := newQuery(jobsPath, jsonType, r, o.Webhook)
	if err != nil {
		return nil, err
	}
	job, err := c.submit(ctx, q.call, o)
	if err != nil {
		return nil, err
	}
	q.call = call{} // its texts are not needed any more
	job.query = q
	return job, nil
}

// submit makes a call that makes a job.
func (c *Client) submit(ctx context.Context, call call, o SubmitOptions) (*Job, error) {
	call.key, call.also = cmp.Or(o.IdempotencyKey, rand.Text()), http.StatusAccepted
	if !idempotencyKey.MatchString(call.key) {
		return nil, errors.New("client: SubmitOptions.IdempotencyKey has more than 200 characters, or others than visible ASCII ones")
	}
	answer, err := ask(ctx, c, call, readJob)
	if err != nil {
		return nil, err
	}
	return c.Job(answer.Job.ID), nil
}

// Job picks up a job by the id that [Job.ID] has told some process. It asks the service nothing:
// where there is no such job, what the Job is asked for fails with code [CodeUnknownJob].
func (c *Client) Job(id string) *Job { return &Job{client: c, id: id} }

// Jobs returns the jobs of this client's key, the newest first, as many as the service lists.
func (c *Client) Jobs(ctx context.Context) ([]JobStatus, error) {
	answer, err := get[struct {
		Jobs []jobInput `json:"jobs"`
	}](ctx, c, jobsPath)
	if err != nil {
		return nil, err
	}
	list := make([]JobStatus, len(answer.Jobs))
	for i, in := range answer.Jobs {
		list[i] = in.status()
	}
	return list, nil
}

// ID finds the job again, in this process or another. Whoever knows it, and has the key that
// submitted the job where keys are needed, gets the results.
func (j *Job) ID() string { return j.id }

// Status returns how the job is now. It fails with code [CodeUnknownJob] where the service does
// not know the job, or not any more. Tries are as for [Client.Translate].
func (j *Job) Status(ctx context.Context) (JobStatus, error) {
	answer, err := ask(ctx, j.client, newCall(j.path()), j.read)
	if err != nil {
		return JobStatus{}, err
	}
	return answer.Job.status(), nil
}

// Wait returns the results of the job as soon as it has ended: what [Client.Translate] would have
// returned. They stay with the service, so that Wait may be called again. It waits as long as ctx
// allows, also while the service restarts or cannot be reached: see [Job.Events].
//
// A job that failed is an [*Error], one that was cancelled [ErrCancelled]. Where ctx is done, Wait
// fails with its error, and the job goes on.
func (j *Job) Wait(ctx context.Context) ([]Result, error) {
	if err := j.finish(ctx); err != nil {
		return nil, err
	}
	return askOn(ctx, j.client, newCall(j.path()), j.results)
}

// finish waits until the job is done, and fails where it never will be.
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

// Cancel ends the job, or removes it with its results where it has ended already: nil is either.
// Tries are as for [Client.Translate].
func (j *Job) Cancel(ctx context.Context) error {
	return j.client.remove(ctx, j.path(), CodeUnknownJob)
}

func (j *Job) path() string { return jobsPath + "/" + url.PathEscape(j.id) }

// jobInput is a job as the service writes it.
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
	Result []resultInput `json:"result"` // of a job that is done
}

// readJob reads an answer about some job.
func readJob(raw []byte) (jobAnswer, error) {
	answer, err := decode[jobAnswer](raw)
	if err == nil && (answer.Job.ID == "" || answer.Job.State == "") {
		err = invalid("the job has no id or no state")
	}
	return answer, err
}

// read reads an answer about this job.
func (j *Job) read(raw []byte) (jobAnswer, error) {
	answer, err := readJob(raw)
	if err == nil && answer.Job.ID != j.id {
		err = invalid("it is about job %.100q, expected %.100q", answer.Job.ID, j.id)
	}
	return answer, err
}

// results reads the answer about a job that is done.
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
