// Package tokenizer turns text into the token ids of M2M100 models and back, with
// the semantics of Hugging Face's M2M100Tokenizer.
//
// Text becomes SentencePiece pieces (package tokenizer/spm), and each piece an id
// of vocab.json. A piece that is not there is "<unk>"; so is a run of characters
// that the SentencePiece model does not know, unless vocab.json has an entry of
// just that run. After the entries of vocab.json come the tokens of 100 languages,
// in fixed order, and after these some rows that nothing uses ("made-up words").
//
// Special tokens and languages are added by id. Text never becomes one: "</s>" or
// "__en__" typed by a user is text. Hugging Face behaves so with
// split_special_tokens=True, and decodes as Decode does with
// clean_up_tokenization_spaces=False and skip_special_tokens=True.
package tokenizer

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"dragoman/model"
	"dragoman/tokenizer/spm"
)

// configFile is read where it is there; an exported folder may lack it.
const configFile = "tokenizer_config.json"

// madeUpWords is the number of unused rows where no configFile gives another.
const madeUpWords = 8

// maxTextBytes bounds one text, far above what any model takes.
const maxTextBytes = 64 << 20

// maxKept is the largest buffer, in elements, kept from one text for the next.
const maxKept = 1 << 16

var (
	// ErrUnknownLanguage means that a language code is none of M2M100's.
	ErrUnknownLanguage = errors.New("unknown language")
	// ErrTooLong means that a text has more bytes than can be tokenized at once.
	ErrTooLong = errors.New("text too long")
)

// Tokenizer turns text into ids and back. It is immutable and safe for
// concurrent use.
type Tokenizer struct {
	pieces    *spm.Model
	vocab     *vocabulary
	languages languages
	size      int

	ids     []int64   // the token id of each piece, by its id in pieces
	buffers sync.Pool // of *buffer
}

// buffer is the memory of one Encode, kept for the next.
type buffer struct {
	normalized []byte
	tokens     []spm.Token
}

// Config says what a tokenizer is made of.
type Config struct {
	Pieces *spm.Model
	// Vocabulary is the content of vocab.json: ids 0 to len-1, with <s>, <pad>,
	// </s> and <unk> among them. The tokenizer keeps it.
	Vocabulary map[string]int64
	// MadeUpWords is the number of rows that follow the languages.
	MadeUpWords int
}

// Open reads the tokenizer of a checkpoint or of an exported folder: its
// sentencepiece.bpe.model, vocab.json and, if there is one, tokenizer_config.json.
func Open(dir string) (*Tokenizer, error) {
	words, err := readMadeUpWords(filepath.Join(dir, configFile))
	if err != nil {
		return nil, fmt.Errorf("open tokenizer: %w", err)
	}
	pieces, err := spm.Open(filepath.Join(dir, model.PieceModelFile))
	if err != nil {
		return nil, fmt.Errorf("open tokenizer: %w", err)
	}
	var vocab map[string]int64
	path := filepath.Join(dir, model.VocabFile)
	if err := readJSON(path, &vocab); err != nil {
		return nil, fmt.Errorf("open tokenizer: %w", err)
	}
	t, err := New(Config{Pieces: pieces, Vocabulary: vocab, MadeUpWords: words})
	if err != nil {
		return nil, fmt.Errorf("open tokenizer: %s: %w", path, err)
	}
	return t, nil
}

// readMadeUpWords reads the number of unused rows from tokenizer_config.json and
// refuses one that is for other languages than M2M100's.
func readMadeUpWords(path string) (int, error) {
	config := struct {
		LanguageCodes string `json:"language_codes"`
		MadeUpWords   int    `json:"num_madeup_words"`
	}{"m2m100", madeUpWords}
	if err := readJSON(path, &config); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	if config.LanguageCodes != "m2m100" {
		return 0, fmt.Errorf("%s: language_codes is %q, only \"m2m100\" is supported", path, config.LanguageCodes)
	}
	return config.MadeUpWords, nil
}

// New makes a tokenizer. It fails where the vocabulary has gaps, an id twice or
// no special tokens.
func New(c Config) (*Tokenizer, error) {
	if c.MadeUpWords < 0 {
		return nil, fmt.Errorf("%d made-up words", c.MadeUpWords)
	}
	vocab, err := newVocabulary(c.Vocabulary)
	if err != nil {
		return nil, err
	}
	t := &Tokenizer{
		pieces:    c.Pieces,
		vocab:     vocab,
		languages: newLanguages(int64(len(vocab.tokens))),
		ids:       make([]int64, c.Pieces.Size()),
	}
	t.size = len(vocab.tokens) + len(t.languages.codes) + c.MadeUpWords
	t.buffers.New = func() any { return new(buffer) }
	for id := range t.ids {
		t.ids[id] = vocab.idOf([]byte(c.Pieces.Piece(int32(id))))
	}
	return t, nil
}

// Size is the number of ids: those of vocab.json, the languages and the made-up
// words. It is the model's vocabulary size.
func (t *Tokenizer) Size() int { return t.size }

// Languages returns the codes of the languages, in the order of their ids.
func (t *Tokenizer) Languages() []string { return slices.Clone(t.languages.codes) }

// LanguageID returns the id of a language's token, such as "en".
func (t *Tokenizer) LanguageID(code string) (id int64, ok bool) {
	id, ok = t.languages.ids[code]
	return id, ok
}

// Encode turns text in a language into the encoder's input: the language token,
// the pieces and </s>. Text without anything to translate gives no pieces. It
// fails with ErrUnknownLanguage or ErrTooLong.
func (t *Tokenizer) Encode(lang, text string) ([]int64, error) {
	language, ok := t.LanguageID(lang)
	if !ok {
		return nil, fmt.Errorf("%w %q: use one of the %d codes such as \"en\"", ErrUnknownLanguage, lang, len(t.languages.codes))
	}
	if len(text) > maxTextBytes {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are tokenized at once", ErrTooLong, len(text), maxTextBytes)
	}
	b := t.buffers.Get().(*buffer)
	defer t.release(b)
	b.normalized = t.pieces.AppendNormalized(b.normalized[:0], text)
	b.tokens = t.pieces.AppendTokens(b.tokens[:0], b.normalized)
	ids := make([]int64, 0, len(b.tokens)+2)
	ids = append(ids, language)
	for _, token := range b.tokens {
		ids = append(ids, t.id(token, b.normalized))
	}
	return append(ids, t.vocab.eos), nil
}

// id is the token id of a piece, or of a run of unknown characters, which may
// be an entry of vocab.json although SentencePiece does not know it.
func (t *Tokenizer) id(token spm.Token, normalized []byte) int64 {
	if token.ID == t.pieces.Unknown() {
		return t.vocab.idOf(normalized[token.Start:token.End])
	}
	return t.ids[token.ID]
}

func (t *Tokenizer) release(b *buffer) {
	if cap(b.normalized) <= maxKept && cap(b.tokens) <= maxKept {
		t.buffers.Put(b)
	}
}

// Decode turns ids into text. Special tokens, languages, made-up words and ids
// outside the vocabulary are left out. (Hugging Face writes "<unk>" for the last
// two.) Spaces are not cleaned up, but cut off at both ends.
func (t *Tokenizer) Decode(ids []int64) string {
	pieces := make([]string, 0, len(ids))
	for _, id := range ids {
		if piece, ok := t.vocab.piece(id); ok {
			pieces = append(pieces, piece)
		}
	}
	return t.join(pieces)
}

func (t *Tokenizer) join(pieces []string) string {
	return strings.TrimFunc(t.pieces.Decode(pieces), isPythonSpace)
}

// isPythonSpace is what Python's str.strip() cuts off: more than unicode.IsSpace
// by four separators.
func isPythonSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }
