package source_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/source"
	"dragoman/model/source/hubtest"
)

const adapters = "../testdata/adapters/lora"

// copyOf copies the adapter and its base: files of an adapter, and those of its base with a tokenizer.
func copyOf(t *testing.T, adapter, base string) {
	t.Helper()
	require.NoError(t, os.CopyFS(base, os.DirFS("../testdata/families/nllb")))
	require.NoError(t, os.MkdirAll(adapter, 0o755))
	require.NoError(t, model.CopyFile(adapters+"/"+checkpoint.AdapterConfigFile, filepath.Join(adapter, checkpoint.AdapterConfigFile)))
	require.NoError(t, model.CopyFile(adapters+"/adapter_model.safetensors", filepath.Join(adapter, "adapter_model.safetensors")))
}

// setBase changes the base that an adapter names.
func setBase(t *testing.T, adapter, base string) {
	t.Helper()
	change(t, adapter, `"base"`, `"`+base+`"`)
}

// An adapter alone is merged into the base that it names: a folder, also relative to the adapter's, or a repository. An adapter from
// elsewhere names no folder of this machine.
func TestAdapterAlone(t *testing.T) {
	whole := newFixture(t, func(c *source.Config) { c.Weights = merged(t) }).real()
	want, err := model.HashFile(t.Context(), filepath.Join(whole.prepare(t), model.WeightsFile))
	require.NoError(t, err)

	for name, base := range map[string]string{"relative": "../base", "absolute": ""} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			adapter := filepath.Join(dir, "adapter")
			copyOf(t, adapter, filepath.Join(dir, "base"))
			if base == "" {
				base = filepath.Join(dir, "base")
			}
			setBase(t, adapter, base)
			got, err := model.HashFile(t.Context(), filepath.Join(newFixture(t, func(c *source.Config) { c.Weights = adapter }).real().prepare(t), model.WeightsFile))
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
	t.Run("repository", func(t *testing.T) {
		dir := t.TempDir()
		adapter, base := filepath.Join(dir, "adapter"), filepath.Join(dir, "base")
		copyOf(t, adapter, base)
		setBase(t, adapter, repo)
		s := hubtest.New(t, repo, folders(t, map[string]string{"": base, "adapter/": adapter}))
		f := newFixture(t, func(c *source.Config) {
			c.Offline, c.Endpoint, c.Weights = false, s.Endpoint, repo+"/adapter"
		}).real()
		got, err := model.HashFile(t.Context(), filepath.Join(f.prepare(t), model.WeightsFile))
		require.NoError(t, err)
		assert.Equal(t, want, got)

		raw, err := os.ReadFile(filepath.Join(adapter, checkpoint.AdapterConfigFile))
		require.NoError(t, err)
		raw = bytes.Replace(raw, []byte(`"`+repo+`"`), []byte(`"`+base+`"`), 1)
		s = hubtest.New(t, repo, map[string][]byte{"adapter_config.json": raw, "adapter_model.safetensors": {0}})
		_, err = prepare(t.Context(), newFixture(t, func(c *source.Config) { c.Offline, c.Endpoint, c.Weights = false, s.Endpoint, repo }).Config)
		assert.ErrorContains(t, err, "there is no such folder: put the adapter's files beside those of its base")
	})
}

// merged returns a folder with the adapter beside its base.
func merged(t *testing.T) string {
	dir := t.TempDir()
	copyOf(t, dir, dir)
	return dir
}

// folders returns the files of folders, by the prefix of their paths.
func folders(t *testing.T, dirs map[string]string) map[string][]byte {
	files := map[string][]byte{}
	for prefix, dir := range dirs {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range entries {
			raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
			require.NoError(t, err)
			files[prefix+e.Name()] = raw
		}
	}
	return files
}

func TestAdaptersThatAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		change func(t *testing.T, dir string)
		want   string
	}{
		"no weights": {func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "adapter_model.safetensors")))
		},
			"adapter_config.json, but neither adapter_model.safetensors nor adapter_model.bin"},
		"no base":      {func(t *testing.T, dir string) { setBase(t, dir, "") }, `"base_model_name_or_path" is ""`},
		"no such base": {func(t *testing.T, dir string) { setBase(t, dir, "/nowhere") }, "there is no such folder"},
		"another kind": {func(t *testing.T, dir string) { change(t, dir, `"LORA"`, `"IA3"`) }, `"peft_type" is "IA3": only "LORA" is supported: merge it`},
		"its values change the base": {func(t *testing.T, dir string) {
			change(t, dir, `"init_lora_weights": true`, `"init_lora_weights": "pissa"`)
		},
			`"init_lora_weights" is "pissa"`},
		"another library's":         {func(t *testing.T, dir string) { change(t, dir, `"peft_type"`, `"model_class"`) }, `"peft_type" is missing: only adapters of peft`},
		"a field of later versions": {func(t *testing.T, dir string) { change(t, dir, `"use_bdlora": null`, `"use_bdlora": true`) }, `"use_bdlora" is true`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			adapter := filepath.Join(dir, "adapter")
			copyOf(t, adapter, filepath.Join(dir, "base"))
			if !strings.Contains(name, "no ") || name == "no weights" {
				setBase(t, adapter, "../base")
			}
			test.change(t, adapter)
			_, err := prepare(t.Context(), newFixture(t, func(c *source.Config) { c.Weights = adapter }).Config)
			assert.ErrorContains(t, err, test.want)
		})
	}
}

// change replaces a part of an adapter's settings.
func change(t *testing.T, dir, from, to string) {
	t.Helper()
	path := filepath.Join(dir, checkpoint.AdapterConfigFile)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(raw), from)
	require.NoError(t, os.WriteFile(path, bytes.Replace(raw, []byte(from), []byte(to), 1), 0o600))
}
