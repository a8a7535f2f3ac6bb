package engine

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"dragoman/model/search"
)

// Priority says which of a caller's sentences go first, and Low also that those of
// other callers do; see queue.go for how far.
type Priority int8

// The priorities.
const (
	Low    Priority = -1
	Normal Priority = 0
	High   Priority = 1
)

// Weight is how a caller's requests share what it gets.
func (p Priority) Weight() float64 {
	switch p {
	case High:
		return 16
	case Low:
		return 1
	}
	return 4
}

// Request says who has sentences decoded, and what they will cost.
type Request struct {
	// Caller is whose share of the engine the request takes. Callers are served
	// equally, however much each asks for.
	Caller   string
	Priority Priority
	// Tokens are the source tokens of all its jobs, as far as they are known before:
	// whether it can be done in time is told by them. 0: they are not known.
	Tokens int
	// Beams is what most of its jobs have; 0 counts as 1.
	Beams int
	// More keeps the request open while it has nothing to decode: what is received from
	// it has next asked again at once, and once it is closed the request ends as it does
	// without. It keeps its place among those inside as long. nil: it ends as soon as
	// all jobs have their result and next has no more.
	More <-chan struct{}
}

// Work is what source tokens of the request cost. A row takes about as many steps as
// its source has tokens, and a sentence has a row for each beam.
func (r Request) Work(tokens int) float64 { return float64(tokens) * float64(max(1, r.Beams)) }

// Job is one sentence to translate.
type Job struct {
	Source []int64 // encoder ids: language token, pieces, </s>
	Prefix []int64 // forced decoder ids: decoder start and, with most models, the target language
	Search search.Options
	// Phrases are what the translation must have, where it comes to an end. With them the search
	// is another one, which wants some beams.
	Phrases []search.Phrase
}

// Result is a decoded sentence.
type Result struct {
	search.Result
	Queued   time.Duration // from when next handed the job out to the sentence's admission to the batch
	Computed time.Duration // from then to its result
	// Shared says that the sentence was decoded for another, identical one, and
	// that this is a copy of its result.
	Shared bool
	// First says that it was the first of the sentences that joined the batch with it, so that
	// the results that are First are as many as these joins.
	First bool
}

// validateJob refuses what would fail in the batch, where it would hit others.
func (e *Engine) validateJob(job Job) error {
	if err := job.Search.Validate(); err != nil {
		return err
	}
	spec := e.workers[0].spec
	switch opts := job.Search; {
	case opts.Beams > e.cfg.MaxBeams:
		return fmt.Errorf("%d beams, at most %d are allowed", opts.Beams, e.cfg.MaxBeams)
	case opts.MaxLength > e.cfg.MaxLength:
		return fmt.Errorf("max length is %d, at most %d is allowed", opts.MaxLength, e.cfg.MaxLength)
	case len(job.Source) == 0:
		return errors.New("the source is empty")
	case len(job.Source) > spec.MaxPositions:
		return fmt.Errorf("the source has %d tokens, the model takes at most %d", len(job.Source), spec.MaxPositions)
	case len(job.Prefix) == 0:
		return errors.New("the forced prefix is empty: it needs at least the decoder start token")
	case len(job.Prefix) >= opts.MaxLength:
		return fmt.Errorf("max length %d leaves no room after a prefix of %d tokens", opts.MaxLength, len(job.Prefix))
	}
	constraints := search.Constraints{Phrases: job.Phrases}
	if err := constraints.Validate(len(job.Prefix), job.Search.MaxLength, spec.VocabSize); err != nil {
		return err
	}
	return cmp.Or(checkIDs(job.Source, spec.SourceRows()), checkIDs(job.Prefix, spec.VocabSize))
}

// checkIDs checks tokens of a vocabulary of so many.
func checkIDs(ids []int64, rows int) error {
	for i, id := range ids {
		if id < 0 || id >= int64(rows) {
			return fmt.Errorf("id %d at position %d is outside the vocabulary of %d", id, i, rows)
		}
	}
	return nil
}
