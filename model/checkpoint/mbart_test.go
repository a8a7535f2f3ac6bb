package checkpoint

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/family"
)

// mbart is the config.json of facebook/mbart-large-50-many-to-many-mmt, with some fields replaced.
func mbart(t *testing.T, change map[string]any) []byte {
	config := map[string]any{
		"activation_function": "relu", "add_bias_logits": false, "add_final_layer_norm": true, "architectures": []string{"MBartForConditionalGeneration"},
		"bos_token_id": 0, "d_model": 1024, "decoder_attention_heads": 16, "decoder_ffn_dim": 4096, "decoder_layers": 12,
		"decoder_start_token_id": 2, "early_stopping": true, "encoder_attention_heads": 16, "encoder_ffn_dim": 4096, "encoder_layers": 12,
		"eos_token_id": 2, "forced_eos_token_id": 2, "is_encoder_decoder": true, "max_length": 200, "max_position_embeddings": 1024,
		"model_type": "mbart", "normalize_before": true, "normalize_embedding": true, "num_beams": 5, "pad_token_id": 1,
		"scale_embedding": true, "static_position_embeddings": false, "tokenizer_class": "MBart50Tokenizer", "vocab_size": 250054,
	}
	maps.Copy(config, change)
	maps.DeleteFunc(config, func(_ string, v any) bool { return v == nil })
	raw, err := json.Marshal(config)
	require.NoError(t, err)
	return raw
}

func TestReadSpecOfMBart(t *testing.T) {
	stack := model.Stack{Layers: 12, Heads: 16, FFN: 4096}
	want := model.Spec{
		VocabSize: 250054, DModel: 1024, Encoder: stack, Decoder: stack, MaxPositions: 1024, EmbedScale: 32, TiedHead: true,
		EmbeddingNorm: true, Positions: model.LearnedPositions, LogitsBias: true,
		Pad: 1, EOS: 2, DecoderStart: 2, ForcedEnd: true,
		Generation: model.Generation{Beams: 5, MaxLength: 200, LengthPenalty: 1, EarlyStopping: "true", RepetitionPenalty: 1},
	}
	got, _, err := family.ParseConfig("", mbart(t, nil), nil)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	assert.Equal(t, 610_879_488+250_054, got.Parameters(), "transformers counts so many, but for the bias of the logits")

	// As in transformers 5.23.0's MBartConfig, but for the token that begins a translation.
	want.Activation, want.EmbedScale = model.GELU, 1
	got, _, err = family.ParseConfig("", mbart(t, map[string]any{"activation_function": nil, "scale_embedding": nil, "bos_token_id": nil, "pad_token_id": nil,
		"eos_token_id": nil, "decoder_start_token_id": nil}), nil)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestReadSpecOfMBartRefuses(t *testing.T) {
	for field, test := range map[string]struct {
		value any
		want  string
	}{
		"normalize_before":           {false, `"normalize_before" is false: only true is supported`},
		"add_final_layer_norm":       {false, `"add_final_layer_norm" is false`},
		"normalize_embedding":        {false, `"normalize_embedding" is false`},
		"static_position_embeddings": {true, `"static_position_embeddings" is true: only false is supported`},
		"activation_function":        {"tanh", `relu, swish or gelu is supported`},
		"max_position_embeddings":    {1 << 20, `an integer from 1 to 8192`},
		"forced_eos_token_id":        {5, `"forced_eos_token_id" is 5: only 2 is supported`},
	} {
		_, _, err := family.ParseConfig("", mbart(t, map[string]any{field: test.value}), nil)
		assert.ErrorContains(t, err, test.want)
	}
}

// The layout is what the weights take, and the tables of positions are part of it.
func TestLayoutOfMBart(t *testing.T) {
	small := map[string]any{"vocab_size": 40, "d_model": 8, "encoder_layers": 1, "decoder_layers": 2, "encoder_attention_heads": 2,
		"decoder_attention_heads": 2, "encoder_ffn_dim": 8, "decoder_ffn_dim": 8, "max_position_embeddings": 16}
	spec, network, err := family.ParseConfig("", mbart(t, small), nil)
	require.NoError(t, err)
	total, stored := 0, map[string]Tensor{}
	for _, p := range Layout(spec) {
		n := 1
		for _, d := range p.Shape {
			n *= d
		}
		total += n
		stored[p.Name] = Tensor{Name: p.Name, Shape: p.Shape, DType: F32}
	}
	assert.Equal(t, spec.Parameters(), total)
	tensors, err := arrange(network, spec, maps.Clone(stored))
	require.NoError(t, err)
	const table = "model.decoder.embed_positions.weight"
	assert.Equal(t, []int{18, 8}, tensors[table].Shape)
	short := maps.Clone(stored)
	short[table] = Tensor{Name: table, Shape: []int{16, 8}, DType: F32}
	_, err = arrange(network, spec, short)
	assert.ErrorContains(t, err, "tensor "+table+" has shape [16 8], the sizes in config.json demand [18 8]")
	for _, name := range []string{table, "model.encoder.layernorm_embedding.bias"} {
		without := maps.Clone(stored)
		delete(without, name)
		_, err = arrange(network, spec, without)
		assert.ErrorContains(t, err, "tensor "+name)
		assert.True(t, slices.ContainsFunc(Layout(spec), func(p Parameter) bool { return p.Name == name }))
	}
}
