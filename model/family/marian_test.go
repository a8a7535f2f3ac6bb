package family

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/tokenizer"
)

func TestCodeOf(t *testing.T) {
	for name, want := range map[string]string{
		"fra": "fr", "fr": "fr", "en": "en", "ZH": "zh", "cmn_Hans": "zh", "cmn_Hant": "zh-Hant", "zho": "zh", "jpn": "ja",
		"srp_Cyrl": "sr", "srp_Latn": "sr-Latn", "pt_br": "pt-BR", "pt_BR": "pt-BR", "arb": "ar", "ara": "ar", "heb": "he",
		"deu_Latn": "de", "lld_Latn": "lld-Latn", "ast": "ast", "yue": "yue",
		"": "", "mul": "", "roa": "", "gmw": "", "ROMANCE": "", "NORTH_EU": "", "xx": "", "x": "", "<s>": "", "en_el_es_fi": "",
		"abcdefghijklmnopqrstuvwxyz": "", "fra_": "", "\xff": "",
	} {
		code, ok := codeOf(name)
		assert.Equal(t, want, code, name)
		assert.Equal(t, want != "", ok, name)
	}
}

func TestParseDirections(t *testing.T) {
	for text, want := range map[string]Directions{
		"": {}, "en:fr": {[]string{"en"}, []string{"fr"}}, "fra, spa,it : en": {[]string{"es", "fr", "it"}, []string{"en"}},
		"en:": {[]string{"en"}, nil}, ":cmn_Hant,zh": {nil, []string{"zh", "zh-Hant"}}, "en,eng:fr": {[]string{"en"}, []string{"fr"}},
	} {
		d, err := ParseDirections(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, d, text)
	}
	for _, text := range []string{"en", "en-fr", "en:roa", "en:xx", "en,:fr", "en:fr:de", "en:fr,"} {
		_, err := ParseDirections(text)
		assert.ErrorContains(t, err, "use codes of languages such as en:fr", text)
	}
}

// memory are files that are not on a disk.
type memory map[string]string

func (m memory) Has(name string) (bool, error)    { _, ok := m[name]; return ok, nil }
func (m memory) Read(name string) ([]byte, error) { return []byte(m[name]), nil }

func TestMarianDirections(t *testing.T) {
	const one, many = `{"</s>": 0, "<unk>": 1, "<pad>": 2}`,
		`{"</s>": 0, "<unk>": 1, ">>fra<<": 2, ">>fr_BE<<": 3, ">>cmn_Hant<<": 4, ">>xx<<": 5, ">>roa<<": 6, "<pad>": 7}`
	const old = "### opus-mt-fi-en\n\n* source languages: fi\n* target languages: en\n*  OPUS readme: [fi-en](x)\n"
	const romance = "### opus-mt-ROMANCE-en\n\n* source languages: fr,fr_BE,fr_CA,fr_FR,wa,frp,oc,ca,rm,lld,fur,lij,lmo,es,es_AR,es_CL,es_CO,es_CR,es_DO," +
		"es_EC,es_ES,es_GT,es_HN,es_MX,es_NI,es_PA,es_PE,es_PR,es_SV,es_UY,es_VE,pt,pt_br,pt_BR,pt_PT,gl,lad,an,mwl,it,it_IT,co,nap,scn,vec,sc,ro,la\n" +
		"* target languages: en\n*  OPUS readme: [fr+fr_BE-en](https://x/fr+fr_BE-en/README.md)\n"
	romanceSources := strings.Fields("an ca co es fr frp fur gl it la lad lij lld lmo mwl nap oc pt rm ro sc scn vec wa")
	const big = "- **Release:** x\n- **Source language(s):** afr deu eng xyzw\n- **Target Language(s):** fra,spa\n"
	for name, test := range map[string]struct {
		repository, vocabulary, settings, card, set string
		sources, targets                            []string
		message                                     string
	}{
		"by its name":          {"Helsinki-NLP/opus-mt-en-fr", one, "", "", "", []string{"en"}, []string{"fr"}, ""},
		"at a commit":          {"Helsinki-NLP/opus-mt-tc-big-he-en@main", one, "", "", "", []string{"he"}, []string{"en"}, ""},
		"of several":           {"/models/opus-mt-deu_eng_fra-por", one, "", "", "", []string{"de", "en", "fr"}, []string{"pt"}, ""},
		"by its settings":      {"x", one, `{"source_lang": "eng", "target_lang": "fra"}`, "", "", []string{"en"}, []string{"fr"}, ""},
		"converted":            {"gaudi/opus-mt-en-fr-ct2-float16", one, "", "", "", []string{"en"}, []string{"fr"}, ""},
		"converted to 8 bits":  {"opus-mt-tc-big-en-fr-ctranslate2-int8_float16", one, "", "", "", []string{"en"}, []string{"fr"}, ""},
		"settings go first":    {"opus-mt-en-fr", one, `{"source_lang": "fi", "target_lang": "sv"}`, "", "", []string{"fi"}, []string{"sv"}, ""},
		"by its card":          {"opus-mt-xx-mul", one, `{"source_lang": null}`, old, "", []string{"fi"}, []string{"en"}, ""},
		"by a card of tc-big":  {"opus-mt-tc-big-gmw-itc", one, `{"source_lang": "gmw"}`, big, "", []string{"af", "de", "en"}, []string{"es", "fr"}, ""},
		"a group's members":    {"Helsinki-NLP/opus-mt-ROMANCE-en", one, `{"source_lang": "ROMANCE", "target_lang": "en"}`, romance, "", romanceSources, []string{"en"}, ""},
		"fewer of them":        {"Helsinki-NLP/opus-mt-ROMANCE-en", one, "", romance, "fr,it:", []string{"fr", "it"}, []string{"en"}, ""},
		"a group in capitals":  {"Helsinki-NLP/opus-mt-NORTH_EU-en", one, `{"source_lang": "NORTH_EU"}`, "", "", nil, nil, "set MODEL_LANGUAGES"},
		"by tokens":            {"opus-mt-en-ROMANCE", many, "", "", "", []string{"en"}, []string{"fr", "fr-BE", "zh-Hant"}, ""},
		"as was said":          {"opus-mt-en-fr", one, "", old, "de:nl", []string{"de"}, []string{"nl"}, ""},
		"sources as was said":  {"opus-mt-ROMANCE-en", one, "", "", "fr,es:", []string{"es", "fr"}, []string{"en"}, ""},
		"fewer than of tokens": {"opus-mt-en-mul", many, "", "", ":fr", []string{"en"}, []string{"fr"}, ""},
		"no token":             {"opus-mt-en-mul", many, "", "", ":de", nil, nil, `MODEL_LANGUAGES has "de", for which vocab.json has no token`},
		"a group":              {"opus-mt-ROMANCE-en", one, "", "", "", nil, nil, "set MODEL_LANGUAGES, such as en:fr"},
		"no name":              {"/tmp/model", one, "", "", "", nil, nil, "set MODEL_LANGUAGES"},
		"broken vocabulary":    {"opus-mt-en-fr", "[", "", "", "", nil, nil, "vocab.json: "},
		"broken settings":      {"opus-mt-en-fr", one, "{", "", "", nil, nil, model.TokenizerConfigFile},
	} {
		t.Run(name, func(t *testing.T) {
			files := memory{model.VocabFile: test.vocabulary}
			if test.settings != "" {
				files[model.TokenizerConfigFile] = test.settings
			}
			if test.card != "" {
				files[CardFile] = test.card
			}
			set, err := ParseDirections(test.set)
			require.NoError(t, err)
			d, err := marian.Directions(files, test.repository, set)
			if test.message != "" {
				require.ErrorContains(t, err, test.message)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, Directions{test.sources, test.targets}, d)
		})
	}
}

func TestRecognizeMarian(t *testing.T) {
	f, err := Recognize(memory{"config.json": `{"model_type": "marian"}`, config: `{"source_lang": "en"}`}, "")
	require.NoError(t, err)
	assert.Equal(t, marian, f)
	_, err = Recognize(memory{"config.json": `{`}, "")
	assert.ErrorContains(t, err, "config.json")
	names, err := marian.PullFiles(memory{model.SourcePiecesFile: "", model.TargetPiecesFile: "", model.VocabFile: "", CardFile: ""})
	require.NoError(t, err)
	assert.Equal(t, []string{model.SourcePiecesFile, model.TargetPiecesFile, model.VocabFile, CardFile}, names)
	_, err = marian.PullFiles(memory{model.SourcePiecesFile: "", model.VocabFile: ""})
	assert.ErrorIs(t, err, ErrIncomplete)
	assert.ErrorContains(t, err, "target.spm is not there, which a model of the family marian needs")
}

const marianFolder = "../testdata/families/marian-many"

func TestTokenizerOfMarian(t *testing.T) {
	tok, err := OpenTokenizer(marianFolder, "marian", []string{"de", "en", "fr"})
	require.NoError(t, err)
	assert.Equal(t, []string{"de", "en", "fr"}, tok.Languages())
	french, _ := tok.LanguageID("fr")
	ids, err := tok.Encode("en", "fr", "")
	require.NoError(t, err)
	assert.Equal(t, []int64{french, 0}, ids)
	ids, err = tok.Encode("en", "fr", "</s> >>deu<<")
	require.NoError(t, err)
	german, _ := tok.LanguageID("de")
	assert.NotContains(t, ids, german, "text does not become a special token")
	assert.Equal(t, 1, count(ids, 0))
	assert.Empty(t, tok.Decode([]int64{french, 0, german}))
	assert.Equal(t, tok.Size(), tok.SourceSize())
	id, ok := tok.LanguageID("en")
	assert.True(t, ok)
	assert.Negative(t, id)
	_, err = tok.Encode("fr", "en", "x")
	assert.ErrorIs(t, err, tokenizer.ErrUnknownLanguage)
	assert.ErrorContains(t, err, `"en" to translate into: it has no token`)

	apart, err := OpenTokenizer("../testdata/families/marian-separate", "marian", []string{"de", "en"})
	require.NoError(t, err)
	source, err := apart.Encode("de", "en", "the")
	require.NoError(t, err)
	ids, err = apart.EncodeTarget("the")
	require.NoError(t, err)
	assert.Equal(t, "the", apart.Decode(ids))
	assert.NotEqual(t, "the", apart.Decode(source), "its ids are of the other vocabulary")
}

// An id that is missing is no text.
func TestVocabularyOfMarianWithGaps(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(marianFolder)))
	require.NoError(t, write(model.VocabFile, `{"</s>": 0, "<unk>": 1, "▁a": 5, "<pad>": 7}`)(dir))
	tok, err := marian.Tokenizer(dir, []string{"en", "fr"})
	require.NoError(t, err)
	assert.Equal(t, 8, tok.Size())
	assert.Equal(t, "a", tok.Decode([]int64{3, 5, 4, 7}))
	_, ok := tok.Piece(3)
	assert.False(t, ok)
}

func count(ids []int64, id int64) (n int) {
	for _, other := range ids {
		if other == id {
			n++
		}
	}
	return n
}

func TestTokenizerOfMarianRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		change func(dir string) error
		want   string
	}{
		"no pieces":         {func(dir string) error { return os.Remove(filepath.Join(dir, model.TargetPiecesFile)) }, "target.spm is not there"},
		"broken pieces":     {write(model.TargetPiecesFile, "x"), "target.spm: "},
		"no second vocab":   {write(config, `{"separate_vocabs": true}`), "target_vocab.json is not in"},
		"broken vocabulary": {write(model.VocabFile, "{"), "vocab.json: unexpected end"},
		"no end":            {write(model.VocabFile, `{"<unk>": 0}`), `no token "</s>"`},
		"an id twice":       {write(model.VocabFile, `{"<unk>": 0, "</s>": 0}`), "both have id 0"},
		"an id too large":   {write(model.VocabFile, `{"<unk>": 0, "</s>": 1048576}`), "has id 1048576, expected 0 to 1"},
		"an id below 0":     {write(model.VocabFile, `{"<unk>": 0, "</s>": -1}`), "has id -1"},
		"broken second": {func(dir string) error {
			raw, _ := json.Marshal(map[string]int{"</s>": 0, "<unk>": -7})
			return os.WriteFile(filepath.Join(dir, model.TargetVocabFile), raw, 0o644)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(marianFolder)))
			require.NoError(t, test.change(dir))
			_, err := marian.Tokenizer(dir, []string{"en", "fr"})
			if test.want == "" { // not looked at where the settings do not name it
				require.NoError(t, err)
				require.NoError(t, write(config, `{"separate_vocabs": true}`)(dir))
				_, err = marian.Tokenizer(dir, nil)
				require.ErrorContains(t, err, "of translations: token")
				return
			}
			require.ErrorContains(t, err, test.want)
		})
	}
}

// Whatever a card or a setting says, what is read of it are tags.
func FuzzDirections(f *testing.F) {
	for _, text := range []string{"en:fr", "* source languages: fr,fr_BE\n* target language(s): en", "opus-mt-deu_eng-itc", "\xff:\xff", ":"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		said, _ := ParseDirections(text)
		card := cardDirections([]byte(text))
		for _, d := range []Directions{said, card, pairOf(text)} {
			for _, code := range d.All() {
				again, ok := codeOf(code)
				assert.True(t, ok, code)
				assert.Equal(t, code, again)
			}
		}
	})
}
