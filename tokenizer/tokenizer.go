// Package tokenizer converts text to the token ids of a model and back, with the semantics of Hugging Face's tokenizers.
//
// Text is split into SentencePiece pieces (package tokenizer/spm), and each piece is an id of the model's vocabulary. A missing
// piece is "<unk>"; so is a run of characters unknown to the SentencePiece model, unless the vocabulary has an entry of exactly
// that run. Languages have tokens of their own. The [Framing] of the model's family puts special tokens around the pieces: see
// package model/family, which creates the tokenizers of checkpoints. Models may have pieces of words instead (package
// tokenizer/moses).
//
// Special tokens and languages are added by id. Text is never converted to a special token: "</s>" or "__en__" typed by a user is
// text. Hugging Face behaves so with split_special_tokens=True, and decodes as Decode does with
// clean_up_tokenization_spaces=False and skip_special_tokens=True.
package tokenizer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"dragoman/tokenizer/moses"
	"dragoman/tokenizer/spm"
)

// maxTextBytes is the maximum length of a text, far above the limit of any model.
const maxTextBytes = 64 << 20

// maxKept is the maximum size in elements of a buffer kept from one text for the next.
const maxKept = 1 << 16

var (
	// ErrUnknownLanguage means that the model has no language with a code.
	ErrUnknownLanguage = errors.New("unknown language")
	// ErrTooLong means that a text has too many bytes.
	ErrTooLong = errors.New("text too long")
)

// Tokenizer converts text to ids and back. It is immutable and safe for concurrent use.
type Tokenizer struct {
	source    side
	target    side // for translations
	framing   Framing
	prefixes  map[[2]string]string
	languages []Language
	codes     map[string]int64 // the token id of each language
	size      int

	within  func() index // makes the index of the pieces of translations when it is first needed
	buffers sync.Pool    // of *buffer
}

// buffer is the working memory of one Encode, kept for the next.
type buffer struct {
	normalized []byte
	tokens     []spm.Token
}

// side holds the pieces of sources, or of translations, and their ids.
type side struct {
	pieces *spm.Model
	words  *moses.Words // used instead of pieces, if not nil
	vocab  *vocabulary
	ids    []int32 // token ids by a piece's id in pieces; nil if vocab shares pieces
}

// Config is the configuration of a tokenizer.
type Config struct {
	Pieces *spm.Model
	// Vocabulary has the ids of pieces, 0 to len-1, including special tokens. The tokenizer keeps the map.
	Vocabulary map[string]int64
	// TargetPieces and TargetVocabulary are used for translations, if these have other pieces than sources.
	TargetPieces     *spm.Model
	TargetVocabulary map[string]int64
	// Words and TargetWords replace Pieces and TargetPieces.
	Words, TargetWords *moses.Words
	// Sparse allows missing ids in the vocabularies.
	Sparse bool
	// Special are the tokens of Vocabulary that no text is converted to, </s> and <unk> among them; nil means <s>, <pad>, </s>
	// and <unk>.
	Special []string
	// Languages are the model's languages. The id of each is either that of a special token, or one from len(Vocabulary) on. The
	// tokenizer keeps this slice: do not change it afterwards.
	Languages []Language
	Framing   Framing
	// Prefixes are prepended to texts, by source and target language, such as "translate English to German: "; nil for none.
	Prefixes map[[2]string]string
}

// Language is a language of a model.
type Language struct {
	Code string // the code for users
	ID   int64  // id of the language's token; negative if it has no token
}

// Part is a kind of token besides the pieces of a text.
type Part int

// The parts.
const (
	End    Part = iota // </s>
	Source             // the source language
	Target             // the target language
	Space              // ▁
	Begin              // <s>
)

// Framing lists the tokens around the pieces of a source, and the tokens with which a translation is forced to begin after the
// decoder's start token.
type Framing struct{ Before, After, Forced []Part }

// New returns a tokenizer. It fails if the vocabulary has gaps or repeated ids, or lacks special tokens.
func New(c Config) (*Tokenizer, error) {
	if c.Special == nil {
		c.Special = []string{"<s>", "<pad>", "</s>", "<unk>"}
	}
	if err := c.checkFraming(); err != nil {
		return nil, err
	}
	if (c.Pieces == nil) == (c.Words == nil) || (c.Words == nil) != (c.TargetWords == nil) {
		return nil, errors.New("a tokenizer has either SentencePiece pieces, or the words of both sides")
	}
	source, err := newSide(c.Pieces, c.Vocabulary, c.Special, c.Sparse)
	if err != nil {
		return nil, err
	}
	t := &Tokenizer{
		source: source, target: source, framing: c.Framing, prefixes: c.Prefixes, languages: c.Languages,
		codes: map[string]int64{}, size: int(source.vocab.size),
	}
	if c.TargetVocabulary != nil {
		special := slices.DeleteFunc(slices.Clone(c.Special), func(token string) bool { _, ok := c.TargetVocabulary[token]; return !ok })
		if t.target, err = newSide(c.TargetPieces, c.TargetVocabulary, special, c.Sparse); err != nil {
			return nil, fmt.Errorf("of translations: %w", err)
		}
	} else if c.TargetPieces != nil {
		t.target = sideOf(c.TargetPieces, source.vocab)
	}
	t.source.words, t.target.words = c.Words, c.TargetWords
	for _, l := range c.Languages {
		if l.ID >= 0 && l.ID < source.vocab.size && !source.vocab.special[l.ID] {
			return nil, fmt.Errorf("language %q has the id %d, which is in the vocabulary of %d entries", l.Code, l.ID, source.vocab.size)
		}
		t.codes[l.Code], t.size = l.ID, max(t.size, int(l.ID)+1)
	}
	t.within = sync.OnceValue(func() index { return newIndex(t.target.vocab) })
	t.buffers.New = func() any { return new(buffer) }
	return t, nil
}

// checkFraming checks that the tokens around a source exist.
func (c Config) checkFraming() error {
	parts := slices.Concat(c.Framing.Before, c.Framing.After)
	for part, token := range map[Part]string{Begin: "<s>", End: "</s>"} {
		if slices.Contains(parts, part) && !slices.Contains(c.Special, token) {
			return fmt.Errorf("%d entries, but no token %q", len(c.Vocabulary), token)
		}
	}
	return nil
}

// newSide returns the side of a vocabulary, which needs an unknown token.
func newSide(pieces *spm.Model, ids map[string]int64, special []string, sparse bool) (side, error) {
	if !slices.Contains(special, "<unk>") {
		return side{}, fmt.Errorf("%d entries, but no token %q", len(ids), "<unk>")
	}
	vocab, err := newVocabulary(ids, special, sparse)
	if err != nil {
		return side{}, err
	}
	if pieces == nil {
		return side{vocab: vocab}, nil
	}
	vocab.share(pieces)
	return sideOf(pieces, vocab), nil
}

func sideOf(pieces *spm.Model, vocab *vocabulary) side {
	s := side{pieces: pieces, vocab: vocab}
	if vocab.pieces == pieces {
		return s
	}
	s.ids = make([]int32, pieces.Size())
	for id := range s.ids {
		s.ids[id] = int32(vocab.idOf([]byte(pieces.Piece(int32(id)))))
	}
	return s
}

// SourceSize returns the number of ids of sources, of the vocabulary and the languages. A model's embedding has at least as many rows.
func (t *Tokenizer) SourceSize() int { return t.size }

// Size returns the number of ids of translations.
func (t *Tokenizer) Size() int {
	if t.target.vocab != t.source.vocab {
		return int(t.target.vocab.size)
	}
	return t.size
}

// Languages returns the codes of the languages, in the order of their ids.
func (t *Tokenizer) Languages() []string {
	codes := make([]string, len(t.languages))
	for i, l := range t.languages {
		codes[i] = l.Code
	}
	return codes
}

// LanguageID returns the id of a language's token. code is for example "en".
func (t *Tokenizer) LanguageID(code string) (id int64, ok bool) {
	id, ok = t.codes[code]
	return id, ok
}

// TargetTokens returns the tokens that tell a model the language of a translation. inSource reports whether the tokens are in the
// source, as opposed to the forced beginning of the translation. Models of one direction have no such tokens.
func (t *Tokenizer) TargetTokens() (tokens map[string]int64, inSource bool) {
	inSource = slices.Contains(slices.Concat(t.framing.Before, t.framing.After), Target)
	if !inSource && !slices.Contains(t.framing.Forced, Target) {
		return nil, false
	}
	tokens = map[string]int64{}
	for code, id := range t.codes {
		if id >= 0 {
			tokens[code] = id
		}
	}
	return tokens, inSource
}

// Encode converts text to the encoder's input for its translation from one language into another. Text without anything to
// translate has as many ids as "". Encode fails with ErrUnknownLanguage or ErrTooLong.
func (t *Tokenizer) Encode(from, to, text string) ([]int64, error) {
	for _, code := range []string{from, to} {
		if _, ok := t.LanguageID(code); !ok {
			return nil, fmt.Errorf("%w %q: use one of the %d codes such as \"en\"", ErrUnknownLanguage, code, len(t.languages))
		}
	}
	if t.codes[to] < 0 && slices.Contains(slices.Concat(t.framing.Before, t.framing.After), Target) {
		return nil, fmt.Errorf("%w %q to translate into: it has no token", ErrUnknownLanguage, to)
	}
	prefix, ok := t.prefixes[[2]string{from, to}]
	if !ok && t.prefixes != nil {
		return nil, fmt.Errorf("%w: no words tell the model to translate from %q into %q", ErrUnknownLanguage, from, to)
	}
	ids, err := t.encode(t.source, t.append(nil, t.framing.Before, from, to), len(t.framing.After), prefix+text)
	return t.append(ids, t.framing.After, from, to), err
}

// EncodeTarget converts text to tokens of a translation, without the framing. It fails with ErrTooLong.
func (t *Tokenizer) EncodeTarget(text string) ([]int64, error) {
	return t.encode(t.target, nil, 0, text)
}

// encode returns the slice before with the ids of a text appended, and capacity for room more ids.
func (t *Tokenizer) encode(s side, before []int64, room int, text string) ([]int64, error) {
	if len(text) > maxTextBytes {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are tokenized at once", ErrTooLong, len(text), maxTextBytes)
	}
	if s.words != nil {
		ids := slices.Clone(before)
		s.words.Split(text, func(piece []byte) { ids = append(ids, s.vocab.idOf(piece)) })
		return ids, nil
	}
	b := t.buffers.Get().(*buffer)
	defer t.release(b)
	b.normalized = s.pieces.AppendNormalized(b.normalized[:0], text)
	b.tokens = s.pieces.AppendTokens(b.tokens[:0], b.normalized)
	ids := append(make([]int64, 0, len(before)+len(b.tokens)+room), before...)
	for _, token := range b.tokens {
		ids = append(ids, s.id(token, b.normalized))
	}
	return ids, nil
}

// Forced returns the tokens with which a translation from one language into another begins, after the decoder's start token. from
// and to must be languages of the tokenizer.
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
		case Begin:
			ids = append(ids, t.source.vocab.begin)
		case Space:
			ids = append(ids, t.source.vocab.idOf([]byte("▁")))
		default:
			ids = append(ids, t.source.vocab.eos)
		}
	}
	return ids
}

// id returns the token id of a piece, or of a run of unknown characters: the run may be in the vocabulary although SentencePiece
// does not know it.
func (s side) id(token spm.Token, normalized []byte) int64 {
	if token.ID == s.pieces.Unknown() {
		return s.vocab.idOf(normalized[token.Start:token.End])
	}
	if s.ids != nil {
		return int64(s.ids[token.ID])
	}
	if id := int64(token.ID); !s.vocab.special[id] {
		return id
	}
	return s.vocab.unknown
}

func (t *Tokenizer) release(b *buffer) {
	if cap(b.normalized) <= maxKept && cap(b.tokens) <= maxKept {
		t.buffers.Put(b)
	}
}

// Decode converts ids to text. It omits special tokens, languages, unused ids and ids outside the vocabulary. (Hugging Face
// writes "<unk>" for the last two.) It trims spaces at both ends, but does not clean up other spaces.
func (t *Tokenizer) Decode(ids []int64) string {
	pieces := make([]string, 0, len(ids))
	for _, id := range ids {
		if piece, ok := t.target.vocab.piece(id); ok {
			pieces = append(pieces, piece)
		}
	}
	if t.target.words != nil {
		return t.target.words.Join(pieces)
	}
	text := t.target.pieces.Decode(pieces)
	if t.target.pieces != t.source.pieces { // keeps pieces of the other side, which the vocabulary may have
		text = strings.ReplaceAll(text, "▁", " ")
	}
	return strings.TrimFunc(text, moses.IsSpace)
}

// Piece returns a piece of the vocabulary by its id, with "▁" for a space, or "@@" if its word continues. ok is false for special
// tokens, languages, unused ids and ids outside the vocabulary.
func (t *Tokenizer) Piece(id int64) (piece string, ok bool) { return t.target.vocab.piece(id) }
