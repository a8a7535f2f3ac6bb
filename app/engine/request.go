package engine

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"dragoman/app/schedule"
	"dragoman/model/prompt"
	"dragoman/model/search"
)

// Request describes the caller of a stream of sentences, and their expected cost.
type Request struct {
	// Caller is the name of the caller whose share of the engine the request takes. Callers are served equally, however much each
	// asks for.
	Caller   string
	Priority schedule.Priority
	// Tokens is the number of source tokens of all the request's jobs, as far as known in advance. It is used to estimate whether
	// the request can end in time. 0: unknown.
	Tokens int
	// Beams is the number of beams of most of the request's jobs; 0 counts as 1.
	Beams int
	// More, if not nil, keeps the request open, and admitted, while it has no jobs. A value received from More means that there
	// may be more jobs: the function next is called again at once. Once More is closed, or if it is nil, the request ends as soon
	// as all its jobs have results and next returns no more.
	More <-chan struct{}
}

// Work returns the cost of source tokens of the request. A row takes about as many steps as its source has tokens, and a sentence
// has a row for each beam.
func (r Request) Work(tokens int) float64 { return float64(tokens) * float64(max(1, r.Beams)) }

// Job is one sentence to translate.
type Job struct {
	Source []int64 // encoder ids: language token, pieces, </s>
	Prefix []int64 // forced decoder ids: decoder start and, with most models, the target language
	Search search.Options
	// Phrases must occur in the translation, unless it is cut off at the maximum length. A job with phrases uses constrained
	// search, which needs several beams.
	Phrases []search.Phrase
	// Guide is what a language model is told beside the text; nil: nothing. Engines of other models ignore it.
	Guide *prompt.Guide
}

// Result is a decoded sentence.
type Result struct {
	search.Result
	Queued   time.Duration // from the call of next to the admission of the sentence to the batch
	Computed time.Duration // from its admission to its result
	// Shared is set if the sentence was decoded for another, identical one, and this is a copy of its result.
	Shared bool
	// First is set for the first of the sentences that joined the batch together, so the number of results with First is the
	// number of joins.
	First bool
	// Fault is what is wrong with the answer of a language model. With [prompt.Refused] there is no translation.
	Fault prompt.Fault
}

// validateJob refuses jobs that would fail in the batch, where other sentences would fail with them.
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

// checkIDs checks tokens against a vocabulary of some rows.
func checkIDs(ids []int64, rows int) error {
	for i, id := range ids {
		if id < 0 || id >= int64(rows) {
			return fmt.Errorf("id %d at position %d is outside the vocabulary of %d", id, i, rows)
		}
	}
	return nil
}
