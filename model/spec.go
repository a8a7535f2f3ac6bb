// Package model says what an encoder/decoder translation model is: its sizes
// ([Spec]), the exported folder it lives in ([Manifest]) and the step interface
// that search and scheduling are written against ([Model], [Batch]).
//
// Packages model/cpu and model/cuda run such a model on ONNX Runtime; tests use fakes.
package model

import (
	"fmt"
	"slices"
)

// Upper bounds of a model's sizes, twice to eight times those of the largest that exist
// (M2M100 12B, NLLB-200 54B): what a file says must not decide how much is allocated.
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

// Spec holds the sizes and special ids of a model. All of it is read
// from a checkpoint's config.json and generation_config.json; nothing is assumed.
type Spec struct {
	VocabSize    int   `json:"vocab_size"`    // rows of the decoder's embedding, languages and unused rows included
	DModel       int   `json:"d_model"`       // width of the hidden states
	Encoder      Stack `json:"encoder"`       //
	Decoder      Stack `json:"decoder"`       //
	MaxPositions int   `json:"max_positions"` // longest source or target, in tokens
	// EmbedScale multiplies the token embeddings: √DModel, or 1 where
	// scale_embedding is false.
	EmbedScale float32 `json:"embed_scale"`
	// TiedHead says that the LM head is the decoder's embedding.
	TiedHead bool `json:"tied_head"`

	// Parts of the network. Their zero values are M2M100's, whose manifests lack them.

	// SourceVocab is the number of rows of the encoder's embedding where it has one of its own; 0:
	// encoder and decoder share one.
	SourceVocab   int        `json:"source_vocab,omitempty"`
	PostNorm      bool       `json:"post_norm,omitempty"`      // a norm behind each block, none before it or at the end of a stack
	EmbeddingNorm bool       `json:"embedding_norm,omitempty"` // a norm behind the embeddings of each stack
	Activation    Activation `json:"activation,omitempty"`
	Positions     Positions  `json:"positions,omitempty"`
	LogitsBias    bool       `json:"logits_bias,omitempty"` // the LM head has a bias
	// Of relative positions: how many distances are told apart, and from which one on none are.
	Buckets     int  `json:"buckets,omitempty"`
	MaxDistance int  `json:"max_distance,omitempty"`
	RMSNorm     bool `json:"rms_norm,omitempty"` // norms neither take the mean off nor have a bias
	Unbiased    bool `json:"unbiased,omitempty"` // linear layers have no bias
	Unscaled    bool `json:"unscaled,omitempty"` // queries are not divided by the root of the heads' width
	Gated       bool `json:"gated,omitempty"`    // feed-forward blocks multiply their activation by a linear layer
	// Epsilon is what layer norms add to the variance; 0: 1e-5, and RMS norms 1e-6.
	Epsilon    float32 `json:"epsilon,omitempty"`
	ScaledHead bool    `json:"scaled_head,omitempty"` // what the LM head takes is divided by √DModel
	Recurrent  bool    `json:"recurrent,omitempty"`   // the decoder has simpler simple recurrent units in place of self-attention

	Shortlist Shortlist `json:"shortlist,omitzero"`

	BOS          int64 `json:"bos"`
	Pad          int64 `json:"pad"`
	EOS          int64 `json:"eos"`
	DecoderStart int64 `json:"decoder_start"`

	NeverPad    bool `json:"never_pad,omitempty"`   // the padding token is not generated
	Renormalize bool `json:"renormalize,omitempty"` // and has no probability
	ForcedEnd   bool `json:"forced_end,omitempty"`  // the end token is the last one of the greatest length, whatever its probability

	Generation Generation `json:"generation"`
}

// Activation is the function between the two layers of a feed-forward block.
type Activation string

// The activations.
const (
	ReLU  Activation = ""
	Swish Activation = "swish" // x · sigmoid(x), also called SiLU
	GELU  Activation = "gelu"  // x · Φ(x), Φ being the normal distribution's
	// GELUTanh is GELU by a formula with tanh, which differs from it by some 0.0005.
	GELUTanh Activation = "gelu_tanh"
)

// Positions is how the positions of tokens are embedded.
type Positions string

// The embeddings of positions of width d. The first two are sines in the first half of a row,
// cosines in the second, of frequencies that fall from 1.
const (
	// Fairseq's are 10000^(-i/(d/2-1)), and the first position is the padding id + 1.
	FairseqPositions Positions = ""
	// Those of "Attention is all you need" are 10000^(-2i/d), from position 0.
	OriginalPositions Positions = "original"
	// Plain ones are Fairseq's, counted from 0: Marian's.
	PlainPositions Positions = "plain"
	// Learned ones are weights, of each stack's own.
	LearnedPositions Positions = "learned"
	// A table of them is weights of each stack's own too, the first row being the first position's.
	TablePositions Positions = "table"
	// Relative ones are not embedded: the distance of two tokens has a weight for each head, of each
	// stack, which is added to their score in self-attention.
	RelativePositions Positions = "relative"
)

// learnedOffset is the row of the first position where they are learned.
const learnedOffset = 2

// FirstPosition is the row of the first position in the weights that positions have; ok is false where they
// have none.
func (s Spec) FirstPosition() (row int, ok bool) {
	if s.Positions == LearnedPositions {
		return learnedOffset, true
	}
	return 0, s.Positions == TablePositions
}

// SourceRows is the number of rows of the encoder's embedding.
func (s Spec) SourceRows() int {
	if s.SourceVocab > 0 {
		return s.SourceVocab
	}
	return s.VocabSize
}

// CPUOnly says that the network has parts, recurrent units, which only package model/cpu computes.
func (s Spec) CPUOnly() bool {
	return s.Recurrent
}

// IsEpsilon says whether norms can add a number to the variance.
func IsEpsilon(x float64) bool { return x > 0 && x <= 1 }

// EpsilonOf is Epsilon for what the model's norms add to the variance: 0 for the usual number of their kind.
func (s Spec) EpsilonOf(x float64) float32 {
	if s.RMSNorm && x == 1e-6 || !s.RMSNorm && x == 1e-5 {
		return 0
	}
	return float32(x)
}

// Check names the first size or id that no model has.
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

// Where nothing says more of relative positions: the longest source or target, which nothing in the network bounds, and the
// distance from which on none are told apart.
const UsualPositions, UsualDistance = 512, 128

// Shortlist are the sizes of a lexical shortlist: the translation of a source has only the first tokens and those
// that are listed for one of the source's. Exports that are not in 8 bits have none.
type Shortlist struct {
	First   int `json:"first"`   // tokens
	Words   int `json:"words"`   // tokens that have a list
	Targets int `json:"targets"` // the lengths of all lists; 0: there is no shortlist
}

// Shortlisted says whether an export of this precision has a shortlist.
func (s Spec) Shortlisted(p Precision) bool { return p == INT8 && s.Shortlist.Targets > 0 }

// CanBucket says whether distances of up to most can be divided into so many buckets on either side.
func CanBucket(buckets, most int) bool {
	return buckets >= 4 && buckets/2 < most && most <= LimitPositions
}

// Stack holds the sizes of the encoder or of the decoder.
type Stack struct {
	Layers int `json:"layers"`
	Heads  int `json:"heads"`
	FFN    int `json:"ffn"`
	// HeadWidth is the width of a head where all heads together are not as wide as the model; else 0.
	HeadWidth int `json:"head_width,omitempty"`
}

// HeadDim is the width of one attention head of a stack in a model of width dModel.
func (s Stack) HeadDim(dModel int) int {
	if s.HeadWidth > 0 {
		return s.HeadWidth
	}
	return dModel / s.Heads
}

// Inner is the width of all heads together.
func (s Stack) Inner(dModel int) int {
	if s.HeadWidth > 0 {
		return s.Heads * s.HeadWidth
	}
	return dModel
}

// TokenBytes is how many bytes the keys and values of a token take in one layer, in half or in
// single precision.
func (s Spec) TokenBytes(half bool) int {
	inner := s.Decoder.Inner(s.DModel)
	if half {
		return 2 * inner * 2
	}
	return 2 * inner * 4
}

// Generation holds a checkpoint's own defaults for decoding, as
// generation_config.json (or, in older checkpoints, config.json) gives them.
type Generation struct {
	Beams         int     `json:"beams"`
	MaxLength     int     `json:"max_length"` // of decoder tokens, the forced prefix included
	MinLength     int     `json:"min_length"` // likewise
	LengthPenalty float64 `json:"length_penalty"`
	// EarlyStopping is "true", "false" or "never", as in Hugging Face's generate().
	EarlyStopping     string  `json:"early_stopping"`
	NoRepeatNgramSize int     `json:"no_repeat_ngram_size"`
	RepetitionPenalty float64 `json:"repetition_penalty"`
}

// FFNMatrices is the number of matrices of a feed-forward block.
func (s Spec) FFNMatrices() int {
	if s.Gated {
		return 3
	}
	return 2
}

// Parameters is the number of the model's weights, shared ones counted once.
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

// Small says that a model is better served in 32 bits, since small ones lose the most
// by rounding and are fast anyway, and by a copy for each core, since there is little
// in a step to share out and little memory to share.
func (s Spec) Small() bool { return s.Parameters() < 50_000_000 }
