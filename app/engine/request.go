package engine

import (
	"errors"
	"fmt"
	"time"

	"dragoman/model/search"
)

// Priority says whose sentences go first. See Config.Aging for how far.
type Priority int8

// The priorities.
const (
	Low    Priority = -1
	Normal Priority = 0
	High   Priority = 1
)

// Request is a list of sentences that are translated as a whole.
type Request struct {
	Jobs     []Job
	Priority Priority
	// Continued says that this is the rest of a request that was taken before: it is
	// not refused for what waits.
	Continued bool
}

// Job is one sentence to translate.
type Job struct {
	Source []int64 // encoder ids: language token, pieces, </s>
	Prefix []int64 // forced decoder ids: decoder start, target language
	Search search.Options
}

// Result is a decoded sentence.
type Result struct {
	search.Result
	Queued   time.Duration // from Translate to the sentence's admission to the batch
	Computed time.Duration // from then to its result
	// Shared says that the sentence was decoded for another, identical one, and
	// that this is a copy of its result.
	Shared bool
}

// validateJob refuses what would fail in the batch, where it would hit others.
func (e *Engine) validateJob(job Job) error {
	if err := job.Search.Validate(); err != nil {
		return err
	}
	switch opts := job.Search; {
	case opts.Beams > e.cfg.MaxBeams:
		return fmt.Errorf("%d beams, at most %d are allowed", opts.Beams, e.cfg.MaxBeams)
	case opts.MaxLength > e.cfg.MaxLength:
		return fmt.Errorf("max length is %d, at most %d is allowed", opts.MaxLength, e.cfg.MaxLength)
	case len(job.Source) == 0:
		return errors.New("the source is empty")
	case len(job.Source) > e.spec.MaxPositions:
		return fmt.Errorf("the source has %d tokens, the model takes at most %d", len(job.Source), e.spec.MaxPositions)
	case len(job.Prefix) == 0:
		return errors.New("the forced prefix is empty: it needs at least the decoder start token")
	case len(job.Prefix) >= opts.MaxLength:
		return fmt.Errorf("max length %d leaves no room after a prefix of %d tokens", opts.MaxLength, len(job.Prefix))
	}
	for _, ids := range [][]int64{job.Source, job.Prefix} {
		for i, id := range ids {
			if id < 0 || id >= int64(e.spec.VocabSize) {
				return fmt.Errorf("id %d at position %d is outside the vocabulary of %d", id, i, e.spec.VocabSize)
			}
		}
	}
	return nil
}
