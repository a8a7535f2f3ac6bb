package checkpoint

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

// The same model, written by transformers as safetensors and by torch as .bin,
// whole and in shards: every reader must find the same values.
func TestOpenForms(t *testing.T) {
	config := settings(t, nil)
	want := open(t, folderOf(t, config, "safetensors/*"))
	for _, form := range []string{"torch", "torch_legacy", "torch_shards"} {
		t.Run(form, func(t *testing.T) {
			got := open(t, folderOf(t, config, form+"/*"))
			assert.Equal(t, want.Spec(), got.Spec())
			require.Len(t, got.tensors, len(want.tensors))
			for name, tensor := range want.tensors {
				other, err := got.Tensor(name)
				require.NoError(t, err)
				assert.Equal(t, tensor.Shape, other.Shape, name)
				assert.Equal(t, read(t, tensor), read(t, other), name)
			}
		})
	}
}

// A checkpoint may leave the prefix out, or keep the shared embedding under the
// name of one of its copies only, or hold it several times.
func TestOpenOtherNames(t *testing.T) {
	config := settings(t, nil)
	want := open(t, folderOf(t, config, "safetensors/*"))
	embedding := read(t, want.tensors[SharedEmbedding])
	rename := func(from, to string) func([]Source) []Source {
		return func(list []Source) []Source {
			for i := range list {
				list[i].Name = strings.Replace(list[i].Name, from, to, 1)
			}
			return list
		}
	}
	duplicate := func(names ...string) func([]Source) []Source {
		return func(list []Source) []Source {
			for _, name := range names {
				list = append(list, Source{Name: name, Shape: list[0].Shape, DType: list[0].DType, Values: list[0].Values})
			}
			return list
		}
	}
	tests := map[string]func([]Source) []Source{
		"bare model":               rename("model.", ""),
		"under the encoder's name": rename("model.shared", "model.encoder.embed_tokens"),
		"under the decoder's name": rename("model.shared", "model.decoder.embed_tokens"),
		"under the head's name":    rename("model.shared", "lm_head"),
		"all copies": duplicate("lm_head.weight", "model.encoder.embed_tokens.weight",
			"model.decoder.embed_tokens.weight"),
		"position tables": func(list []Source) []Source {
			return append(list, constant("model.encoder.embed_positions.weights", 0, 18, 8),
				constant("model.decoder.embed_positions.weights", 0, 18, 8), constant("model.encoder.version", 3, 1))
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			dir := folderOf(t, config)
			writeModel(t, dir, model.SafetensorsFile, change(sources(want, F32)))
			c := open(t, dir)
			for _, name := range []string{SharedEmbedding, "model.encoder.embed_tokens.weight",
				"model.decoder.embed_tokens.weight", "lm_head.weight"} {
				tensor, err := c.Tensor(name)
				require.NoError(t, err)
				assert.Equal(t, SharedEmbedding, tensor.Name)
				assert.Equal(t, embedding, read(t, tensor))
			}
			assert.Len(t, c.tensors, len(want.tensors))
			_, err := c.Tensor("model.encoder.layers.1.fc1.weight")
			assert.ErrorContains(t, err, `no tensor "model.encoder.layers.1.fc1.weight" in this model of 1 encoder`)
		})
	}
}

func TestOpenUntiedHead(t *testing.T) {
	dir := folderOf(t, settings(t, nil), "untied/*") // its own config.json wins
	c := open(t, dir)
	assert.False(t, c.Spec().TiedHead)
	head, err := c.Tensor("lm_head.weight")
	require.NoError(t, err)
	assert.Equal(t, "lm_head.weight", head.Name)
	shared, err := c.Tensor("model.encoder.embed_tokens.weight")
	require.NoError(t, err)
	assert.Equal(t, SharedEmbedding, shared.Name)
	assert.NotEqual(t, read(t, shared), read(t, head))
}

func TestOpenSafetensorsShards(t *testing.T) {
	config := settings(t, nil)
	want := open(t, folderOf(t, config, "safetensors/*"))
	const a, b = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
	build := func(t *testing.T, edit func(index string) string) string {
		dir := folderOf(t, config)
		list := sources(want, F16)
		writeModel(t, dir, a, list[:7])
		writeModel(t, dir, b, list[7:])
		var entries []string
		for i, s := range list {
			entries = append(entries, fmt.Sprintf("%q: %q", s.Name, []string{a, b}[min(1, i/7)]))
		}
		index := `{"metadata": {}, "weight_map": {` + strings.Join(entries, ",") + "}}"
		require.NoError(t, os.WriteFile(filepath.Join(dir, model.SafetensorsIndexFile), []byte(edit(index)), 0o644))
		return dir
	}
	same := func(index string) string { return index }
	assert.Len(t, open(t, build(t, same)).tensors, len(want.tensors))

	t.Run("missing shard", func(t *testing.T) {
		dir := build(t, same)
		require.NoError(t, os.Remove(filepath.Join(dir, b)))
		_, err := Open(dir)
		assert.ErrorIs(t, err, os.ErrNotExist)
		assert.ErrorContains(t, err, b)
	})
	tests := map[string]struct{ from, to, want string }{
		"outside":     {a, "../" + a, "file in the same folder"},
		"parent":      {`"` + a + `"`, `".."`, "file in the same folder"},
		"number":      {`"` + a + `"`, "7", "file in the same folder"},
		"no such":     {`"model.shared.weight"`, `"model.odd.weight"`, `tensor "model.odd.weight" is not in ` + a},
		"no map":      {"weight_map", "weights", `"weight_map" is missing`},
		"not JSON":    {"{", "[", "expected a JSON object"},
		"map is list": {`{"model.shared.weight"`, `["model.shared.weight"`, "invalid character"},
		"twice":       {`"weight_map": {`, `"weight_map": {"model.shared.weight": "` + a + `",`, `"model.shared.weight" appears twice`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Open(build(t, func(s string) string { return strings.Replace(s, test.from, test.to, 1) }))
			require.ErrorContains(t, err, test.want)
			assert.ErrorContains(t, err, model.SafetensorsIndexFile)
		})
	}
	t.Run("tensor in both", func(t *testing.T) {
		dir := build(t, same)
		writeModel(t, dir, a, sources(want, F16)[:8])
		_, err := Open(dir)
		assert.ErrorContains(t, err, "is in another shard too")
	})
}

func TestOpenRefusesTensors(t *testing.T) {
	want := open(t, folderOf(t, settings(t, nil), "safetensors/*"))
	without := func(name string) func([]Source) []Source {
		return func(list []Source) []Source {
			return slices.DeleteFunc(list, func(s Source) bool { return s.Name == name })
		}
	}
	with := func(more ...Source) func([]Source) []Source {
		return func(list []Source) []Source { return append(list, more...) }
	}
	replaced := func(s Source) func([]Source) []Source {
		return func(list []Source) []Source { return append(without(s.Name)(list), s) }
	}
	tests := map[string]struct {
		config map[string]any
		change func([]Source) []Source
		want   string
	}{
		"missing": {nil, without("model.encoder.layers.0.self_attn.q_proj.bias"),
			"tensor model.encoder.layers.0.self_attn.q_proj.bias of shape [8] is missing"},
		"missing embedding": {nil, without(SharedEmbedding), "tensor model.shared.weight of shape [12 8] is missing"},
		"missing layer": {map[string]any{"decoder_layers": 2}, with(),
			"tensor model.decoder.layers.1.self_attn.k_proj.weight of shape [8 8] is missing"},
		"missing head": {map[string]any{"tie_word_embeddings": false}, with(),
			"tensor lm_head.weight of shape [12 8] is missing"},
		"extra": {nil, with(constant("model.adapter.weight", 1, 2, 3), constant("model.zebra", 1, 1)),
			`unexpected tensor "model.adapter.weight" of shape [2 3] (2 tensors too many)`},
		"extra without prefix": {nil, with(constant("final_logits_bias", 0, 1, 12)),
			`unexpected tensor "final_logits_bias" of shape [1 12] (1 tensors too many)`},
		"wrong shape": {nil, replaced(constant("model.decoder.layers.0.fc1.weight", 0, 8, 10)),
			"tensor model.decoder.layers.0.fc1.weight has shape [8 10], the sizes in config.json demand [10 8]"},
		"wrong rank": {nil, replaced(constant("model.decoder.layer_norm.bias", 0, 8, 1)),
			"tensor model.decoder.layer_norm.bias has shape [8 1], the sizes in config.json demand [8]"},
		"wrong vocabulary": {map[string]any{"vocab_size": 13}, with(),
			"tensor model.shared.weight has shape [12 8], the sizes in config.json demand [13 8]"},
		"both prefixes": {nil, with(constant("shared.weight", 0, 12, 8)),
			`ambiguous tensors "shared.weight" and "model.shared.weight"`},
		"other head": {nil, with(constant("lm_head.weight", 0, 12, 8)),
			"tensor lm_head.weight ([12 8], F32) differs from model.shared.weight ([12 8], F32), but \"tie_word_embeddings\" ties them"},
		"other encoder embedding": {nil, with(constant("model.encoder.embed_tokens.weight", 0, 12, 8)),
			"only models whose encoder and decoder share one embedding are supported"},
		"smaller copy": {nil, with(constant("model.decoder.embed_tokens.weight", 0, 11, 8)),
			"tensor model.decoder.embed_tokens.weight ([11 8], F32) differs"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := folderOf(t, settings(t, test.config))
			writeModel(t, dir, model.SafetensorsFile, test.change(sources(want, F32)))
			_, err := Open(dir)
			require.ErrorContains(t, err, test.want)
			assert.ErrorContains(t, err, filepath.Join(dir, model.SafetensorsFile))
		})
	}
}

func TestOpenRefusesFolders(t *testing.T) {
	config := settings(t, nil)
	tests := map[string]struct {
		file string
		raw  []byte
		want string
	}{
		"nothing":            {"README.md", nil, "no weights in "},
		"empty weights":      {model.SafetensorsFile, nil, "0 bytes are too few for a safetensors file"},
		"huge index":         {model.TorchIndexFile, make([]byte, MaxIndex+1), "has more than 8388608 bytes"},
		"generation garbage": {model.GenerationConfigFile, []byte("{"), "generation_config.json: unexpected EOF"},
		"not a torch file":   {model.TorchFile, []byte("hello"), "not a torch file, or truncated or damaged"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := folderOf(t, config)
			require.NoError(t, os.WriteFile(filepath.Join(dir, test.file), test.raw, 0o644))
			_, err := Open(dir)
			assert.ErrorContains(t, err, test.want)
		})
	}
	t.Run("no folder", func(t *testing.T) {
		_, err := Open(filepath.Join(t.TempDir(), "absent"))
		assert.ErrorIs(t, err, os.ErrNotExist)
		assert.ErrorContains(t, err, "no checkpoint in")
	})
	t.Run("weights are a folder", func(t *testing.T) {
		dir := folderOf(t, config)
		require.NoError(t, os.Mkdir(filepath.Join(dir, model.SafetensorsFile), 0o755))
		_, err := Open(dir)
		assert.ErrorContains(t, err, "is not a file")
	})
}
