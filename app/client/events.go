package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"time"

	"github.com/tmaxmax/go-sse"
)

const (
	eventsType = "text/event-stream"

	// maxEventBytes bounds an event of a job, which has no texts.
	maxEventBytes = 64 << 10
	// silence is how long nothing may come of a stream of events: the service writes a comment
	// several times as often where there is nothing to tell.
	silence = time.Minute
)

// errSilent ends a stream of events of which nothing comes any more.
var errSilent = errors.New("nothing has come for " + silence.String())

// Events returns how the job is now, and again after each change, until it has ended.
//
//	for status, err := range job.Events(ctx) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(status.State, status.Progress.Done, "of", status.Progress.Records)
//	}
//
// Changes come as the service tells them, a few times a second at most; those that nobody waited
// for are left out. A connection that breaks is made again, with pauses as for [Client.Translate]
// but as often as it takes: what [Config.Retries] says does not hold here, ctx is the bound. Where
// a proxy lets no events through, the service is asked again and again.
//
// An error comes at most once, as the last element, with a zero JobStatus. Leaving the loop has
// no influence on the job.
func (j *Job) Events(ctx context.Context) iter.Seq2[JobStatus, error] {
	return func(yield func(JobStatus, error) bool) {
		f := &follower{job: j, id: newCall("").id, yield: yield}
		if err := j.client.persist(ctx, f.id, func() (bool, error) { return f.try(ctx) }); err != nil && err != errLeft {
			yield(JobStatus{}, err)
		}
	}
}

// follower hands out what becomes of a job, through as many connections as it takes.
type follower struct {
	job   *Job
	id    string // of its requests
	yield func(JobStatus, error) bool
	last  JobStatus // that was handed out
	polls bool      // no events come through
}

// try makes one request. nil: the job has ended. news tells whether anything has changed.
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
			continue // of a kind that is not known here
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

// take hands out what an answer or event says, where that is new. nil: the job has ended.
func (f *follower) take(raw []byte) (news bool, err error) {
	answer, err := f.job.read(raw)
	if err != nil {
		return false, err
	}
	status := answer.Job.status()
	if status == f.last {
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

// goesOn is the error of a try that did not see the end of the job. Another may.
func (f *follower) goesOn(cause error) error {
	err := fmt.Errorf("job %s has not ended: %d of %d records are done", f.job.id, f.last.Progress.Done, f.last.Progress.Records)
	if cause != nil {
		err = fmt.Errorf("%w (%w)", err, cause)
	}
	return &connectionError{err}
}

// watched puts off the end of patience with everything that comes.
type watched struct {
	io.Reader
	patience *time.Timer
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.patience.Reset(silence)
	return n, err
}
