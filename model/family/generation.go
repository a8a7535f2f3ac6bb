package family

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"dragoman/model"
	"dragoman/model/object"
	"dragoman/model/search"
)

// neutralSettings are unsupported generation settings, which change the result of generate(), with the literals that switch them
// off. A null switches any of these settings off, too.
var neutralSettings = []struct {
	name     string
	literals []string
}{
	{"do_sample", []string{"false"}},
	{"num_beam_groups", []string{"1"}},
	{"diversity_penalty", []string{"0.0", "0"}},
	{"penalty_alpha", []string{"0.0", "0"}},
	{"encoder_no_repeat_ngram_size", []string{"0"}},
	{"encoder_repetition_penalty", []string{"1.0", "1"}},
	{"exponential_decay_length_penalty", []string{"null"}},
	{"suppress_tokens", []string{"null", "[]"}},
	{"begin_suppress_tokens", []string{"null", "[]"}},
	{"sequence_bias", []string{"null", "{}"}},
	{"guidance_scale", []string{"1.0", "1"}},
	{"watermarking_config", []string{"null"}},
	{"stop_strings", []string{"null"}},
	{"is_assistant", []string{"false"}},
	{"constraints", []string{"null", "[]"}},
	{"force_words_ids", []string{"null", "[]"}},
	{"forced_decoder_ids", []string{"null", "[]"}},
	{"dola_layers", []string{"null"}},
	{"token_healing", []string{"false"}},
	{"max_time", []string{"null"}},
}

// plainSettings are settings of generate() that do not change a translation: of sampling, which is off, of assistants, which a folder
// lacks, of caches, of what generate() returns besides, and of tokens that are
// read elsewhere or that requests choose.
var plainSettings = []string{
	"assistant_confidence_threshold", "assistant_early_exit", "assistant_ensemble_weight", "assistant_lookbehind", "cache_config",
	"cache_implementation", "compile_config", "continuous_batching_config", "disable_compile", "epsilon_cutoff", "eta_cutoff",
	"forced_bos_token_id", "generation_kwargs", "low_memory", "max_cache_len", "max_matching_ngram_size", "min_p", "num_assistant_tokens",
	"num_assistant_tokens_schedule", "num_return_sequences", "output_attentions", "output_hidden_states", "output_logits", "output_scores",
	"pad_token_id", "prefill_chunk_size", "prompt_lookup_num_tokens", "remove_invalid_values", "return_dict_in_generate",
	"return_legacy_cache", "speculation_type", "target_lookbehind", "temperature", "top_h", "top_k", "top_p", "transformers_version",
	"typical_p", "use_cache", "use_mtp",
}

// checkUnknown fails for a setting of generation_config.json that is neither read nor known to change nothing.
func checkUnknown(o *object.Fields) error {
	for _, name := range o.Unread() {
		if !strings.HasPrefix(name, "_") && !slices.Contains(plainSettings, name) {
			o.Fail(name, "this setting is not known, and may change translations: remove it if generate() of transformers does not heed it")
		}
	}
	return o.Err
}

// Maximum values of generation settings, and the default length. generate()'s own default of 20 tokens is too short for sentences.
const (
	maxBeams    = 1 << 10
	maxLength   = 1 << 20
	usualLength = 200
)

// parseGeneration reads the decoding defaults from generation_config.json, or from config.json in older checkpoints. Absent or
// null settings have the defaults of generate(), except for the length. The ids of the start and end of decoding override
// config.json's; the padding id does not, because positions depend on it. Without decoder_start_token_id translations start with
// bos_token_id, if that is set.
func (n *Network) parseGeneration(o *object.Fields, spec *model.Spec) error {
	o.Nullable = true
	for _, s := range neutralSettings {
		o.OneOf(s.name, s.literals...)
	}
	finite := func(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }
	penalty := func(x float64) bool { return finite(x) && x >= 1 }
	spec.Generation = model.Generation{
		Beams:             o.Integer("num_beams", 1, maxBeams, 1),
		MaxLength:         o.Integer("max_length", 1, maxLength, min(usualLength, spec.MaxPositions)),
		MinLength:         o.Integer("min_length", 0, maxLength, 0),
		LengthPenalty:     o.Number("length_penalty", 1, finite, "a finite number"),
		EarlyStopping:     parseEarlyStopping(o),
		NoRepeatNgramSize: o.Integer("no_repeat_ngram_size", 0, maxLength, 0),
		RepetitionPenalty: o.Number("repetition_penalty", 1, penalty, "1 or more, which does not reward repetitions,"),
	}
	// The numbers of new tokens, which exclude the first one, have priority over the lengths.
	if o.Get("max_new_tokens") != nil {
		spec.Generation.MaxLength = 1 + o.Integer("max_new_tokens", 1, maxLength-1, 0)
	}
	if o.Get("min_new_tokens") != nil {
		spec.Generation.MinLength = 1 + o.Integer("min_new_tokens", 0, maxLength-1, 0)
	}
	last := spec.VocabSize - 1
	spec.BOS = int64(o.Integer("bos_token_id", 0, last, int(spec.BOS)))
	spec.EOS = parseEOS(o, last, spec.EOS)
	if o.Get("eos_token_id") == nil && (o.Get("bos_token_id") != nil || o.Get("decoder_start_token_id") != nil) {
		o.Fail("eos_token_id", "what a translation starts with is there, but generate() would never end it")
	}
	if o.Get("bos_token_id") != nil {
		spec.DecoderStart = spec.BOS
	}
	spec.DecoderStart = int64(o.Integer("decoder_start_token_id", 0, last, int(spec.DecoderStart)))
	if spec.Positions == model.FairseqPositions && spec.DecoderStart == spec.Pad {
		o.Fail("decoder_start_token_id", "another one than \"pad_token_id\" is supported, which has no position")
	}
	n.parseForced(o, spec)
	return cmp.Or(o.Err, search.DefaultOptions(spec.Generation).Validate())
}

// parseForced reads the settings of generate() that no request changes: no padding token in translations, and the end token at
// the maximum length. If the first token is the language's, requests force it instead.
func (n *Network) parseForced(o *object.Fields, spec *model.Spec) {
	if !n.forcesTarget {
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

// parseEarlyStopping reads true, false, "never" or null.
func parseEarlyStopping(o *object.Fields) string {
	raw := o.Get("early_stopping")
	switch string(raw) {
	case "":
		return "false"
	case "true", "false":
		return string(raw)
	case `"never"`:
		return "never"
	}
	o.Fail("early_stopping", "true, false or \"never\" is supported")
	return "false"
}

// parseEOS reads the id of the end token: an integer or a list of one.
func parseEOS(o *object.Fields, last int, def int64) int64 {
	var list []json.RawMessage
	if json.Unmarshal(o.Get("eos_token_id"), &list) != nil || list == nil {
		return int64(o.Integer("eos_token_id", 0, last, int(def)))
	}
	var id *int64
	if len(list) == 1 && json.Unmarshal(list[0], &id) == nil && id != nil && 0 <= *id && *id <= int64(last) {
		return *id
	}
	o.Fail("eos_token_id", "one id from 0 to %d is supported", last)
	return def
}
