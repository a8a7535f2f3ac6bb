package tokenizer

import (
	"errors"
	"fmt"

	sugarme "github.com/sugarme/tokenizer"
	"github.com/sugarme/tokenizer/normalizer"

	"dragoman/tokenizer/spm"
)

// Sugarme returns a pipeline of the sugarme/tokenizer library that normalizes,
// splits and decodes with t, for programs written against that library's types.
//
// It gives the pieces' ids without language and </s>, and its decoder leaves out
// special tokens whether asked to or not. None of them is registered as an added
// token, for then the library would find them in users' text. Prefer
// [Tokenizer.Encode] and [Tokenizer.Decode]: they never go through the library's
// pipeline, which panics on text that is not UTF-8 and is some 20 times slower.
func (t *Tokenizer) Sugarme() *sugarme.Tokenizer {
	pipeline := sugarme.NewTokenizer(sugarmeModel{t})
	pipeline.WithNormalizer(sugarmeNormalizer{t.pieces})
	pipeline.WithDecoder(sugarmeDecoder{t})
	return pipeline
}

// sugarmeModel is the library's Model: pieces of text that is already normalized.
type sugarmeModel struct{ t *Tokenizer }

var _ sugarme.Model = sugarmeModel{}

// Tokenize splits a normalized text. A token's value is its text, for unknown
// characters too; its offsets are bytes.
func (m sugarmeModel) Tokenize(sequence string) ([]sugarme.Token, error) {
	normalized := []byte(sequence)
	var tokens []sugarme.Token
	for _, token := range m.t.pieces.AppendTokens(nil, normalized) {
		tokens = append(tokens, sugarme.Token{
			Id:      int(m.t.id(token, normalized)),
			Value:   sequence[token.Start:token.End],
			Offsets: []int{token.Start, token.End},
		})
	}
	return tokens, nil
}

// TokenToId returns the id of a language token or of an entry of vocab.json.
func (m sugarmeModel) TokenToId(token string) (id int, ok bool) {
	id64, ok := m.t.vocab.ids[token]
	if code, found := languageOfToken(token); found {
		if language, found := m.t.LanguageID(code); found {
			id64, ok = language, true
		}
	}
	return int(id64), ok
}

// IdToToken returns an entry of vocab.json or a language token.
func (m sugarmeModel) IdToToken(id int) (token string, ok bool) {
	if id >= 0 && id < len(m.t.vocab.tokens) {
		return m.t.vocab.tokens[id], true
	}
	code, ok := m.t.languages.code(int64(id))
	if !ok {
		return "", false
	}
	return languageToken(code), true
}

// GetVocab returns a new map of the entries of vocab.json and the language tokens.
func (m sugarmeModel) GetVocab() map[string]int {
	vocab := make(map[string]int, m.GetVocabSize())
	for token, id := range m.t.vocab.ids {
		vocab[token] = int(id)
	}
	for code, id := range m.t.languages.ids {
		vocab[languageToken(code)] = int(id)
	}
	return vocab
}

// GetVocabSize counts the entries of vocab.json and the language tokens.
func (m sugarmeModel) GetVocabSize() int {
	return len(m.t.vocab.tokens) + len(m.t.languages.codes)
}

// Save fails: the model's own files are its only form.
func (m sugarmeModel) Save(path string, _ ...string) error {
	return fmt.Errorf("save tokenizer to %s: %w: copy sentencepiece.bpe.model and vocab.json", path, errors.ErrUnsupported)
}

// sugarmeNormalizer is the library's Normalizer.
type sugarmeNormalizer struct{ pieces *spm.Model }

var _ normalizer.Normalizer = sugarmeNormalizer{}

// Normalize normalizes what n holds by now, and aligns the result to that.
func (s sugarmeNormalizer) Normalize(n *normalizer.NormalizedString) (*normalizer.NormalizedString, error) {
	text := n.GetNormalized()
	normalized, origins := s.pieces.NormalizeAligned(text)
	forward, back := align(origins, len(text))
	return normalizer.NewNormalizedString(text, normalized, forward, back, n.Shift()), nil
}

// align turns origins (see [spm.Model.NormalizeAligned]) into the library's form:
// for each normalized byte the range of text that it came from, and for each byte
// of text the range that it became, empty where it was dropped.
func align(origins []int, textBytes int) (forward, back [][]int) {
	back = make([][]int, textBytes)
	at, end := 0, 0 // bytes of text done, normalized bytes done
	for start := 0; start+1 < len(origins); start = end {
		for end = start + 1; end+1 < len(origins) && origins[end] == origins[start]; end++ {
		}
		source := []int{origins[start], origins[end]}
		for range end - start {
			forward = append(forward, source)
		}
		for ; at < source[0]; at++ {
			back[at] = []int{start, start}
		}
		for ; at < source[1]; at++ {
			back[at] = []int{start, end}
		}
	}
	for ; at < textBytes; at++ {
		back[at] = []int{end, end}
	}
	return forward, back
}

// sugarmeDecoder is the library's Decoder.
type sugarmeDecoder struct{ t *Tokenizer }

var _ sugarme.Decoder = sugarmeDecoder{}

// Decode joins tokens, as written in the vocabulary, to text.
func (d sugarmeDecoder) Decode(tokens []string) string {
	model := sugarmeModel(d)
	var pieces []string
	for _, token := range tokens {
		id, ok := model.TokenToId(token)
		if !ok {
			pieces = append(pieces, token) // a run of unknown characters
		} else if piece, ok := d.t.vocab.piece(int64(id)); ok {
			pieces = append(pieces, piece)
		}
	}
	return d.t.join(pieces)
}

// DecodeChain returns the text of Decode as its only element.
func (d sugarmeDecoder) DecodeChain(tokens []string) []string {
	return []string{d.Decode(tokens)}
}
