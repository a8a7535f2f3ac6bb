package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// shape is what differs between published models of M2M100's network, and a small one
// that keeps their proportions.
type shape struct {
	VocabSize    int `json:"vocab_size"`
	DModel       int `json:"d_model"`
	EncoderLayer int `json:"encoder_layers"`
	EncoderHeads int `json:"encoder_attention_heads"`
	EncoderFFN   int `json:"encoder_ffn_dim"`
	DecoderLayer int `json:"decoder_layers"`
	DecoderHeads int `json:"decoder_attention_heads"`
	DecoderFFN   int `json:"decoder_ffn_dim"`
}

// shapes are the sizes by name.
func shapes() map[string]shape {
	return map[string]shape{
		"tiny": {1200, 64, 2, 4, 256, 2, 4, 256},
		"418M": {128112, 1024, 12, 16, 4096, 12, 16, 4096},
		"1.2B": {128112, 1024, 24, 16, 8192, 24, 16, 8192},

		"small100":  {128112, 1024, 12, 16, 4096, 3, 16, 4096},
		"nllb-600M": {256206, 1024, 12, 16, 4096, 12, 16, 4096},
		"nllb-1.3B": {256206, 1024, 24, 16, 8192, 24, 16, 8192},
	}
}

// shapeNames lists the names of shapes.
func shapeNames() []string { return slices.Sorted(maps.Keys(shapes())) }

// generationConfig is that of facebook/m2m100_418M.
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

// configJSON returns the config.json to write: a copy of the one given, or that
// of a shape.
func configJSON(o options) ([]byte, error) {
	if o.config != "" {
		return os.ReadFile(o.config)
	}
	s, ok := shapes()[o.shape]
	if !ok {
		return nil, fmt.Errorf("--shape is %q: use %s, or --config", o.shape, strings.Join(shapeNames(), ", "))
	}
	config := struct {
		Architectures []string `json:"architectures"`
		ModelType     string   `json:"model_type"`
		shape
		Activation   string `json:"activation_function"`
		MaxPositions int    `json:"max_position_embeddings"`
		Scale        bool   `json:"scale_embedding"`
		BOS          int    `json:"bos_token_id"`
		Pad          int    `json:"pad_token_id"`
		EOS          int    `json:"eos_token_id"`
		DecoderStart int    `json:"decoder_start_token_id"`
	}{
		[]string{"M2M100ForConditionalGeneration"}, "m2m_100", s, "relu", 1024, true, 0, 1, 2, 2,
	}
	raw, err := json.MarshalIndent(config, "", "  ")
	return append(raw, '\n'), err
}
