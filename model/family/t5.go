package family

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dragoman/model"
	"dragoman/model/object"
	"dragoman/tokenizer"
	"dragoman/tokenizer/spm"
)

// t5 are T5s that translate. Ids are those of the SentencePiece model. Models of many languages, such as google/madlad400-3b-mt,
// have a piece such as <2fr> for each target, at the start of the source. Other T5s have words at this place, see [t5Prefixes].
var t5 = &Family{
	Name:       "t5",
	classes:    []string{"T5Tokenizer", "T5TokenizerFast", "MT5Tokenizer", "MT5TokenizerFast"},
	networks:   t5Networks,
	files:      t5Files,
	choose:     chooseT5,
	directions: t5Directions,
	framing:    onlyEnd, // or see t5Framing
	config:     t5Config,
}

// t5PiecesFile is a SentencePiece model.
const t5PiecesFile = "spiece.model"

var t5Files = [][]string{{t5PiecesFile}, {model.TokenizerFile}}

// chooseT5 returns the file of pieces, and config.json if that has words for languages.
func chooseT5(files model.Files) ([]string, error) {
	names, err := firstSet(files, t5Files, "t5")
	if err != nil {
		return nil, err
	}
	prefixes, err := t5Prefixes(files)
	if len(prefixes) > 0 {
		names = append(names[:len(names):len(names)], model.ConfigFile)
	}
	return names, err
}

// t5Prefixes returns the beginnings of sources by source and target language, from the settings of tasks in config.json:
// "translation_en_to_de": {"prefix": "translate English to German: "}.
func t5Prefixes(files model.Files) (map[[2]string]string, error) {
	var config struct {
		Tasks map[string]json.RawMessage `json:"task_specific_params"`
	}
	if _, err := model.ReadJSON(files, model.ConfigFile, &config); err != nil {
		return nil, err
	}
	var prefixes map[[2]string]string
	for _, name := range slices.Sorted(maps.Keys(config.Tasks)) {
		pair, ok := strings.CutPrefix(name, "translation_")
		source, target, isPair := strings.Cut(pair, "_to_")
		from, known := codeOf(source)
		to, both := codeOf(target)
		if !ok || !isPair || !known || !both {
			continue
		}
		var task struct {
			Prefix string `json:"prefix"`
		}
		if err := json.Unmarshal(config.Tasks[name], &task); err != nil {
			return nil, fmt.Errorf("%s: \"task_specific_params\": %q: %w", model.ConfigFile, name, err)
		}
		if prefixes == nil {
			prefixes = map[[2]string]string{}
		}
		if _, ok := prefixes[[2]string{from, to}]; !ok {
			prefixes[[2]string{from, to}] = task.Prefix
		}
	}
	return prefixes, nil
}

var t5Tokens = targetTokens{"<2", ">"}

// t5Config reads a tokenizer of T5.
func t5Config(dir string, _ settings, _, languages []string) (tokenizer.Config, error) {
	pieces, vocabulary, _, err := t5Pieces(model.Folder(dir))
	if err != nil {
		return tokenizer.Config{}, err
	}
	c := tokenizer.Config{Pieces: pieces, Vocabulary: vocabulary, Special: []string{"</s>", "<unk>"}}
	tokens := t5Tokens.languages(vocabulary)
	if len(tokens) > 0 {
		c.Framing = t5Framing(pieces, vocabulary)
	} else if c.Prefixes, err = t5Prefixes(model.Folder(dir)); err != nil {
		return c, err
	}
	c.Sparse = len(vocabulary) > pieces.Size() // sparse, because unused ids precede the targets of a fine-tune
	for token := range vocabulary {
		if token == "<s>" || token == "<pad>" || t5Tokens.has(token) {
			c.Special = append(c.Special, token)
		}
	}
	c.Languages = withTokens(languages, tokens)
	return c, nil
}

// t5Framing returns the framing with the target's token first, or after the initial space of texts if tokens are pieces of text.
func t5Framing(pieces *spm.Model, vocabulary map[string]int64) tokenizer.Framing {
	framing := targetFirst
	for token := range vocabulary {
		if t5Tokens.has(token) && slices.Equal(pieces.Encode(token), []string{"▁", token}) {
			framing.Before = []tokenizer.Part{tokenizer.Space, tokenizer.Target}
			break
		}
	}
	return framing
}

// t5Pieces reads a SentencePiece model, or a tokenizer.json, and the ids of its pieces, which are the ids of the T5.
func t5Pieces(files model.Files) (pieces *spm.Model, ids map[string]int64, file string, err error) {
	ok, err := files.Has(t5PiecesFile)
	switch {
	case err != nil:
	case ok:
		file = t5PiecesFile
		pieces, ids, err = ownIDs(files, file)
	default:
		file = model.TokenizerFile
		if pieces, ids, err = readTokenizer(files); err == nil {
			// transformers adds tokens without rows in the model: padding, and marks of gaps.
			maps.DeleteFunc(ids, func(token string, id int64) bool { return id >= int64(pieces.Size()) && !t5Tokens.has(token) })
		}
	}
	return pieces, ids, file, err
}

// t5Directions determines the languages of a T5: the languages with tokens are its targets, and by default its sources; or the
// languages with words.
func t5Directions(files model.Files, _ settings, _ string, set Directions) (Directions, error) {
	_, vocabulary, file, err := t5Pieces(files)
	if err != nil {
		return Directions{}, err
	}
	all, err := t5Tokens.into(vocabulary, Directions{}, file)
	if err == nil && len(all.Targets) == 0 {
		prefixes, err := t5Prefixes(files)
		if err != nil {
			return Directions{}, err
		}
		return wordDirections(prefixes, set, file)
	}
	d, err := t5Tokens.into(vocabulary, set, file)
	return d.or(Directions{Sources: all.Targets}), err
}

// wordsAdvice is an example of words for languages in config.json.
const wordsAdvice = "\"task_specific_params\": {\"translation_en_to_fr\": {\"prefix\": \"translate English to French: \"}}"

// noWords returns the error for a T5 without tokens of languages, which would be in this file, and without words.
func noWords(file string) error {
	return fmt.Errorf("%s has no tokens of languages such as <2fr>, and %s does not say in which words the model is told them: "+
		"add them there, as in %s", file, model.ConfigFile, wordsAdvice)
}

// wordDirections determines the languages of a T5 with words, because this file has no tokens of languages.
func wordDirections(prefixes map[[2]string]string, set Directions, file string) (Directions, error) {
	if len(prefixes) == 0 {
		return Directions{}, noWords(file)
	}
	sources, targets := map[string]bool{}, map[string]bool{}
	for pair := range prefixes {
		sources[pair[0]], targets[pair[1]] = true, true
	}
	d := set.or(Directions{slices.Sorted(maps.Keys(sources)), slices.Sorted(maps.Keys(targets))})
	for _, from := range d.Sources {
		for _, to := range d.Targets {
			if _, ok := prefixes[[2]string{from, to}]; !ok && from != to {
				return d, fmt.Errorf("%s does not say in which words the model is told to translate from %s into %s: add them there, as in %s, "+
					"or have MODEL_LANGUAGES name other languages", model.ConfigFile, from, to, wordsAdvice)
			}
		}
	}
	return d, nil
}

// t5Networks are the networks of T5ForConditionalGeneration and MT5ForConditionalGeneration.
var t5Networks = []*Network{
	{modelType: "t5", models: "T5, MADLAD-400", classes: t5Classes, sizes: t5Sizes, parts: t5Parts, stored: t5Stored, Unused: t5Unused, TiesMissingHead: true},
	{modelType: "mt5", models: "mT5", classes: t5Classes, sizes: t5Sizes, parts: mt5Parts, stored: t5Stored, Unused: t5Unused, TiesMissingHead: true},
}

// t5Classes are the same network with other defaults: either class reads a file of the other.
var t5Classes = []string{"T5", "MT5"}

// t5Unused are tensors of older files.
var t5Unused = []string{"model.decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"}

// t5Names replaces the parts of names by T5's, except for the number of the feed-forward block.
var t5Names = strings.NewReplacer("model.", "", ".layers.", ".block.",
	"self_attn.", "layer.0.SelfAttention.", "self_attn_layer_norm", "layer.0.layer_norm",
	"encoder_attn.", "layer.1.EncDecAttention.", "encoder_attn_layer_norm", "layer.1.layer_norm",
	"q_proj", "q", "k_proj", "k", "v_proj", "v", "out_proj", "o",
	".gate.", ".layer.F.DenseReluDense.wi_0.", ".fc2.", ".layer.F.DenseReluDense.wo.", ".final_layer_norm", ".layer.F.layer_norm",
	"coder.layer_norm", "coder.final_layer_norm", ".relative_", ".block.0.layer.0.SelfAttention.relative_")

// t5Stored returns the name of a tensor in T5's files.
func t5Stored(name string, gated bool) string {
	first, block := ".layer.F.DenseReluDense.wi.", "layer.1."
	if gated {
		first = ".layer.F.DenseReluDense.wi_1."
	}
	if strings.HasPrefix(name, "model.decoder.") {
		block = "layer.2."
	}
	return strings.Replace(strings.Replace(t5Names.Replace(name), ".fc1.", first, 1), "layer.F.", block, 1)
}

// t5Sizes reads the sizes, which have other names in T5.
func t5Sizes(o *object.Fields, spec *model.Spec) {
	o.Nullable = true
	heads := o.Size("num_heads", 1, model.LimitHeads)
	spec.Encoder = model.Stack{Layers: o.Size("num_layers", 1, model.LimitLayers), Heads: heads,
		FFN: o.Size("d_ff", 1, model.LimitFFN), HeadWidth: o.Size("d_kv", 1, model.LimitInner/heads)}
	spec.Decoder = spec.Encoder
	spec.Decoder.Layers = o.Integer("num_decoder_layers", 1, model.LimitLayers, spec.Encoder.Layers)
	spec.MaxPositions = o.Integer("n_positions", 1, model.LimitPositions, model.UsualPositions)
	spec.Buckets = o.Integer("relative_attention_num_buckets", 4, model.LimitPositions, 32)
	spec.MaxDistance = o.Integer("relative_attention_max_distance", 1, model.LimitPositions, model.UsualDistance)
	if !model.CanBucket(spec.Buckets, spec.MaxDistance) {
		o.Fail("relative_attention_max_distance", "more than half of \"relative_attention_num_buckets\", %d, is supported", spec.Buckets)
	}
}

// t5Parts reads the parts of T5ForConditionalGeneration: RMS norms, relative positions, no biases and no scale of queries. The
// input of a tied head is scaled; since transformers 5 there is a field for the scaling.
func t5Parts(o *object.Fields, spec *model.Spec) {
	spec.ScaledHead = o.Boolean("scale_decoder_outputs", spec.TiedHead)
	t5Layers(o, spec, "relu")
}

// mt5Parts reads the parts of MT5ForConditionalGeneration: T5's with another default activation. The input of the head is not scaled.
func mt5Parts(o *object.Fields, spec *model.Spec) { t5Layers(o, spec, "gated-gelu") }

// t5Layers reads the common parts. usual is the default activation of the feed-forward networks.
func t5Layers(o *object.Fields, spec *model.Spec, usual string) {
	spec.Positions, spec.RMSNorm, spec.Unbiased, spec.Unscaled = model.RelativePositions, true, true, true
	spec.Epsilon = spec.EpsilonOf(o.Number("layer_norm_epsilon", 1e-6, model.IsEpsilon, "a number from 0 to 1"))
	spec.TiedHead = spec.TiedHead && spec.ScaledHead
	activations := map[string]model.Activation{"relu": model.ReLU, "gelu": model.GELU, "gelu_new": model.GELUTanh, "silu": model.Swish}
	kind, gated := strings.CutPrefix(o.Text("feed_forward_proj", usual), "gated-")
	if gated && kind == "gelu" {
		kind = "gelu_new" // as in Hugging Face's T5Config
	}
	spec.Gated = o.Boolean("is_gated_act", gated) // is_gated_act is saved too, like dense_act_fn, and has priority
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
