package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/fault"
	"dragoman/app/jobs"
	"dragoman/app/wait"
)

const (
	// betweenEvents is the minimum interval between two events of a job.
	betweenEvents = 250 * time.Millisecond
	// keepAlive is the maximum silence of an event stream, so that proxies keep it open, and a client that has left is noticed.
	keepAlive = 15 * time.Second
)

// events serves GET /jobs/ID/events: the job at once and after each change, until it has ended. A stream that ends earlier was
// cut off, for example at the end of the service.
func (j *jobsAPI) events(c *gin.Context) (any, error) {
	defer j.streams.Add(-1)
	if j.streams.Add(1) > mostJobStreams {
		return nil, fault.New(fault.Busy, "", "too many clients are watching jobs: ask for the job from time to time instead")
	}
	ctx, cancel := context.WithCancel(c.Request.Context())
	defer cancel()
	stop := context.AfterFunc(j.ending, cancel)
	defer stop()
	changed := j.jobs.Watch(ctx, c.Param("id"))
	job, err := j.ownJob(c)
	if err != nil {
		return nil, err
	}
	out := &eventWriter{c: c, events: true}
	if c.Request.Method == http.MethodHead {
		out.begin()
	} else {
		j.follow(ctx, out, job, changed)
	}
	return nil, nil
}

// follow sends a job and its changes, until it has ended or the client has left.
func (j *jobsAPI) follow(ctx context.Context, out *eventWriter, job jobs.Job, changed <-chan struct{}) {
	sent := jobs.Job{}
	for {
		if !sameForClients(sent, job) {
			if out.send("job", gin.H{"job": jobOf(job)}) != nil {
				return
			}
			sent = job
		}
		if job.State.Ended() || !wait.For(ctx, betweenEvents) || !await(ctx, out, changed) {
			return
		}
		now, err := j.jobs.Get(ctx, job.ID)
		switch {
		case err == nil:
			job = now
		case errors.Is(err, jobs.ErrUnknown), ctx.Err() != nil:
			return
		case !wait.For(ctx, time.Second): // the store is briefly unavailable
			return
		}
	}
}

// sameForClients reports whether two states of a job are equal in answers.
func sameForClients(a, b jobs.Job) bool {
	return a.ID == b.ID && a.State == b.State && a.Progress == b.Progress
}

// await waits for a change, or for the maximum silence. It reports whether the stream continues.
func await(ctx context.Context, out *eventWriter, changed <-chan struct{}) bool {
	select {
	case <-changed:
		return true
	case <-time.After(keepAlive):
		return out.comment() == nil
	case <-ctx.Done():
		return false
	}
}
