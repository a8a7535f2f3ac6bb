package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"dragoman/app/engine/fairshare"
	"dragoman/app/schedule"
	"dragoman/model"
	"dragoman/model/search"
)

// Config configures an [Engine]. All fields but Memory, Pool, QueueWait, Joints and Cores must be set.
type Config struct {
	Log *slog.Logger

	// Rows is the maximum number of hypotheses (beams of all sentences) of a caller that decode together; with several callers, a
	// third more. A sentence that needs more rows decodes alone.
	Rows int
	// MaxBeams and MaxLength limit a job: its beams, and its decoder tokens with the forced prefix.
	MaxBeams  int
	MaxLength int
	// Memory is the budget, in bytes, of the decoding state of all sentences in the batch; 0 is no limit. A sentence is admitted
	// when there is room for its whole length: beams × MaxLength × Footprint.RowToken + source tokens × Footprint.SourceToken.
	Memory int64
	// Pool provides the memory that engines share; nil: Memory is the only limit. The only sentence of an engine is always
	// admitted.
	Pool Pool
	// PrefillTokens is the number of source tokens that may join in one round while other sentences decode, and pause for the
	// encoder; four times as many while no sentence decodes. One sentence may always join.
	PrefillTokens int

	// QueueRequests is the maximum number of admitted requests, waiting or decoding. A caller may have three quarters of the
	// places that others leave; see [Admission].
	QueueRequests int
	// QueueTokens is the number of source tokens that may wait for admission to the batch. Requests share this number: a larger
	// request hands its sentences over in parts. Each request may always have one sentence waiting.
	QueueTokens int
	// QueueWait is the maximum time that others may delay a request. A request is refused if its wait would be longer, or if it
	// could not end before its deadline, at the speed of the last seconds. 0: the deadline is the only limit.
	QueueWait time.Duration

	// Joints are the word boundaries of the vocabulary: with them, the phrases of a job do not match parts of words. nil: words
	// begin and end everywhere.
	Joints search.Joints

	// Cores are shared with other engines; nil: workers take the cores that they need.
	Cores *fairshare.Model
}

// validate returns an error for the first invalid setting.
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
	if need := c.largest(m).Bytes; c.Memory > 0 && c.Memory < need {
		return fmt.Errorf("memory is %d bytes, but one sentence of %d tokens with %d beams of %d tokens can take %d: "+
			"raise memory, or lower max beams or max length", c.Memory, spec.MaxPositions, c.MaxBeams, c.MaxLength, need)
	}
	return nil
}

// largest returns the size of the largest valid sentence.
func (c Config) largest(m model.Model) schedule.Sentence {
	return sizeOf(c.MaxBeams, c.MaxLength, m.Spec().MaxPositions, m.Footprint())
}

// sizeOf returns the size of a sentence in the batch at its full length.
func sizeOf(beams, maxLength, sourceTokens int, f model.Footprint) schedule.Sentence {
	return schedule.Sentence{
		Tokens: sourceTokens, Rows: beams,
		Bytes: int64(beams)*int64(maxLength)*f.RowToken + int64(sourceTokens)*f.SourceToken,
	}
}

// Limits returns the limits for which a batch needs room.
func (c Config) Limits() model.Limits {
	return model.Limits{Rows: max(schedule.RowsFor(c.Rows), c.MaxBeams), MaxLength: c.MaxLength}
}

// Pool is memory for decoding state that the engines of several models share. It is safe for concurrent use.
type Pool interface {
	// Take takes some bytes if that many are left, or in any case if must is set.
	Take(bytes int64, must bool) (ok bool)
	// Give returns bytes that were taken.
	Give(bytes int64)
}
