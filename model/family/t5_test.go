package family

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/tokenizer"
)

const t5Folder = "../testdata/families/t5"

func TestT5Directions(t *testing.T) {
	pieces, err := os.ReadFile(t5Folder + "/" + t5PiecesFile)
	require.NoError(t, err)
	words, err := os.ReadFile("../testdata/families/marian/" + model.TargetPiecesFile)
	require.NoError(t, err)
	all := []string{"de", "en", "fr", "sr-Latn", "zh"} // of <2zh> and <2zh_Hans> the first; <2translate> is none
	for name, test := range map[string]struct {
		pieces, set      string
		sources, targets []string
		message          string
	}{
		"by tokens":      {string(pieces), "", all, all, ""},
		"fewer targets":  {string(pieces), ":fr,de", all, []string{"de", "fr"}, ""},
		"other sources":  {string(pieces), "it:", []string{"it"}, all, ""},
		"as was said":    {string(pieces), "en:fr", []string{"en"}, []string{"fr"}, ""},
		"no token":       {string(pieces), "en:it", nil, nil, `MODEL_LANGUAGES has "it", for which spiece.model has no token`},
		"no words":       {string(words), "", nil, nil, "spiece.model has no tokens of languages such as <2fr>, and config.json does not say in which words"},
		"no words, said": {string(words), "en:fr", nil, nil, `add them there, as in "task_specific_params": {"translation_en_to_fr": {"prefix": "translate English to French: "}}`},
		"broken":         {"pieces", "", nil, nil, "spiece.model: "},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := ParseDirections(test.set)
			require.NoError(t, err)
			d, err := t5.Directions(memory{t5PiecesFile: test.pieces}, "google/madlad400-3b-mt", set)
			if test.message != "" {
				require.ErrorContains(t, err, test.message)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, Directions{test.sources, test.targets}, d)
		})
	}
}

// T5s that have no tokens of languages are told them in words, which their settings of tasks have.
func TestWordsOfT5(t *testing.T) {
	pieces, err := os.ReadFile("../testdata/families/t5-words/" + t5PiecesFile)
	require.NoError(t, err)
	const both = `{"translation_en_to_fr": {"prefix": "fr: ", "num_beams": 4}, "translation_fra_to_eng": {"prefix": "en: "}, "translation_eng_to_fra": {"prefix": "no: "},
		"summarization": {"prefix": 1}, "translation_of_poems": {}, "translation_en_to_poems": {"prefix": 1}}`
	for name, test := range map[string]struct {
		tasks, set       string
		sources, targets []string
		message          string
	}{
		"t5-small's":     {`{"translation_en_to_de": {"prefix": "a"}, "translation_en_to_fr": {"prefix": "b"}, "translation_en_to_ro": {}}`, "", []string{"en"}, []string{"de", "fr", "ro"}, ""},
		"there and back": {both, "", []string{"en", "fr"}, []string{"en", "fr"}, ""},
		"one way":        {both, "fr:en", []string{"fr"}, []string{"en"}, ""},
		"others":         {both, ":de", nil, nil, "config.json does not say in which words the model is told to translate from en into de: add them there"},
		"not all pairs":  {`{"translation_en_to_de": {}, "translation_de_to_en": {}, "translation_de_to_fr": {}}`, "", nil, nil, "from en into fr: add them there"},
		"some pairs":     {`{"translation_en_to_de": {}, "translation_de_to_en": {}, "translation_de_to_fr": {}}`, "de:en,fr", []string{"de"}, []string{"en", "fr"}, ""},
		"none":           {`{"summarization": {}}`, "", nil, nil, "config.json does not say in which words"},
		"null":           {`null`, "", nil, nil, "config.json does not say in which words"},
		"no list":        {`[]`, "", nil, nil, "config.json: json: cannot unmarshal array"},
		"no words":       {`{"translation_en_to_de": {"prefix": 7}}`, "", nil, nil, `config.json: "task_specific_params": "translation_en_to_de": json: cannot unmarshal number`},
		"no settings":    {`{"translation_en_to_de": "translate"}`, "", nil, nil, `"translation_en_to_de": json: cannot unmarshal string`},
	} {
		t.Run(name, func(t *testing.T) {
			files := memory{t5PiecesFile: string(pieces), model.ConfigFile: `{"model_type": "t5", "task_specific_params": ` + test.tasks + `}`}
			set, err := ParseDirections(test.set)
			require.NoError(t, err)
			d, err := t5.Directions(files, "t5-small", set)
			if test.message != "" {
				require.ErrorContains(t, err, test.message)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, Directions{test.sources, test.targets}, d)
			names, err := t5.TokenizerFiles(files)
			require.NoError(t, err)
			assert.Equal(t, []string{t5PiecesFile, model.ConfigFile}, names, "an export needs the words, too")
		})
	}
	names, err := t5.TokenizerFiles(model.Folder(t5Folder))
	require.NoError(t, err)
	assert.NotContains(t, names, model.ConfigFile)

	tok, err := t5.Tokenizer("../testdata/families/t5-words", []string{"de", "en", "fr", "ro"})
	require.NoError(t, err)
	words, err := tok.EncodeTarget("translate English to Romanian:")
	require.NoError(t, err)
	text, err := tok.EncodeTarget("a dog")
	require.NoError(t, err)
	ids, err := tok.Encode("en", "ro", "a dog")
	require.NoError(t, err)
	assert.Equal(t, append(append(words, text...), 1), ids)
	_, err = tok.Encode("de", "en", "a dog")
	require.ErrorIs(t, err, tokenizer.ErrUnknownLanguage)
	assert.ErrorContains(t, err, `no words tell the model to translate from "de" into "en"`)
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
