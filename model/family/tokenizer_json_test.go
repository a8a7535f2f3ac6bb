package family

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
)

// unzip returns the content of a file of testdata.
func unzip(t *testing.T, name string) []byte {
	f, err := os.Open(filepath.Join("testdata", name))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	raw, err := io.ReadAll(z)
	require.NoError(t, err)
	return raw
}

// TestTokenizerJSON demands the ids that transformers' NllbTokenizer gives with the same
// file, on ordinary and on hostile texts.
func TestTokenizerJSON(t *testing.T) {
	for _, name := range []string{"recent", "older"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, model.TokenizerFile), unzip(t, name+".json.gz"), 0o600))
			tok, err := nllb.Tokenizer(dir, nil)
			require.NoError(t, err)
			assert.Equal(t, 603, tok.Size())
			assert.Len(t, tok.Languages(), 202)
			var golden struct {
				Rows []struct {
					Text, Decoded string
					IDs           []int64
				}
			}
			require.NoError(t, json.Unmarshal(unzip(t, name+"_ids.json.gz"), &golden))
			assert.Greater(t, len(golden.Rows), 1200)
			for _, row := range golden.Rows {
				ids, err := tok.Encode("en", "fr", row.Text)
				require.NoError(t, err)
				assert.Equal(t, row.IDs, ids, "%.200q", row.Text)
				assert.Equal(t, row.Decoded, tok.Decode(ids), "%.200q", row.Text)
			}
		})
	}
}

func TestTokenizerJSONRefuses(t *testing.T) {
	whole := string(unzip(t, "older.json.gz"))
	for name, test := range map[string]struct{ from, to, message string }{
		"no JSON":                {"{", "", "invalid character"},
		"another model":          {`"type":"BPE"`, `"type":"Unigram"`, `a model of type "Unigram"`},
		"byte fallback":          {`"byte_fallback":false`, `"byte_fallback":true`, "without byte_fallback"},
		"no unknown token":       {`"unk_token":"<unk>"`, `"unk_token":"<no>"`, `the unknown token "<no>"`},
		"a merge of three":       {`"merges":[`, `"merges":["a b c",`, "is not of two pieces"},
		"a merge of a number":    {`"merges":[`, `"merges":[3,`, "cannot unmarshal"},
		"a merge of no piece":    {`"merges":[`, `"merges":["q q",`, `merge 0 is of "q" and "q"`},
		"an id out of range":     {`"</s>":2`, `"</s>":9000`, `"</s>" has the id 9000`},
		"an id twice":            {`"</s>":2`, `"</s>":3`, "both have the id 3"},
		"another normalizer":     {`"type":"Strip"`, `"type":"BertNormalizer"`, "normalizer BertNormalizer"},
		"a broken expression":    {`"Regex":" {2,}"`, `"Regex":"("`, "missing closing"},
		"no pattern":             {`"Regex":" {2,}"`, `"Other":""`, "has no pattern"},
		"a long replacement":     {`"content":"▁"`, `"content":"` + strings.Repeat("x", 99) + `"`, "writes 99 bytes"},
		"another pre-tokenizer":  {`"type":"WhitespaceSplit"`, `"type":"ByteLevel"`, "pre-tokenizer ByteLevel"},
		"words without a space":  {`"add_prefix_space":true`, `"add_prefix_space":false`, "without the spaces"},
		"no languages":           {`_Latn"`, `_Xxxx"`, ""},
		"an added token of text": {`"special":true`, `"special":false`, "is not special"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			content := strings.Replace(whole, test.from, test.to, 1)
			require.NotEqual(t, whole, content)
			if test.message == "" { // some of the languages are missing
				content = strings.ReplaceAll(whole, test.from, test.to)
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, model.TokenizerFile), []byte(content), 0o600))
			tok, err := nllb.Tokenizer(dir, nil)
			if test.message == "" {
				require.NoError(t, err)
				assert.NotContains(t, tok.Languages(), "en")
				assert.Contains(t, tok.Languages(), "zh-Hant")
				return
			}
			assert.ErrorContains(t, err, test.message)
			assert.ErrorContains(t, err, model.TokenizerFile)
		})
	}
}

func TestLegacyFraming(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, model.TokenizerFile), unzip(t, "older.json.gz"), 0o600))
	require.NoError(t, write(config, `{"tokenizer_class": "NllbTokenizer", "legacy_behaviour": true}`)(dir))
	f, err := Recognize(Folder(dir), "")
	require.NoError(t, err)
	tok, err := f.Tokenizer(dir, nil)
	require.NoError(t, err)
	english, _ := tok.LanguageID("en")
	french, _ := tok.LanguageID("fr")
	ids, err := tok.Encode("en", "fr", "")
	require.NoError(t, err)
	assert.Equal(t, []int64{2, english}, ids)
	assert.Equal(t, []int64{french}, tok.Forced("en", "fr"))
}
