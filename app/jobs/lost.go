package jobs

import (
	"sync"

	"dragoman/app/fault"
)

// ErrVanished is the error of an accepted job that the store has lost.
var ErrVanished error = fault.New(fault.JobLost, "", "the job was accepted, and what keeps jobs has lost it since: submit it again")

// lostCode is the code of the problem of such a job.
var lostCode = fault.New(fault.JobLost, "", "").Code()

const (
	// mostRemembered is the maximum number of jobs that a process remembers.
	mostRemembered = 10_000
	// lookedFor is the number of remembered jobs that each sweep looks up.
	lookedFor = 1000
)

// rememberedJobs are the jobs that this process has accepted or run, in their last known state: if the store has no trace of such
// a job, the store has lost it.
type rememberedJobs struct {
	mu   sync.Mutex // guards jobs
	jobs map[string]Job
}

// remember notes the state of a job. If too many jobs are remembered, another one is forgotten.
func (m *rememberedJobs) remember(job Job) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.jobs == nil {
		m.jobs = make(map[string]Job)
	}
	for id := range m.jobs {
		if _, known := m.jobs[job.ID]; known || len(m.jobs) < mostRemembered {
			break
		}
		delete(m.jobs, id)
	}
	webhook := job.Request.Webhook
	if job.State.Ended() { // the webhook was told of the end, or will be
		webhook = ""
	}
	m.jobs[job.ID] = Job{
		ID: job.ID, Owner: job.Owner, State: job.State, Created: job.Created, Expires: job.Expires, Progress: job.Progress,
		Document: job.Document.head(), Request: Request{Webhook: webhook},
	}
}

func (m *rememberedJobs) forget(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.jobs, id)
}

func (m *rememberedJobs) get(id string) (job Job, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	job, known = m.jobs[id]
	return job, known
}

// some returns the ids of some jobs, different ones each time.
func (m *rememberedJobs) some(most int) (ids []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id := range m.jobs {
		if len(ids) == most {
			break
		}
		ids = append(ids, id)
	}
	return ids
}
