package search

import (
	"cmp"
	"fmt"
	"math"

	"dragoman/model"
)

// EarlyStopping selects when a beam search ends that could continue.
type EarlyStopping string

const (
	// StopEarly ends once there are as many finished sentences as beams.
	StopEarly EarlyStopping = "true"
	// StopUnlikely ends once the best running beam, at its present length, would not beat the worst of as many finished sentences
	// as beams: a heuristic.
	StopUnlikely EarlyStopping = "false"
	// StopNever ends once no running beam can beat the worst of as many finished sentences as beams, at any length.
	StopNever EarlyStopping = "never"
)

// Options are the settings of a search. Names and meanings are those of Hugging Face's generation config; lengths are in decoder
// tokens, including the forced prefix and the end token.
type Options struct {
	// Beams is the number of hypotheses followed; 1 is greedy search.
	Beams int
	// MaxLength is the maximum length of a sentence.
	MaxLength int
	// MinLength is the minimum length of a sentence: the end token is banned before; 0 means no minimum.
	MinLength int
	// LengthPenalty is the exponent of the length by which a score is divided: above 0 favours long sentences, 0 compares plain
	// sums.
	LengthPenalty float64
	// EarlyStopping has no effect on greedy search.
	EarlyStopping EarlyStopping
	// NoRepeatNgramSize is n: no sequence of n tokens may occur twice in a translation, forced prefix included; 0 disables it. As
	// in Hugging Face, the decoder's start token counts: with n = 1, a model that starts with its end token can never end a
	// sentence itself.
	NoRepeatNgramSize int
	// RepetitionPenalty, at least 1, divides the positive scores of tokens that the sentence has already, and multiplies their
	// negative scores; 1 disables the penalty.
	RepetitionPenalty float64
	// Hypotheses is the number of beams in the [Result], at most all, best first, like num_return_sequences; 0 means 1.
	// Hypotheses changes nothing else.
	Hypotheses int
}

// DefaultOptions returns a checkpoint's own settings. A missing setting (zero beams, zero repetition penalty, no early stopping)
// is disabled.
func DefaultOptions(g model.Generation) Options {
	return Options{
		Beams:             cmp.Or(g.Beams, 1),
		MaxLength:         g.MaxLength,
		MinLength:         g.MinLength,
		LengthPenalty:     g.LengthPenalty,
		EarlyStopping:     cmp.Or(EarlyStopping(g.EarlyStopping), StopUnlikely),
		NoRepeatNgramSize: g.NoRepeatNgramSize,
		RepetitionPenalty: cmp.Or(g.RepetitionPenalty, 1),
	}
}

// Validate returns an error for the first setting that no search supports.
func (o Options) Validate() error {
	const maxCells = 1 << 24 // rows × tokens: far above practical use, far below an overflow
	switch {
	case o.Beams < 1:
		return fmt.Errorf("beams is %d: use 1 for greedy search or more for beam search", o.Beams)
	case o.Hypotheses < 0 || o.Hypotheses > o.Beams:
		return fmt.Errorf("hypotheses is %d: use 0 to the number of beams, %d", o.Hypotheses, o.Beams)
	case o.MaxLength < 1:
		return fmt.Errorf("max length is %d: use at least 1", o.MaxLength)
	case o.Beams > maxCells/o.MaxLength:
		return fmt.Errorf("beams × max length is %d × %d: keep the product below %d", o.Beams, o.MaxLength, maxCells)
	case o.MinLength < 0 || o.MinLength > o.MaxLength:
		return fmt.Errorf("min length is %d: use 0 to the max length, %d", o.MinLength, o.MaxLength)
	case o.NoRepeatNgramSize < 0:
		return fmt.Errorf("no-repeat n-gram size is %d: use 0 for off or more", o.NoRepeatNgramSize)
	case !(o.RepetitionPenalty >= 1 && o.RepetitionPenalty <= math.MaxFloat32):
		return fmt.Errorf("repetition penalty is %v: use 1 for off or more; rewarding repetition is not supported",
			o.RepetitionPenalty)
	}
	switch o.EarlyStopping {
	case StopEarly, StopUnlikely, StopNever:
	default:
		return fmt.Errorf("early stopping is %q: use true, false or never", o.EarlyStopping)
	}
	// Scores are float32, so length^penalty must be a float32 other than 0.
	if p := math.Pow(float64(o.MaxLength), math.Abs(o.LengthPenalty)); !(p <= math.MaxFloat32) {
		return fmt.Errorf("length penalty is %v: %d tokens to that power do not fit a float32; use a value near 1",
			o.LengthPenalty, o.MaxLength)
	}
	return nil
}
