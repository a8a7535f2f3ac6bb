package family

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dragoman/model"
	"dragoman/model/object"
)

// maxConfigSize is the maximum size of a JSON file of settings in bytes.
const maxConfigSize = 4 << 20

// ReadConfig reads config.json and, if it exists, generation_config.json of a folder, see [ParseConfig].
func ReadConfig(dir string) (model.Spec, *Network, error) {
	config, err := model.ReadSmall(filepath.Join(dir, model.ConfigFile), maxConfigSize)
	if errors.Is(err, fs.ErrNotExist) {
		return model.Spec{}, nil, fmt.Errorf("no checkpoint in %s: %w", dir, err)
	}
	if err != nil {
		return model.Spec{}, nil, err
	}
	generation, err := model.ReadSmall(filepath.Join(dir, model.GenerationConfigFile), maxConfigSize)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return model.Spec{}, nil, err
	}
	return ParseConfig(dir, config, generation)
}

// ParseConfig reads the sizes, ids, decoding defaults and the network of a checkpoint from the contents of dir's config.json and
// generation_config.json. It fails, with the name of the field, for unsupported models. generation is nil for older checkpoints, which
// have all fields in config.json.
func ParseConfig(dir string, config, generation []byte) (model.Spec, *Network, error) {
	path := filepath.Join(dir, model.ConfigFile)
	o, err := object.Parse(config)
	if err != nil {
		return model.Spec{}, nil, fmt.Errorf("%s: %w", path, err)
	}
	spec, n, err := parseConfig(o)
	if err != nil {
		return model.Spec{}, nil, fmt.Errorf("%s: %w", path, err)
	}
	if generation != nil {
		path = filepath.Join(dir, model.GenerationConfigFile)
		if o, err = object.Parse(generation); err != nil {
			return model.Spec{}, nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	err = n.parseGeneration(o, &spec)
	if err == nil && generation != nil {
		err = checkUnknown(o)
	}
	if err != nil {
		return model.Spec{}, nil, fmt.Errorf("%s: %w", path, err)
	}
	return spec, n, nil
}

// parseConfig reads the sizes, which are required, and the ids and switches, with the defaults of Hugging Face's class for the
// model_type.
func parseConfig(o *object.Fields) (model.Spec, *Network, error) {
	var modelType string
	err := json.Unmarshal(o.Get("model_type"), &modelType)
	n, _ := familiesOf(modelType)
	if err != nil || n == nil {
		return model.Spec{}, nil, fmt.Errorf("\"model_type\" is %s: supported are %s", object.OrMissing(o.Get("model_type")), supportedTypes())
	}
	checkQuantized(o)
	checkCode(o)
	n.checkClass(o)
	for _, s := range slices.Concat(commonSettings, n.fixed) {
		o.OneOf(s.name, s.literal)
	}
	spec := model.Spec{
		VocabSize:  o.Size("vocab_size", 4, model.LimitVocab),
		DModel:     o.Size("d_model", 4, model.LimitWidth),
		EmbedScale: 1,
		TiedHead:   o.Boolean("tie_word_embeddings", true),
	}
	if n.sizes != nil {
		n.sizes(o, &spec)
	} else {
		parseSizes(o, n.scaled, &spec)
	}
	checkAliases(o, spec)
	n.parts(o, &spec)
	return spec, n, o.Err
}

// checkQuantized fails for weights that another program has quantized.
func checkQuantized(o *object.Fields) {
	raw := o.Get("quantization_config")
	if raw == nil || string(raw) == "null" {
		return
	}
	var by struct {
		Method string `json:"quant_method"`
	}
	_ = json.Unmarshal(raw, &by) // other values have no method
	o.Fail("quantization_config", "quantized weights (%s) are not supported: name the checkpoint that they were made of, and the precision int8 for fewer bits",
		cmp.Or(by.Method, "of an unknown kind"))
}

// checkCode fails for a network in code of its own, beside the checkpoint. Code of a tokenizer has its class in tokenizer_config.json.
func checkCode(o *object.Fields) {
	var classes map[string]any
	_ = json.Unmarshal(o.Get("auto_map"), &classes) // other values name no class
	for _, name := range slices.Sorted(maps.Keys(classes)) {
		if strings.HasPrefix(name, "AutoModel") {
			o.Fail("auto_map", "a network in code of its own (%s) is not supported: only those of transformers are", name)
		}
	}
}

// checkClass fails for a network of another class than those of transformers, such as one that a fine-tune has derived from them.
func (n *Network) checkClass(o *object.Fields) {
	var names []string
	_ = json.Unmarshal(o.Get("architectures"), &names) // other values name no class
	for _, name := range names {
		name = strings.TrimPrefix(name, "FSDP") // of a model that was trained on several GPUs
		isKnown := func(class string) bool {
			base, ok := strings.CutPrefix(name, class)
			return ok && slices.Contains([]string{"ForConditionalGeneration", "MTModel", "WithLMHeadModel", "Model"}, base)
		}
		if !slices.ContainsFunc(n.classes, isKnown) {
			o.Fail("architectures", "a network of a class of its own is not supported, because it may compute something else: if it does not, "+
				"load it with transformers' class for this model_type and save it with save_pretrained()")
		}
	}
}

// checkAliases checks the sizes that also have another name in Hugging Face's classes; in these classes, the last one in the file
// counts. transformers 4 did not change num_hidden_layers when it saved a model without some of its layers.
func checkAliases(o *object.Fields, spec model.Spec) {
	o.Integer("num_hidden_layers", spec.Encoder.Layers, model.LimitLayers, spec.Encoder.Layers)
	o.OneOf("hidden_size", strconv.Itoa(spec.DModel))
	o.OneOf("num_attention_heads", strconv.Itoa(spec.Encoder.Heads))
}

// parseSizes reads the sizes of models of BART's family. scaled is the default of scale_embedding.
func parseSizes(o *object.Fields, scaled bool, spec *model.Spec) {
	spec.Encoder, spec.Decoder = parseStack(o, "encoder"), parseStack(o, "decoder")
	spec.MaxPositions = o.Size("max_position_embeddings", 1, model.LimitPositions)
	if o.Boolean("scale_embedding", scaled) {
		spec.EmbedScale = float32(math.Sqrt(float64(spec.DModel)))
	}
	checkWidth(o, *spec)
}

// parseStack reads the sizes of the encoder or of the decoder.
func parseStack(o *object.Fields, side string) model.Stack {
	return model.Stack{
		Layers: o.Size(side+"_layers", 1, model.LimitLayers),
		Heads:  o.Size(side+"_attention_heads", 1, model.LimitHeads),
		FFN:    o.Size(side+"_ffn_dim", 1, model.LimitFFN),
	}
}

// checkWidth fails unless the heads divide d_model.
func checkWidth(o *object.Fields, spec model.Spec) {
	if spec.DModel%spec.Encoder.Heads != 0 {
		o.Fail("d_model", "it must be a multiple of \"encoder_attention_heads\", %d", spec.Encoder.Heads)
	}
	if spec.DModel%spec.Decoder.Heads != 0 {
		o.Fail("d_model", "it must be a multiple of \"decoder_attention_heads\", %d", spec.Decoder.Heads)
	}
}

// parseActivation reads activation_function, with Hugging Face's names.
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
