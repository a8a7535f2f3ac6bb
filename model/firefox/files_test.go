package firefox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

func TestFind(t *testing.T) {
	const enfr, ende = "model.enfr.intgemm.alphas.bin", "model.ende.intgemm.alphas.bin"
	for name, test := range map[string]struct {
		names   []string
		model   string
		want    map[string]string
		message string
	}{
		"one vocabulary":   {[]string{enfr, "vocab.enfr.spm", "lex.50.50.enfr.s2t.bin", "README.md"}, "", map[string]string{"model": enfr, "vocab": "vocab.enfr.spm", "lex": "lex.50.50.enfr.s2t.bin"}, ""},
		"two vocabularies": {[]string{enfr, "srcvocab.enfr.spm", "trgvocab.enfr.spm"}, "", map[string]string{"model": enfr, "source": "srcvocab.enfr.spm", "target": "trgvocab.enfr.spm"}, ""},
		"packed twice":     {[]string{enfr + ".zst", enfr, "vocab.spm.gz", "vocab.spm"}, "", map[string]string{"model": enfr + ".zst", "vocab": "vocab.spm.gz"}, ""},
		"of two":           {[]string{enfr, ende, "vocab.ende.spm", "vocab.enfr.spm"}, ende, map[string]string{"model": ende, "vocab": "vocab.ende.spm"}, ""},
		"as it is packed":  {[]string{enfr, enfr + ".gz", "vocab.enfr.spm"}, enfr, map[string]string{"model": enfr, "vocab": "vocab.enfr.spm"}, ""},
		"of one pair":      {[]string{enfr, "model.enfr.intgemm8.bin", "vocab.enfr.spm"}, enfr, map[string]string{"model": enfr, "vocab": "vocab.enfr.spm"}, ""},
		"two models":       {[]string{enfr, ende, "vocab.spm"}, "", nil, ende + " and " + enfr + " are both there"},
		"two lists":        {[]string{enfr, "vocab.spm", "lex.s2t.bin", "lex.50.50.s2t.bin"}, "", nil, "lex.50.50.s2t.bin and lex.s2t.bin are both there"},
		"half of them":     {[]string{enfr, "srcvocab.enfr.spm"}, "", nil, "there is no vocab.*.spm"},
		"another pair's":   {[]string{enfr, "vocab.spm"}, enfr, nil, "there is no vocab.*.spm"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Find(test.names, test.model)
			if test.message != "" {
				require.ErrorContains(t, err, test.message)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}

// The names that are tried without a list are found in a folder, too.
func TestNames(t *testing.T) {
	for _, name := range append(Models("en", "fr"), "model.intgemm.alphas.bin.gz") {
		require.True(t, IsModel(name), name)
		got, err := Find([]string{name, Beside(name)[1], Beside(name)[len(Beside(name))-1]}, name)
		require.NoError(t, err)
		assert.Len(t, got, 3)
	}
	assert.False(t, IsModel(Models("../x", "fr")[0]))
}

// metadata.json, or the file's name, tells the languages of a pair.
func TestLanguages(t *testing.T) {
	for name, test := range map[string]struct{ file, metadata, source, target string }{
		"by name":       {"model.enfr.intgemm.alphas.bin", "", "en", "fr"},
		"packed":        {"model.enfr.intgemm.alphas.bin.gz", "", "en", "fr"},
		"with a dash":   {"model.en-zh_hant.intgemm8.bin", "", "en", "zh_hant"},
		"long":          {"model.enzh_hant.intgemm.alphas.bin", "", "", ""},
		"without":       {"model.intgemm.alphas.bin", "", "", ""},
		"metadata":      {"model.enfr.intgemm.alphas.bin", `{"sourceLanguage": "nb", "targetLanguage": "en"}`, "nb", "en"},
		"half metadata": {"model.enfr.intgemm.alphas.bin", `{"sourceLanguage": "nb"}`, "en", "fr"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if test.metadata != "" {
				require.NoError(t, os.WriteFile(filepath.Join(dir, "metadata.json"), []byte(test.metadata), 0o644))
			}
			require.True(t, IsModel(test.file))
			source, target, err := Languages(model.Folder(dir), test.file)
			require.NoError(t, err)
			assert.Equal(t, []string{test.source, test.target}, []string{source, target})
		})
	}
	for _, other := range []string{"model.bin", "pytorch_model.bin", "model.safetensors", "model-00001-of-00002.bin", "qualityModel.enfr.bin"} {
		assert.False(t, IsModel(other))
	}
}
