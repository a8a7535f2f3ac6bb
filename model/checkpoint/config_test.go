package checkpoint

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/family"
)

func TestReadSpec(t *testing.T) {
	spec, err := ReadSpec("../bundled")
	require.NoError(t, err)
	assert.Equal(t, model.Spec{
		VocabSize: 16116, DModel: 256, MaxPositions: 1024, EmbedScale: 16, TiedHead: true,
		Encoder: model.Stack{Layers: 8, Heads: 4, FFN: 1024},
		Decoder: model.Stack{Layers: 3, Heads: 4, FFN: 1024},
		BOS:     0, Pad: 1, EOS: 2, DecoderStart: 2,
		Generation: model.Generation{
			Beams: 5, MaxLength: 200, LengthPenalty: 1, EarlyStopping: "true", RepetitionPenalty: 1,
		},
	}, spec)
}

// What config.json leaves out defaults as in transformers 5.23.0's M2M100Config
// and generate(), but for the length.
func TestReadSpecDefaults(t *testing.T) {
	absent := map[string]any{"bos_token_id": nil, "pad_token_id": nil, "eos_token_id": nil,
		"decoder_start_token_id": nil, "scale_embedding": nil, "tie_word_embeddings": nil, "activation_function": nil}
	spec, err := ReadSpec(folderOf(t, settings(t, absent)))
	require.NoError(t, err)
	assert.Equal(t, []int64{0, 1, 2, 2}, []int64{spec.BOS, spec.Pad, spec.EOS, spec.DecoderStart})
	assert.InDelta(t, 2.828427, spec.EmbedScale, 1e-6)
	assert.True(t, spec.TiedHead)
	assert.Equal(t, model.Generation{Beams: 1, MaxLength: 16, LengthPenalty: 1, EarlyStopping: "false",
		RepetitionPenalty: 1}, spec.Generation, "as many tokens as there are positions")

	spec, err = ReadSpec(folderOf(t, settings(t, map[string]any{"scale_embedding": false, "eos_token_id": []int{5}})))
	require.NoError(t, err)
	assert.EqualValues(t, 1, spec.EmbedScale)
	assert.EqualValues(t, 5, spec.EOS)
}

func TestReadSpecRefuses(t *testing.T) {
	tests := map[string]struct {
		field string
		value any
		want  string
	}{
		"no type":             {"model_type", nil, `"model_type" is missing: supported are "m2m_100"`},
		"other type":          {"model_type", "bart", `"model_type" is "bart": supported are "m2m_100" (M2M100, NLLB-200, SMaLL-100), "marian" (Opus-MT), "mbart" (mBART-50), "t5" (T5, MADLAD-400) and "mt5" (mT5)`},
		"type is a number":    {"model_type", 7, `"model_type" is 7`},
		"no width":            {"d_model", nil, `"d_model" is missing: this is not the config.json of a model that is supported`},
		"heads do not divide": {"decoder_attention_heads", 3, `"d_model" is 8: it must be a multiple of "decoder_attention_heads", 3`},
		"encoder heads":       {"encoder_attention_heads", 5, `"d_model" is 8: it must be a multiple of "encoder_attention_heads", 5`},
		"other layers":        {"num_hidden_layers", 0, `"num_hidden_layers" is 0: an integer from 1 to 128`},
		"other heads":         {"num_attention_heads", 4, `"num_attention_heads" is 4: only 2 is supported`},
		"other width":         {"hidden_size", 16, `"hidden_size" is 16: only 8 is supported`},
		"no heads":            {"encoder_attention_heads", 0, `"encoder_attention_heads" is 0: an integer from 1 to 256`},
		"too narrow":          {"d_model", 3, `"d_model" is 3: an integer from 4 to 8192 is supported`},
		"negative":            {"encoder_layers", -1, `"encoder_layers" is -1: an integer from 1 to 128 is supported`},
		"absurd":              {"vocab_size", uint64(1) << 63, `"vocab_size" is 9223372036854775808: an integer from 4 to`},
		"many positions":      {"max_position_embeddings", 1 << 20, `"max_position_embeddings" is 1048576: an integer from 1 to 8192 is supported`},
		"huge":                {"encoder_ffn_dim", 1 << 40, `"encoder_ffn_dim" is 1099511627776`},
		"bool for size":       {"d_model", true, `"d_model" is true: an integer from 4 to 8192 is supported`},
		"string for size":     {"d_model", "1024", `"d_model" is "1024": an integer`},
		"fraction":            {"decoder_ffn_dim", 1.5, `"decoder_ffn_dim" is 1.5: an integer`},
		"list for size":       {"decoder_layers", []int{1}, `"decoder_layers" is [1]: an integer`},
		"activation":          {"activation_function", "gelu", `"activation_function" is "gelu": only "relu" is supported`},
		"post-norm":           {"normalize_before", false, `"normalize_before" is false: only true is supported`},
		"embedding norm":      {"normalize_embedding", true, `"normalize_embedding" is true: only false is supported`},
		"code":                {"auto_map", map[string]any{"AutoConfig": "a.B", "AutoModelForSeq2SeqLM": "a.C"}, `a network in code of its own (AutoModelForSeq2SeqLM)`},
		"class":               {"architectures", []string{"M2M100ForConditionalGeneration_Hybride"}, `a network of a class of its own is not supported`},
		"another's class":     {"architectures", []string{"FSDPM2M100Model", "MarianMTModel"}, `"architectures" is ["FSDPM2M100Model","MarianMTModel"]`},
		"quantized":           {"quantization_config", map[string]any{"bits": 4}, `"quantization_config" is {"bits":4}: quantized weights (of an unknown kind) are not supported`},
		"number for bool":     {"scale_embedding", 1, `"scale_embedding" is 1: true or false is supported`},
		"id out of range":     {"pad_token_id", 12, `"pad_token_id" is 12: an integer from 0 to 11 is supported`},
		"negative id":         {"decoder_start_token_id", -2, `"decoder_start_token_id" is -2`},
		"long value":          {"activation_function", string(make([]byte, 50)), "…"},
		"too many beams":      {"num_beams", 5000, `"num_beams" is 5000: an integer from 1 to 1024`},
		"sampling":            {"do_sample", true, `"do_sample" is true: only false is supported`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := folderOf(t, settings(t, map[string]any{test.field: test.value}))
			_, err := ReadSpec(dir)
			require.ErrorContains(t, err, test.want)
			assert.ErrorContains(t, err, filepath.Join(dir, model.ConfigFile))
		})
	}
	broken := map[string]struct{ raw, want string }{
		"null size": {`{"model_type": "m2m_100", "vocab_size": null}`, `"vocab_size" is null: an integer`},
		"empty":     {``, "unexpected EOF"},
		"cut":       {`{"model_type": "m2m_100", "vocab`, "unexpected EOF"},
		"list":      {`[]`, "expected a JSON object"},
		"twice":     {`{"d_model": 8, "d_model": 16}`, `"d_model" appears twice`},
		"trailing":  {`{} {}`, "there is something after the JSON object"},
	}
	for name, test := range broken {
		t.Run(name, func(t *testing.T) {
			_, err := ReadSpec(folderOf(t, []byte(test.raw)))
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func TestGeneration(t *testing.T) {
	with := func(change func(*model.Generation)) model.Generation {
		g := model.Generation{Beams: 1, MaxLength: 16, LengthPenalty: 1, EarlyStopping: "false", RepetitionPenalty: 1}
		change(&g)
		return g
	}
	defaults := with(func(*model.Generation) {})
	tests := map[string]struct {
		raw  string
		want model.Generation
	}{
		"all": {`{"num_beams": 4, "max_length": 100, "min_length": 3, "length_penalty": 0.6, "early_stopping": "never",
			"no_repeat_ngram_size": 3, "repetition_penalty": 1.2}`, model.Generation{
			Beams: 4, MaxLength: 100, MinLength: 3, LengthPenalty: 0.6, EarlyStopping: "never",
			NoRepeatNgramSize: 3, RepetitionPenalty: 1.2}},
		"defaults": {`{}`, defaults},
		"nulls": {`{"num_beams": null, "max_length": null, "early_stopping": null, "length_penalty": null,
			"do_sample": null, "eos_token_id": null, "max_new_tokens": null}`, defaults},
		"new tokens": {`{"max_length": 20, "max_new_tokens": 50, "min_new_tokens": 2}`, with(func(g *model.Generation) {
			g.MaxLength, g.MinLength = 51, 3
		})},
		"no stop": {`{"early_stopping": false}`, defaults},
		"negative penalty": {`{"length_penalty": -1, "forced_bos_token_id": 7, "temperature": 0.3}`,
			with(func(g *model.Generation) { g.LengthPenalty = -1 })},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := folderOf(t, settings(t, map[string]any{"num_beams": 9})) // not to be looked at
			require.NoError(t, os.WriteFile(filepath.Join(dir, model.GenerationConfigFile), []byte(test.raw), 0o644))
			spec, err := ReadSpec(dir)
			require.NoError(t, err)
			assert.Equal(t, test.want, spec.Generation)
			assert.EqualValues(t, 2, spec.EOS)
		})
	}
}

// The ids of generation_config.json override config.json's, but for padding.
func TestGenerationIDs(t *testing.T) {
	dir := folderOf(t, settings(t, nil))
	raw := `{"bos_token_id": 5, "pad_token_id": 6, "eos_token_id": [7], "decoder_start_token_id": 8}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, model.GenerationConfigFile), []byte(raw), 0o644))
	spec, err := ReadSpec(dir)
	require.NoError(t, err)
	assert.Equal(t, []int64{5, 1, 7, 8}, []int64{spec.BOS, spec.Pad, spec.EOS, spec.DecoderStart})

	require.NoError(t, os.WriteFile(filepath.Join(dir, model.GenerationConfigFile), []byte(`{"bos_token_id": 5, "eos_token_id": 7}`), 0o644))
	spec, err = ReadSpec(dir)
	require.NoError(t, err)
	assert.Equal(t, []int64{5, 7, 5}, []int64{spec.BOS, spec.EOS, spec.DecoderStart}, "generate() starts with it then")
}

func TestGenerationRefuses(t *testing.T) {
	tests := map[string]struct{ raw, want string }{
		"stopping":        {`{"early_stopping": "sometimes"}`, `"early_stopping" is "sometimes": true, false or "never"`},
		"two ends":        {`{"eos_token_id": [2, 3]}`, `"eos_token_id" is [2, 3]: one id from 0 to 11`},
		"no end":          {`{"decoder_start_token_id": 2}`, `"eos_token_id" is missing: what a translation starts with is there`},
		"an end of null":  {`{"bos_token_id": 0, "eos_token_id": null}`, `"eos_token_id" is null: what a translation`},
		"null end":        {`{"eos_token_id": [null]}`, `"eos_token_id" is [null]: one id`},
		"end beyond":      {`{"eos_token_id": [12]}`, `"eos_token_id" is [12]: one id`},
		"end is a bool":   {`{"eos_token_id": true}`, `"eos_token_id" is true: an integer`},
		"no beams":        {`{"num_beams": 0}`, `"num_beams" is 0: an integer from 1`},
		"bool beams":      {`{"num_beams": true}`, `"num_beams" is true: an integer`},
		"infinite":        {`{"length_penalty": 1e999}`, `"length_penalty" is 1e999: a finite number`},
		"string penalty":  {`{"length_penalty": "1"}`, `"length_penalty" is "1": a finite number`},
		"zero repetition": {`{"repetition_penalty": 0}`, `"repetition_penalty" is 0: 1 or more`},
		"rewarded":        {`{"repetition_penalty": 0.9}`, `"repetition_penalty" is 0.9: 1 or more`},
		"guidance":        {`{"guidance_scale": 1.5}`, `"guidance_scale" is 1.5: only 1.0 is supported`},
		"watermark":       {`{"watermarking_config": {"bias": 2.5}}`, `"watermarking_config" is {"bias": 2.5}: only null`},
		"an assistant":    {`{"is_assistant": true}`, `"is_assistant" is true: only false is supported`},
		"limited in time": {`{"max_time": 2.5}`, `"max_time" is 2.5: only null is supported`},
		"forced tokens":   {`{"forced_decoder_ids": [[1, 5]]}`, `"forced_decoder_ids" is [[1, 5]]: only null is supported`},
		"a later setting": {`{"_note": 1, "top_k": 50, "lookahead_penalty": 0.5}`, `"lookahead_penalty" is 0.5: this setting is not known`},
		"forced words":    {`{"force_words_ids": [[5]]}`, `"force_words_ids" is [[5]]: only null is supported`},
		"stop strings":    {`{"stop_strings": ["."]}`, `"stop_strings" is ["."]: only null is supported`},
		"padding starts":  {`{"decoder_start_token_id": 1, "eos_token_id": 2}`, `"decoder_start_token_id" is 1: another one than "pad_token_id"`},
		"groups":          {`{"num_beam_groups": 2}`, `"num_beam_groups" is 2: only 1 is supported`},
		"bad words":       {`{"bad_words_ids": [[1], [2]]}`, `"bad_words_ids" is [[1], [2]]: only [[1]] is supported`},
		"other end":       {`{"forced_eos_token_id": 3}`, `"forced_eos_token_id" is 3: only 2 is supported`},
		"renormalized":    {`{"bad_words_ids": [[1]], "renormalize_logits": true}`, "where the logits have no bias"},
		"long at least":   {`{"min_length": 22}`, "min length is 22: use 0 to the max length, 16"},
		"many new ones":   {`{"max_new_tokens": 50, "min_new_tokens": 51}`, "min length is 52: use 0 to the max length, 51"},
		"without an end":  {`{"min_length": 2, "renormalize_logits": true}`, `"renormalize_logits" is true: false is supported with a least length`},
		"without repeats": {`{"no_repeat_ngram_size": 3, "renormalize_logits": true}`, `with "no_repeat_ngram_size" or`},
		"with penalties":  {`{"repetition_penalty": 1.1, "renormalize_logits": true}`, `or "repetition_penalty"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := folderOf(t, settings(t, nil))
			require.NoError(t, os.WriteFile(filepath.Join(dir, model.GenerationConfigFile), []byte(test.raw), 0o644))
			_, err := ReadSpec(dir)
			require.ErrorContains(t, err, test.want)
			assert.ErrorContains(t, err, model.GenerationConfigFile)
		})
	}
}

// TestMaxBytes: an old checkpoint in 32 bits, with all that the model does not need.
func TestMaxBytes(t *testing.T) {
	spec, err := ReadSpec("../bundled")
	require.NoError(t, err)
	elements := 0
	for _, p := range Layout(spec) {
		n := 1
		for _, size := range p.Shape {
			n *= size
		}
		elements += n
	}
	old := elements + 3*spec.VocabSize*spec.DModel + 2*(spec.MaxPositions+2)*spec.DModel
	assert.Greater(t, MaxBytes(spec), int64(4*old))
	assert.Less(t, MaxBytes(spec), int64(4*old+100<<20))
}

// FuzzConfig reads settings: what is accepted has sizes that can be used.
func FuzzConfig(f *testing.F) {
	config := settings(f, nil)
	generation, err := os.ReadFile("testdata/" + model.GenerationConfigFile)
	require.NoError(f, err)
	f.Add(config, generation)
	f.Add(madlad(f, nil), []byte(`{}`))
	f.Add(config, []byte(`{"num_beams": 5, "early_stopping": "never", "eos_token_id": [2], "length_penalty": 1e308}`))
	f.Add(settings(f, map[string]any{"d_model": 1 << 40, "tie_word_embeddings": false}), []byte(`null`))
	f.Fuzz(func(t *testing.T, config, generation []byte) {
		spec, _, err := family.ParseConfig("", config, generation)
		if err != nil {
			return
		}
		for _, p := range Layout(spec) {
			if n, err := elements(p.Shape); err != nil || n <= 0 {
				t.Fatalf("%s of shape %v: %v", p.Name, p.Shape, err)
			}
		}
		if spec.Encoder.HeadDim(spec.DModel) < 1 || spec.EOS >= int64(spec.VocabSize) || spec.Generation.Beams < 1 {
			t.Fatalf("%+v", spec)
		}
	})
}
