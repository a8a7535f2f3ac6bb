package family

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

const t5Folder = "../testdata/families/t5"

func TestT5Directions(t *testing.T) {
	pieces, err := os.ReadFile(t5Folder + "/" + model.T5PiecesFile)
	require.NoError(t, err)
	words, err := os.ReadFile("../testdata/families/marian/" + model.TargetPiecesFile)
	require.NoError(t, err)
	all := []string{"de", "en", "fr", "sr-Latn", "zh"} // of <2zh> and <2zh_Hans> the first; <2translate> is none
	for name, test := range map[string]struct {
		pieces, set      string
		sources, targets []string
		message          string
	}{
		"by tokens":       {string(pieces), "", all, all, ""},
		"fewer targets":   {string(pieces), ":fr,de", all, []string{"de", "fr"}, ""},
		"other sources":   {string(pieces), "it:", []string{"it"}, all, ""},
		"as was said":     {string(pieces), "en:fr", []string{"en"}, []string{"fr"}, ""},
		"no token":        {string(pieces), "en:it", nil, nil, `MODEL_LANGUAGES has "it", for which spiece.model has no token`},
		"told in words":   {string(words), "", nil, nil, "spiece.model has no tokens of languages such as <2fr>"},
		"words, and said": {string(words), "en:fr", nil, nil, "not those that are told languages in words"},
		"broken":          {"pieces", "", nil, nil, "spiece.model: "},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := ParseDirections(test.set)
			require.NoError(t, err)
			d, err := t5.Directions(memory{model.T5PiecesFile: test.pieces}, "google/madlad400-3b-mt", set)
			if test.message != "" {
				require.ErrorContains(t, err, test.message)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, Directions{test.sources, test.targets}, d)
		})
	}
}

// A token that a user types is text, and none that a model writes is.
func TestTokenizerOfT5(t *testing.T) {
	f, err := Recognize(memory{"config.json": `{"model_type": "t5"}`}, "")
	require.NoError(t, err)
	assert.Equal(t, t5, f)
	tok, err := t5.Tokenizer(t5Folder, []string{"de", "fr", "it"})
	require.NoError(t, err)
	assert.Equal(t, []string{"de", "fr", "it"}, tok.Languages())
	ids, err := tok.Encode("it", "fr", "<2de> </s>")
	require.NoError(t, err)
	de, ok := tok.LanguageID("de")
	require.True(t, ok)
	fr, _ := tok.LanguageID("fr")
	assert.Equal(t, fr, ids[1])
	assert.NotContains(t, ids, de)
	assert.NotContains(t, ids[:len(ids)-1], int64(2))
	assert.EqualValues(t, 2, ids[len(ids)-1])
	assert.Empty(t, tok.Decode([]int64{0, 1, 2, de, fr}))
	_, err = tok.Encode("fr", "it", "x")
	assert.ErrorContains(t, err, `"it" to translate into: it has no token`)
	_, err = t5.Tokenizer(t.TempDir(), nil)
	assert.ErrorIs(t, err, ErrIncomplete)
	assert.ErrorContains(t, err, "spiece.model is not there, which a model of the family t5 needs")
}
