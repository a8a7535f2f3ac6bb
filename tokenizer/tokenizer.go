// Package tokenizer turns text into the token ids of a model and back, with the
// semantics of Hugging Face's tokenizers.
//
// Text becomes SentencePiece pieces (package tokenizer/spm), and each piece an id of
// the model's vocabulary. A piece that is not there is "<unk>"; so is a run of
// characters that the SentencePiece model does not know, unless the vocabulary has an
// entry of just that run. Languages have tokens of their own. What stands where around
// the pieces is the [Framing] of the model's family: see package model/family, which
// makes the tokenizers of checkpoints.
//
// Special tokens and languages are added by id. Text never becomes one: "</s>" or
// "__en__" typed by a user is text. Hugging Face behaves so with
// split_special_tokens=True, and decodes as Decode does with
// clean_up_tokenization_spaces=False and skip_special_tokens=True.
package tokenizer

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"dragoman/tokenizer/spm"
)

// maxTextBytes bounds one text, far above what any model takes.
const maxTextBytes = 64 << 20

// maxKept is the largest buffer, in elements, kept from one text for the next.
const maxKept = 1 << 16

var (
	// ErrUnknownLanguage means that a language code is none of the model's.
	ErrUnknownLanguage = errors.New("unknown language")
	// ErrTooLong means that a text has more bytes than can be tokenized at once.
	ErrTooLong = errors.New("text too long")
)

// Tokenizer turns text into ids and back. It is immutable and safe for
// concurrent use.
type Tokenizer struct {
	pieces    *spm.Model
	vocab     *vocabulary
	framing   Framing
	languages []Language
	codes     map[string]int64 // the token id of each language
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
	// Vocabulary has the ids of pieces, 0 to len-1, with <s>, <pad>, </s> and <unk>
	// among them. The tokenizer keeps it.
	Vocabulary map[string]int64
	// Languages have ids from len(Vocabulary) on. The tokenizer keeps it.
	Languages []Language
	Framing   Framing
	// Unused is the number of ids after the languages that stand for nothing.
	Unused int
}

// Language is a language of a model.
type Language struct {
	Code string // by which users name it
	ID   int64  // of its token
}

// Part is a token beside the pieces of a text.
type Part int

// The parts.
const (
	End    Part = iota // </s>
	Source             // the source language
	Target             // the target language
)

// Framing says which tokens stand around the pieces of a source, and which ones a
// translation is forced to begin with after the decoder's start token.
type Framing struct{ Before, After, Forced []Part }

// New makes a tokenizer. It fails where the vocabulary has gaps, an id twice or
// no special tokens.
func New(c Config) (*Tokenizer, error) {
	vocab, err := newVocabulary(c.Vocabulary)
	if err != nil {
		return nil, err
	}
	t := &Tokenizer{
		pieces: c.Pieces, vocab: vocab, framing: c.Framing, languages: c.Languages, codes: map[string]int64{},
		ids: make([]int64, c.Pieces.Size()), size: len(vocab.tokens),
	}
	for _, l := range c.Languages {
		if l.ID < int64(len(vocab.tokens)) {
			return nil, fmt.Errorf("language %q has the id %d, which is in the vocabulary of %d entries", l.Code, l.ID, len(vocab.tokens))
		}
		t.codes[l.Code], t.size = l.ID, max(t.size, int(l.ID)+1)
	}
	if c.Unused < 0 {
		return nil, fmt.Errorf("%d unused ids", c.Unused)
	}
	t.size += c.Unused
	t.buffers.New = func() any { return new(buffer) }
	for id := range t.ids {
		t.ids[id] = vocab.idOf([]byte(c.Pieces.Piece(int32(id))))
	}
	return t, nil
}

// Size is the number of ids: those of the vocabulary, the languages and the unused
// ones. A model has at least as many rows.
func (t *Tokenizer) Size() int { return t.size }

// Languages returns the codes of the languages, in the order of their ids.
func (t *Tokenizer) Languages() []string {
	codes := make([]string, len(t.languages))
	for i, l := range t.languages {
		codes[i] = l.Code
	}
	return codes
}

// LanguageID returns the id of a language's token, such as "en".
func (t *Tokenizer) LanguageID(code string) (id int64, ok bool) {
	id, ok = t.codes[code]
	return id, ok
}

// Encode turns text into the encoder's input for its translation from one language
// into another. Text without anything to translate gives as many ids as "" does. It
// fails with ErrUnknownLanguage or ErrTooLong.
func (t *Tokenizer) Encode(from, to, text string) ([]int64, error) {
	for _, code := range []string{from, to} {
		if _, ok := t.LanguageID(code); !ok {
			return nil, fmt.Errorf("%w %q: use one of the %d codes such as \"en\"", ErrUnknownLanguage, code, len(t.languages))
		}
	}
	if len(text) > maxTextBytes {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are tokenized at once", ErrTooLong, len(text), maxTextBytes)
	}
	b := t.buffers.Get().(*buffer)
	defer t.release(b)
	b.normalized = t.pieces.AppendNormalized(b.normalized[:0], text)
	b.tokens = t.pieces.AppendTokens(b.tokens[:0], b.normalized)
	ids := make([]int64, 0, len(t.framing.Before)+len(b.tokens)+len(t.framing.After))
	ids = t.append(ids, t.framing.Before, from, to)
	for _, token := range b.tokens {
		ids = append(ids, t.id(token, b.normalized))
	}
	return t.append(ids, t.framing.After, from, to), nil
}

// Forced returns the tokens that a translation from one language into another begins
// with, after the decoder's start token. Both are languages of the tokenizer.
func (t *Tokenizer) Forced(from, to string) []int64 {
	return t.append(nil, t.framing.Forced, from, to)
}

// append appends the ids of parts.
func (t *Tokenizer) append(ids []int64, parts []Part, from, to string) []int64 {
	for _, part := range parts {
		switch part {
		case Source:
			ids = append(ids, t.codes[from])
		case Target:
			ids = append(ids, t.codes[to])
		default:
			ids = append(ids, t.vocab.eos)
		}
	}
	return ids
}

// id is the token id of a piece, or of a run of unknown characters, which may
// be in the vocabulary although SentencePiece does not know it.
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

// Decode turns ids into text. Special tokens, languages, unused ids and those
// outside the vocabulary are left out. (Hugging Face writes "<unk>" for the last
// two.) Spaces are not cleaned up, but cut off at both ends.
func (t *Tokenizer) Decode(ids []int64) string {
	pieces := make([]string, 0, len(ids))
	for _, id := range ids {
		if piece, ok := t.vocab.piece(id); ok {
			pieces = append(pieces, piece)
		}
	}
	return strings.TrimFunc(t.pieces.Decode(pieces), isPythonSpace)
}

// Piece returns a piece of the vocabulary by its id, with "▁" for a space. ok is false for special
// tokens, languages, unused ids and those outside the vocabulary.
func (t *Tokenizer) Piece(id int64) (piece string, ok bool) { return t.vocab.piece(id) }

// isPythonSpace is what Python's str.strip() cuts off: more than unicode.IsSpace
// by four separators.
func isPythonSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }
