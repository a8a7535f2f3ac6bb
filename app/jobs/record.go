package jobs

import (
	"encoding/json"
	"fmt"
	"time"
)

// Record is a job in a store, with its transitions: a store loads the record, calls one of the methods to change it, and stores
// it as a whole. A method that fails has changed nothing.
type Record struct {
	Job
	Key, Fingerprint string        `json:",omitempty"`
	Bytes            int64         // see [Draft.Bytes]
	TTL              time.Duration // TTL of the store that made the record
	Queue            Queue         // "": none
	Due              time.Time     // time from which the job can be claimed from its queue
	Token            uint64        // increases with each claim and with each event that ends a claim
}

// NewRecord returns the record of a job that is created now.
func NewRecord(d Draft, ttl time.Duration, now time.Time) *Record {
	now = stamp(now)
	slices := len(d.Input)
	if d.Request.Glossary {
		slices--
	}
	r := &Record{
		Job: Job{ID: d.ID, Owner: d.Owner, State: Queued, Created: now, Progress: d.Progress, Request: d.Request, Slices: slices, Document: d.Document},
		Key: d.Key, Fingerprint: d.Fingerprint, Bytes: d.Bytes, TTL: ttl, Queue: Work, Due: now,
	}
	switch {
	case d.Problem != nil:
		r.end(Failed, d.Problem, now)
	case d.Lease > 0:
		r.Queue = Awaited
		r.Claim(now, d.Lease)
	}
	return r
}

// ParseRecord parses a record in JSON.
func ParseRecord(raw []byte) (*Record, error) {
	r := new(Record)
	if err := json.Unmarshal(raw, r); err != nil {
		return nil, fmt.Errorf("a job cannot be read: %w", err)
	}
	return r, nil
}

// ParseHead parses only the part of a record that lists of jobs show: nothing of the request, and of a document only its name,
// kind and size.
func ParseHead(raw []byte) (*Record, error) {
	head := struct {
		*Record
		Request  struct{}
		Document *struct {
			Name, Kind string
			Bytes      int64
			HeaderKept bool
			Kept       int
			Left       []string
		}
	}{Record: new(Record)}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, fmt.Errorf("a job cannot be read: %w", err)
	}
	if d := head.Document; d != nil {
		head.Record.Document = &Document{Name: d.Name, Kind: d.Kind, Bytes: d.Bytes, HeaderKept: d.HeaderKept, Kept: d.Kept, Left: d.Left}
	}
	return head.Record, nil
}

// stamp returns a time in its stored precision.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// Expired reports whether the job is to be removed.
func (r *Record) Expired(now time.Time) bool { return r.State.Ended() && !now.Before(r.Expires) }

// Matches returns ErrMismatch if the job's idempotency key was used for another request.
func (r *Record) Matches(fingerprint string) error {
	if r.Fingerprint != fingerprint {
		return ErrMismatch
	}
	return nil
}

// HasInput reports whether the job's slices are needed.
func (r *Record) HasInput() bool { return !r.State.Ended() }

// HasResults reports whether the chunks of its results and its file are needed.
func (r *Record) HasResults() bool { return !r.State.Ended() || r.State == Done }

// Claim claims the job; see [Store.Claim].
func (r *Record) Claim(now time.Time, lease time.Duration) Claim {
	if r.State == Queued {
		r.State, r.Started = Running, stamp(now)
	}
	r.Attempts++
	r.Token++
	r.Due = stamp(now.Add(lease))
	return Claim{Job: r.Job, Queue: r.Queue, Token: r.Token}
}

// Abandoned reports whether the request that waits for the job has ended before the job.
func (r *Record) Abandoned(now time.Time) bool { return r.Queue == Awaited && !now.Before(r.Due) }

// holds returns ErrLost if a claim is not the job's current one.
func (r *Record) holds(c Claim) error {
	if r.Queue == "" || c.Token == 0 || c.Queue != r.Queue || c.Token != r.Token {
		return ErrLost
	}
	return nil
}

// Renew implements [Store.Renew].
func (r *Record) Renew(c Claim, now time.Time, lease time.Duration) error {
	if err := r.holds(c); err != nil {
		return err
	}
	if until := stamp(now.Add(lease)); until.After(r.Due) {
		r.Due = until
	}
	return nil
}

// Try implements [Store.Try]. The delay helps to find the cause: a record that ends processes does so after any delay; other
// causes, such as a rollout, are over by then.
func (r *Record) Try(c Claim, record int, now time.Time, lease time.Duration) error {
	if err := r.holds(c); err != nil {
		return err
	}
	switch {
	case r.State.Ended():
		return ErrLost
	case record == 0:
		r.Alone, r.Tries = 0, 0
	case record == r.Alone:
		r.Tries++
	default:
		r.Alone, r.Tries = record, 1
	}
	r.Due = stamp(now.Add(lease << max(0, r.Tries-1)))
	return nil
}

// Save implements [Store.Save], except for the chunk. If add is false, the chunk exists already.
func (r *Record) Save(c Claim, n int, results Tally, now time.Time) (add bool, err error) {
	if err := r.holds(c); err != nil {
		return false, err
	}
	switch {
	case r.State.Ended() || n < 0 || n > r.Chunks:
		return false, ErrLost
	case n < r.Chunks:
		return false, nil
	}
	r.Chunks++
	r.Progress.Done += results.Results
	r.Progress.Flagged += results.Flagged
	r.Attempts, r.Alone, r.Tries = 0, 0, 0
	r.Saved = stamp(now)
	return true, nil
}

// End implements [Store.End].
func (r *Record) End(c Claim, state State, problem *Problem, now time.Time) error {
	if err := r.holds(c); err != nil {
		return err
	}
	if r.State.Ended() {
		return ErrLost
	}
	r.end(state, problem, now)
	return nil
}

// Release implements [Store.Release].
func (r *Record) Release(c Claim, now time.Time, after time.Duration) error {
	if err := r.holds(c); err != nil {
		return err
	}
	if r.Queue == Work {
		r.Attempts--
		r.Tries = max(0, r.Tries-1)
	}
	r.Token++
	r.Due = stamp(now.Add(after))
	return nil
}

// Delivered implements [Store.Delivered].
func (r *Record) Delivered(c Claim) error {
	if err := r.holds(c); err != nil {
		return err
	}
	if !r.State.Ended() {
		return ErrLost
	}
	r.Queue, r.Due = "", time.Time{}
	return nil
}

// Cancel implements [Store.Cancel].
func (r *Record) Cancel(now time.Time) error {
	if r.State.Ended() {
		return ErrEnded
	}
	r.end(Cancelled, nil, now)
	return nil
}

func (r *Record) end(state State, problem *Problem, now time.Time) {
	r.State, r.Problem, r.Finished = state, problem, stamp(now)
	r.Expires = r.Finished.Add(r.TTL)
	r.Attempts, r.Alone, r.Tries = 0, 0, 0
	if r.Queue == Awaited && state != Cancelled {
		return // the claim lasts until the request has the results
	}
	r.Token++
	r.Queue, r.Due = "", time.Time{}
	if r.Request.Webhook != "" {
		r.Queue, r.Due = Delivery, r.Finished
	}
}
