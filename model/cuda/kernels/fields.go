package kernels

// #include "kernels.h"
import "C"

// Lanes is the number of candidates in a page of them.
const Lanes = C.WARP

// The fields of what a run is fed, int32 [fields, rows]; kernels.h says what they mean.
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

// MostHeadDim is the largest head that attention can have.
const MostHeadDim = C.SLICES * C.WARP
