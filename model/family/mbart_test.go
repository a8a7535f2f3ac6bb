package family

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/tokenizer"
)

const mbartFolder = "../testdata/families/mbart" // 1,200 pieces

func TestTokenizerOfMBart(t *testing.T) {
	var codes []string
	for _, l := range mbartTokens() {
		codes = append(codes, l.code)
	}
	assert.Len(t, codes, 52)
	tok, err := OpenTokenizer(mbartFolder, "mbart", nil)
	require.NoError(t, err)
	assert.Equal(t, codes, tok.Languages())
	assert.Equal(t, 1200+1+52, tok.Size())
	for code, want := range map[string]int64{"ar": 1201, "en": 1204, "zh": 1225, "af": 1226, "sl": 1252} {
		id, ok := tok.LanguageID(code)
		assert.True(t, ok)
		assert.Equal(t, want, id, code)
	}
	ids, err := tok.Encode("en", "zh", "")
	require.NoError(t, err)
	assert.Equal(t, []int64{1204, 2}, ids)
	assert.Equal(t, []int64{1225}, tok.Forced("en", "zh"))
	ids, err = tok.Encode("en", "zh", "</s> fr_XX <mask>")
	require.NoError(t, err)
	for _, id := range ids[1 : len(ids)-1] {
		assert.True(t, id >= 3 && id <= 1200, "text does not become a special token")
	}
	assert.Empty(t, tok.Decode([]int64{0, 1, 2, 3, 1201, 1252, 1253, 1254}))

	few, err := OpenTokenizer(mbartFolder, "mbart", []string{"fr", "en"})
	require.NoError(t, err)
	assert.Equal(t, []string{"en", "fr"}, few.Languages())
	_, err = few.Encode("en", "zh", "x")
	assert.ErrorIs(t, err, tokenizer.ErrUnknownLanguage)
}

func TestTokenizerOfMBartRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(dir string) error
		message string
	}{
		"no pieces":     {remove(model.PieceModelFile), "sentencepiece.bpe.model is not there, which a model of the family mbart needs"},
		"broken pieces": {write(model.PieceModelFile, "x"), model.PieceModelFile},
		"other first pieces": {func(dir string) error {
			raw, err := os.ReadFile(dir + "/" + model.PieceModelFile)
			require.NoError(t, err)
			at := slices.Index(raw, '<')
			copy(raw[at:], "<pad>")
			return os.WriteFile(dir+"/"+model.PieceModelFile, raw, 0o600)
		}, `sentencepiece.bpe.model: piece 0 is "<pad>", not "<unk>"`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, tokenizerFiles{os.DirFS(mbartFolder)}))
			require.NoError(t, test.change(dir))
			_, err := mbart.Tokenizer(dir, nil)
			if test.message == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.message)
		})
	}
}

func TestMBartDirections(t *testing.T) {
	pieces, err := os.ReadFile(mbartFolder + "/" + model.PieceModelFile)
	require.NoError(t, err)
	all, english := codesOf(inOrder(mbartTokens(), 0)), []string{"en"}
	others := slices.DeleteFunc(slices.Clone(all), func(code string) bool { return code == "en" })
	const many = "facebook/mbart-large-50-many-to-many-mmt"
	for name, test := range map[string]struct {
		repository, model, generation, settings, set string
		sources, targets                             []string
		message                                      string
	}{
		"many to many":        {many, `{}`, `{}`, `{"src_lang": null}`, "", all, all, ""},
		"one to many":         {"/models/mbart-large-50-one-to-many-mmt", `{}`, "", "", "", english, others, ""},
		"many to one":         {"facebook/mbart-large-50-many-to-one-mmt@main", `{"forced_bos_token_id": 1204}`, "", "", "", others, english, ""},
		"as was said":         {many, `{}`, "", "", "en,fr:de", []string{"en", "fr"}, []string{"de"}, ""},
		"one side was said":   {many, `{}`, "", "", "en:", english, all, ""},
		"fine-tuned":          {"x", `{"forced_bos_token_id": 1220}`, "", `{"src_lang": "en_XX", "tgt_lang": "xx_XX"}`, "", english, []string{"ro"}, ""},
		"made of many":        {"x", `{}`, "", `{"name_or_path": "` + many + `", "src_lang": "en_XX", "tgt_lang": "ro_RO"}`, "", all, all, ""},
		"a pair":              {"x", `{}`, "", `{"src_lang": "en_XX", "tgt_lang": "ro_RO"}`, "", english, []string{"ro"}, ""},
		"generation first":    {many, `{"forced_bos_token_id": 0}`, `{"forced_bos_token_id": 1201, "decoder_start_token_id": 2}`, "", "", all, []string{"ar"}, ""},
		"forced to none":      {many, `{"forced_bos_token_id": 1201}`, `{"forced_bos_token_id": null}`, "", "", all, all, ""},
		"forced to a piece":   {many, `{"forced_bos_token_id": 1200}`, "", "", "", nil, nil, `"forced_bos_token_id" is 1200, which is no language's token: these are 1201 to 1252`},
		"of more pieces":      {many, `{"forced_bos_token_id": 250004}`, "", "", "", nil, nil, `"forced_bos_token_id" is 250004`},
		"of 25 languages":     {many, `{"tokenizer_class": "MBartTokenizer"}`, "", "", "", nil, nil, "only the models of 50 languages are supported"},
		"by its settings":     {many, "", "", `{"tokenizer_class": "MBartTokenizerFast"}`, "", nil, nil, "only the models of 50 languages are supported"},
		"begins with another": {many, `{"decoder_start_token_id": 250020}`, "", "", "", nil, nil, `"decoder_start_token_id" is 250020`},
		"no name":             {"x", `{}`, "", `{"src_lang": "en_XX"}`, "", nil, nil, "set MODEL_LANGUAGES, such as en:fr, or give it a name with many-to-many"},
		"no such language":    {many, `{}`, "", "", "en:br", nil, nil, `MODEL_LANGUAGES has "br", for which the tokenizer has no token: use of af, ar, az`},
		"broken":              {many, `{"forced_bos_token_id": "x"}`, "", "", "", nil, nil, "config.json: json"},
		"broken generation":   {many, `{}`, "[", "", "", nil, nil, "generation_config.json: unexpected end"},
	} {
		t.Run(name, func(t *testing.T) {
			files := memory{model.PieceModelFile: string(pieces)}
			for file, content := range map[string]string{model.ConfigFile: test.model, model.GenerationConfigFile: test.generation, config: test.settings} {
				if content != "" {
					files[file] = content
				}
			}
			set, err := ParseDirections(test.set)
			require.NoError(t, err)
			d, err := mbart.Directions(files, test.repository, set)
			if test.message != "" {
				require.ErrorContains(t, err, test.message)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, Directions{test.sources, test.targets}, d)
		})
	}
	_, err = mbart.Directions(memory{model.ConfigFile: `{"forced_bos_token_id": 1201}`, model.PieceModelFile: "x"}, many, Directions{})
	assert.ErrorContains(t, err, model.PieceModelFile)
}

func TestRecognizeMBart(t *testing.T) {
	f, err := Recognize(memory{model.ConfigFile: `{"model_type": "mbart"}`}, "")
	require.NoError(t, err)
	assert.Equal(t, mbart, f)
	names, err := mbart.PullFiles(memory{model.PieceModelFile: "", model.TokenizerConfigFile: "", model.TokenizerFile: "", AddedTokensFile: ""})
	require.NoError(t, err)
	assert.Equal(t, []string{model.PieceModelFile, model.TokenizerConfigFile, AddedTokensFile}, names)
}
