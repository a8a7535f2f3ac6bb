package family

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/ctranslate2"
	"dragoman/tokenizer"
)

// emptyModel is a model.bin of version 6 without variables.
const emptyModel = "\x06\x00\x00\x00\x02\x00M\x00\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

const argos = "../testdata/families/ctranslate2-argos"

// argosWith is a copy of the Argos package with files replaced; the vocabulary has one more token, which its use is
// tested with.
func argosWith(t *testing.T, files map[string]string) string {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(argos)))
	var tokens []string
	raw, err := os.ReadFile(filepath.Join(dir, "shared_vocabulary.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &tokens))
	raw, err = json.Marshal(append(tokens, "__fr__"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "shared_vocabulary.json"), raw, 0o600))
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func TestArgosPackages(t *testing.T) {
	for name, test := range map[string]struct {
		files  map[string]string
		forced int    // tokens that translations begin with
		before int    // tokens before a source's pieces
		after  int    // and behind them
		fails  string // the tokenizer
	}{
		"as it is":            {nil, 0, 0, 0, ""},
		"with a prefix":       {map[string]string{"metadata.json": `{"from_code": "en", "to_code": "fr", "target_prefix": "__fr__"}`}, 1, 0, 0, ""},
		"an unknown prefix":   {map[string]string{"metadata.json": `{"from_code": "en", "to_code": "fr", "target_prefix": "__de__"}`}, 0, 0, 0, "target_prefix"},
		"begin and end":       {map[string]string{"config.json": `{"add_source_bos": true, "add_source_eos": true}`}, 0, 1, 1, ""},
		"other tokens":        {map[string]string{"config.json": `{"eos_token": "<end>"}`}, 0, 0, 0, "only <unk>, <s> and </s>"},
		"no SentencePiece":    {map[string]string{"sentencepiece.model": "#version: 0.2"}, 0, 0, 0, "sentencepiece.model"},
		"a broken vocabulary": {map[string]string{"shared_vocabulary.json": "{}"}, 0, 0, 0, "shared_vocabulary.json"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := argosWith(t, test.files)
			tok, err := converted.Tokenizer(dir, []string{"en", "fr"})
			if test.fails != "" {
				require.ErrorContains(t, err, test.fails)
				return
			}
			require.NoError(t, err)
			assert.Len(t, tok.Forced("en", "fr"), test.forced)
			text, err := tok.EncodeTarget("hello")
			require.NoError(t, err)
			ids, err := tok.Encode("en", "fr", "hello")
			require.NoError(t, err)
			require.Len(t, ids, test.before+len(text)+test.after)
			assert.Equal(t, text, ids[test.before:len(ids)-test.after])
		})
	}
}

// What an older model says inside of model.bin is there without it, in an exported folder.
func TestSettingsInsideOfAModel(t *testing.T) {
	older := "\x05" + emptyModel[1:12] + "\x01\x00\x00\x00\x10\x00with_source_eos\x00\x00\x01\x01\x00\x00\x00\x01\x00\x00\x00\x00"
	dir, exported := argosWith(t, map[string]string{ctranslate2.ModelFile: older}), t.TempDir()
	names, err := converted.CopyTokenizer(dir, exported)
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"config.json", "metadata.json", "sentencepiece.model", "shared_vocabulary.json"}, names)
	for _, folder := range []string{dir, exported} {
		tok, err := converted.Tokenizer(folder, []string{"en", "fr"})
		require.NoError(t, err)
		text, err := tok.EncodeTarget("hello")
		require.NoError(t, err)
		ids, err := tok.Encode("en", "fr", "hello")
		require.NoError(t, err)
		assert.Equal(t, append(text, 3), ids, folder)
	}
}

func TestArgosDirections(t *testing.T) {
	d, err := converted.Directions(model.Folder(argos), "any", Directions{})
	require.NoError(t, err)
	assert.Equal(t, Directions{[]string{"en"}, []string{"fr"}}, d)
	d, err = converted.Directions(model.Folder(argos), "any", Directions{Targets: []string{"de"}})
	require.NoError(t, err)
	assert.Equal(t, Directions{[]string{"en"}, []string{"de"}}, d, "what the user says goes first")

	for _, codes := range [][]string{{"zt", "zh-Hant"}, {"pb", "pt-BR"}} {
		dir := argosWith(t, map[string]string{ctranslate2.MetadataFile: fmt.Sprintf(`{"package_version": 1.9, "from_code": "en", "to_code": %q, "license": ["MIT"]}`, codes[0])})
		d, err = converted.Directions(model.Folder(dir), "any", Directions{})
		require.NoError(t, err)
		assert.Equal(t, Directions{[]string{"en"}, []string{codes[1]}}, d)
		license, err := License(model.Folder(dir))
		require.NoError(t, err)
		assert.Empty(t, license)
	}
	dir := argosWith(t, map[string]string{ctranslate2.MetadataFile: `{"from_code": "en", "to_code": "xx"}`})
	_, err = converted.Directions(model.Folder(dir), "opus-en-fr", Directions{})
	assert.ErrorContains(t, err, `"to_code" "xx"`, "another name does not tell what it is")

	dir = argosWith(t, map[string]string{ctranslate2.MetadataFile: `{"type": "sbd"}`})
	_, err = converted.Directions(model.Folder(dir), "any", Directions{})
	assert.ErrorContains(t, err, `type "sbd"`)
	require.NoError(t, os.Remove(filepath.Join(dir, ctranslate2.MetadataFile)))
	_, err = converted.Directions(model.Folder(dir), "any", Directions{})
	assert.ErrorContains(t, err, "MODEL_LANGUAGES")
	for _, name := range []string{"/models/opus-ct2-en-ja", "owner/opus-ct2-en-ja@main", "owner/models/en-ja@v1", "translate-en-ja.argosmodel"} {
		d, err = converted.Directions(model.Folder(dir), name, Directions{})
		require.NoError(t, err, name)
		assert.Equal(t, Directions{[]string{"en"}, []string{"ja"}}, d)
	}

	require.NoError(t, converted.CheckGuess(model.Folder(argos), model.Spec{Encoder: model.Stack{Layers: 2}}))
	license, err := License(model.Folder(argos))
	require.NoError(t, err)
	assert.Equal(t, "CC-BY-4.0", license)
}

// Models of many languages in CTranslate2's form, of which nothing but the pieces and the vocabulary tells: sources are framed as with the
// files of their own families.
func TestConvertedOfManyLanguages(t *testing.T) {
	const families = "../testdata/families/"
	for name, test := range map[string]struct {
		family *Family
		dir    string
		tokens []languageToken
		file   string // of the pieces, as people have it beside model.bin
	}{
		"M2M100":   {m2m100, families + "small100", m2m100Tokens(), ctranslate2.PackagePieces},
		"NLLB-200": {nllb, families + "nllb", nllbTokens(), model.PieceModelFile},
		"mBART-50": {mbart, families + "mbart", mbartTokens(), ctranslate2.PackagePieces},
		"MADLAD":   {t5, families + "t5", nil, t5PiecesFile},
		"T5":       {t5, families + "t5-trained", nil, ctranslate2.PackagePieces},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := test.family.Directions(model.Folder(test.dir), name, Directions{})
			require.NoError(t, err)
			files, err := test.family.pieceFiles(model.Folder(test.dir))
			require.NoError(t, err)
			c, err := test.family.readConfig(test.dir, settings{}, files, d.All())
			require.NoError(t, err)
			own, err := tokenizer.New(c)
			require.NoError(t, err)
			codes := d.All()
			if len(codes) == 0 {
				codes = own.Languages()
			}

			dir, tokens := t.TempDir(), make([]string, len(c.Vocabulary))
			for token, id := range c.Vocabulary {
				tokens[id] = token
			}
			if test.tokens != nil {
				tokens = append(tokens, make([]string, len(c.Languages)+1)...)
				for i := range tokens {
					tokens[i] = cmp.Or(tokens[i], fmt.Sprint("madeupword", i))
				}
				for _, l := range c.Languages {
					i := slices.IndexFunc(test.tokens, func(own languageToken) bool { return own.code == l.Code })
					tokens[l.ID] = test.tokens[i].token
				}
			}
			raw, err := json.Marshal(tokens)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "shared_vocabulary.json"), raw, 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, ctranslate2.ModelFile), []byte(emptyModel), 0o600))
			raw, err = os.ReadFile(filepath.Join(test.dir, files[len(files)-1]))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, test.file), raw, 0o600))

			f, err := Recognize(model.Folder(dir), "")
			require.NoError(t, err)
			require.Same(t, converted, f)
			told, err := f.Directions(model.Folder(dir), "any", Directions{})
			require.NoError(t, err)
			assert.ElementsMatch(t, codes, told.All())
			tok, err := f.Tokenizer(dir, told.All())
			require.NoError(t, err)
			for i, to := range codes {
				from, text := codes[len(codes)-1-i], "The boat is on the water, "+to+"!"
				want, err := own.Encode(from, to, text)
				require.NoError(t, err)
				got, err := tok.Encode(from, to, text)
				require.NoError(t, err)
				assert.Equal(t, want, got, "%s to %s", from, to)
				assert.Equal(t, own.Forced(from, to), tok.Forced(from, to))
				assert.Equal(t, own.Decode(want), tok.Decode(want))
			}
			_, err = f.Directions(model.Folder(dir), "any", Directions{Targets: []string{"tlh"}})
			assert.ErrorContains(t, err, `"tlh"`)
			even, small := model.Spec{Encoder: model.Stack{Layers: 12}, Decoder: model.Stack{Layers: 12}}, model.Spec{Encoder: model.Stack{Layers: 12}, Decoder: model.Stack{Layers: 3}}
			require.NoError(t, f.CheckGuess(model.Folder(dir), even))
			require.NoError(t, test.family.CheckGuess(model.Folder(dir), small), "what its files tell")
			if err := f.CheckGuess(model.Folder(dir), small); test.family == m2m100 {
				assert.ErrorContains(t, err, "3 layers in the decoder and 12 in the encoder, as in SMaLL-100: for that set MODEL_FAMILY to small100, with its vocab.json")
			} else {
				assert.NoError(t, err)
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, ctranslate2.ConfigFile), []byte(`{"add_source_bos": true}`), 0o600))
			_, err = f.Tokenizer(dir, told.All())
			assert.ErrorContains(t, err, "add_source_bos")
		})
	}
}

// T5s in CTranslate2's form that are told languages in words are read where their config.json has these, and else refused.
func TestConvertedInWords(t *testing.T) {
	const own = "../testdata/families/t5-words"
	want, err := t5.Tokenizer(own, []string{"en", "ro"})
	require.NoError(t, err)
	pieces, ids, err := ownIDs(model.Folder(own), t5PiecesFile)
	require.NoError(t, err)
	tokens := make([]string, pieces.Size(), pieces.Size()+1)
	for token, id := range ids {
		tokens[id] = token
	}
	vocabulary, err := json.Marshal(append(tokens, "<extra_id_0>"))
	require.NoError(t, err)
	tasks, err := os.ReadFile(own + "/" + ctranslate2.ConfigFile)
	require.NoError(t, err)
	raw, err := os.ReadFile(own + "/" + t5PiecesFile)
	require.NoError(t, err)
	files := memory{"shared_vocabulary.json": string(vocabulary), ctranslate2.ModelFile: emptyModel, t5PiecesFile: string(raw), ctranslate2.ConfigFile: string(tasks)}
	spec := model.Spec{RMSNorm: true}
	require.NoError(t, converted.CheckGuess(files, spec))
	d, err := converted.Directions(files, "t5-ct2-en-de", Directions{})
	require.NoError(t, err)
	assert.Equal(t, Directions{[]string{"en"}, []string{"de", "fr", "ro"}}, d)

	dir := t.TempDir()
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	tok, err := converted.Tokenizer(dir, []string{"en", "ro"})
	require.NoError(t, err)
	got, err := tok.Encode("en", "ro", "A dog.")
	require.NoError(t, err)
	expected, err := want.Encode("en", "ro", "A dog.")
	require.NoError(t, err)
	assert.Equal(t, expected, got)
	assert.Empty(t, tok.Decode([]int64{0, int64(pieces.Size())}), "<extra_id_0> is no text")

	files[ctranslate2.ConfigFile] = `{}`
	assert.ErrorContains(t, converted.CheckGuess(files, spec), "shared_vocabulary.json has no tokens of languages such as <2fr>, and config.json does not say in which words")
	files[ctranslate2.ConfigFile] = `{"task_specific_params": {"translation_en_to_de": 1}}`
	assert.ErrorContains(t, converted.CheckGuess(files, spec), `"translation_en_to_de": json`)
	_, err = converted.Directions(files, "t5-ct2-en-de", Directions{})
	assert.ErrorContains(t, err, `"translation_en_to_de": json`)
}

// Codes of words need to know of which languages the words are.
func TestArgosCodes(t *testing.T) {
	const codes = "../testdata/families/ctranslate2-codes"
	for name, test := range map[string]struct{ file, content, fails string }{
		"as it is":         {},
		"no languages":     {ctranslate2.MetadataFile, `{"from_code": "en"}`, `"from_code" and "to_code"`},
		"broken codes":     {ctranslate2.PackageCodes, "#version: 0.2\nabc", "bpe.model: line 2"},
		"other languages":  {ctranslate2.MetadataFile, `{"from_code": "xx", "to_code": "yy"}`, ""},
		"both of its kind": {ctranslate2.PackagePieces, "no SentencePiece model", ctranslate2.PackagePieces}, // that goes first, as in Argos
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(codes)))
			if test.file != "" {
				require.NoError(t, os.WriteFile(filepath.Join(dir, test.file), []byte(test.content), 0o600))
			}
			tok, err := converted.Tokenizer(dir, []string{"en", "fr"})
			if test.fails != "" {
				require.ErrorContains(t, err, test.fails)
				return
			}
			require.NoError(t, err)
			ids, err := tok.EncodeTarget("a b")
			require.NoError(t, err)
			assert.Equal(t, "a b", tok.Decode(ids))
			_, err = tok.EncodeTarget(strings.Repeat(" ", 64<<20+1))
			assert.ErrorIs(t, err, tokenizer.ErrTooLong)
		})
	}
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(codes)))
	require.NoError(t, os.Remove(filepath.Join(dir, ctranslate2.PackageCodes)))
	_, err := converted.Tokenizer(dir, nil)
	require.ErrorIs(t, err, ErrIncomplete)
	assert.ErrorContains(t, err, ctranslate2.PackageCodes)
}
