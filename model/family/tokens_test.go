package family

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

// A fine-tune adds a language as a special token. It is served under its BCP 47 code, or under the name in its token where there is no such
// code or the family's own language has it.
func TestAddedLanguages(t *testing.T) {
	older := func(tokens string) func(dir string) error { return write(AddedTokensFile, tokens) }
	newer := func(tokens string) func(dir string) error {
		return write(config, `{"added_tokens_decoder": {`+tokens+`}}`)
	}
	for name, test := range map[string]struct {
		family *Family
		folder string
		change func(dir string) error
		want   map[string]int64
	}{
		"NLLB-200":         {nllb, "families/nllb", newer(`"604": {"content": "tyv_Cyrl", "special": true}`), map[string]int64{"tyv": 604, "en": 447}},
		"as text":          {nllb, "families/nllb", newer(`"604": {"content": "tyv_Cyrl"}`), map[string]int64{"tyv": 604}},
		"older":            {nllb, "families/nllb", older(`{"tyv_Cyrl": 604, "<mask>": 603}`), map[string]int64{"tyv": 604}},
		"two scripts":      {nllb, "families/nllb", older(`{"tyv_Latn": 605, "tyv_Cyrl": 604}`), map[string]int64{"tyv": 604, "tyv-Latn": 605}},
		"no code":          {nllb, "families/nllb", older(`{"xyz_Latn": 604}`), map[string]int64{"xyz_Latn": 604}},
		"another zh":       {nllb, "families/nllb", older(`{"cmn_Hans": 604}`), map[string]int64{"cmn_Hans": 604, "zh": 600}},
		"M2M100":           {m2m100, "../bundled", newer(`"16108": {"content": "__tyv__", "special": true}`), map[string]int64{"tyv": 16108, "zu": 16107}},
		"M2M100, NLLB's":   {m2m100, "../bundled", newer(`"16108": {"content": "tyv_Cyrl", "special": true}`), map[string]int64{"tyv": 16108}},
		"SMaLL-100":        {small100, "families/small100", older(`{"__tyv__": 509}`), map[string]int64{"tyv": 509}},
		"mBART-50":         {mbart, "families/mbart", older(`{"tyv_XX": 1254}`), map[string]int64{"tyv": 1254, "sl": 1252}},
		"mBART-50, region": {mbart, "families/mbart", older(`{"pt_BR": 1254, "tyv_RU": 1255}`), map[string]int64{"pt-BR": 1254, "pt": 1241, "tyv": 1255}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, tokenizerFiles{os.DirFS(filepath.Join("../testdata", test.folder))}))
			os.Remove(filepath.Join(dir, config))
			require.NoError(t, test.change(dir))

			exported := t.TempDir()
			_, err := test.family.CopyTokenizer(dir, exported)
			require.NoError(t, err)
			for _, dir := range []string{dir, exported} {
				tok, err := test.family.Tokenizer(dir, nil)
				require.NoError(t, err)
				for code, want := range test.want {
					id, ok := tok.LanguageID(code)
					assert.True(t, ok, code)
					assert.Equal(t, want, id, code)
				}
			}
			codes := Directions{[]string{"en"}, nil}
			for code := range test.want {
				codes.Targets = append(codes.Targets, code)
			}
			d, err := test.family.Directions(model.Folder(dir), "x", codes)
			require.NoError(t, err)
			assert.Equal(t, codes, d)
			tok, err := test.family.Tokenizer(dir, d.All())
			require.NoError(t, err)
			assert.ElementsMatch(t, d.All(), tok.Languages())
		})
	}
}

// MODEL_LANGUAGES takes away languages of a family with a token for each. Without it all of them count.
func TestDirectionsOfTokens(t *testing.T) {
	files := memory{}
	d, err := nllb.Directions(files, "x", Directions{})
	require.NoError(t, err)
	assert.Empty(t, d.All())
	d, err = nllb.Directions(files, "x", Directions{Sources: []string{"en"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"en"}, d.Sources)
	assert.Len(t, d.Targets, 202)
	_, err = m2m100.Directions(files, "x", Directions{Targets: []string{"tyv"}})
	assert.ErrorContains(t, err, `MODEL_LANGUAGES has "tyv", for which the tokenizer has no token: use of af, am,`)
}
