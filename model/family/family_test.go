package family

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

const bundled = "../bundled"

// config is the tokenizer_config.json of the tests' folders.
const config = model.TokenizerConfigFile

func TestRecognize(t *testing.T) {
	for name, test := range map[string]struct {
		settings, override string
		want               *Family
		message            string
	}{
		"nothing":                     {"", "", m2m100, ""},
		"no class":                    {`{"src_lang": null}`, "", m2m100, ""},
		"M2M100":                      {`{"tokenizer_class": "M2M100Tokenizer"}`, "", m2m100, ""},
		"NLLB":                        {`{"tokenizer_class": "NllbTokenizer"}`, "", nllb, ""},
		"NLLB, fast":                  {`{"tokenizer_class": "NllbTokenizerFast"}`, "", nllb, ""},
		"saved without its class":     {`{"tokenizer_class": "TokenizersBackend"}`, "", nllb, ""},
		"SMaLL-100":                   {`{"tokenizer_class": "SMALL100Tokenizer"}`, "", small100, ""},
		"made of SMaLL-100":           {`{"tokenizer_class": "M2M100Tokenizer", "name_or_path": "alirezamsh/small100"}`, "", small100, ""},
		"another class":               {`{"tokenizer_class": "BertTokenizer"}`, "", nil, `"tokenizer_class" is "BertTokenizer": MODEL_FAMILY says`},
		"another class, but told":     {`{"tokenizer_class": "MyTokenizer"}`, "nllb", nllb, ""},
		"not what it says":            {`{"tokenizer_class": "M2M100Tokenizer"}`, "small100", small100, ""},
		"told what there is not":      {"", "opus", nil, `"opus": use one of m2m100, small100, nllb`},
		"broken":                      {`{`, "", nil, config},
		"legacy behaviour of a wrong": {`{"legacy_behaviour": 3}`, "", nil, config},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if test.settings != "" {
				require.NoError(t, write(config, test.settings)(dir))
			}
			f, err := Recognize(model.Folder(dir), test.override)
			assert.Equal(t, test.want, f)
			if test.message == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, test.message)
			}
		})
	}
}

// CTranslate2's config.json and Hugging Face's have the same name, so people's may have the fields of both: the weights decide.
func TestRecognizeBothForms(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, write(model.ConfigFile, `{"model_type": "m2m_100", "unk_token": "<unk>", "add_source_bos": false}`)(dir))
	require.NoError(t, write("model.bin", "x")(dir))
	f, err := Recognize(model.Folder(dir), "")
	require.NoError(t, err)
	assert.Equal(t, converted, f)
	require.NoError(t, write(model.SafetensorsFile, "x")(dir))
	f, err = Recognize(model.Folder(dir), "")
	require.NoError(t, err)
	assert.Equal(t, m2m100, f)
}

func TestRecognizeConverted(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, write("model.bin", "weights")(dir))
	f, err := Recognize(model.Folder(dir), "")
	require.NoError(t, err)
	assert.Same(t, converted, f)
	_, err = f.TokenizerFiles(model.Folder(dir))
	assert.ErrorIs(t, err, ErrIncomplete)
	assert.ErrorContains(t, err, "add its sentencepiece.model")
	require.NoError(t, write("sentencepiece.model", "pieces")(dir))
	_, err = f.TokenizerFiles(model.Folder(dir))
	assert.ErrorContains(t, err, "shared_vocabulary.json")
	require.NoError(t, write("shared_vocabulary.json", "[]")(dir))
	names, err := f.TokenizerFiles(model.Folder(dir))
	require.NoError(t, err)
	assert.Equal(t, []string{"sentencepiece.model", "shared_vocabulary.json"}, names)

	require.NoError(t, write(config, `{"tokenizer_class": "MarianTokenizer"}`)(dir))
	f, err = Recognize(model.Folder(dir), "")
	require.NoError(t, err)
	assert.Same(t, converted, f, "of which all files are there")
	require.NoError(t, write(config, `{"tokenizer_class": "M2M100Tokenizer", "name_or_path": "alirezamsh/small100"}`)(dir))
	f, err = Recognize(model.Folder(dir), "")
	require.NoError(t, err)
	assert.Same(t, small100, f, "whose framing the vocabulary does not tell")
	_, err = f.TokenizerFiles(model.Folder(dir))
	require.ErrorContains(t, err, "vocab.json is not there, which a model of the family small100 needs")
	require.NoError(t, write(config, `{"tokenizer_class": "MarianTokenizer"}`)(dir))
	for _, name := range marian.files[1] {
		require.NoError(t, write(name, "{}")(dir))
	}
	f, err = Recognize(model.Folder(dir), "")
	require.NoError(t, err)
	assert.Same(t, marian, f, "whose files are there, too")
}

func TestNamed(t *testing.T) {
	f, err := Named("")
	require.NoError(t, err)
	assert.Equal(t, m2m100, f, "exports of older builds")
	for _, name := range Names() {
		f, err := Named(name)
		require.NoError(t, err)
		assert.Equal(t, name, f.Name)
	}
	_, err = OpenTokenizer(bundled, "M2M100", nil)
	assert.ErrorContains(t, err, `unknown family of models "M2M100"`)
}

// TestLanguages checks the codes, and that each is there once.
func TestLanguages(t *testing.T) {
	m2m := strings.Fields(m2m100Languages)
	assert.Len(t, m2m, 100)
	assert.True(t, slices.IsSorted(m2m))
	codes, tokens := map[string]bool{}, map[string]bool{}
	for _, pair := range strings.Fields(nllbLanguages) {
		code, token, ok := strings.Cut(pair, "=")
		require.True(t, ok)
		codes[code], tokens[token] = true, true
	}
	assert.Len(t, codes, 202)
	assert.Len(t, tokens, 202)
	for _, code := range m2m {
		// NLLB-200 has neither Breton, Western Frisian nor Norwegian as a whole.
		if !slices.Contains([]string{"br", "ff", "fy", "no", "ns"}, code) {
			assert.True(t, codes[code], code)
		}
	}
}

func TestTokenizerOfM2M100(t *testing.T) {
	tok, err := OpenTokenizer(bundled, "m2m100", nil)
	require.NoError(t, err)
	assert.Equal(t, strings.Fields(m2m100Languages), tok.Languages())
	assert.Equal(t, 16_108, tok.Size())
	english, _ := tok.LanguageID("en")
	french, _ := tok.LanguageID("fr")
	assert.Equal(t, []int64{16026, 16032}, []int64{english, french})
	ids, err := tok.Encode("en", "fr", "")
	require.NoError(t, err)
	assert.Equal(t, []int64{english, 2}, ids)
	assert.Equal(t, []int64{french}, tok.Forced("en", "fr"))
}

func TestTokenizerFolders(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(dir string) error
		message string
		is      error
	}{
		"whole":             {func(string) error { return nil }, "", nil},
		"no config":         {remove(config), "", nil},
		"no piece model":    {remove(model.PieceModelFile), model.PieceModelFile + " is not there", ErrIncomplete},
		"no vocabulary":     {remove(model.VocabFile), model.VocabFile + " is not there", ErrIncomplete},
		"other languages":   {write(config, `{"language_codes":"wmt21"}`), `language_codes is "wmt21", only "m2m100"`, nil},
		"broken config":     {write(config, `{`), config, nil},
		"broken pieces":     {write(model.PieceModelFile, "no"), model.PieceModelFile, nil},
		"broken vocabulary": {write(model.VocabFile, `["a"]`), model.VocabFile, nil},
		"empty vocabulary":  {write(model.VocabFile, `{}`), "0 entries", nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, tokenizerFiles{os.DirFS(bundled)}))
			require.NoError(t, test.change(dir))
			tok, err := m2m100.Tokenizer(dir, nil)
			if test.message == "" {
				require.NoError(t, err)
				assert.Equal(t, 16_108, tok.Size())
				return
			}
			assert.ErrorContains(t, err, test.message)
			if test.is != nil {
				assert.ErrorIs(t, err, test.is)
			}
		})
	}
}

func TestTokenizerFiles(t *testing.T) {
	names, err := m2m100.TokenizerFiles(model.Folder(bundled))
	require.NoError(t, err)
	assert.Equal(t, []string{model.VocabFile, model.PieceModelFile, config}, names)
	_, err = nllb.TokenizerFiles(model.Folder(t.TempDir()))
	assert.ErrorIs(t, err, ErrIncomplete)
}

// tokenizerFiles are the files of a folder but for the weights.
type tokenizerFiles struct{ fs.FS }

func (f tokenizerFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(f.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), ".safetensors") }), err
}

func remove(name string) func(dir string) error {
	return func(dir string) error { return os.Remove(filepath.Join(dir, name)) }
}

func write(name, content string) func(dir string) error {
	return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600) }
}
