// Package jobs has translations that outlive the request: they are submitted now, run in the
// background and are fetched later.
//
// A [Store] keeps the jobs, in one file or in Redis. A [Service] is what the API works with: it
// checks and stores what is submitted, and runs it: each process that may run jobs takes them from
// the store, one slice of records after the other, and saves what came of each before it goes on.
// So a job goes on where it was, whichever process ends.
//
//	job.go      what a job is
//	store.go    what keeps jobs
//	document.go the file that a job is about
//	service.go  submitting, reading, cancelling
//	slices.go   a request in parts that are translated and saved one by one
//	runner.go   takes jobs, and keeps them while they run
//	steps.go    runs them, step by step
//	await.go    runs a job for the request that waits for it
//	alone.go    finds the record that ends processes
//	deliver.go  tells webhooks how jobs have ended
package jobs

import (
	"time"

	"dragoman/app/translate"
)

// State is how far a job is.
type State string

// The states of a job.
//
//	Queued ──▶ Running ──▶ Done
//	  │           ├──────▶ Failed
//	  └───────────┴──────▶ Cancelled
const (
	Queued    State = "queued"    // no runner has had it yet
	Running   State = "running"   // it has begun; it may wait for a runner again
	Done      State = "done"      // all results are there
	Failed    State = "failed"    // see [Job.Problem]; there are no results
	Cancelled State = "cancelled" // its owner did not want it any more; there are no results
)

// States are all states.
func States() []State { return []State{Queued, Running, Done, Failed, Cancelled} }

// Ended says whether a job stays in the state until it expires.
func (s State) Ended() bool { return s == Done || s == Failed || s == Cancelled }

// Request is what a job is to do.
type Request struct {
	// Request is without records: they are the job's slices. Its caller is who shares of the
	// engines are given to.
	translate.Request
	Detail    bool   // results say how they were made
	Languages bool   // results name their language
	Webhook   string `json:",omitempty"` // URL that is told how the job has ended; "": none
	// Glossary says that the terms of each target language are the part of the input behind the
	// slices; see [Submission.Terms].
	Glossary bool `json:",omitempty"`
}

// Progress is how much there is to do and how much is done.
type Progress struct {
	Records    int // results that there will be: records × target languages
	Done       int // results that are saved
	Flagged    int // of them, those that something is still wrong with after all retries
	Characters int // of all records, as they are charged
}

// Problem is why a job failed, as it is told to its owner.
type Problem struct {
	Code    string
	Field   string `json:",omitempty"` // the part of the request that is meant
	Message string
}

// Job is a translation in the background. It is plain data.
type Job struct {
	ID       string
	Owner    string // who submitted it
	State    State
	Created  time.Time
	Started  time.Time // when the first runner took it; zero before
	Saved    time.Time // when results were last saved; zero before
	Finished time.Time // when it ended; zero before
	Expires  time.Time // when it is forgotten; zero before it has ended
	Progress Progress
	Problem  *Problem `json:",omitempty"` // of one that failed
	Request  Request
	Document *Document `json:",omitempty"` // that its records are the texts of; nil: there is none

	// Slices are the parts that its records are divided into; see [Store.Input]. There is a chunk
	// of results for each slice and target language, all slices of the first language before
	// those of the second.
	Slices int
	// Chunks are how many of these are saved, and behind them of the document that was made; see
	// [Store.Result]. The next one is to be made.
	Chunks int
	// Attempts are how many claims in its present queue have brought nothing, the present one
	// included. What runners give back in order is not counted in [Work], and is in [Delivery].
	Attempts int
	// Alone is the record of the next slice, from 1 on, that is translated by itself, and was when
	// the claim before this ended; 0: none. Tries are how often in a row it was begun.
	Alone int `json:",omitempty"`
	Tries int `json:",omitempty"`
}

// Steps are how many chunks of results the job has when it is done.
func (j Job) Steps() int { return j.Slices * len(j.Request.To) }
