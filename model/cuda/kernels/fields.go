package kernels

// #include "kernels.h"
import "C"

// Lanes is the number of candidates in a page.
const Lanes = C.WARP

// Fields of a run's feed, int32 [fields, rows]; kernels.h defines them.
const (
	Token    = C.TOKEN
	Position = C.POSITION

	Row        = C.ROW // of a decoder step, from here on
	From       = C.FROM
	To         = C.TO
	Slot       = C.SLOT
	Length     = C.LENGTH
	StepFields = C.STEP_FIELDS

	Sentence      = C.SENTENCE // of the encoder, from here on
	First         = C.FIRST
	Tokens        = C.TOKENS
	EncoderFields = C.ENCODER_FIELDS
)

// MostHeadDim is the maximum width of an attention head.
const MostHeadDim = C.SLICES * C.WARP
