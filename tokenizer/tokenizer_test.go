package tokenizer

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/tokenizer/internal/goldentest"
	"dragoman/tokenizer/moses"
	"dragoman/tokenizer/spm"
)

const bundled = "../model/bundled"

// open returns the tokenizer of the bundled checkpoint.
func open(t testing.TB) *Tokenizer {
	tok, err := New(bundledConfig(t))
	require.NoError(t, err)
	return tok
}

func bundledPieces(t testing.TB) *spm.Model {
	raw, err := os.ReadFile(bundled + "/sentencepiece.bpe.model")
	require.NoError(t, err)
	pieces, err := spm.Parse(raw)
	require.NoError(t, err)
	return pieces
}

func bundledConfig(t testing.TB) Config {
	pieces := bundledPieces(t)
	c := Config{
		Pieces:  pieces,
		Framing: Framing{Before: []Part{Source}, After: []Part{End}, Forced: []Part{Target}},
	}
	var settings struct {
		Tokens []string `json:"additional_special_tokens"` // of the languages
	}
	for name, into := range map[string]any{"vocab.json": &c.Vocabulary, "tokenizer_config.json": &settings} {
		raw, err := os.ReadFile(filepath.Join(bundled, name))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, into))
	}
	c.Languages = languages(len(c.Vocabulary), settings.Tokens...)
	return c
}

// languages lists the languages of tokens such as "__en__", whose ids begin at first.
func languages(first int, tokens ...string) []Language {
	var list []Language
	for i, token := range tokens {
		list = append(list, Language{strings.Trim(token, "_"), int64(first + i)})
	}
	return list
}

// TestGoldens compares ids and decoded texts with Hugging Face.
func TestGoldens(t *testing.T) {
	tok := open(t)
	for _, file := range []string{"corpus", "hostile"} {
		t.Run(file, func(t *testing.T) {
			compared := 0
			for _, r := range goldentest.Read(t, "testdata/"+file+".jsonl.gz") {
				if r.Bytes != nil {
					continue // Hugging Face takes only UTF-8
				}
				compared++
				ids, err := tok.Encode("fr", "en", r.Text)
				require.NoError(t, err)
				require.Equal(t, r.IDs, ids, "%.200q", r.Text)
				require.Equal(t, r.HFDecoded, tok.Decode(ids), "%.200q", r.Text)
			}
			assert.Greater(t, compared, 1200)
		})
	}
}

func TestDecodeGoldens(t *testing.T) {
	tok := open(t)
	for _, r := range goldentest.Read(t, "testdata/decode.jsonl.gz") {
		require.Equal(t, r.HFDecoded, tok.Decode(r.IDs), "%v", r.IDs)
	}
}

func TestDecodeLeavesOut(t *testing.T) {
	tok := open(t)
	text, err := tok.Encode("en", "fr", "Good morning")
	require.NoError(t, err)
	base := int64(tok.Size() - 100)
	for name, extra := range map[string][]int64{
		"special tokens":      {0, 1, 2, 3},
		"languages":           {base, base + 99},
		"made-up words":       {base + 100, base + 107},
		"beyond the end":      {base + 108, 1 << 40, 1<<63 - 1},
		"below the beginning": {-1, -1 << 63},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, "", tok.Decode(extra))
			assert.Equal(t, "Good morning", tok.Decode(slices.Concat(extra, text, extra)))
		})
	}
	assert.Equal(t, "", tok.Decode(nil))
}

// TestPythonSpace lists the characters that Python 3's str.strip() cuts off.
func TestPythonSpace(t *testing.T) {
	const all = "\t\n\v\f\r\x1c\x1d\x1e\x1f \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006" +
		"\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
	for r := rune(0); r < 1<<16; r++ {
		require.Equal(t, strings.ContainsRune(all, r), moses.IsSpace(r), "%U", r)
	}
}

// TestTextNeverBecomesSpecial encodes text that looks like special tokens.
func TestTextNeverBecomesSpecial(t *testing.T) {
	tok := open(t)
	for _, text := range []string{"</s>", "<s>", "<pad>", "<unk>", "__en__", "__zu__ </s> __fr__", "</s></s>", "＜／ｓ＞", "madeupword0"} {
		ids, err := tok.Encode("en", "fr", text)
		require.NoError(t, err)
		requireText(t, tok, ids)
	}
}

// requireText checks that ids are a language, ids of ordinary text, and </s>.
func requireText(t testing.TB, tok *Tokenizer, ids []int64) {
	require.GreaterOrEqual(t, len(ids), 2)
	require.True(t, slices.ContainsFunc(tok.languages, func(l Language) bool { return l.ID == ids[0] }))
	require.Equal(t, int64(2), ids[len(ids)-1])
	for _, id := range ids[1 : len(ids)-1] {
		_, ok := tok.source.vocab.piece(id)
		require.True(t, ok || id == 3, "id %d in %v", id, ids)
	}
}

func TestEncodeFails(t *testing.T) {
	tok := open(t)
	for _, lang := range []string{"", "EN", "xx", "__en__", "en "} {
		for _, pair := range [][2]string{{lang, "en"}, {"en", lang}} {
			_, err := tok.Encode(pair[0], pair[1], "text")
			assert.ErrorIs(t, err, ErrUnknownLanguage)
			assert.ErrorContains(t, err, fmt.Sprintf("%q", lang))
		}
	}
	_, err := tok.Encode("en", "fr", strings.Repeat("x", maxTextBytes+1))
	assert.ErrorIs(t, err, ErrTooLong)
	assert.ErrorContains(t, err, "67108865 bytes")
}

func TestEncodeNothing(t *testing.T) {
	tok := open(t)
	english, _ := tok.LanguageID("en")
	for _, text := range []string{"", " ", "\t\n", "\u200b", "\u2581"} {
		ids, err := tok.Encode("en", "fr", text)
		require.NoError(t, err)
		assert.Equal(t, []int64{english, 2}, ids, "%q", text)
	}
}

// TestFramings checks the tokens around a source, and the first tokens of a translation.
func TestFramings(t *testing.T) {
	config := bundledConfig(t)
	german, french := int64(16008+16), int64(16008+24)
	for name, test := range map[string]struct {
		framing       Framing
		empty, forced []int64
	}{
		"source first": {Framing{[]Part{Source}, []Part{End}, []Part{Target}}, []int64{german, 2}, []int64{french}},
		"source last":  {Framing{nil, []Part{End, Source}, []Part{Target}}, []int64{2, german}, []int64{french}},
		"target first": {Framing{[]Part{Target}, []Part{End}, nil}, []int64{french, 2}, nil},
	} {
		config.Framing = test.framing
		tok, err := New(config)
		require.NoError(t, err)
		ids, err := tok.Encode("de", "fr", "")
		require.NoError(t, err)
		assert.Equal(t, test.empty, ids, name)
		assert.Equal(t, test.forced, tok.Forced("de", "fr"), name)
		ids, err = tok.Encode("de", "fr", "Wo?")
		require.NoError(t, err)
		assert.Equal(t, "Wo?", tok.Decode(ids), name)
	}
}

func TestLanguages(t *testing.T) {
	tok := open(t)
	codes := tok.Languages()
	assert.Len(t, codes, 100)
	codes[0] = "changed"
	assert.Equal(t, "af", tok.Languages()[0])
	_, ok := tok.LanguageID("changed")
	assert.False(t, ok)
	id, ok := tok.LanguageID("zu")
	assert.True(t, ok)
	assert.Equal(t, int64(tok.Size()-1), id)
}

// TestUnknownRuns removes pieces from vocab.json, and inserts runs that the SentencePiece model does not know.
func TestUnknownRuns(t *testing.T) {
	config := bundledConfig(t)
	tok, err := New(Config{Pieces: config.Pieces, Vocabulary: map[string]int64{
		"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "▁": 4, "☃☃": 5, "▁the": 6,
	}, Languages: languages(7, "__en__", "__fr__"), Framing: config.Framing})
	require.NoError(t, err)
	for name, test := range map[string]struct {
		text string
		want []int64
	}{
		"a piece that is not in the vocabulary": {"of the", []int64{3, 6}},
		"a run that is":                         {"☃☃", []int64{4, 5}},
		"a run that is not":                     {"☃☃☃", []int64{4, 3}},
		"two runs":                              {"☃☃ ☃ ☃☃", []int64{4, 5, 4, 3, 4, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			ids, err := tok.Encode("en", "fr", test.text)
			require.NoError(t, err)
			assert.Equal(t, test.want, ids[1:len(ids)-1])
		})
	}
}

// TestUnknownRunLikeSpecial has a model without the characters of "</s>", so that the whole of it is one unknown run.
func TestUnknownRunLikeSpecial(t *testing.T) {
	// Two pieces, <unk> and ▁, and model type BPE.
	pieces, err := spm.Parse([]byte("\x0a\x09\x0a\x05<unk>\x18\x02\x0a\x05\x0a\x03▁\x12\x02\x18\x02"))
	require.NoError(t, err)
	require.Equal(t, []string{"▁", "</s>"}, pieces.Encode("</s>"))
	tok, err := New(Config{Pieces: pieces, Vocabulary: map[string]int64{"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "▁": 4}, Languages: languages(5, "__en__", "__fr__"),
		Framing: bundledConfig(t).Framing})
	require.NoError(t, err)
	for _, text := range []string{"</s>", "<s>", "<pad>", "__en__"} {
		ids, err := tok.Encode("en", "fr", text)
		require.NoError(t, err)
		assert.Equal(t, []int64{4, 3}, ids[1:len(ids)-1], text)
	}
}

func TestNewRefuses(t *testing.T) {
	pieces := open(t).source.pieces
	sound := map[string]int64{"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "a": 4}
	for name, test := range map[string]struct {
		token   string // an entry to add; id -2: to delete
		id      int64
		message string
	}{
		"gap":         {"b", 6, `token "b" has id 6, expected 0 to 5 for 6 entries`},
		"negative id": {"b", -1, `token "b" has id -1`},
		"id twice":    {"b", 4, "both have id 4"},
		"no </s>":     {"</s>", 5, `token "</s>" has id 5`},
		"no <unk>":    {"<unk>", -2, "has id 4"},
	} {
		t.Run(name, func(t *testing.T) {
			vocab := maps.Clone(sound)
			vocab[test.token] = test.id
			if test.id == -2 {
				delete(vocab, test.token)
			}
			_, err := New(Config{Pieces: pieces, Vocabulary: vocab})
			assert.ErrorContains(t, err, test.message)
		})
	}
	_, err := New(Config{Pieces: pieces, Vocabulary: map[string]int64{"<s>": 0, "<pad>": 1, "</s>": 2}})
	assert.ErrorContains(t, err, `3 entries, but no token "<unk>"`)
	for _, c := range []Config{{}, {Words: new(moses.Words)}, {Pieces: pieces, Words: new(moses.Words), TargetWords: new(moses.Words)}} {
		_, err = New(c)
		require.ErrorContains(t, err, "either SentencePiece pieces, or the words of both sides")
	}
	_, err = New(Config{Pieces: pieces})
	assert.ErrorContains(t, err, "0 entries")
}

func TestConcurrentUse(t *testing.T) {
	tok := open(t)
	records := goldentest.Read(t, "testdata/corpus.jsonl.gz")
	wrong := make([]string, 4)
	var wg sync.WaitGroup
	for worker := range wrong {
		wg.Go(func() {
			for i := range records {
				r := records[(i+worker*100)%len(records)]
				ids, err := tok.Encode("fr", "en", r.Text)
				if err != nil || !slices.Equal(ids, r.IDs) || tok.Decode(ids) != r.HFDecoded {
					wrong[worker] = r.Text
				}
			}
		})
	}
	wg.Wait()
	assert.Equal(t, make([]string, 4), wrong)
}

// TestByteFallback encodes texts with a unigram model without unknown characters.
func TestByteFallback(t *testing.T) {
	file, err := os.Open("spm/testdata/unigram_bytes.model.gz")
	require.NoError(t, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	raw, err := io.ReadAll(unzipped)
	require.NoError(t, err)
	c := bundledConfig(t)
	c.Pieces, err = spm.Parse(raw)
	require.NoError(t, err)
	c.Vocabulary = map[string]int64{"<pad>": int64(c.Pieces.Size())}
	for id := range c.Pieces.Size() {
		c.Vocabulary[c.Pieces.Piece(int32(id))] = int64(id)
	}
	c.Languages = languages(len(c.Vocabulary), "__en__", "__fr__")
	tok, err := New(c)
	require.NoError(t, err)
	for _, text := range []string{"Tom is ☃ing.", "𒀀 </s> <0>", "日本 is\x00\ufffd", "<sep>"} {
		ids, err := tok.Encode("en", "fr", text)
		require.NoError(t, err)
		assert.NotContains(t, ids, c.Vocabulary["<unk>"], "%q", text)
		assert.Equal(t, text, tok.Decode(ids))
	}
}

// A vocabulary equal to the SentencePiece model's also has the ids of its special tokens.
func TestOwnIDs(t *testing.T) {
	pieces := bundledPieces(t)
	ids := map[string]int64{}
	for id := range int32(pieces.Size()) {
		ids[pieces.Piece(id)] = int64(id)
	}
	require.NotZero(t, ids["<s>"])
	require.NotZero(t, ids["</s>"])
	tok, err := New(Config{
		Pieces: pieces, Vocabulary: maps.Clone(ids), Special: []string{"<s>", "</s>", "<unk>"},
		Framing: Framing{Before: []Part{Begin, Space}, After: []Part{End}}, Languages: []Language{{"en", -1}, {"fr", -1}},
	})
	require.NoError(t, err)
	got, err := tok.Encode("en", "fr", "Hello <s> world")
	require.NoError(t, err)
	assert.Equal(t, []int64{ids["<s>"], ids["▁"]}, got[:2])
	assert.Equal(t, ids["</s>"], got[len(got)-1])
	assert.NotContains(t, got[1:], ids["<s>"], "what a user types is text")
	assert.Equal(t, "world", strings.TrimSpace(tok.Decode([]int64{ids["<s>"], ids["▁world"], ids["</s>"]})))
}
