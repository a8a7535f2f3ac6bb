package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"dragoman/model"
	"dragoman/model/search"
)

// Config is what an [Engine] works with. Everything but Memory, Pool, QueueWait, Joints and Cores must
// be set.
type Config struct {
	Log *slog.Logger

	// Rows are the hypotheses (beams of all sentences) of a caller that decode together at
	// most; several callers have a third more. A sentence that takes more decodes alone.
	Rows int
	// MaxBeams and MaxLength are the most that a job may ask for: beams, and
	// decoder tokens with the forced prefix.
	MaxBeams  int
	MaxLength int
	// Memory is the budget, in bytes, of the decoding state of all sentences in
	// the batch; 0 is no limit. A sentence is admitted when there is room for its
	// whole length: beams × MaxLength × Footprint.RowToken + source tokens ×
	// Footprint.SourceToken.
	Memory int64
	// Pool is where that memory comes from which engines share; nil: there is no bound but Memory.
	// A sentence is admitted in any case where it is the only one.
	Pool Pool
	// PrefillTokens are the source tokens that join in one round while others
	// decode, which stand still meanwhile; four times as many while nobody does.
	// One sentence joins in any case.
	PrefillTokens int

	// QueueRequests bounds the requests that are inside, waiting or decoding. A caller
	// may have three quarters of those places that others leave; see [Admission].
	QueueRequests int
	// QueueTokens are the source tokens that may wait to be admitted, which requests
	// share: one that has more hands them over bit by bit. Each may have a sentence
	// waiting in any case.
	QueueTokens int
	// QueueWait bounds the time that others make a request wait: it is refused when
	// that would be longer, or when it could not end before its deadline, at the speed
	// of the last seconds. 0 is no bound but the deadline.
	QueueWait time.Duration

	// Joints are those of the vocabulary, so that a job's phrases are not found in parts of words;
	// nil: words end and begin everywhere.
	Joints search.Joints

	// Cores are shared with other engines; nil: workers take what they need.
	Cores Cores
}

// validate names the first setting that does not fit.
func (c Config) validate(m model.Model) error {
	if c.Log == nil {
		return errors.New("an engine needs a logger")
	}
	for _, setting := range []struct {
		name  string
		value int
	}{
		{"rows", c.Rows}, {"max beams", c.MaxBeams}, {"prefill tokens", c.PrefillTokens},
		{"queue requests", c.QueueRequests}, {"queue tokens", c.QueueTokens},
	} {
		if setting.value < 1 {
			return fmt.Errorf("%s is %d: use at least 1", setting.name, setting.value)
		}
	}
	spec := m.Spec()
	switch {
	case c.MaxLength < 2:
		return fmt.Errorf("max length is %d: use at least 2, one forced token and one more", c.MaxLength)
	case c.MaxLength > spec.MaxPositions:
		return fmt.Errorf("max length is %d, but the model has %d positions: use at most that", c.MaxLength, spec.MaxPositions)
	case c.Memory < 0:
		return fmt.Errorf("memory is %d bytes: use 0 for no limit or more", c.Memory)
	case c.QueueWait < 0:
		return fmt.Errorf("queue wait is %s: use 0 for no bound or more", c.QueueWait)
	}
	if need := c.largest(m).bytes; c.Memory > 0 && c.Memory < need {
		return fmt.Errorf("memory is %d bytes, but one sentence of %d tokens with %d beams of %d tokens can take %d: "+
			"raise memory, or lower max beams or max length", c.Memory, spec.MaxPositions, c.MaxBeams, c.MaxLength, need)
	}
	return nil
}

// largest is the cost of the largest sentence that may come.
func (c Config) largest(m model.Model) cost {
	return costOf(c.MaxBeams, c.MaxLength, m.Spec().MaxPositions, m.Footprint())
}

// Limits are what a batch needs room for.
func (c Config) Limits() model.Limits {
	return model.Limits{Rows: max(roomFor(c.Rows), c.MaxBeams), MaxLength: c.MaxLength}
}
