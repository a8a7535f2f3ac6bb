package checkpoint

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/ctranslate2"
)

// convertedModel is the folder of one of the goldens' models in CTranslate2's form.
func convertedModel(name string) string { return filepath.Join("..", "testdata", "ctranslate2", name) }

func TestSpecOfConvertedModels(t *testing.T) {
	generation := model.Generation{Beams: 2, MaxLength: 64, MinLength: 2, LengthPenalty: 1, EarlyStopping: "true", RepetitionPenalty: 1}
	scale := func(width float64) float32 { return float32(math.Sqrt(width)) }
	long := generation
	long.MaxLength = 257
	for name, want := range map[string]model.Spec{
		"opennmt-float32": {VocabSize: 90, DModel: 20, Encoder: model.Stack{Layers: 2, Heads: 2, FFN: 28}, Decoder: model.Stack{Layers: 1, Heads: 2, FFN: 28},
			MaxPositions: 64, EmbedScale: scale(20), TiedHead: true, Positions: model.TablePositions, LogitsBias: true,
			BOS: 2, EOS: 3, DecoderStart: 2, Generation: generation},
		"opennmt-tf": {VocabSize: 81, SourceVocab: 70, DModel: 24, Encoder: model.Stack{Layers: 1, Heads: 3, FFN: 28}, Decoder: model.Stack{Layers: 2, Heads: 3, FFN: 28},
			MaxPositions: 1024, EmbedScale: scale(24), Activation: model.GELUTanh, LogitsBias: true, BOS: 2, EOS: 3, DecoderStart: 2, Generation: long},
		"marian-int8": {VocabSize: 120, DModel: 48, Encoder: model.Stack{Layers: 2, Heads: 3, FFN: 56}, Decoder: model.Stack{Layers: 1, Heads: 3, FFN: 88},
			MaxPositions: 64, EmbedScale: scale(48), TiedHead: true, Positions: model.TablePositions, LogitsBias: true, PostNorm: true, Activation: model.Swish,
			Pad: 119, DecoderStart: 119, NeverPad: true, Renormalize: true, Generation: generation},
		"t5-int8": {VocabSize: 120, DModel: 32, Encoder: model.Stack{Layers: 2, Heads: 3, FFN: 56, HeadWidth: 12},
			Decoder: model.Stack{Layers: 1, Heads: 3, FFN: 56, HeadWidth: 12}, MaxPositions: 512, EmbedScale: 1, Activation: model.GELUTanh,
			Positions: model.RelativePositions, Buckets: 8, MaxDistance: 20, RMSNorm: true, Unbiased: true, Unscaled: true, Gated: true,
			ScaledHead: true, BOS: 2, EOS: 2, Generation: long},
		"t5-tied": {VocabSize: 120, DModel: 33, Encoder: model.Stack{Layers: 2, Heads: 4, FFN: 56, HeadWidth: 7},
			Decoder: model.Stack{Layers: 2, Heads: 4, FFN: 56, HeadWidth: 7}, MaxPositions: 512, EmbedScale: 1, TiedHead: true,
			Positions: model.RelativePositions, Buckets: 32, MaxDistance: 128, RMSNorm: true, Unbiased: true, Unscaled: true,
			ScaledHead: true, BOS: 1, EOS: 1, Generation: long},
	} {
		got, err := ReadSpec(convertedModel(name))
		require.NoError(t, err)
		assert.Equal(t, want, got, name)
	}
}

// Matrices of 8-bit numbers stay as they are, with a scale for each row.
func TestNumbersOf8BitsAreKept(t *testing.T) {
	kept, err := Open(convertedModel("opennmt-int8"))
	require.NoError(t, err)
	defer func() { _ = kept.Close() }()
	original, err := Open(convertedModel("opennmt-float32"))
	require.NoError(t, err)
	defer func() { _ = original.Close() }()
	for _, name := range []string{"model.encoder.layers.1.self_attn.k_proj.weight", DecoderEmbedding} { // the second third of a variable, and a whole one
		tensor, err := kept.Tensor(name)
		require.NoError(t, err)
		require.Equal(t, I8, tensor.DType)
		whole, err := original.Tensor(name)
		require.NoError(t, err)
		numbers, want, width := make([]int8, tensor.Len()), read(t, whole), tensor.Shape[1]
		require.NoError(t, tensor.ReadInt8(numbers, 0))
		for i, scale := range tensor.RowScales() {
			for j, n := range numbers[i*width:][:width] {
				assert.InDelta(t, want[i*width+j]/scale, n, 0.51)
			}
		}
	}
}

func TestConvertedPadding(t *testing.T) {
	c, err := Open(convertedModel("marian-int8"))
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	table, err := c.Tensor(DecoderEmbedding)
	require.NoError(t, err)
	values := read(t, table)
	assert.Equal(t, make([]float32, 48), values[119*48:], "what a translation begins with")
	assert.NotEqual(t, make([]float32, 48), values[118*48:119*48])
}

// The converter says nothing of how translations begin where it takes an mBART-50 for an mBART of 25 languages.
func TestConvertedMBart50(t *testing.T) {
	want, err := ReadSpec(convertedModel("mbart"))
	require.NoError(t, err)
	for name, test := range map[string]struct {
		tokens []string // the last of the vocabulary
		fails  bool
	}{
		"mBART-50":     {[]string{"vi_VN", "zh_CN", "af_ZA", "az_AZ"}, false},
		"25 languages": {[]string{"vi_VN", "zh_CN", "<mask>"}, true},
		"a new one":    {[]string{"vi_VN", "zh_CN", "<mask>", "af_ZA"}, true},
		"others":       {[]string{"af_ZA", "az_AZ"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(convertedModel("mbart"))))
			require.NoError(t, os.WriteFile(filepath.Join(dir, model.ConfigFile), []byte(`{"bos_token": null, "decoder_start_token": null}`), 0o600))
			path := filepath.Join(dir, "shared_vocabulary.json")
			raw, err := os.ReadFile(path)
			require.NoError(t, err)
			var tokens []string
			require.NoError(t, json.Unmarshal(raw, &tokens))
			copy(tokens[len(tokens)-len(test.tokens):], test.tokens)
			raw, err = json.Marshal(tokens)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, raw, 0o600))
			got, err := ReadSpec(dir)
			if test.fails {
				require.ErrorContains(t, err, `"decoder_start_token" is null: models that are told the target language by it, as mBART's of 25 languages`)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
}

// Where translations begin with zeros, what they begin with need not be in the vocabulary: Marian's have no <s>.
func TestConvertedStartsWithZeros(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(convertedModel("marian-int8"))))
	require.NoError(t, os.WriteFile(filepath.Join(dir, model.ConfigFile), []byte(`{"decoder_start_token": "<none>"}`), 0o600))
	got, err := ReadSpec(dir)
	require.NoError(t, err)
	want, err := ReadSpec(convertedModel("marian-int8"))
	require.NoError(t, err)
	assert.Equal(t, want, got)

	path := filepath.Join(dir, ctranslate2.ModelFile)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, bytes.ReplaceAll(raw, []byte("/encodings"), []byte("/encodingz")), 0o600))
	_, err = Open(dir)
	assert.ErrorContains(t, err, "positions have no weights")
}

// changedModel is a copy of a model with some bytes of model.bin replaced by as many.
func changedModel(t *testing.T, name, from, to string) string {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(convertedModel(name))))
	path := filepath.Join(dir, ctranslate2.ModelFile)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Len(t, to, len(from))
	require.Equal(t, 1, bytes.Count(raw, []byte(from)), from)
	require.NoError(t, os.WriteFile(path, bytes.Replace(raw, []byte(from), []byte(to), 1), 0o600))
	return dir
}

func TestOpenConvertedRefuses(t *testing.T) {
	const (
		flag  = "\x00\x00\x01\x01\x00\x00\x00" // the end of a name and the head of one byte
		heads = "encoder/num_heads\x00\x00\x02\x02\x00\x00\x00"
	)
	for name, test := range map[string]struct{ from, to, want string }{
		"another network":      {"TransformerSpec", "TransformerTest", `"TransformerTest"`},
		"no embedding":         {"decoder/embeddings/weight\x00\x02", "decoder/embeddinks/weight\x00\x02", "decoder/embeddings/weight"},
		"a layer's matrix":     {"encoder/layer_1/ffn/linear_1/weight\x00", "encoder/layer_1/ffn/linear_2/weight\x00", "encoder/layer_1/ffn/linear_1/weight is missing"},
		"a part too many":      {"encoder/layer_1/ffn/linear_1/bias\x00", "encoder/layer_1/ffn/linear_2/bias\x00", `"encoder/layer_1/ffn/linear_2/bias" is of a part`},
		"a norm's bias":        {"encoder/layer_1/ffn/layer_norm/beta", "encoder/layer_1/ffn/layer_norm/zeta", "layer_norm/beta is missing"},
		"norms of two kinds":   {"decoder/pre_norm" + flag + "\x01", "decoder/pre_norm" + flag + "\x00", "pre_norm is 1 in the encoder and 0 in the decoder"},
		"ALiBi":                {"decoder/alibi" + flag + "\x00", "decoder/alibi" + flag + "\x01", "alibi is 0 in the encoder and 1"},
		"activations":          {"encoder/activation" + flag + "\x00", "encoder/activation" + flag + "\x09", "activation is 9 in the encoder"},
		"scales":               {"encoder/scale_embeddings" + flag + "\x01", "encoder/scale_embeddings" + flag + "\x00", "embeddings are scaled by 1 in the encoder"},
		"no heads that can be": {heads + "\x02", heads + "\x03", "3 and 2 heads"},
		"no heads":             {heads + "\x02", heads + "\x00", "0 heads"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(changedModel(t, "opennmt-float32", test.from, test.to))
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func TestOpenConvertedRefusesPartsOfT5(t *testing.T) {
	const (
		number  = "\x00\x00\x00\x04\x00\x00\x00" // the end of a name and the head of a float
		whole   = "\x00\x00\x03\x04\x00\x00\x00" // and of an integer of 32 bits
		one     = "\x00\x00\x80\x3f"
		half    = "\x00\x00\x00\x3f"
		queries = "layer_1/self_attention/queries_scale" + number
		most    = "encoder/layer_0/self_attention/relative_attention_max_distance" + whole
		bias    = "decoder/layer_0/self_attention/relative_attention_bias"
	)
	for name, test := range map[string]struct{ from, to, want string }{
		"a scale of queries":   {"encoder/" + queries + one, "encoder/" + queries + half, "queries_scale is 0.5"},
		"scales that differ":   {"encoder/" + queries + one, "encoder/" + queries + "\x3a\xcd\x93\x3e", "encoder/layer_1/self_attention differs"},
		"distances of a stack": {most + "\x14", most + "\x13", "differs from the first layer's"},
		"no distances":         {bias + "\x00\x02", bias[:len(bias)-1] + "z\x00\x02", "encoder and decoder differ"},
		"too near":             {most + "\x14", most + "\x02", "differ"},
		"the head's scale":     {"decoder/scale_outputs" + number, "decoder/scale_inputss" + number, `"decoder/scale_inputss" is of a part`},
		"no scale of queries":  {"encoder/" + queries + one, strings.Replace("encoder/"+queries+one, "scale", "scald", 1), "queries_scale is 0.31"},
		"heads":                {"encoder/num_heads\x00\x00\x02\x02\x00\x00\x00\x03", "encoder/num_heads\x00\x00\x02\x02\x00\x00\x00\x07", "the network demands"},
		"a gate":               {"encoder/layer_1/ffn/linear_0_noact/weight\x00", "encoder/layer_1/ffn/linear_0_nosct/weight\x00", "linear_0_noact/weight is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(changedModel(t, "t5-int8", test.from, test.to))
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func TestOpenConvertedRefusesFilesBesideIt(t *testing.T) {
	for name, test := range map[string]struct {
		file, content, want string
	}{
		"another vocabulary": {"shared_vocabulary.json", `["<unk>", "<s>", "</s>"]`, "3 tokens, the model 90"},
		"without an end":     {"config.json", `{"eos_token": "<end>"}`, `"<end>"`},
		"told by the user":   {"config.json", `{"decoder_start_token": null}`, "decoder_start_token"},
		"another precision":  {"config.json", `{"layer_norm_epsilon": -1e-3}`, "0.001"},
		"AWQ":                {"config.json", `{"quantization_type": 1}`, "quantization_type"},
		"broken":             {"config.json", `{`, "config.json"},
		"no model":           {"model.bin", "PK\x03\x04", "version"},
		"nothing":            {"model.bin", "", "ends too early"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(convertedModel("opennmt-float32"))))
			require.NoError(t, os.WriteFile(filepath.Join(dir, test.file), []byte(test.content), 0o600))
			_, err := Open(dir)
			assert.ErrorContains(t, err, test.want)
		})
	}
}

// A scale of zero would make infinities.
func TestOpenConvertedRefusesScales(t *testing.T) {
	dir := convertedModel("opennmt-int16")
	raw, err := os.ReadFile(filepath.Join(dir, ctranslate2.ModelFile))
	require.NoError(t, err)
	f, err := ctranslate2.Parse(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	v := f.Variables["encoder/layer_0/ffn/linear_0/weight_scale"]
	copied := t.TempDir()
	require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
	for _, scale := range []string{"\x00\x00\x00\x00", "\x00\x00\xc0\x7f", "\x00\x00\x80\x7f", "\x00\x00\x80\xbf"} {
		copy(raw[v.Offset:], scale)
		require.NoError(t, os.WriteFile(filepath.Join(copied, ctranslate2.ModelFile), raw, 0o600))
		_, err = Open(copied)
		assert.ErrorContains(t, err, "is no scale")
	}
}

// A file is refused or all of it can be read.
func FuzzOpenConverted(f *testing.F) {
	names := []string{"opennmt-int8-float16", "t5-int8"}
	dirs, whole := make([]string, len(names)), make([][]byte, len(names))
	for i, name := range names {
		dirs[i] = f.TempDir()
		err := os.CopyFS(dirs[i], os.DirFS(convertedModel(name)))
		if err == nil {
			whole[i], err = os.ReadFile(filepath.Join(dirs[i], ctranslate2.ModelFile))
		}
		if err != nil {
			f.Fatal(err)
		}
	}
	f.Add(false, 0, []byte{5})
	f.Add(false, bytes.Index(whole[0], []byte("decoder/position_encodings/encodings"))+37, []byte{0})
	f.Add(true, bytes.Index(whole[1], []byte("decoder/num_heads"))+25, []byte{0})
	f.Fuzz(func(t *testing.T, t5 bool, at int, change []byte) {
		i := 0
		if t5 {
			i = 1
		}
		raw := bytes.Clone(whole[i])
		if at < 0 || at >= len(raw) {
			return
		}
		copy(raw[at:], change)
		if err := os.WriteFile(filepath.Join(dirs[i], ctranslate2.ModelFile), raw, 0o600); err != nil {
			t.Skip(err)
		}
		c, err := Open(dirs[i])
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		for _, tensor := range c.tensors {
			err := tensor.ReadFloat32(make([]float32, tensor.Len()), 0)
			if err != nil && !errors.Is(err, ErrNotFinite) {
				t.Fatal(err)
			}
		}
	})
}

// older is a model.bin of version 5, with these numbers of one byte, and these other names of variables.
func older(t *testing.T, raw []byte, numbers map[string]byte, aliases ...[2]string) []byte {
	f, err := ctranslate2.Parse(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	end := 0 // of the variables
	for _, v := range f.Variables {
		end = max(end, int(v.Offset)+v.Len()*v.DType.Size())
	}
	name := func(s string) string {
		return string(binary.LittleEndian.AppendUint16(nil, uint16(len(s)+1))) + s + "\x00"
	}
	count := len("....") + len(name(f.Spec)) + len("....")
	variables, others := raw[count+4:end], raw[end+4:]
	out := append([]byte{5}, raw[1:count]...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(f.Variables)+len(numbers)))
	for key, value := range numbers {
		out = append(append(out, name(key)...), 0, 1, 1, 0, 0, 0, value)
	}
	out = binary.LittleEndian.AppendUint32(append(out, variables...), uint32(len(f.Aliases)+len(aliases)))
	for _, a := range aliases {
		out = append(out, name(a[0])+name(a[1])...)
	}
	return append(out, others...)
}

// Models of version 5 have their settings among the variables, and numbers that say what is there.
func TestConvertedVersion5(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(convertedModel("opennmt-float32"))))
	path := filepath.Join(dir, ctranslate2.ModelFile)
	newer, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(dir, model.ConfigFile)))
	var tokens []string
	raw, err := os.ReadFile(filepath.Join(dir, "shared_vocabulary.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &tokens))
	require.NoError(t, os.Remove(filepath.Join(dir, "shared_vocabulary.json")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "shared_vocabulary.txt"), []byte(strings.Join(tokens, "\n")+"\n"), 0o600))
	want, err := ReadSpec(convertedModel("opennmt-float32"))
	require.NoError(t, err)
	for name, test := range map[string]struct {
		numbers map[string]byte
		alias   string // of a norm
		start   int64
		fails   string
	}{
		"no settings":         {nil, "", 2, ""},
		"ended sources":       {map[string]byte{"with_source_eos": 1, "with_source_bos": 0}, "", 2, ""},
		"starts with the end": {map[string]byte{"with_target_bos": 0}, "", 3, ""},
		"told by the user":    {map[string]byte{"user_decoder_start_tokens": 1}, "", 0, "decoder_start_token"},
		"what is there":       {map[string]byte{"with_relative_position": 0, "layernorm_embedding": 0, "encoder/embeddings_0/multiply_by_sqrt_depth": 0}, "", 2, ""},
		"a part too many":     {nil, "decoder/layer_0/self_attention/q_norm/gamma", 0, `q_norm/gamma" is of a part`},
	} {
		var aliases [][2]string
		if test.alias != "" {
			aliases = append(aliases, [2]string{test.alias, "decoder/layer_norm/gamma"})
		}
		require.NoError(t, os.WriteFile(path, older(t, newer, test.numbers, aliases...), 0o600))
		c, err := Open(dir)
		if test.fails != "" {
			require.ErrorContains(t, err, test.fails, name)
			continue
		}
		require.NoError(t, err, name)
		want.DecoderStart = test.start
		assert.Equal(t, want, c.Spec(), name)
		require.NoError(t, c.Close())
	}
}
