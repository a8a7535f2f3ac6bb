package source_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/export"
	"dragoman/model/source"
	"dragoman/model/source/hubtest"
)

// repositories is testdata/repositories.json: what stands in public repositories with models of the families, as copies of their pages
// and listings show it, and what comes of it.
type repositories struct {
	Kinds        map[string][]string `json:"kinds"` // patterns of files by their kind
	Repositories []repository        `json:"repositories"`
}

// repository is the part of a repository that was seen.
type repository struct {
	Name   string `json:"name"` // owner/name, with a folder and @revision if it is not the root of the main branch
	Family string `json:"family"`
	// Files are the files of the folder, and those that were seen below it; a name that ends with / is a folder whose files were not seen.
	// Without Files only settings were seen. Cut reports that there are more files than those that were seen.
	Files []string `json:"files"`
	Cut   bool     `json:"cut"`
	// Fields are the values of settings that are unusual, or usual with their value as it was seen, by file. Those that depend on the
	// size of the vocabulary are left out.
	Fields    map[string]map[string]any `json:"fields"`
	Languages string                    `json:"languages"` // MODEL_LANGUAGES, where the small network in place of the repository's has none
	Want      string                    `json:"want"`      // a part of the error that refuses it, or "" if it is served
}

// bases are the small models in place of those of the repositories. The network and the pieces are theirs, under the names of the
// repository's files and, for networks in Hugging Face's form, in safetensors.
var bases = map[string]string{
	"m2m100": "families/small100", "small100": "families/small100", "nllb": "families/nllb", "mbart": "families/mbart", "marian": "families/marian",
	"t5": "families/t5", "ctranslate2": "families/ctranslate2-argos", "argos": "families/ctranslate2-argos", "argos-codes": "families/ctranslate2-codes",
	"firefox": "firefox",
}

func readRepositories(t *testing.T) (r repositories) {
	raw, err := os.ReadFile("testdata/repositories.json")
	require.NoError(t, err)
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&r))
	return r
}

// kindOf returns the kind of a file and its pattern.
func (r repositories) kindOf(t *testing.T, file string) (kind, pattern string) {
	for name, patterns := range r.Kinds {
		for _, p := range patterns {
			ok, err := path.Match(p, file)
			require.NoError(t, err)
			if ok {
				assert.Empty(t, kind, "two kinds of %s", file)
				kind, pattern = name, p
			}
		}
	}
	assert.NotEmpty(t, kind, "%s is of no kind: is it read, harmless or refused?", file)
	return kind, pattern
}

// Every file that was seen in a repository is of one known kind.
func TestKindsOfFiles(t *testing.T) {
	r := readRepositories(t)
	used := map[string]bool{}
	for _, repository := range r.Repositories {
		for _, file := range repository.Files {
			_, pattern := r.kindOf(t, file)
			used[pattern] = true
		}
	}
	for _, patterns := range r.Kinds {
		for _, p := range patterns {
			assert.True(t, used[p], "no repository has %s", p)
		}
	}
}

// Each repository is served, or refused with the name of a file or field, from a folder of this machine and from the Hub alike. Nothing
// is fetched but what is read.
func TestRepositories(t *testing.T) {
	r := readRepositories(t)
	for _, repository := range r.Repositories {
		t.Run(repository.Name, func(t *testing.T) {
			t.Parallel()
			files := r.make(t, repository)
			t.Run("folder", func(t *testing.T) { testFolder(t, repository, maps.Clone(files)) })
			if !strings.HasPrefix(repository.Family, "argos") { // packages have an index of their own
				t.Run("hub", func(t *testing.T) { r.testHub(t, repository, files) })
			}
		})
	}
}

// config returns the settings for a repository.
func (r repository) config(t *testing.T, weights string) source.Config {
	cfg := source.Config{Weights: weights, Cache: t.TempDir(), Languages: r.Languages}
	if r.Family == "m2m100" { // its small model has the proportions of SMaLL-100
		cfg.Family = r.Family
	}
	cfg.Export = func(_ context.Context, from, _ string, _ export.Options) (*model.Manifest, error) {
		ckpt, err := checkpoint.Open(from)
		if err != nil {
			return nil, err
		}
		return &model.Manifest{}, ckpt.Close()
	}
	return cfg
}

// assertOutcome checks what a preparation came to.
func (r repository) assertOutcome(t *testing.T, err error) {
	t.Helper()
	if r.Want == "" {
		assert.NoError(t, err)
	} else {
		assert.ErrorContains(t, err, r.Want)
	}
}

// testFolder prepares the files in a folder of the repository's name.
func testFolder(t *testing.T, r repository, files map[string][]byte) {
	name, _, _ := strings.Cut(r.Name, "@")
	dir, base := filepath.Join(t.TempDir(), path.Base(name)), t.TempDir()
	if raw, ok := files[checkpoint.AdapterConfigFile]; ok {
		files[checkpoint.AdapterConfigFile] = with(t, raw, map[string]any{"base_model_name_or_path": base})
		require.NoError(t, os.CopyFS(base, os.DirFS("../testdata/"+bases[r.Family])))
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for file, content := range files {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(file)), 0o755))
		if strings.HasSuffix(file, "/") {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, file), 0o755))
			continue
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), content, 0o600))
	}
	cfg := r.config(t, dir)
	cfg.Offline = true
	_, err := prepare(t.Context(), cfg)
	r.assertOutcome(t, err)
}

// testHub prepares the files from a Hub.
func (all repositories) testHub(t *testing.T, r repository, files map[string][]byte) {
	name, _, _ := strings.Cut(r.Name, "@")
	parts := strings.SplitN(name, "/", 3)
	repo, folder, hub := parts[0]+"/"+parts[1], "", map[string][]byte{}
	if len(parts) > 2 {
		folder = parts[2] + "/"
	}
	for file, content := range files {
		if !strings.HasSuffix(file, "/") {
			hub[folder+file] = content
		}
	}
	if raw, ok := files[checkpoint.AdapterConfigFile]; ok {
		hub[checkpoint.AdapterConfigFile] = with(t, raw, map[string]any{"base_model_name_or_path": repo + "/base"})
		maps.Copy(hub, folders(t, map[string]string{"base/": "../testdata/" + bases[r.Family]}))
	}
	s := hubtest.New(t, repo, hub)
	cfg := r.config(t, name)
	cfg.Endpoint = s.Endpoint
	_, err := prepare(t.Context(), cfg)
	r.assertOutcome(t, err)
	for _, request := range s.Requests() {
		for _, file := range r.Files {
			if kind, _ := all.kindOf(t, file); !slices.Contains([]string{"read", "pieces", "weights"}, kind) {
				assert.False(t, strings.HasSuffix(request.Path, "/"+folder+file) && !strings.Contains(request.Path, "base/"), "%s is %s", request.Path, kind)
			}
		}
	}
}

// make makes the files of a repository: those of the small model of its family, as far as the repository has their kind, under its names;
// the others with the least content.
func (all repositories) make(t *testing.T, r repository) map[string][]byte {
	base := folders(t, map[string]string{"": "../testdata/" + bases[r.Family]})
	delete(base, "goldens.json.gz")
	files := map[string][]byte{}
	if strings.HasPrefix(r.Family, "argos") {
		for _, name := range slices.Collect(maps.Keys(base)) {
			if slices.Contains([]string{"config.json", "model.bin", "shared_vocabulary.json"}, name) {
				base["model/"+name] = base[name]
				delete(base, name)
			}
		}
	}
	kinds := map[string]bool{}
	for _, file := range r.Files {
		kind, _ := all.kindOf(t, file)
		kinds[kind+" in Hugging Face's form"] = kinds[kind+" in Hugging Face's form"] || !strings.HasPrefix(file, "adapter_")
		files[file] = content(base, file)
	}
	isWhole := len(r.Files) == 0 || r.Cut
	for name, raw := range base {
		kind := ""
		switch {
		case name == model.SafetensorsFile:
			kind = "weights"
		case (r.Family == "nllb" || r.Family == "t5") && path.Ext(name) == ".model" && !slices.Contains(r.Files, name) && slices.Contains(r.Files, model.TokenizerFile):
			kind = "pieces" // of the same model in another form
		}
		if isWhole && r.Family != "firefox" || kinds[kind+" in Hugging Face's form"] {
			files[name] = raw
		}
	}
	if r.Family == "firefox" && r.Cut {
		files["model.enes.intgemm.alphas.bin"] = base["model.enfr.intgemm.alphas.bin"]
	}
	for file, fields := range r.Fields {
		files[file] = with(t, files[file], fields)
		if file == checkpoint.AdapterConfigFile {
			files["adapter_model.safetensors"] = noTensors
		}
	}
	isAdapter := func(file string) bool { return strings.HasPrefix(file, "adapter_model.") }
	if slices.ContainsFunc(r.Files, isAdapter) && r.Fields == nil {
		files[checkpoint.AdapterConfigFile], files["adapter_model.safetensors"] = []byte(`{"peft_type": "LORA", "lora_alpha": 16}`), noTensors
	}
	return files
}

// noTensors is a safetensors file without tensors: an adapter that changes nothing.
var noTensors = []byte("\x02\x00\x00\x00\x00\x00\x00\x00{}")

// content returns the content of a file: that of the small model's file of the same meaning, or the least.
func content(base map[string][]byte, file string) []byte {
	if raw, ok := base[file]; ok {
		return raw
	}
	switch name := path.Base(file); {
	case name == "adapter_model.safetensors":
		return noTensors
	case strings.HasSuffix(name, ".index.json"):
		return []byte(`{"weight_map": {"a": "model-00001-of-00007.safetensors"}}`)
	case base["sentencepiece.model"] != nil && (strings.HasSuffix(name, ".spm") || name == "spiece.model" || name == model.PieceModelFile):
		return base["sentencepiece.model"]
	case name == "shared_vocabulary.txt":
		var tokens []string
		_ = json.Unmarshal(base["shared_vocabulary.json"], &tokens) // it is one
		return []byte(strings.Join(tokens, "\n") + "\n")
	case strings.HasSuffix(name, "_vocabulary.json"):
		return base["shared_vocabulary.json"]
	case base["vocab.enfr.spm"] != nil && name != "metadata.json":
		return firefoxContent(base, name)
	case path.Ext(name) == ".json":
		return []byte("{}")
	}
	return nil
}

// firefoxContent returns the content of a file of a Firefox model for other languages.
func firefoxContent(base map[string][]byte, name string) []byte {
	kind, _, _ := strings.Cut(name, ".")
	for other, raw := range base {
		if !strings.HasPrefix(other, kind+".") {
			continue
		}
		if path.Ext(name) != ".gz" {
			return raw
		}
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = w.Write(raw) // into memory
		_ = w.Close()
		return packed.Bytes()
	}
	return nil
}

// with returns a JSON object with other values of fields.
func with(t *testing.T, raw []byte, fields map[string]any) []byte {
	object := map[string]any{}
	if raw != nil {
		require.NoError(t, json.Unmarshal(raw, &object))
	}
	maps.Copy(object, fields)
	raw, err := json.Marshal(object)
	require.NoError(t, err)
	return raw
}
