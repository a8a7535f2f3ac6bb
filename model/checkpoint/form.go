package checkpoint

import (
	"fmt"
	"strings"

	"dragoman/model"
	"dragoman/model/object"
)

// form is how config.json describes the networks of a model_type.
type form struct {
	// fixed are the settings that change the architecture, with the one value that the
	// exported graphs implement.
	fixed  []setting
	scaled bool // what scale_embedding is where it is absent
	// sizes reads the sizes but for the vocabulary and the width; nil: see [parseSizes].
	sizes func(o *object.Fields, spec *model.Spec)
	// parts reads the special ids and which parts the network has.
	parts func(o *object.Fields, spec *model.Spec)
}

// setting is a field of config.json and its value.
type setting struct{ name, literal string }

// forms are the forms by their model_type.
var forms = map[string]form{
	"m2m_100": {fixed: m2m100Settings, scaled: true, parts: m2m100Parts},
	"marian":  {fixed: marianSettings, parts: marianParts},
	Bergamot:  {fixed: marianSettings, parts: bergamotParts},
	MarianNPZ: {fixed: marianSettings, parts: marianOwnParts},
	"mbart":   {fixed: mbartSettings, parts: mbartParts},
	"t5":      {sizes: t5Sizes, parts: t5Parts},
	"mt5":     {sizes: t5Sizes, parts: mt5Parts},
}

// Most of these settings come from other models of the BART family, which share M2M100's
// names. The first are those of all forms.
var (
	commonSettings = []setting{
		{"is_encoder_decoder", "true"},
		{"quantization_config", "null"},
	}
	m2m100Settings = []setting{
		{"activation_function", `"relu"`},
		{"normalize_before", "true"},
		{"encoder_normalize_before", "true"},
		{"decoder_normalize_before", "true"},
		{"add_final_layer_norm", "true"},
		{"normalize_embedding", "false"},
		{"layernorm_embedding", "false"},
		{"static_position_embeddings", "true"},
		{"encoder_learned_pos", "false"},
		{"decoder_learned_pos", "false"},
		{"add_bias_logits", "false"},
	}
	marianSettings = []setting{
		{"normalize_before", "false"},
		{"add_final_layer_norm", "false"},
		{"normalize_embedding", "false"},
		{"static_position_embeddings", "true"},
		{"add_bias_logits", "false"},
	}
	mbartSettings = []setting{
		{"normalize_before", "true"},
		{"add_final_layer_norm", "true"},
		{"normalize_embedding", "true"},
		{"static_position_embeddings", "false"},
		{"add_bias_logits", "false"},
	}
)

func m2m100Parts(o *object.Fields, spec *model.Spec) {
	last := spec.VocabSize - 1
	spec.BOS = int64(o.Integer("bos_token_id", 0, last, 0))
	spec.Pad = int64(o.Integer("pad_token_id", 0, last, 1))
	spec.EOS = parseEOS(o, last, 2)
	spec.DecoderStart = int64(o.Integer("decoder_start_token_id", 0, last, 2))
}

// marianParts reads what MarianMTModel has: post-norm layers, positions from 0 and a bias
// of the logits. config.json's vocab_size is the encoder's.
func marianParts(o *object.Fields, spec *model.Spec) {
	o.Nullable = true
	spec.PostNorm, spec.Positions, spec.LogitsBias = true, model.OriginalPositions, true
	spec.Activation = parseActivation(o)
	source := spec.VocabSize
	spec.VocabSize = o.Integer("decoder_vocab_size", 4, model.LimitVocab, source)
	if !o.Boolean("share_encoder_decoder_embeddings", true) {
		spec.SourceVocab = source
	} else if spec.VocabSize != source {
		o.Fail("decoder_vocab_size", "it must be \"vocab_size\", %d, where \"share_encoder_decoder_embeddings\" is true", source)
	}
	last := spec.VocabSize - 1
	spec.Pad = int64(o.Size("pad_token_id", 0, last))
	spec.EOS = parseEOS(o, last, 0)
	spec.BOS = int64(o.Integer("bos_token_id", 0, last, int(spec.EOS)))
	spec.DecoderStart = int64(o.Integer("decoder_start_token_id", 0, last, int(spec.Pad)))
}

// Bergamot is the model_type of Firefox's models, MarianNPZ that of Opus-MT's in Marian's own form, as package model/convert writes them.
const (
	Bergamot  = "bergamot"
	MarianNPZ = "marian-npz"
)

// marianOwnParts reads what Marian itself has: other positions and norms than MarianMTModel.
func marianOwnParts(o *object.Fields, spec *model.Spec) {
	marianParts(o, spec)
	spec.Positions, spec.Epsilon = model.PlainPositions, 1e-6
}

// bergamotParts reads what Marian's students have: recurrent units in the decoder.
func bergamotParts(o *object.Fields, spec *model.Spec) {
	marianOwnParts(o, spec)
	spec.Recurrent = true
	if targets := o.Integer("shortlist_targets", 0, model.LimitShortlist, 0); targets > 0 {
		spec.Shortlist = model.Shortlist{First: o.Integer("shortlist_first", 0, spec.VocabSize, 0),
			Words: o.Integer("shortlist_words", 0, model.LimitVocab, 0), Targets: targets}
	}
}

// mbartParts reads what MBartForConditionalGeneration has: learned positions, a norm behind the
// embeddings and a bias of the logits.
func mbartParts(o *object.Fields, spec *model.Spec) {
	o.Nullable = true
	m2m100Parts(o, spec)
	spec.EmbeddingNorm, spec.Positions, spec.LogitsBias = true, model.LearnedPositions, true
	spec.Activation = parseActivation(o)
}

// t5Positions is the longest source or target, which nothing in the network bounds: what T5s were
// trained with. t5Distance is from which distance on they tell none apart.
const t5Positions, t5Distance = 512, 128

// t5Sizes reads what T5 has other names for.
func t5Sizes(o *object.Fields, spec *model.Spec) {
	o.Nullable = true
	heads := o.Size("num_heads", 1, model.LimitHeads)
	spec.Encoder = model.Stack{Layers: o.Size("num_layers", 1, model.LimitLayers), Heads: heads,
		FFN: o.Size("d_ff", 1, model.LimitFFN), HeadWidth: o.Size("d_kv", 1, model.LimitInner/heads)}
	spec.Decoder = spec.Encoder
	spec.Decoder.Layers = o.Integer("num_decoder_layers", 1, model.LimitLayers, spec.Encoder.Layers)
	spec.MaxPositions = o.Integer("n_positions", 1, model.LimitPositions, t5Positions)
	spec.Buckets = o.Integer("relative_attention_num_buckets", 4, model.LimitPositions, 32)
	spec.MaxDistance = o.Integer("relative_attention_max_distance", 1, model.LimitPositions, t5Distance)
	if !model.CanBucket(spec.Buckets, spec.MaxDistance) {
		o.Fail("relative_attention_max_distance", "more than half of \"relative_attention_num_buckets\", %d, is supported", spec.Buckets)
	}
}

// t5Parts reads what T5ForConditionalGeneration has: RMS norms, relative positions, neither biases nor a scale
// of queries. Where the head is tied, what it takes is scaled; since transformers 5 a field of its own says so.
func t5Parts(o *object.Fields, spec *model.Spec) {
	spec.ScaledHead = o.Boolean("scale_decoder_outputs", spec.TiedHead)
	t5Layers(o, spec, "relu")
}

// mt5Parts reads what MT5ForConditionalGeneration has: T5's parts with another activation where nothing is said. It never scales what
// the head takes.
func mt5Parts(o *object.Fields, spec *model.Spec) { t5Layers(o, spec, "gated-gelu") }

// t5Layers reads what both have, whose feed-forward networks have this activation where nothing is said.
func t5Layers(o *object.Fields, spec *model.Spec, usual string) {
	spec.Positions, spec.RMSNorm, spec.Unbiased, spec.Unscaled = model.RelativePositions, true, true, true
	spec.Epsilon = spec.EpsilonOf(o.Number("layer_norm_epsilon", 1e-6, model.IsEpsilon, "a number from 0 to 1"))
	spec.TiedHead = spec.TiedHead && spec.ScaledHead
	activations := map[string]model.Activation{"relu": model.ReLU, "gelu": model.GELU, "gelu_new": model.GELUTanh, "silu": model.Swish}
	kind, gated := strings.CutPrefix(o.Text("feed_forward_proj", usual), "gated-")
	if gated && kind == "gelu" {
		kind = "gelu_new" // as in Hugging Face's T5Config
	}
	spec.Gated = o.Boolean("is_gated_act", gated) // saved beside it, as dense_act_fn is, and goes first
	activation, ok := activations[o.Text("dense_act_fn", kind)]
	if !ok && o.Get("dense_act_fn") != nil {
		o.Fail("dense_act_fn", "relu, gelu, gelu_new or silu is supported")
	} else if !ok {
		o.Fail("feed_forward_proj", "relu, gelu, gelu_new or silu, or one of these with gated- before it, is supported")
	}
	spec.Activation = activation
	last := spec.VocabSize - 1
	spec.Pad = int64(o.Integer("pad_token_id", 0, last, 0))
	spec.EOS = parseEOS(o, last, 1)
	spec.BOS = int64(o.Integer("bos_token_id", 0, last, int(spec.EOS)))
	spec.DecoderStart = int64(o.Integer("decoder_start_token_id", 0, last, int(spec.Pad)))
}

// parseActivation reads activation_function, by the names that Hugging Face has for them.
func parseActivation(o *object.Fields) model.Activation {
	switch raw := string(o.Get("activation_function")); raw {
	case `"relu"`:
		return model.ReLU
	case `"swish"`, `"silu"`:
		return model.Swish
	case "", `"gelu"`:
		return model.GELU
	}
	o.Fail("activation_function", "relu, swish or gelu is supported")
	return model.ReLU
}

// parseForced reads the settings of generate() that no request changes: a padding token
// that is never generated, and the end token at the greatest length. The first token is forced by
// requests, where it is that of the language.
func parseForced(o *object.Fields, spec *model.Spec) {
	if spec.Positions != model.FairseqPositions && spec.Positions != model.LearnedPositions {
		o.OneOf("forced_bos_token_id", "null")
	}
	pad, eos := fmt.Sprintf("[[%d]]", spec.Pad), fmt.Sprint(spec.EOS)
	o.OneOf("bad_words_ids", pad, "[]")
	o.OneOf("forced_eos_token_id", eos, "["+eos+"]")
	spec.NeverPad = o.List("bad_words_ids") > 0 && spec.Pad != spec.EOS // generate() never forbids the end
	spec.ForcedEnd = o.Get("forced_eos_token_id") != nil
	spec.Renormalize = o.Boolean("renormalize_logits", false)
	if spec.Renormalize && spec.NeverPad && !spec.LogitsBias {
		o.Fail("renormalize_logits", "false is supported where the logits have no bias")
	}
	if g := spec.Generation; spec.Renormalize && (g.MinLength > 1 || g.NoRepeatNgramSize > 0 || g.RepetitionPenalty != 1) {
		o.Fail("renormalize_logits", "false is supported with a least length, with \"no_repeat_ngram_size\" or \"repetition_penalty\"")
	}
}
