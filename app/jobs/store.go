package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dragoman/app/fault"
)

// Errors of a [Store]. Every other error means that the store does not work now.
var (
	// ErrUnknown is also that of a job which is not there any more.
	ErrUnknown error = fault.New(fault.UnknownJob, "", "there is no such job: its id is wrong, it is another key's, or it has expired")
	// ErrForgotten is an ErrUnknown: no such job was removed in the last hour either, nor has it expired.
	ErrForgotten = fmt.Errorf("%w, nor a trace of it", ErrUnknown)
	ErrLost      = errors.New("the job is not this runner's any more") // it was cancelled or removed, or another has it
	// ErrMismatch means that the idempotency key is that of another request of the same owner.
	ErrMismatch error = fault.New(fault.IdempotencyMismatch, "", "Idempotency-Key was used for another request: send another key, or the same request")
	ErrEnded          = errors.New("the job has ended")
	ErrActive         = errors.New("the job has not ended")
)

// TooMany is the error of an owner's job that is one too many.
func TooMany(most int) error {
	return fault.New(fault.TooManyJobs, "", "there are %d jobs already, ended ones included, and no more are allowed: delete some, or wait until they expire", most)
}

// NoSpace is the error of a job that does not fit beside those of all owners.
func NoSpace(most int64) error {
	return fault.New(fault.NoJobs, "", "jobs would take more than %d bytes: try again when others have ended and expired, or raise JOB_STORAGE", most)
}

// StoreConfig is what every store works with.
type StoreConfig struct {
	TTL      time.Duration    // how long a job is kept after it has ended
	PerOwner int              // jobs that an owner may have, ended ones included
	MaxBytes int64            // that all jobs together may have reserved; see [Draft.Bytes]
	Now      func() time.Time // nil: the clock of where the store is
	// Replicas of the store must have a job before it is made, and have ReplicaWait for that; 0: it need
	// not have any.
	Replicas    int
	ReplicaWait time.Duration
}

// Draft is a job to be made.
type Draft struct {
	ID    string // unguessable
	Owner string
	// Key is the idempotency key, "" for none: as long as the job is there, another one of the
	// same owner with the same key is not made. Fingerprint tells whether it would be the same.
	Key, Fingerprint string
	Request          Request
	Progress         Progress
	Input            [][]byte  // the slices, and behind them the terms where the request has a glossary
	Document         *Document // nil: there is none
	File             [][]byte  // the document's parts
	Bytes            int64     // reserved for the job until it is removed: its input, file and results
	// Lease makes a job that is claimed from [Awaited] for this time; 0: it is made for [Work].
	Lease time.Duration
	// Problem makes a job that has failed: the owner has no list or limit in which it is. nil: it is to be run.
	Problem *Problem
}

// Tally is what there is in a chunk of results.
type Tally struct {
	Results int
	Flagged int // of them, those that something is still wrong with after all retries
}

// Queue is a list of jobs that wait for somebody.
type Queue string

// The queues.
const (
	Work     Queue = "work"     // jobs that have not ended, to be run
	Delivery Queue = "delivery" // jobs that have ended whose webhook does not know yet
	// Awaited has jobs that a request waits for. Their maker runs them, and claims them as long as the request lasts:
	// a job whose claim has ended is removed.
	Awaited Queue = "awaited"
)

// Claim is a job that is somebody's alone for a time.
type Claim struct {
	Job   Job // as it was when it was claimed
	Queue Queue
	Token uint64 // tells the claims of a job apart; each is greater than those before it
}

// Store keeps jobs. All of it is safe for concurrent use, also by several processes where the
// store can be shared; what a method changes, it changes as a whole or not at all. A method may
// have done its work where it fails with an error that is none of those above.
//
// A job is in [Work] from when it is made until it has ended, and then in [Delivery] where its
// request names a webhook; or it is in [Awaited]. A queue has a time for each of its jobs, before which nobody can claim
// it: when the job came into the queue, the end of its claim while it has one, or what
// [Store.Release] says.
type Store interface {
	// Create makes a queued job. Where the owner has one with the same key, that is returned,
	// created is false, and with another fingerprint the error is ErrMismatch. Otherwise the
	// error is [TooMany] where the owner has too many jobs, or [NoSpace].
	Create(ctx context.Context, d Draft) (job Job, created bool, err error)
	// Room fails as Create would because of jobs that there are, unless the owner has one with the key.
	Room(ctx context.Context, d Draft) error
	// Find returns the job that an owner's idempotency key was used for. The error is ErrUnknown,
	// or ErrMismatch where the fingerprint was another.
	Find(ctx context.Context, owner, key, fingerprint string) (Job, error)
	// Get returns a job. The error is ErrUnknown where there is none, or it has expired; ErrForgotten
	// where the store may lose jobs, and could have lost this one.
	Get(ctx context.Context, id string) (Job, error)
	// List returns an owner's jobs, the newest first, at most so many of them, as [ParseHead] reads them.
	List(ctx context.Context, owner string, most int) ([]Job, error)
	// Input returns a slice of a job that has not ended: what [Draft.Input] had, from 0 on. The
	// error is ErrUnknown where it is not there (any more).
	Input(ctx context.Context, id string, slice int) ([]byte, error)
	// Result returns a chunk of results, from 0 on, of a job that is done or not ended. The
	// error is ErrUnknown where it is not there (any more).
	Result(ctx context.Context, id string, chunk int) ([]byte, error)
	// File returns a part of the file of a job that is done or not ended: what [Draft.File] had, from 0
	// on. The error is ErrUnknown where it is not there (any more).
	File(ctx context.Context, id string, part int) ([]byte, error)

	// Claim takes the job of a queue whose time came first, for the time of the lease: only the
	// caller may go on with it until then. A queued job is running from now on. Claim waits for
	// a job until ctx is done, and fails with its error then.
	Claim(ctx context.Context, from Queue, lease time.Duration) (Claim, error)
	// Renew gives a claim the time of a lease from now. It fails with ErrLost, as do the methods
	// below, where the claim is not the job's last one or the job has left its queue. A claim
	// whose lease has ended can be renewed as long as nobody else has claimed the job.
	Renew(ctx context.Context, c Claim, lease time.Duration) error
	// Save adds chunk number n, in which these results are, and sets [Job.Attempts] and [Job.Alone] to 0. n is
	// the number of chunks that are there, else the call changes nothing: chunk n was saved by
	// an earlier try of it, or the error is ErrLost.
	Save(ctx context.Context, c Claim, n int, chunk []byte, results Tally) error
	// Try says that a record of the next slice, from 1 on, is translated by itself from now on, or
	// with 0 none: see [Job.Alone]. Who claims the job next has it after the time of a lease, and
	// after twice the time with each further try of one record.
	Try(ctx context.Context, c Claim, record int, lease time.Duration) error
	// End ends a job that was claimed from Work or Awaited: as Done, or as Failed with a problem. Its input
	// is removed, and its file and results unless it is done. It stays in Awaited.
	End(ctx context.Context, c Claim, state State, problem *Problem) error
	// Release gives a job back to its queue, where it can be claimed after a time.
	Release(ctx context.Context, c Claim, after time.Duration) error
	// Delivered takes a job that has ended out of Delivery or Awaited.
	Delivered(ctx context.Context, c Claim) error

	// Cancel ends a job as Cancelled, and removes its input, file and results. The error is ErrUnknown,
	// or ErrEnded with the job.
	Cancel(ctx context.Context, id string) (Job, error)
	// Remove forgets a job that has ended, and its key. The error is ErrUnknown or ErrActive.
	Remove(ctx context.Context, id string) error
	// Watch returns a channel that has an element soon after each change of a job, from now until
	// ctx is done, whoever makes it. Changes that follow each other may have one element
	// together; there may be elements without a change.
	Watch(ctx context.Context, id string) <-chan struct{}
	// Sweep forgets jobs that have expired and those of Awaited whose claim has ended, and says how many there are
	// of each state.
	Sweep(ctx context.Context) (map[State]int, error)
	Close() error
}
