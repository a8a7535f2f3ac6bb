package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"reflect"
	"time"

	"github.com/tmaxmax/go-sse"
)

const (
	eventsType = "text/event-stream"

	// maxEventBytes limits an event of a job, which has no texts.
	maxEventBytes = 64 << 10
	// silence is the maximum time without data in a stream of events: the service sends a comment several times as often if there
	// is no event.
	silence = time.Minute
)

// errSilent ends a stream of events without data.
var errSilent = errors.New("nothing has come for " + silence.String())

// Events returns the current status of the job, and again after each change, until it has ended.
//
//	for status, err := range job.Events(ctx) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(status.State, status.Progress.Done, "of", status.Progress.Records)
//	}
//
// Changes come as the service sends them, at most a few times a second; changes during the body of the loop are skipped. A broken
// connection is opened again, with pauses as for [Client.Translate] but any number of times: [Config.Retries] does not apply
// here, ctx is the limit. If a proxy passes no events, the service is polled.
//
// An error comes at most once, as the last element, with a zero JobStatus. Leaving the loop does not affect the job.
func (j *Job) Events(ctx context.Context) iter.Seq2[JobStatus, error] {
	return func(yield func(JobStatus, error) bool) {
		f := &follower{job: j, id: newCall("").id, yield: yield}
		if err := j.client.persist(ctx, f.id, func() (bool, error) { return f.try(ctx) }); err != nil && err != errLeft {
			yield(JobStatus{}, err)
		}
	}
}

// follower yields the changes of a job, through any number of connections.
type follower struct {
	job   *Job
	id    string // id of its requests
	yield func(JobStatus, error) bool
	last  JobStatus // last one yielded
	polls bool      // events do not arrive
}

// try makes one request. It returns nil if the job has ended. news tells whether there was a change.
func (f *follower) try(ctx context.Context) (news bool, err error) {
	if !f.polls {
		return f.listen(ctx)
	}
	call := newCall(f.job.path())
	call.id = f.id
	raw, err := f.job.client.fetch(ctx, call)
	if err != nil {
		return false, err
	}
	return f.take(raw)
}

// listen reads the events of one connection.
func (f *follower) listen(ctx context.Context) (news bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	patience := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer patience.Stop()

	resp, err := f.job.client.send(ctx, call{method: "GET", path: f.job.path() + "/events", accept: eventsType, id: f.id})
	switch {
	case errors.Is(err, errSilent):
		f.polls = true
		return false, f.goesOn(err)
	case err != nil:
		return false, err
	}
	defer resp.Body.Close()
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != eventsType {
		f.polls = true
		return false, f.goesOn(fmt.Errorf("instead of events there came %q", kind))
	}
	received := false
	for event, err := range sse.Read(&watched{resp.Body, patience}, &sse.ReadConfig{MaxEventSize: maxEventBytes}) {
		if err != nil {
			f.polls = !received
			return news, f.goesOn(err)
		}
		if event.Type != "job" {
			continue // an event of an unknown kind
		}
		received = true
		changed, err := f.take([]byte(event.Data))
		news = news || changed
		if !outcomeUnknown(err) {
			return news, err
		}
	}
	f.polls = !received
	return news, f.goesOn(io.ErrUnexpectedEOF)
}

// take yields the status of an answer or event, if the status is new. It returns nil if the job has ended.
func (f *follower) take(raw []byte) (news bool, err error) {
	answer, err := f.job.read(raw)
	if err != nil {
		return false, err
	}
	status := answer.Job.status()
	if reflect.DeepEqual(status, f.last) {
		return false, f.goesOn(nil)
	}
	f.last = status
	switch {
	case !f.yield(status, nil):
		return true, errLeft
	case status.State.Ended():
		return true, nil
	}
	return true, f.goesOn(nil)
}

// goesOn returns the error of a try that did not see the end of the job. Another try may see it.
func (f *follower) goesOn(cause error) error {
	err := fmt.Errorf("job %s has not ended: %d of %d records are done", f.job.id, f.last.Progress.Done, f.last.Progress.Records)
	if cause != nil {
		err = fmt.Errorf("%w (%w)", err, cause)
	}
	return &connectionError{err}
}

// watched is a body that restarts the timer for silence with each read.
type watched struct {
	io.Reader
	patience *time.Timer
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.patience.Reset(silence)
	return n, err
}
