package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// shape has the sizes that differ between published models of a network, and between small models of the same proportions.
type shape struct {
	VocabSize    int `json:"vocab_size"`
	DModel       int `json:"d_model"`
	EncoderLayer int `json:"encoder_layers"`
	EncoderHeads int `json:"encoder_attention_heads"`
	EncoderFFN   int `json:"encoder_ffn_dim"`
	DecoderLayer int `json:"decoder_layers"`
	DecoderHeads int `json:"decoder_attention_heads"`
	DecoderFFN   int `json:"decoder_ffn_dim"`

	network `json:"-"`
}

// network has the common settings of a kind of models.
type network struct {
	config     map[string]any    // in config.json
	generation string            // generation_config.json
	names      map[string]string // names of sizes in config.json, if they differ from shape's
}

// shapes returns the sizes by name.
func shapes() map[string]shape {
	m2m100 := network{config: map[string]any{
		"architectures": []string{"M2M100ForConditionalGeneration"}, "model_type": "m2m_100", "activation_function": "relu",
		"max_position_embeddings": 1024, "scale_embedding": true,
		"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2,
	}, generation: generationConfig}
	mbart := network{config: map[string]any{
		"architectures": []string{"MBartForConditionalGeneration"}, "model_type": "mbart", "activation_function": "relu",
		"max_position_embeddings": 1024, "scale_embedding": true,
		"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2,
	}, generation: mbartGenerationConfig}
	madlad := network{config: map[string]any{
		"architectures": []string{"T5ForConditionalGeneration"}, "model_type": "t5", "feed_forward_proj": "gated-gelu", "d_kv": 128,
		"is_encoder_decoder": true, "n_positions": 512, "relative_attention_max_distance": 128, "relative_attention_num_buckets": 32,
		"tie_word_embeddings": false, "decoder_start_token_id": 0, "pad_token_id": 1, "eos_token_id": 2,
	}, generation: madladGenerationConfig, names: t5Names}
	return map[string]shape{
		"tiny": {1200, 64, 2, 4, 256, 2, 4, 256, m2m100},
		"418M": {128112, 1024, 12, 16, 4096, 12, 16, 4096, m2m100},
		"1.2B": {128112, 1024, 24, 16, 8192, 24, 16, 8192, m2m100},

		"small100":  {128112, 1024, 12, 16, 4096, 3, 16, 4096, m2m100},
		"nllb-600M": {256206, 1024, 12, 16, 4096, 12, 16, 4096, m2m100},
		"nllb-1.3B": {256206, 1024, 24, 16, 8192, 24, 16, 8192, m2m100},

		"opus-tiny":   {1201, 64, 2, 4, 256, 2, 4, 256, marian(1201, "swish")},
		"opus-base":   {58101, 512, 6, 8, 2048, 6, 8, 2048, marian(58101, "swish")},
		"opus-tc-big": {57830, 1024, 6, 16, 4096, 6, 16, 4096, marian(57830, "relu")},

		"mbart-tiny": {1254, 64, 2, 4, 256, 2, 4, 256, mbart},
		"mbart-50":   {250054, 1024, 12, 16, 4096, 12, 16, 4096, mbart},

		"madlad-tiny": {420, 32, 2, 2, 64, 2, 2, 64, madlad},
		"madlad-3B":   {256000, 1024, 32, 16, 8192, 32, 16, 8192, madlad},
	}
}

// t5Names are T5's names of sizes. Heads and feed-forward blocks of both stacks are alike.
var t5Names = map[string]string{
	"encoder_layers": "num_layers", "encoder_attention_heads": "num_heads", "encoder_ffn_dim": "d_ff",
	"decoder_layers": "num_decoder_layers", "decoder_attention_heads": "num_heads", "decoder_ffn_dim": "d_ff",
}

// marian returns the network of Opus-MT with a vocabulary of vocabulary entries, the last one being padding.
func marian(vocabulary int, activation string) network {
	pad := vocabulary - 1
	return network{config: map[string]any{
		"architectures": []string{"MarianMTModel"}, "model_type": "marian", "activation_function": activation,
		"max_position_embeddings": 512, "scale_embedding": true,
		"bos_token_id": 0, "pad_token_id": pad, "eos_token_id": 0, "decoder_start_token_id": pad,
	}, generation: fmt.Sprintf(marianGenerationConfig, pad)}
}

// marianGenerationConfig is from Helsinki-NLP's models.
const marianGenerationConfig = `{
  "bad_words_ids": [[%[1]d]],
  "bos_token_id": 0,
  "decoder_start_token_id": %[1]d,
  "eos_token_id": 0,
  "forced_eos_token_id": 0,
  "max_length": 512,
  "num_beams": 4,
  "pad_token_id": %[1]d,
  "renormalize_logits": true
}
`

// mbartGenerationConfig is from facebook/mbart-large-50-many-to-many-mmt.
const mbartGenerationConfig = `{
  "bos_token_id": 0,
  "decoder_start_token_id": 2,
  "early_stopping": true,
  "eos_token_id": 2,
  "forced_eos_token_id": 2,
  "max_length": 200,
  "num_beams": 5,
  "pad_token_id": 1
}
`

// madladGenerationConfig is from google/madlad400-3b-mt.
const madladGenerationConfig = `{
  "decoder_start_token_id": 0,
  "eos_token_id": 2,
  "pad_token_id": 1
}
`

// shapeNames returns the names of shapes.
func shapeNames() []string { return slices.Sorted(maps.Keys(shapes())) }

// generationConfig is from facebook/m2m100_418M.
const generationConfig = `{
  "bos_token_id": 0,
  "decoder_start_token_id": 2,
  "early_stopping": true,
  "eos_token_id": 2,
  "max_length": 200,
  "num_beams": 5,
  "pad_token_id": 1
}
`

// configs returns config.json and generation_config.json: a copy of the given file, with M2M100's generation, or the files of a
// shape.
func configs(o options) (config []byte, generation string, err error) {
	if o.config != "" {
		config, err = os.ReadFile(o.config)
		return config, generationConfig, err
	}
	s, ok := shapes()[o.shape]
	if !ok {
		return nil, "", fmt.Errorf("--shape is %q: use %s, or --config", o.shape, strings.Join(shapeNames(), ", "))
	}
	sizes, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(sizes, &s.config) // adds to the existing entries
	}
	if err != nil {
		return nil, "", err
	}
	for name, other := range s.names {
		s.config[other] = s.config[name]
		delete(s.config, name)
	}
	raw, err := json.MarshalIndent(s.config, "", "  ")
	return append(raw, '\n'), s.generation, err
}
