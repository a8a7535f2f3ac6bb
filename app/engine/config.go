package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"dragoman/model"
)

// Config is what an [Engine] works with. Everything but Memory, QueueWait and
// Aging must be set.
type Config struct {
	// Model is used until Close returns; the caller closes it after that.
	Model model.Model
	Log   *slog.Logger

	// Rows are the hypotheses (beams of all sentences) that decode together at
	// most. A sentence that takes more decodes alone.
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
	// PrefillTokens are the source tokens that join in one round while others
	// decode, which stand still meanwhile; four times as many while nobody does.
	// One sentence joins in any case.
	PrefillTokens int

	// QueueRequests and QueueTokens bound what waits to be admitted: requests,
	// and their source tokens. What comes while the loop is in a step waits until
	// the next one, even where there is room in the batch. A request that alone
	// has more tokens is taken when nothing else waits.
	QueueRequests int
	QueueTokens   int
	// QueueWait bounds the same by time: a request is refused when what waits
	// before it would take longer than this, or than its deadline is away, at the
	// speed of late. 0 is no bound but the deadline.
	QueueWait time.Duration
	// Aging is the longest head start that a priority gives: a request is
	// overtaken by none of a higher priority that comes more than this later, or
	// half of it for neighbouring priorities. With 0 all priorities are equal.
	Aging time.Duration
}

// validate names the first setting that does not fit.
func (c Config) validate() error {
	if c.Model == nil || c.Log == nil {
		return errors.New("an engine needs a model and a logger")
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
	spec := c.Model.Spec()
	switch {
	case c.MaxLength < 2:
		return fmt.Errorf("max length is %d: use at least 2, one forced token and one more", c.MaxLength)
	case c.MaxLength > spec.MaxPositions:
		return fmt.Errorf("max length is %d, but the model has %d positions: use at most that", c.MaxLength, spec.MaxPositions)
	case c.Memory < 0:
		return fmt.Errorf("memory is %d bytes: use 0 for no limit or more", c.Memory)
	case c.QueueWait < 0:
		return fmt.Errorf("queue wait is %s: use 0 for no bound or more", c.QueueWait)
	case c.Aging < 0:
		return fmt.Errorf("aging is %s: use 0 for equal priorities or more", c.Aging)
	}
	if need := c.largest().bytes; c.Memory > 0 && c.Memory < need {
		return fmt.Errorf("memory is %d bytes, but one sentence of %d tokens with %d beams of %d tokens can take %d: "+
			"raise memory, or lower max beams or max length", c.Memory, spec.MaxPositions, c.MaxBeams, c.MaxLength, need)
	}
	return nil
}

// largest is the cost of the largest sentence that may come.
func (c Config) largest() cost {
	return costOf(c.MaxBeams, c.MaxLength, c.Model.Spec().MaxPositions, c.Model.Footprint())
}

// limits are what the batch needs room for.
func (c Config) limits() model.Limits {
	return model.Limits{Rows: max(c.Rows, c.MaxBeams), MaxLength: c.MaxLength}
}

// tokensAhead is how many source tokens may wait before a request, so that at a
// rate in tokens per second they take no longer than wait, where 0 is no bound.
// Without a rate, where nothing has ever waited, any number may.
func tokensAhead(rate float64, wait time.Duration) int {
	if wait == 0 || rate <= 0 {
		return math.MaxInt
	}
	return int(min(rate*wait.Seconds(), math.MaxInt32))
}
