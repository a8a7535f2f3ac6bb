package family

import (
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a fine-tune has added to a tokenizer changes nothing, or is refused.
func TestAddedTokens(t *testing.T) {
	added := func(id, token, more string) func(string) error {
		return write(config, `{"added_tokens_decoder": {"`+id+`": {"content": "`+token+`"`+more+`}}}`)
	}
	const isSpecial = `, "special": true`
	special := func(tokens, settings, added string) func(string) error {
		return func(dir string) error {
			return errors.Join(write(SpecialTokensFile, tokens)(dir), write(config, settings)(dir), write(AddedTokensFile, added)(dir))
		}
	}
	for name, test := range map[string]struct {
		family  *Family
		folder  string
		change  func(dir string) error
		message string
	}{
		"as saved":                {mbart, "mbart", added("1204", "en_XX", isSpecial), ""},
		"a special token":         {mbart, "mbart", added("9000", "<mine>", isSpecial), ""},
		"a token of text":         {mbart, "mbart", added("9000", "<br>", ""), `tokenizer_config.json: the added token "<br>" is not special`},
		"another language's":      {mbart, "mbart", added("1205", "en_XX", isSpecial), `"en_XX" has the id 1205, but 1204 by the pieces: these files do not`},
		"as SentencePiece has":    {mbart, "mbart", added("1", "</s>", isSpecial), `"</s>" has the id 1, but 2`},
		"no tokens":               {mbart, "mbart", write(config, `{"added_tokens_decoder": []}`), "added_tokens_decoder"},
		"NLLB's languages":        {nllb, "nllb", added("447", "eng_Latn", isSpecial), ""},
		"moved by new pieces":     {nllb, "nllb", added("450", "eng_Latn", isSpecial), `"eng_Latn" has the id 450, but 447`},
		"SMaLL-100's":             {small100, "small100", added("419", "__en__", ""), ""},
		"as older versions saved": {small100, "small100", write(AddedTokensFile, `{"__en__": 419, "<s>": 0}`), ""},
		"older, moved":            {small100, "small100", write(AddedTokensFile, `{"__en__": 420}`), `added_tokens.json: "__en__" has the id 420, but 419`},
		"older, of text":          {small100, "small100", write(AddedTokensFile, `{"mine": 509}`), `added_tokens.json: the added token "mine" is not special`},
		"older, special":          {small100, "small100", write(AddedTokensFile, `{"<mask>": 509}`), ""},
		"older, broken":           {small100, "small100", write(AddedTokensFile, `[]`), AddedTokensFile},
		"Opus-MT's":               {marian, "marian-many", added("408", ">>fra<<", ""), ""},
		"a piece, taken out":      {marian, "marian", added("5", "▁to", ""), `the added token "▁to" is not special`},
		"T5's":                    {t5, "t5", added("3", "<2fr>", ""), ""},
		"the usual":               {t5, "t5", write(config, `{"eos_token": {"content": "</s>"}, "unk_token": "<unk>", "sp_model_kwargs": {}}`), ""},
		"another end":             {t5, "t5", write(config, `{"eos_token": {"content": "<s>"}}`), `tokenizer_config.json or special_tokens_map.json: "<s>" is in the place of </s>`},
		"older, the usual":        {t5, "t5", special(`{"eos_token": {"content": "</s>", "lstrip": false}, "unk_token": "<unk>"}`, `{}`, `{}`), ""},
		"older, another end":      {marian, "marian", special(`{"eos_token": "<pad>"}`, `{"eos_token": "</s>"}`, `{}`), `"<pad>" is in the place of </s>`},
		"older, a language":       {nllb, "nllb", special(`{"additional_special_tokens": ["eng_Latn", {"content": "tyv_Cyrl"}]}`, `{}`, `{"tyv_Cyrl": 700}`), ""},
		"told in one place":       {nllb, "nllb", special(`{}`, `{"additional_special_tokens": ["tyv_Cyrl"]}`, `{"tyv_Cyrl": 700}`), ""},
		"older, another's":        {nllb, "nllb", special(`{"additional_special_tokens": ["eng_Latn"]}`, `{}`, `{"tyv_Cyrl": 700}`), ""},
		"a language elsewhere":    {t5, "t5", special(`{}`, `{}`, `{"tyv_Cyrl": 700}`), `the added token "tyv_Cyrl" is not special`},
		"older, no list":          {nllb, "nllb", special(`{"additional_special_tokens": 3}`, `{}`, `{}`), "special_tokens_map.json: json"},
		"newer, not looked at":    {marian, "marian", special(`{"eos_token": "<pad>"}`, `{"added_tokens_decoder": {}}`, `{}`), ""},
		"another unknown":         {marian, "marian", write(config, `{"unk_token": "<pad>", "eos_token": null}`), `"<pad>" is in the place of <unk>`},
		"no token":                {marian, "marian", write(config, `{"unk_token": 3}`), "unk_token"},
		"sampled":                 {marian, "marian", write(config, `{"sp_model_kwargs": {"alpha": 0.1}}`), `"sp_model_kwargs" are map[alpha:0.1]`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, tokenizerFiles{os.DirFS("../testdata/families/" + test.folder)}))
			os.Remove(dir + "/" + config)
			require.NoError(t, test.change(dir))
			_, err := test.family.Tokenizer(dir, nil)
			if test.message == "" {
				require.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, test.message)
		})
	}
}
