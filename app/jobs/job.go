// Package jobs has translations that outlive the request: clients submit them, the service runs them in the background, and
// clients fetch the results later.
//
// A [Store] keeps the jobs, in one file or in Redis. The API uses a [Service], which checks, stores and runs submitted jobs: each
// process that may run jobs takes them from the store, one slice of records after the other, and saves the results of each slice
// before the next. So a job continues where it was, whichever process ends.
//
//	job.go       the data of a job
//	store.go     the interface of stores
//	document.go  the file of a job
//	service.go   submitting, reading, cancelling
//	storage.go   the store with the process's own knowledge of it
//	slices.go    a request in parts that are translated and saved one by one
//	runner.go    takes jobs, and keeps their claims while they run
//	execution.go runs them, chunk by chunk
//	await.go     runs a job for the request that waits for it
//	alone.go     finds the record that ends processes
//	deliver.go   tells webhooks how jobs have ended
package jobs

import (
	"time"

	"dragoman/app/translate"
)

// State is the state of a job.
type State string

// States of a job.
//
//	Queued ──▶ Running ──▶ Done
//	  │           ├──────▶ Failed
//	  └───────────┴──────▶ Cancelled
const (
	Queued    State = "queued"    // no runner has had it yet
	Running   State = "running"   // begun; the job may wait for a runner again
	Done      State = "done"      // all results exist
	Failed    State = "failed"    // see [Job.Problem]; there are no results
	Cancelled State = "cancelled" // by its owner; there are no results
)

// States returns all states.
func States() []State { return []State{Queued, Running, Done, Failed, Cancelled} }

// Ended reports whether a job stays in the state until it expires.
func (s State) Ended() bool { return s == Done || s == Failed || s == Cancelled }

// Request is the work of a job.
type Request struct {
	// Request has no records: they are the job's slices. Its caller is the one whose share of the engines the job takes.
	translate.Request
	Detail    bool   // results tell how they were made
	Languages bool   // results name their language
	Webhook   string `json:",omitempty"` // URL to be told how the job has ended; "": none
	// Glossary is set if the terms of each target language are the part of the input after the slices; see [Submission.Terms].
	Glossary bool `json:",omitempty"`
}

// Progress is the progress of a job.
type Progress struct {
	Records    int // expected number of results: records × target languages
	Done       int // results that are saved
	Flagged    int // saved results with flags after all retries
	Characters int // of all records, as charged
}

// Problem is the reason why a job failed, for its owner.
type Problem struct {
	Code    string
	Field   string `json:",omitempty"` // the part of the request that causes the problem
	Message string
}

// Job is a translation in the background. It is plain data.
type Job struct {
	ID       string
	Owner    string // submitter of the job
	State    State
	Created  time.Time
	Started  time.Time // when the first runner took the job; zero before
	Saved    time.Time // when results were last saved; zero before
	Finished time.Time // when the job ended; zero before
	Expires  time.Time // removal time; zero before its end
	Progress Progress
	Problem  *Problem `json:",omitempty"` // of a failed job
	Request  Request
	Document *Document `json:",omitempty"` // the file whose texts are the records; nil: none

	// Slices is the number of parts of the job's records; see [Store.Input]. There is a chunk of results for each slice and
	// target language, all slices of the first language before those of the second.
	Slices int
	// Chunks is the number of saved chunks, those of the finished document included; see [Store.Result]. The next chunk has this
	// number.
	Chunks int
	// Attempts is the number of claims without a result in the job's present queue, the present claim included. Claims that
	// runners release in order are not counted in [Work], but in [Delivery].
	Attempts int
	// Alone is the record of the next slice, from 1 on, that is translated by itself, and was when the previous claim ended; 0:
	// none. Tries is the number of times in a row that the record was begun.
	Alone int `json:",omitempty"`
	Tries int `json:",omitempty"`
}

// ResultChunks returns the number of chunks of results of a job that is done.
func (j Job) ResultChunks() int { return j.Slices * len(j.Request.To) }
