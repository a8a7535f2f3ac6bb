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

// marian is the config.json of Helsinki-NLP/opus-mt-en-fr, as it was published in 2020, with some
// fields replaced.
func marian(t *testing.T, change map[string]any) []byte {
	config := map[string]any{
		"activation_function": "swish", "add_bias_logits": false, "add_final_layer_norm": false, "architectures": []string{"MarianMTModel"},
		"bad_words_ids": [][]int{{59513}}, "bos_token_id": 0, "d_model": 512, "decoder_attention_heads": 8, "decoder_ffn_dim": 2048,
		"decoder_layers": 6, "decoder_start_token_id": 59513, "encoder_attention_heads": 8, "encoder_ffn_dim": 2048, "encoder_layers": 6,
		"eos_token_id": 0, "is_encoder_decoder": true, "max_length": 512, "max_position_embeddings": 512, "model_type": "marian",
		"normalize_before": false, "normalize_embedding": false, "num_beams": 6, "num_hidden_layers": 6, "pad_token_id": 59513,
		"scale_embedding": true, "static_position_embeddings": true, "vocab_size": 59514,
	}
	maps.Copy(config, change)
	maps.DeleteFunc(config, func(_ string, v any) bool { return v == nil })
	raw, err := json.Marshal(config)
	require.NoError(t, err)
	return raw
}

func TestReadSpecOfMarian(t *testing.T) {
	stack := model.Stack{Layers: 6, Heads: 8, FFN: 2048}
	want := model.Spec{
		VocabSize: 59514, DModel: 512, Encoder: stack, Decoder: stack, MaxPositions: 512, EmbedScale: 22.627417, TiedHead: true,
		PostNorm: true, Activation: model.Swish, Positions: model.OriginalPositions, LogitsBias: true,
		Pad: 59513, DecoderStart: 59513, NeverPad: true,
		Generation: model.Generation{Beams: 6, MaxLength: 512, LengthPenalty: 1, EarlyStopping: "false", RepetitionPenalty: 1},
	}
	for name, test := range map[string]struct {
		config map[string]any
		change func(*model.Spec)
	}{
		"as published": {nil, func(*model.Spec) {}},
		"later": {map[string]any{"forced_eos_token_id": 0, "renormalize_logits": true, "decoder_vocab_size": 59514, "share_encoder_decoder_embeddings": true},
			func(s *model.Spec) { s.ForcedEnd, s.Renormalize = true, true }},
		"tc-big": {map[string]any{"activation_function": "relu", "share_encoder_decoder_embeddings": false, "decoder_vocab_size": 60000},
			func(s *model.Spec) { s.Activation, s.VocabSize, s.SourceVocab = model.ReLU, 60000, 59514 }},
		"padding ends": {map[string]any{"eos_token_id": 59513, "renormalize_logits": true},
			func(s *model.Spec) { s.EOS, s.NeverPad, s.Renormalize = 59513, false, true }},
		// As in transformers 5.23.0's MarianConfig, but for the ids of one model.
		"defaults": {map[string]any{"activation_function": nil, "scale_embedding": nil, "bos_token_id": nil, "eos_token_id": nil,
			"decoder_start_token_id": nil, "bad_words_ids": nil, "num_beams": nil},
			func(s *model.Spec) {
				s.Activation, s.EmbedScale, s.NeverPad, s.Generation.Beams = model.GELU, 1, false, 1
			}},
	} {
		t.Run(name, func(t *testing.T) {
			want := want
			test.change(&want)
			got, _, err := family.ParseConfig("", marian(t, test.config), nil)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
}

func TestReadSpecOfMarianRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		field string
		value any
		want  string
	}{
		"pre-norm":          {"normalize_before", true, `"normalize_before" is true: only false is supported`},
		"final norm":        {"add_final_layer_norm", true, `"add_final_layer_norm" is true: only false is supported`},
		"embedding norm":    {"normalize_embedding", true, `"normalize_embedding" is true`},
		"learned positions": {"static_position_embeddings", false, `"static_position_embeddings" is false`},
		"activation":        {"activation_function", "tanh", `"activation_function" is "tanh": relu, swish or gelu is supported`},
		"two vocabularies":  {"decoder_vocab_size", 100, `"decoder_vocab_size" is 100: it must be "vocab_size", 59514`},
		"no padding":        {"pad_token_id", nil, `"pad_token_id" is missing`},
		"bad words":         {"bad_words_ids", [][]int{{59513}, {7}}, `"bad_words_ids" is [[59513],[7]]: only [[59513]] is supported`},
		"bad phrase":        {"bad_words_ids", [][]int{{59513, 7}}, `only [[59513]] is supported`},
		"forced start":      {"forced_bos_token_id", 5, `"forced_bos_token_id" is 5: only null is supported`},
		"forced end":        {"forced_eos_token_id", 5, `"forced_eos_token_id" is 5: only 0 is supported`},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := family.ParseConfig("", marian(t, map[string]any{test.field: test.value}), nil)
			require.ErrorContains(t, err, test.want)
		})
	}
}

// The layout is what the weights take, and copies of embeddings are of those that a model has.
func TestLayoutOfMarian(t *testing.T) {
	for _, config := range []map[string]any{
		nil, {"tie_word_embeddings": false}, {"share_encoder_decoder_embeddings": false, "decoder_vocab_size": 60000},
		{"share_encoder_decoder_embeddings": false, "tie_word_embeddings": false},
	} {
		spec, _, err := family.ParseConfig("", marian(t, config), nil)
		require.NoError(t, err)
		total := 0
		for _, p := range Layout(spec) {
			n := 1
			for _, d := range p.Shape {
				n *= d
			}
			total += n
		}
		assert.Equal(t, spec.Parameters(), total, "%v", config)
	}
	shared, own := model.Spec{TiedHead: true}, model.Spec{TiedHead: true, SourceVocab: 5}
	assert.Equal(t, SharedEmbedding, embeddingOf(Head, shared))
	assert.Equal(t, DecoderEmbedding, embeddingOf(Head, own))
	assert.Equal(t, EncoderEmbedding, embeddingOf(EncoderEmbedding, own))
	own.TiedHead = false
	assert.Equal(t, Head, embeddingOf(Head, own))
}

// transformers has zeros for a bias of the logits that is not there.
func TestLogitsWithoutBias(t *testing.T) {
	small := map[string]any{"vocab_size": 10, "d_model": 4, "encoder_attention_heads": 1, "decoder_attention_heads": 1, "encoder_layers": 1,
		"decoder_layers": 1, "encoder_ffn_dim": 4, "decoder_ffn_dim": 4, "max_position_embeddings": 3, "pad_token_id": 9, "decoder_start_token_id": 9,
		"bad_words_ids": nil}
	for name, test := range map[string]struct {
		config []byte
		bias   []Source
		want   float32
		fails  string
	}{
		"Opus-MT":          {config: marian(t, small)},
		"mBART":            {config: mbart(t, map[string]any{"vocab_size": 10, "d_model": 4, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 1, "decoder_attention_heads": 1, "encoder_ffn_dim": 4, "decoder_ffn_dim": 4})},
		"there":            {config: marian(t, small), bias: []Source{constant(LogitsBias, 3, 1, 10)}, want: 3},
		"of another shape": {config: marian(t, small), bias: []Source{constant(LogitsBias, 3, 1, 9)}, fails: "tensor final_logits_bias has shape [1 9]"},
	} {
		spec, _, err := family.ParseConfig("", test.config, nil)
		require.NoError(t, err, name)
		dir, tensors := folderOf(t, test.config), test.bias
		for _, p := range Layout(spec) {
			if p.Name != LogitsBias {
				tensors = append(tensors, constant(p.Name, 1, p.Shape...))
			}
		}
		writeModel(t, dir, model.SafetensorsFile, tensors)
		if test.fails != "" {
			_, err = Open(dir)
			require.ErrorContains(t, err, test.fails, name)
			continue
		}
		bias, err := open(t, dir).Tensor(LogitsBias)
		require.NoError(t, err, name)
		assert.Equal(t, slices.Repeat([]float32{test.want}, 10), read(t, bias), name)
	}
}

// Positions are computed where no file has them; what is in a file may be rounded.
func TestPositionsOfMarian(t *testing.T) {
	const encoder, decoder = "model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"
	config := marian(t, map[string]any{"vocab_size": 10, "d_model": 4, "encoder_attention_heads": 1, "decoder_attention_heads": 1, "encoder_layers": 1,
		"decoder_layers": 1, "encoder_ffn_dim": 4, "decoder_ffn_dim": 4, "max_position_embeddings": 3, "pad_token_id": 9, "decoder_start_token_id": 9,
		"bad_words_ids": nil})
	spec, _, err := family.ParseConfig("", config, nil)
	require.NoError(t, err)
	write := func(more ...Source) string {
		dir, tensors := folderOf(t, config), more
		for _, p := range Layout(spec) {
			tensors = append(tensors, constant(p.Name, 1, p.Shape...))
		}
		writeModel(t, dir, model.SafetensorsFile, tensors)
		return dir
	}
	assert.Equal(t, model.OriginalPositions, open(t, write()).Spec().Positions)
	own := open(t, write(constant(encoder, 5, 3, 4), constant(decoder, 6, 3, 4)))
	assert.Equal(t, model.TablePositions, own.Spec().Positions)
	assert.EqualValues(t, 6, read(t, own.tensors[decoder])[0])
	_, err = Open(write(constant(encoder, 5, 3, 4)))
	assert.ErrorContains(t, err, "tensor "+decoder+" of shape [3 4] is missing")
	_, err = Open(write(constant(encoder, 5, 4, 4), constant(decoder, 6, 3, 4)))
	assert.ErrorContains(t, err, "tensor "+encoder+" has shape [4 4]")
}
