// Package model defines an encoder/decoder translation model: its sizes ([Spec]), its exported folder ([Manifest]) and the step
// interface used by search and scheduling ([Model], [Batch]).
//
// Packages model/cpu and model/cuda run such a model on ONNX Runtime; tests use fakes.
package model

import (
	"fmt"
	"slices"
)

// Upper limits of a model's sizes, twice to eight times the sizes of the largest models (M2M100 12B, NLLB-200 54B), so that a
// file cannot make the program allocate too much.
const (
	LimitVocab     = 1 << 20
	LimitWidth     = 1 << 13 // of the hidden states
	LimitFFN       = 1 << 16
	LimitLayers    = 128 // of the encoder, and of the decoder
	LimitHeads     = 1 << 8
	LimitInner     = 1 << 15 // of all heads together
	LimitPositions = 1 << 13
	LimitShortlist = 1 << 26
)

// Spec has the sizes and special ids of a model. All fields are read from a checkpoint's config.json and generation_config.json;
// nothing is assumed.
type Spec struct {
	VocabSize    int   `json:"vocab_size"`    // rows of the decoder's embedding, including languages and unused rows
	DModel       int   `json:"d_model"`       // width of the hidden states
	Encoder      Stack `json:"encoder"`       //
	Decoder      Stack `json:"decoder"`       //
	MaxPositions int   `json:"max_positions"` // longest source or target, in tokens
	// EmbedScale is the factor of the token embeddings: √DModel, or 1 if scale_embedding is false.
	EmbedScale float32 `json:"embed_scale"`
	// TiedHead reports whether the LM head is the decoder's embedding.
	TiedHead bool `json:"tied_head"`

	// Parts of the network. The zero values are M2M100's, whose manifests lack these fields.

	// SourceVocab is the number of rows of the encoder's embedding if the encoder has its own; 0: encoder and decoder share one
	// embedding.
	SourceVocab   int        `json:"source_vocab,omitempty"`
	PostNorm      bool       `json:"post_norm,omitempty"`      // a norm after each block, none before it or at the end of a stack
	EmbeddingNorm bool       `json:"embedding_norm,omitempty"` // a norm after the embeddings of each stack
	Activation    Activation `json:"activation,omitempty"`
	Positions     Positions  `json:"positions,omitempty"`
	LogitsBias    bool       `json:"logits_bias,omitempty"` // the LM head has a bias
	// For relative positions: the number of buckets of distances, and the distance from which on all distances count as equal.
	Buckets     int  `json:"buckets,omitempty"`
	MaxDistance int  `json:"max_distance,omitempty"`
	RMSNorm     bool `json:"rms_norm,omitempty"` // norms neither subtract the mean nor have a bias
	Unbiased    bool `json:"unbiased,omitempty"` // linear layers have no bias
	Unscaled    bool `json:"unscaled,omitempty"` // queries are not divided by the root of the heads' width
	Gated       bool `json:"gated,omitempty"`    // feed-forward blocks multiply their activation by a linear layer
	// Epsilon is the number that layer norms add to the variance; 0: 1e-5, and for RMS norms 1e-6.
	Epsilon    float32 `json:"epsilon,omitempty"`
	ScaledHead bool    `json:"scaled_head,omitempty"` // the input of the LM head is divided by √DModel
	Recurrent  bool    `json:"recurrent,omitempty"`   // the decoder has simpler simple recurrent units in place of self-attention

	Shortlist Shortlist `json:"shortlist,omitzero"`

	BOS          int64 `json:"bos"`
	Pad          int64 `json:"pad"`
	EOS          int64 `json:"eos"`
	DecoderStart int64 `json:"decoder_start"`

	NeverPad    bool `json:"never_pad,omitempty"`   // the padding token is not generated
	Renormalize bool `json:"renormalize,omitempty"` // and has no probability, so that the others are normalized without it
	ForcedEnd   bool `json:"forced_end,omitempty"`  // the last token of maximum length is the end token, whatever its probability

	Generation Generation `json:"generation"`
}

// Activation is the function between the two layers of a feed-forward block.
type Activation string

// Activation functions.
const (
	ReLU  Activation = ""
	Swish Activation = "swish" // x · sigmoid(x), also called SiLU
	GELU  Activation = "gelu"  // x · Φ(x), Φ being the normal distribution's
	// GELUTanh approximates GELU by a formula with tanh, with an error of some 0.0005.
	GELUTanh Activation = "gelu_tanh"
)

// Positions is the kind of position embedding.
type Positions string

// Position embeddings of width d. The first two have sines in the first half of a row, cosines in the second, of frequencies that
// fall from 1.
const (
	// FairseqPositions have the frequencies 10000^(-i/(d/2-1)), and the first position is the padding id + 1.
	FairseqPositions Positions = ""
	// OriginalPositions, of "Attention is all you need", have the frequencies 10000^(-2i/d), from position 0.
	OriginalPositions Positions = "original"
	// PlainPositions are Marian's: like Fairseq's, but counted from 0.
	PlainPositions Positions = "plain"
	// LearnedPositions are weights of each stack.
	LearnedPositions Positions = "learned"
	// TablePositions are weights of each stack too; the first row is that of the first position.
	TablePositions Positions = "table"
	// RelativePositions are not embedded: the distance of two tokens has a weight for each head of each stack, which is added to
	// their score in self-attention.
	RelativePositions Positions = "relative"
)

// learnedOffset is the row of the first position of LearnedPositions.
const learnedOffset = 2

// FirstPosition returns the row of the first position in the weights of positions; ok is false if there are no such weights.
func (s Spec) FirstPosition() (row int, ok bool) {
	if s.Positions == LearnedPositions {
		return learnedOffset, true
	}
	return 0, s.Positions == TablePositions
}

// SourceRows returns the number of rows of the encoder's embedding.
func (s Spec) SourceRows() int {
	if s.SourceVocab > 0 {
		return s.SourceVocab
	}
	return s.VocabSize
}

// CPUOnly reports whether the network has parts, recurrent units, that only package model/cpu computes.
func (s Spec) CPUOnly() bool {
	return s.Recurrent
}

// IsEpsilon reports whether norms can add x to the variance.
func IsEpsilon(x float64) bool { return x > 0 && x <= 1 }

// EpsilonOf returns the Epsilon of a model whose norms add x to the variance: 0 for the usual number of their kind.
func (s Spec) EpsilonOf(x float64) float32 {
	if s.RMSNorm && x == 1e-6 || !s.RMSNorm && x == 1e-5 {
		return 0
	}
	return float32(x)
}

// Check returns an error for the first invalid size or id.
func (s Spec) Check() error {
	last := int64(s.VocabSize) - 1
	for _, field := range []struct {
		name               string
		value, least, most int64
	}{
		{"vocab_size", int64(s.VocabSize), 4, LimitVocab},
		{"d_model", int64(s.DModel), 4, LimitWidth},
		{"encoder.layers", int64(s.Encoder.Layers), 1, LimitLayers},
		{"encoder.heads", int64(s.Encoder.Heads), 1, LimitHeads},
		{"encoder.head_width", int64(s.Encoder.HeadWidth), 0, LimitInner / int64(max(1, s.Encoder.Heads))},
		{"encoder.ffn", int64(s.Encoder.FFN), 1, LimitFFN},
		{"decoder.layers", int64(s.Decoder.Layers), 1, LimitLayers},
		{"decoder.heads", int64(s.Decoder.Heads), 1, LimitHeads},
		{"decoder.head_width", int64(s.Decoder.HeadWidth), 0, LimitInner / int64(max(1, s.Decoder.Heads))},
		{"decoder.ffn", int64(s.Decoder.FFN), 1, LimitFFN},
		{"source_vocab", int64(s.SourceVocab), 0, LimitVocab},
		{"max_positions", int64(s.MaxPositions), 1, LimitPositions},
		{"shortlist.first", int64(s.Shortlist.First), 0, int64(s.VocabSize)},
		{"shortlist.words", int64(s.Shortlist.Words), 0, LimitVocab},
		{"shortlist.targets", int64(s.Shortlist.Targets), 0, LimitShortlist},
		{"bos", s.BOS, 0, last},
		{"pad", s.Pad, 0, last},
		{"eos", s.EOS, 0, last},
		{"decoder_start", s.DecoderStart, 0, last},
	} {
		if field.value < field.least || field.value > field.most {
			return fmt.Errorf("%s is %d, %d to %d are supported", field.name, field.value, field.least, field.most)
		}
	}
	if s.Positions == RelativePositions && !CanBucket(s.Buckets, s.MaxDistance) {
		return fmt.Errorf("buckets is %d and max_distance %d, which do not divide distances", s.Buckets, s.MaxDistance)
	}
	if s.Encoder.HeadWidth == 0 && s.DModel%s.Encoder.Heads != 0 || s.Decoder.HeadWidth == 0 && s.DModel%s.Decoder.Heads != 0 {
		return fmt.Errorf("d_model is %d, which %d and %d heads do not divide", s.DModel, s.Encoder.Heads, s.Decoder.Heads)
	}
	if !(s.Epsilon >= 0 && s.Epsilon <= 1) {
		return fmt.Errorf("epsilon is %v, 0 to 1 is supported", s.Epsilon)
	}
	if s.Recurrent && s.DModel%2 != 0 {
		return fmt.Errorf("d_model is %d: a decoder of recurrent units needs an even one", s.DModel)
	}
	if !slices.Contains([]Activation{ReLU, Swish, GELU, GELUTanh}, s.Activation) {
		return fmt.Errorf("activation is %q, which this build does not know", s.Activation)
	}
	if !slices.Contains([]Positions{FairseqPositions, OriginalPositions, PlainPositions, LearnedPositions, TablePositions, RelativePositions}, s.Positions) {
		return fmt.Errorf("positions is %q, which this build does not know", s.Positions)
	}
	return nil
}

// The defaults for relative positions: the length of the longest source or target, which the network does not limit, and the
// distance from which on distances count as equal.
const UsualPositions, UsualDistance = 512, 128

// Shortlist has the sizes of a lexical shortlist: the translation of a source has only the first tokens and the tokens listed for
// the source's tokens. Only 8-bit exports have a shortlist.
type Shortlist struct {
	First   int `json:"first"`   // tokens
	Words   int `json:"words"`   // tokens with a list
	Targets int `json:"targets"` // total length of the lists; 0: no shortlist
}

// Shortlisted reports whether an export of this precision has a shortlist.
func (s Spec) Shortlisted(p Precision) bool { return p == INT8 && s.Shortlist.Targets > 0 }

// CanBucket reports whether distances of up to most can be divided into buckets buckets.
func CanBucket(buckets, most int) bool {
	return buckets >= 4 && buckets/2 < most && most <= LimitPositions
}

// Stack has the sizes of the encoder or of the decoder.
type Stack struct {
	Layers int `json:"layers"`
	Heads  int `json:"heads"`
	FFN    int `json:"ffn"`
	// HeadWidth is the width of a head, or 0 if all heads together are as wide as the model.
	HeadWidth int `json:"head_width,omitempty"`
}

// HeadDim returns the width of an attention head of a stack in a model of width dModel.
func (s Stack) HeadDim(dModel int) int {
	if s.HeadWidth > 0 {
		return s.HeadWidth
	}
	return dModel / s.Heads
}

// Inner returns the total width of all heads.
func (s Stack) Inner(dModel int) int {
	if s.HeadWidth > 0 {
		return s.Heads * s.HeadWidth
	}
	return dModel
}

// TokenBytes returns the bytes of a token's keys and values in one layer, in half or in single precision.
func (s Spec) TokenBytes(half bool) int {
	inner := s.Decoder.Inner(s.DModel)
	if half {
		return 2 * inner * 2
	}
	return 2 * inner * 4
}

// Generation has a checkpoint's own defaults for decoding, from generation_config.json (or, in older checkpoints, config.json).
type Generation struct {
	Beams         int     `json:"beams"`
	MaxLength     int     `json:"max_length"` // maximum number of decoder tokens, including the forced prefix
	MinLength     int     `json:"min_length"` // minimum number of decoder tokens, counted in the same way
	LengthPenalty float64 `json:"length_penalty"`
	// EarlyStopping is "true", "false" or "never", as in Hugging Face's generate().
	EarlyStopping     string  `json:"early_stopping"`
	NoRepeatNgramSize int     `json:"no_repeat_ngram_size"`
	RepetitionPenalty float64 `json:"repetition_penalty"`
}

// FFNMatrices returns the number of matrices of a feed-forward block.
func (s Spec) FFNMatrices() int {
	if s.Gated {
		return 3
	}
	return 2
}

// Parameters returns the number of the model's weights, with shared weights counted once.
func (s Spec) Parameters() int {
	d, norm, matrices, biased := s.DModel, 2*s.DModel, s.FFNMatrices(), 1
	if s.RMSNorm {
		norm = d
	}
	if s.Unbiased {
		biased = 0
	}
	attention := func(t Stack) int { return 4*d*t.Inner(d) + biased*(3*t.Inner(d)+d) + norm }
	layers := func(t Stack, others int) int {
		return t.Layers * (others + attention(t) + matrices*d*t.FFN + biased*((matrices-1)*t.FFN+d) + norm)
	}
	past := attention(s.Decoder)
	if s.Recurrent {
		past = 2*d*d + biased*2*d + norm
	}
	n := (s.VocabSize+s.SourceVocab)*d + layers(s.Encoder, 0) + layers(s.Decoder, past)
	if !s.PostNorm {
		n += 2 * norm
	}
	if s.EmbeddingNorm {
		n += 2 * norm
	}
	if first, ok := s.FirstPosition(); ok {
		n += 2 * (s.MaxPositions + first) * d
	}
	if s.Positions == RelativePositions {
		n += s.Buckets * (s.Encoder.Heads + s.Decoder.Heads)
	}
	if !s.TiedHead {
		n += s.VocabSize * d
	}
	if s.LogitsBias {
		n += s.VocabSize
	}
	return n
}

// Small reports whether a model is better served in 32 bits, since small models lose the most by rounding and are fast anyway,
// and by a copy per core, since a step has little work to share and the weights little memory.
func (s Spec) Small() bool { return s.Parameters() < 50_000_000 }
