package source_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/source"
	"dragoman/model/source/hubtest"
)

// converted returns the files of a repository with a model in CTranslate2's form, and some that no model needs.
func converted(edits ...map[string][]byte) map[string][]byte {
	files := map[string][]byte{
		"model.bin": noise(1, size), "config.json": []byte(`{"add_source_eos": false}`), "shared_vocabulary.json": []byte(`["<unk>"]`),
		"sentencepiece.model": noise(2, 20_000), "vmap.txt": noise(3, 10), "README.md": []byte("# a model"), "model.onnx": noise(4, 10),
	}
	for _, edit := range edits {
		maps.Copy(files, edit)
	}
	maps.DeleteFunc(files, func(_ string, content []byte) bool { return content == nil })
	return files
}

// ofOpus are the edits that make a model one of Opus-MT with two vocabularies of an older converter.
var ofOpus = map[string][]byte{
	"shared_vocabulary.json": nil, "source_vocabulary.txt": []byte("<unk>\n"), "target_vocabulary.txt": []byte("<unk>\n"),
	"sentencepiece.model": nil, "source.spm": noise(5, 100), "target.spm": noise(6, 100),
}

// ofNLLB are those that make it one of NLLB-200, with the tokenizer of Hugging Face.
var ofNLLB = map[string][]byte{
	"sentencepiece.model": nil, "sentencepiece.bpe.model": noise(7, 100), "tokenizer_config.json": []byte(`{"tokenizer_class": "NllbTokenizer"}`),
}

func TestPullOfConverted(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string][]byte
		want  []string
	}{
		"OpenNMT's": {converted(), []string{"config.json", "shared_vocabulary.json", "sentencepiece.model", "README.md", "model.bin"}},
		"no card":   {converted(map[string][]byte{"README.md": nil}), []string{"config.json", "shared_vocabulary.json", "sentencepiece.model", "model.bin"}},
		"Argos's": {converted(map[string][]byte{"metadata.json": []byte(`{"from_code": "en"}`)}),
			[]string{"config.json", "shared_vocabulary.json", "sentencepiece.model", "README.md", "metadata.json", "model.bin"}},
		"an old one":   {converted(map[string][]byte{"config.json": nil}), []string{"shared_vocabulary.json", "sentencepiece.model", "README.md", "model.bin"}},
		"lines":        {converted(map[string][]byte{"shared_vocabulary.json": nil, "shared_vocabulary.txt": []byte("<unk>\n")}), []string{"config.json", "shared_vocabulary.txt", "sentencepiece.model", "README.md", "model.bin"}},
		"Opus-MT's":    {converted(ofOpus), []string{"config.json", "source_vocabulary.txt", "target_vocabulary.txt", "source.spm", "target.spm", "README.md", "model.bin"}},
		"NLLB-200's":   {converted(ofNLLB), []string{"config.json", "shared_vocabulary.json", "sentencepiece.bpe.model", "tokenizer_config.json", "README.md", "model.bin"}},
		"beside torch": {repoFiles(map[string][]byte{"model.bin": noise(1, 10)}), usual},
	} {
		for kind, isURL := range map[string]bool{"hub": false, "URL": true} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				s := hubtest.New(t, repo, tt.files)
				from, commit := ref(t, repo), s.Push("main", tt.files)
				if isURL {
					from = ref(t, s.Base)
				}
				c, dir := newClient(t, s), t.TempDir()
				c.SetAccept(func(config, _ []byte) (int64, error) {
					assert.Contains(t, string(config), "model_type", "that of CTranslate2 says nothing of a network")
					return size, nil
				})
				result, err := c.Pull(t.Context(), from, dir)
				require.NoError(t, err)
				if isURL {
					commit = result
					assert.NotEmpty(t, commit)
				}
				assert.Equal(t, commit, result)
				assertHolds(t, dir, tt.files, tt.want...)
				found, err := newClient(t, s).Commit(t.Context(), from)
				require.NoError(t, err)
				assert.Equal(t, commit, found)
			})
		}
	}
}

func TestPullOfConvertedRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		files   map[string][]byte
		foreign string // what is in the folder
		free    uint64 // bytes of the disk; 0: enough
		is      error
		message string
	}{
		"no tokenizer":       {files: converted(map[string][]byte{"sentencepiece.model": nil}), is: source.ErrIncomplete, message: "add its sentencepiece.model"},
		"half a tokenizer":   {files: converted(ofOpus, map[string][]byte{"target.spm": nil}), is: source.ErrIncomplete, message: "its source.spm and target.spm, or its bpe.model"},
		"no vocabulary":      {files: converted(map[string][]byte{"shared_vocabulary.json": nil}), is: source.ErrIncomplete, message: "add the vocabularies"},
		"half of them":       {files: converted(ofOpus, map[string][]byte{"target_vocabulary.txt": nil}), is: source.ErrIncomplete, message: "nor a target_vocabulary.json"},
		"none of NLLB-200":   {files: converted(ofNLLB, map[string][]byte{"shared_vocabulary.json": nil}), is: source.ErrIncomplete, message: "add the vocabularies"},
		"no pieces":          {files: converted(ofNLLB, map[string][]byte{"sentencepiece.bpe.model": nil}), is: source.ErrIncomplete, message: "which a model of the family nllb needs"},
		"broken config":      {files: converted(map[string][]byte{"config.json": []byte("{")}), message: "config.json: "},
		"a large vocabulary": {files: converted(map[string][]byte{"metadata.json": noise(1, 2<<20)}), is: source.ErrTooLarge, message: "metadata.json"},
		"other weights":      {files: converted(), foreign: weight, message: "holds a model.safetensors that is not of this checkpoint"},
		"a full disk":        {files: converted(), free: size, is: source.ErrNoSpace, message: "free"},
		"neither form": {files: converted(map[string][]byte{"config.json": nil, "model.bin": nil}), is: source.ErrIncomplete,
			message: "neither config.json nor model.bin nor a model of Firefox's is there"},
	} {
		t.Run(name, func(t *testing.T) {
			s := hubtest.New(t, repo, tt.files)
			dir := t.TempDir()
			if tt.foreign != "" {
				require.NoError(t, os.WriteFile(filepath.Join(dir, tt.foreign), []byte("mine"), 0o644))
			}
			c := newClient(t, s)
			if tt.free > 0 {
				c.SetFreeSpace(func(string) (uint64, error) { return tt.free, nil })
			}
			_, err := c.Pull(t.Context(), ref(t, repo), dir)
			require.ErrorContains(t, err, tt.message)
			if tt.is != nil {
				require.ErrorIs(t, err, tt.is)
			}
			assert.Zero(t, s.Sent("model.bin"))
		})
	}
}

// A repository that changes its form leaves nothing of the other one.
func TestPullOfAnotherForm(t *testing.T) {
	s, dir := hubtest.New(t, repo, repoFiles()), t.TempDir()
	for _, files := range []map[string][]byte{repoFiles(), converted(), repoFiles()} {
		s.Push("main", files)
		_, err := newClient(t, s).Pull(t.Context(), ref(t, repo), dir)
		require.NoError(t, err)
		_, has := files["model.bin"]
		assert.Equal(t, has, slices.Contains(list(t, dir), "model.bin"))
		assert.Equal(t, !has, slices.Contains(list(t, dir), weight))
	}
}

func list(t *testing.T, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
