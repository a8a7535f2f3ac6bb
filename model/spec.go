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
	LimitPositions = 1 << 13
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
	// Learned ones are weights, of each stack's own.
	LearnedPositions Positions = "learned"
)

// LearnedOffset is the row of the first position in a table of learned ones.
const LearnedOffset = 2

// SourceRows is the number of rows of the encoder's embedding.
func (s Spec) SourceRows() int {
	if s.SourceVocab > 0 {
		return s.SourceVocab
	}
	return s.VocabSize
}

// check names the first size or id that no model has.
func (s Spec) check() error {
	last := int64(s.VocabSize) - 1
	for _, field := range []struct {
		name               string
		value, least, most int64
	}{
		{"vocab_size", int64(s.VocabSize), 4, LimitVocab},
		{"d_model", int64(s.DModel), 4, LimitWidth},
		{"encoder.layers", int64(s.Encoder.Layers), 1, LimitLayers},
		{"encoder.heads", int64(s.Encoder.Heads), 1, LimitHeads},
		{"encoder.ffn", int64(s.Encoder.FFN), 1, LimitFFN},
		{"decoder.layers", int64(s.Decoder.Layers), 1, LimitLayers},
		{"decoder.heads", int64(s.Decoder.Heads), 1, LimitHeads},
		{"decoder.ffn", int64(s.Decoder.FFN), 1, LimitFFN},
		{"source_vocab", int64(s.SourceVocab), 0, LimitVocab},
		{"max_positions", int64(s.MaxPositions), 1, LimitPositions},
		{"bos", s.BOS, 0, last},
		{"pad", s.Pad, 0, last},
		{"eos", s.EOS, 0, last},
		{"decoder_start", s.DecoderStart, 0, last},
	} {
		if field.value < field.least || field.value > field.most {
			return fmt.Errorf("%s is %d, %d to %d are supported", field.name, field.value, field.least, field.most)
		}
	}
	if s.DModel%s.Encoder.Heads != 0 || s.DModel%s.Decoder.Heads != 0 {
		return fmt.Errorf("d_model is %d, which %d and %d heads do not divide", s.DModel, s.Encoder.Heads, s.Decoder.Heads)
	}
	if !slices.Contains([]Activation{ReLU, Swish, GELU}, s.Activation) {
		return fmt.Errorf("activation is %q, which this build does not know", s.Activation)
	}
	if !slices.Contains([]Positions{FairseqPositions, OriginalPositions, LearnedPositions}, s.Positions) {
		return fmt.Errorf("positions is %q, which this build does not know", s.Positions)
	}
	return nil
}

// Stack holds the sizes of the encoder or of the decoder.
type Stack struct {
	Layers int `json:"layers"`
	Heads  int `json:"heads"`
	FFN    int `json:"ffn"`
}

// HeadDim is the width of one attention head of a stack in a model of width dModel.
func (s Stack) HeadDim(dModel int) int { return dModel / s.Heads }

// TokenBytes is how many bytes the keys and values of a token take in one layer, in half or in
// single precision.
func (s Spec) TokenBytes(half bool) int {
	if half {
		return 2 * s.DModel * 2
	}
	return 2 * s.DModel * 4
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

// Parameters is the number of the model's weights, shared ones counted once.
func (s Spec) Parameters() int {
	d := s.DModel
	attention, norm := 4*(d*d+d), 2*d
	encoderLayer := attention + 2*norm + d*s.Encoder.FFN*2 + s.Encoder.FFN + d
	decoderLayer := 2*attention + 3*norm + d*s.Decoder.FFN*2 + s.Decoder.FFN + d
	n := (s.VocabSize+s.SourceVocab)*d + s.Encoder.Layers*encoderLayer + s.Decoder.Layers*decoderLayer
	if !s.PostNorm {
		n += 2 * norm
	}
	if s.EmbeddingNorm {
		n += 2 * norm
	}
	if s.Positions == LearnedPositions {
		n += 2 * (s.MaxPositions + LearnedOffset) * d
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
