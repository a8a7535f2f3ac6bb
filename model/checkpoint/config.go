package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"dragoman/model"
	"dragoman/model/object"
)

// maxConfigSize is the most bytes that a JSON file of settings may have.
const maxConfigSize = 4 << 20

// ReadSpec reads the sizes, ids and decoding defaults of the checkpoint in dir
// without its weights. It fails, naming the field, where they are not those of
// a model that is supported.
func ReadSpec(dir string) (model.Spec, error) {
	if ok, err := IsConverted(model.Folder(dir)); err != nil {
		return model.Spec{}, err
	} else if ok {
		ckpt, err := openConverted(dir)
		if err != nil {
			return model.Spec{}, err
		}
		return ckpt.Spec(), ckpt.Close()
	}
	config, err := model.ReadSmall(filepath.Join(dir, model.ConfigFile), maxConfigSize)
	if errors.Is(err, fs.ErrNotExist) {
		return model.Spec{}, fmt.Errorf("no checkpoint in %s: %w", dir, err)
	}
	if err != nil {
		return model.Spec{}, err
	}
	generation, err := model.ReadSmall(filepath.Join(dir, model.GenerationConfigFile), maxConfigSize)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return model.Spec{}, err
	}
	return parseSpec(dir, config, generation)
}

// ParseConfig is [ReadSpec] for the contents of a config.json and a generation_config.json, or nil, that
// were fetched to see whether the rest is worth it.
func ParseConfig(config, generation []byte) (model.Spec, error) {
	return parseSpec("", config, generation)
}

// parseSpec reads the contents of dir's config.json and generation_config.json.
// Older checkpoints have but the first, which then holds the fields of both:
// generation is nil.
func parseSpec(dir string, config []byte, generation []byte) (model.Spec, error) {
	path := filepath.Join(dir, model.ConfigFile)
	o, err := object.Parse(config)
	if err != nil {
		return model.Spec{}, fmt.Errorf("%s: %w", path, err)
	}
	spec, err := parseConfig(o)
	if err != nil {
		return model.Spec{}, fmt.Errorf("%s: %w", path, err)
	}
	if generation != nil {
		path = filepath.Join(dir, model.GenerationConfigFile)
		if o, err = object.Parse(generation); err != nil {
			return model.Spec{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := parseGeneration(o, &spec); err != nil {
		return model.Spec{}, fmt.Errorf("%s: %w", path, err)
	}
	return spec, nil
}

// parseConfig reads the sizes, which must all be there, and the ids and switches, which
// default as in Hugging Face's class for the model_type.
func parseConfig(o *object.Fields) (model.Spec, error) {
	var modelType string
	err := json.Unmarshal(o.Get("model_type"), &modelType)
	f, ok := forms[modelType]
	if err != nil || !ok {
		return model.Spec{}, fmt.Errorf("\"model_type\" is %s: supported are \"m2m_100\" (M2M100, NLLB-200, SMaLL-100), \"marian\" (Opus-MT), \"mbart\" (mBART-50), \"t5\" (T5, MADLAD-400) and \"mt5\" (mT5)", object.OrMissing(o.Get("model_type")))
	}
	for _, s := range slices.Concat(commonSettings, f.fixed) {
		o.OneOf(s.name, s.literal)
	}
	spec := model.Spec{
		VocabSize:  o.Size("vocab_size", 4, model.LimitVocab),
		DModel:     o.Size("d_model", 4, model.LimitWidth),
		EmbedScale: 1,
		TiedHead:   o.Boolean("tie_word_embeddings", true),
	}
	if f.sizes != nil {
		f.sizes(o, &spec)
	} else {
		parseSizes(o, f.scaled, &spec)
	}
	checkAliases(o, spec)
	f.parts(o, &spec)
	return spec, o.Err
}

// checkAliases checks the sizes that Hugging Face's classes know by another name too, of which the last one in the file counts.
// transformers 4 left num_hidden_layers as it was when it saved a model without some of its layers.
func checkAliases(o *object.Fields, spec model.Spec) {
	o.Integer("num_hidden_layers", spec.Encoder.Layers, model.LimitLayers, spec.Encoder.Layers)
	o.OneOf("hidden_size", strconv.Itoa(spec.DModel))
	o.OneOf("num_attention_heads", strconv.Itoa(spec.Encoder.Heads))
}

// parseSizes reads the sizes of models of BART's family, whose embeddings are scaled where nothing else is
// said, or not.
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

// checkWidth checks that d_model divides into heads.
func checkWidth(o *object.Fields, spec model.Spec) {
	if spec.DModel%spec.Encoder.Heads != 0 {
		o.Fail("d_model", "it must be a multiple of \"encoder_attention_heads\", %d", spec.Encoder.Heads)
	}
	if spec.DModel%spec.Decoder.Heads != 0 {
		o.Fail("d_model", "it must be a multiple of \"decoder_attention_heads\", %d", spec.Decoder.Heads)
	}
}
