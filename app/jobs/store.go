package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dragoman/app/fault"
)

// Errors of a [Store]. Any other error means that the store does not work at present.
var (
	// ErrUnknown is also the error of a job that has been removed.
	ErrUnknown error = fault.New(fault.UnknownJob, "", "there is no such job: its id is wrong, it is another key's, or it has expired")
	// ErrForgotten is an ErrUnknown, and means that no such job was removed in the last hour or has expired.
	ErrForgotten = fmt.Errorf("%w, nor a trace of it", ErrUnknown)
	ErrLost      = errors.New("the job is not this runner's any more") // the job was cancelled or removed, or another runner has it
	// ErrMismatch means that the idempotency key was used for another request of the same owner.
	ErrMismatch error = fault.New(fault.IdempotencyMismatch, "", "Idempotency-Key was used for another request: send another key, or the same request")
	ErrEnded          = errors.New("the job has ended")
	ErrActive         = errors.New("the job has not ended")
)

// TooMany returns the error of an owner who has too many jobs.
func TooMany(most int) error {
	return fault.New(fault.TooManyJobs, "", "there are %d jobs already, ended ones included, and no more are allowed: delete some, or wait until they expire", most)
}

// NoSpace returns the error of a job that does not fit beside the jobs of all owners.
func NoSpace(most int64) error {
	return fault.New(fault.NoJobs, "", "jobs would take more than %d bytes: try again when others have ended and expired, or raise JOB_STORAGE", most)
}

// StoreConfig configures every store.
type StoreConfig struct {
	TTL      time.Duration    // time that a job is kept after it has ended
	PerOwner int              // maximum number of jobs of an owner, ended ones included
	MaxBytes int64            // maximum bytes reserved by all jobs; see [Draft.Bytes]
	Now      func() time.Time // nil: the clock of the store
}

// Draft is a job to be created.
type Draft struct {
	ID    string // unguessable
	Owner string
	// Key is the idempotency key, "" for none: as long as the job exists, no other job of the same owner with the same key is
	// created. Fingerprint tells whether another draft with the key is for the same job.
	Key, Fingerprint string
	Request          Request
	Progress         Progress
	Input            [][]byte  // the slices, followed by the terms if the request has a glossary
	Document         *Document // nil: there is none
	File             [][]byte  // the document's parts
	Bytes            int64     // reserved for the job until its removal: its input, file and results
	// Lease creates a job that is claimed from [Awaited] for this time; 0: the job goes to [Work].
	Lease time.Duration
	// Problem creates a job that has failed, which is in no list and no limit of its owner. nil: the job is to be run.
	Problem *Problem
}

// Tally counts the results of a chunk.
type Tally struct {
	Results int
	Flagged int // results with flags after all retries
}

// Queue is a list of jobs that wait for a claim.
type Queue string

// Queues of a store.
const (
	Work     Queue = "work"     // jobs that have not ended, to be run
	Delivery Queue = "delivery" // ended jobs whose webhook has not been told
	// Awaited has jobs that a request waits for. Their maker runs them, and holds the claim as long as the request lasts: a job
	// without a claim is removed.
	Awaited Queue = "awaited"
)

// Claim is the exclusive right to a job for a time.
type Claim struct {
	Job   Job // state of the job at the time of the claim
	Queue Queue
	Token uint64 // distinguishes the claims of a job; each token is greater than earlier ones
}

// Store keeps jobs. It is safe for concurrent use, also by several processes if the store can be shared; each change of a method
// is atomic. A method that fails with an error other than the Err values above may have done its work.
//
// A job is in [Work] from its creation to its end, and then in [Delivery] if its request names a webhook; or it is in [Awaited].
// A queue has a time for each of its jobs, before which the job cannot be claimed: the time at which the job entered the queue,
// the end of its claim while it has one, or the time set by [Store.Release].
type Store interface {
	// Create creates a queued job. If the owner has a job with the same key, Create returns that job with created false, or
	// ErrMismatch if the fingerprint differs. Otherwise the error is [TooMany] if the owner has too many jobs, or [NoSpace].
	Create(ctx context.Context, d Draft) (job Job, created bool, err error)
	// Room returns the error of Create that existing jobs would cause, unless the owner has a job with the key.
	Room(ctx context.Context, d Draft) error
	// Find returns the job for which an owner's idempotency key was used. The error is ErrUnknown, or ErrMismatch if the
	// fingerprint differs.
	Find(ctx context.Context, owner, key, fingerprint string) (Job, error)
	// Get returns a job. The error is ErrUnknown if there is no such job, or it has expired. The error is ErrForgotten if the
	// store may lose jobs, and may have lost this one.
	Get(ctx context.Context, id string) (Job, error)
	// List returns the jobs of an owner, the newest first, at most most of them, as parsed by [ParseHead].
	List(ctx context.Context, owner string, most int) ([]Job, error)
	// Input returns an element of [Draft.Input], from 0 on, of a job that has not ended. The error is ErrUnknown if the element
	// does not exist (any more).
	Input(ctx context.Context, id string, slice int) ([]byte, error)
	// Result returns a chunk of results, from 0 on, of a job that is done or not ended. The error is ErrUnknown if the chunk does
	// not exist (any more).
	Result(ctx context.Context, id string, chunk int) ([]byte, error)
	// File returns an element of [Draft.File], from 0 on, of a job that is done or not ended. The error is ErrUnknown if the
	// element does not exist (any more).
	File(ctx context.Context, id string, part int) ([]byte, error)

	// Claim claims the job of a queue with the earliest time, for the time of the lease: until then only the caller may work on
	// it. A queued job changes to running. Claim waits for a job until ctx is done, and then fails with ctx's error.
	Claim(ctx context.Context, from Queue, lease time.Duration) (Claim, error)
	// Renew extends a claim to the time of a lease from now. It fails with ErrLost, as do the methods below, if the claim is not
	// the job's last one or the job has left its queue. A claim whose lease has ended can be renewed until another runner claims
	// the job.
	Renew(ctx context.Context, c Claim, lease time.Duration) error
	// Save adds chunk number n, which has these results, and sets [Job.Attempts] and [Job.Alone] to 0. n must be the number of
	// existing chunks; otherwise the call changes nothing: chunk n was saved by an earlier try of the call, or the error is
	// ErrLost.
	Save(ctx context.Context, c Claim, n int, chunk []byte, results Tally) error
	// Try notes that a record of the next slice, from 1 on, is translated by itself from now on; 0: no record is. See
	// [Job.Alone]. The next claim is possible after the time of a lease, which doubles with each further try of the same record.
	Try(ctx context.Context, c Claim, record int, lease time.Duration) error
	// End ends a job that was claimed from Work or Awaited: as Done, or as Failed with a problem. The job's input is removed, and
	// so are its file and results unless the job is done. A job of Awaited stays there.
	End(ctx context.Context, c Claim, state State, problem *Problem) error
	// Release returns a job to its queue, to be claimed after a time.
	Release(ctx context.Context, c Claim, after time.Duration) error
	// Delivered removes an ended job from Delivery or Awaited.
	Delivered(ctx context.Context, c Claim) error

	// Cancel ends a job as Cancelled, and removes its input, file and results. The error is ErrUnknown, or ErrEnded with the job.
	Cancel(ctx context.Context, id string) (Job, error)
	// Remove removes an ended job, and its key. The error is ErrUnknown or ErrActive.
	Remove(ctx context.Context, id string) error
	// Watch returns a channel that receives an element soon after each change of a job, by any process, from now until ctx is
	// done. Successive changes may share one element; there may be elements without a change.
	Watch(ctx context.Context, id string) <-chan struct{}
	// Sweep removes expired jobs, and jobs of Awaited whose claim has ended, and returns the number of jobs by state.
	Sweep(ctx context.Context) (map[State]int, error)
	Close() error
}
