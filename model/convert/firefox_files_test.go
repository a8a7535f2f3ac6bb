package convert

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFirefoxFiles(t *testing.T) {
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
			got, err := FirefoxFiles(test.names, test.model)
			if test.message != "" {
				require.ErrorContains(t, err, test.message)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}

// The names that are looked for where there is no list are such as a folder's are found by.
func TestFirefoxNames(t *testing.T) {
	for _, model := range append(FirefoxModels("en", "fr"), "model.intgemm.alphas.bin.gz") {
		require.True(t, IsFirefox(model), model)
		got, err := FirefoxFiles([]string{model, FirefoxBeside(model)[1], FirefoxBeside(model)[len(FirefoxBeside(model))-1]}, model)
		require.NoError(t, err)
		assert.Len(t, got, 3)
	}
	assert.False(t, IsFirefox(FirefoxModels("../x", "fr")[0]))
}
