package checkpoint

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/family"
)

// madlad is a config.json such as that of google/madlad400-3b-mt, with some fields replaced.
func madlad(t testing.TB, change map[string]any) []byte {
	config := map[string]any{
		"architectures": []string{"T5ForConditionalGeneration"}, "d_ff": 8192, "d_kv": 128, "d_model": 1024, "decoder_start_token_id": 0,
		"dense_act_fn": "gelu_new", "dropout_rate": 0.1, "eos_token_id": 2, "feed_forward_proj": "gated-gelu", "is_encoder_decoder": true,
		"is_gated_act": true, "layer_norm_epsilon": json.Number("1e-06"), "model_type": "t5", "n_positions": 512, "num_decoder_layers": 32,
		"num_heads": 16, "num_layers": 32, "pad_token_id": 1, "relative_attention_max_distance": 128, "relative_attention_num_buckets": 32,
		"tie_word_embeddings": false, "vocab_size": 256000,
	}
	maps.Copy(config, change)
	maps.DeleteFunc(config, func(_ string, v any) bool { return v == nil })
	raw, err := json.Marshal(config)
	require.NoError(t, err)
	return raw
}

func TestReadSpecOfT5(t *testing.T) {
	stack := model.Stack{Layers: 32, Heads: 16, FFN: 8192, HeadWidth: 128}
	want := model.Spec{
		VocabSize: 256000, DModel: 1024, Encoder: stack, Decoder: stack, MaxPositions: 512, EmbedScale: 1, Activation: model.GELUTanh,
		Positions: model.RelativePositions, Buckets: 32, MaxDistance: 128, RMSNorm: true, Unbiased: true, Unscaled: true, Gated: true,
		BOS: 2, Pad: 1, EOS: 2,
		Generation: model.Generation{Beams: 1, MaxLength: 200, LengthPenalty: 1, EarlyStopping: "false", RepetitionPenalty: 1},
	}
	got, _, err := family.ParseConfig("", madlad(t, nil), nil)
	require.NoError(t, err)
	assert.Equal(t, want, got)

	// As transformers 5.23.0 saves it: what is tied and what is scaled are two things.
	got, _, err = family.ParseConfig("", madlad(t, map[string]any{"tie_word_embeddings": true, "scale_decoder_outputs": false}), nil)
	require.NoError(t, err)
	assert.Equal(t, want, got)

	// As in its T5Config.
	want.TiedHead, want.ScaledHead, want.Gated, want.Activation = true, true, false, model.ReLU
	want.Pad, want.EOS, want.BOS = 0, 1, 1
	got, _, err = family.ParseConfig("", madlad(t, map[string]any{"tie_word_embeddings": nil, "feed_forward_proj": nil, "dense_act_fn": nil, "is_gated_act": nil, "pad_token_id": nil, "eos_token_id": nil,
		"decoder_start_token_id": nil, "n_positions": nil, "relative_attention_max_distance": nil, "relative_attention_num_buckets": nil,
		"num_decoder_layers": nil}), nil)
	require.NoError(t, err)
	assert.Equal(t, want, got)

	// mT5 has gates, and never scales what its head takes, whatever older files say.
	want.TiedHead, want.ScaledHead, want.Gated, want.Activation = false, false, true, model.GELUTanh
	got, _, err = family.ParseConfig("", madlad(t, map[string]any{"model_type": "mt5", "tie_word_embeddings": true, "feed_forward_proj": nil, "dense_act_fn": nil, "is_gated_act": nil,
		"pad_token_id": nil, "eos_token_id": nil, "decoder_start_token_id": nil}), nil)
	require.NoError(t, err)
	assert.Equal(t, want, got)

	for literal, epsilon := range map[string]float32{"0.000001": 0, "1E-6": 0, "1e-5": 1e-5} {
		got, _, err = family.ParseConfig("", madlad(t, map[string]any{"layer_norm_epsilon": json.Number(literal)}), nil)
		require.NoError(t, err)
		assert.Equal(t, epsilon, got.Epsilon, literal)
	}

	for kind, activation := range map[string]model.Activation{
		"relu": model.ReLU, "gelu": model.GELU, "gelu_new": model.GELUTanh, "silu": model.Swish, "gated-silu": model.Swish, "gated-relu": model.ReLU,
	} {
		got, _, err = family.ParseConfig("", madlad(t, map[string]any{"feed_forward_proj": kind, "dense_act_fn": nil, "is_gated_act": nil}), nil)
		require.NoError(t, err)
		assert.Equal(t, activation, got.Activation, kind)
		assert.Equal(t, kind[0] == 'g' && kind[1] == 'a', got.Gated, kind)
	}

	got, _, err = family.ParseConfig("", madlad(t, map[string]any{"dense_act_fn": "gelu", "is_gated_act": false}), nil)
	require.NoError(t, err)
	assert.Equal(t, model.GELU, got.Activation, "what is said by itself goes first")
	assert.False(t, got.Gated)
}

func TestReadSpecOfT5Refuses(t *testing.T) {
	for name, test := range map[string]struct {
		field string
		value any
		want  string
	}{
		"activation":      {"dense_act_fn", "tanh", `"dense_act_fn" is "tanh": relu, gelu, gelu_new or silu is supported`},
		"no gate":         {"is_gated_act", 1, `"is_gated_act" is 1: true or false`},
		"no text":         {"feed_forward_proj", 3, `"feed_forward_proj" is 3`},
		"epsilon":         {"layer_norm_epsilon", -1, `"layer_norm_epsilon" is -1: a number from 0 to 1 is supported`},
		"decoder alone":   {"is_encoder_decoder", false, `only true is supported`},
		"head width":      {"d_kv", 4096, `"d_kv" is 4096: an integer from 1 to 2048 is supported`},
		"heads of 0":      {"d_kv", 0, `"d_kv" is 0: an integer from 1 to 2048`},
		"no heads":        {"num_heads", nil, `"num_heads" is missing`},
		"no head width":   {"d_kv", nil, `"d_kv" is missing`},
		"heads":           {"num_heads", 0, `"num_heads" is 0`},
		"layers":          {"num_layers", 129, `"num_layers" is 129`},
		"decoder layers":  {"num_decoder_layers", -1, `"num_decoder_layers" is -1`},
		"width":           {"d_ff", 1 << 20, `"d_ff" is 1048576`},
		"positions":       {"n_positions", 1 << 20, `"n_positions" is 1048576: an integer from 1 to 8192`},
		"no buckets":      {"relative_attention_num_buckets", 0, `an integer from 4 to 8192`},
		"one bucket":      {"relative_attention_num_buckets", 1, `an integer from 4 to 8192`},
		"less than none":  {"relative_attention_num_buckets", -8, `"relative_attention_num_buckets" is -8`},
		"no distance":     {"relative_attention_max_distance", 0, `"relative_attention_max_distance" is 0`},
		"before itself":   {"relative_attention_max_distance", -128, `"relative_attention_max_distance" is -128`},
		"huge distance":   {"relative_attention_max_distance", int64(1) << 62, `"relative_attention_max_distance" is 4611686018427387904`},
		"broken distance": {"relative_attention_max_distance", 128.5, `"relative_attention_max_distance" is 128.5`},
		"few buckets":     {"relative_attention_num_buckets", 2, `an integer from 4 to 8192`},
		"many buckets":    {"relative_attention_num_buckets", 512, `more than half of "relative_attention_num_buckets", 512`},
		"short distances": {"relative_attention_max_distance", 16, `"relative_attention_max_distance" is 16: more than half of`},
		"quantized":       {"quantization_config", map[string]any{}, `"quantization_config" is {}: quantized weights`},
		"forced start":    {"forced_bos_token_id", 7, `"forced_bos_token_id" is 7: only null is supported`},
		"other token":     {"pad_token_id", 256000, `"pad_token_id" is 256000`},
	} {
		_, _, err := family.ParseConfig("", madlad(t, map[string]any{test.field: test.value}), nil)
		assert.ErrorContains(t, err, test.want, name)
	}
	_, _, err := family.ParseConfig("", madlad(t, map[string]any{"feed_forward_proj": "gated-tanh", "dense_act_fn": nil}), nil)
	assert.ErrorContains(t, err, `"feed_forward_proj" is "gated-tanh": relu, gelu, gelu_new or silu, or one`)
}

// Files have T5's names for what the network calls by its own.
func TestLayoutOfT5(t *testing.T) {
	for _, gated := range []string{"gated-gelu", "relu"} {
		spec, network, err := family.ParseConfig("", madlad(t, map[string]any{"is_gated_act": nil, "dense_act_fn": nil, "vocab_size": 40, "d_model": 9, "num_layers": 1, "num_decoder_layers": 2, "num_heads": 2,
			"d_kv": 4, "d_ff": 7, "feed_forward_proj": gated}), nil)
		require.NoError(t, err)
		total, stored, kept := 0, map[string]Tensor{}, 0
		for _, p := range Layout(spec) {
			n := 1
			for _, d := range p.Shape {
				n *= d
			}
			total += n
			name := network.Stored(p.Name, spec)
			stored[name] = Tensor{Name: name, Shape: p.Shape, DType: F32}
		}
		assert.Equal(t, spec.Parameters(), total)
		kept = len(stored)
		for name, shape := range map[string][]int{
			"shared.weight": {40, 9}, "lm_head.weight": {40, 9},
			"encoder.block.0.layer.0.SelfAttention.q.weight":                       {8, 9},
			"encoder.block.0.layer.0.SelfAttention.o.weight":                       {9, 8},
			"encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight": {32, 2},
			"encoder.block.0.layer.0.layer_norm.weight":                            {9},
			"encoder.block.0.layer.1.layer_norm.weight":                            {9},
			"encoder.block.0.layer.1.DenseReluDense.wo.weight":                     {9, 7},
			"encoder.final_layer_norm.weight":                                      {9},
			"decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight": {32, 2},
			"decoder.block.1.layer.1.EncDecAttention.k.weight":                     {8, 9},
			"decoder.block.1.layer.1.EncDecAttention.v.weight":                     {8, 9},
			"decoder.block.1.layer.1.layer_norm.weight":                            {9},
			"decoder.block.1.layer.2.layer_norm.weight":                            {9},
			"decoder.final_layer_norm.weight":                                      {9},
		} {
			assert.Equal(t, shape, stored[name].Shape, name)
		}
		first := "decoder.block.1.layer.2.DenseReluDense.wi.weight"
		if spec.Gated {
			assert.Equal(t, []int{7, 9}, stored["decoder.block.1.layer.2.DenseReluDense.wi_0.weight"].Shape)
			first = "decoder.block.1.layer.2.DenseReluDense.wi_1.weight"
		}
		assert.Equal(t, []int{7, 9}, stored[first].Shape)
		// What older files have besides: copies of the embedding, and a table that is not used.
		old := maps.Clone(stored)
		old["decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"] = Tensor{Shape: []int{32, 2}, DType: F32}
		old["encoder.embed_tokens.weight"], old["decoder.embed_tokens.weight"] = stored["shared.weight"], stored["shared.weight"]
		tensors, err := arrange(network, spec, old)
		require.NoError(t, err)
		assert.Len(t, tensors, kept)
		assert.Equal(t, []int{8, 9}, tensors["model.decoder.layers.1.encoder_attn.k_proj.weight"].Shape)

		// What google/madlad400-3b-mt has instead: the embedding by the decoder's name alone.
		delete(old, "shared.weight")
		delete(old, "encoder.embed_tokens.weight")
		tensors, err = arrange(network, spec, old)
		require.NoError(t, err)
		assert.Contains(t, tensors, SharedEmbedding)

		headless := maps.Clone(stored)
		delete(headless, "lm_head.weight")
		tensors, err = arrange(network, spec, headless)
		require.NoError(t, err, "transformers 5 has tied it")
		assert.Equal(t, tensors[SharedEmbedding].Shape, tensors[Head].Shape)
		assert.Equal(t, Head, tensors[Head].Name)

		without := maps.Clone(stored)
		delete(without, first)
		_, err = arrange(network, spec, without)
		assert.ErrorContains(t, err, "tensor "+first+" of shape [7 9] is missing")
		wrong := maps.Clone(stored)
		wrong[first] = Tensor{Shape: []int{9, 7}, DType: F32}
		_, err = arrange(network, spec, wrong)
		assert.ErrorContains(t, err, "tensor "+first+" has shape [9 7], the sizes in config.json demand [7 9]")
		more := maps.Clone(stored)
		more["decoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight"] = Tensor{Shape: []int{32, 2}, DType: F32}
		_, err = arrange(network, spec, more)
		assert.ErrorContains(t, err, "unexpected tensor")
	}
}
