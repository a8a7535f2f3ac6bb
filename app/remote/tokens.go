package remote

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Tokenizer packs texts into ids, because a server counts tokens of a vocabulary that it keeps to itself. An id holds up to
// pieceBytes bytes of a text, so any text comes back as it was. Pieces begin where words do, and are about as long as tokens.
// Languages have the ids from 0 on. A Tokenizer is immutable and safe for concurrent use.
type Tokenizer struct{ languages []string }

// NewTokenizer returns the tokenizer of a model with some languages.
func NewTokenizer(languages []string) *Tokenizer { return &Tokenizer{languages} }

// pieceBytes is the maximum number of bytes of a piece; an id has room for 7, and their number above them.
const pieceBytes, lengthShift = 6, 56

// framing is the number of ids before the text of a source: its language and the target language.
const framing = 2

// errSource means that ids are no source.
var errSource = errors.New("the source is none of this tokenizer's")

// LanguageID returns the id of a language.
func (t *Tokenizer) LanguageID(code string) (id int64, ok bool) {
	i := slices.Index(t.languages, code)
	return int64(i), i >= 0
}

// Encode returns the ids of the languages and of a text.
func (t *Tokenizer) Encode(from, to, text string) ([]int64, error) {
	a, okFrom := t.LanguageID(from)
	b, okTo := t.LanguageID(to)
	if !okFrom || !okTo {
		return nil, fmt.Errorf("unknown language %q or %q: use one of %d codes", from, to, len(t.languages))
	}
	return appendPieces([]int64{a, b}, text), nil
}

// EncodeTarget returns the ids of a text.
func (t *Tokenizer) EncodeTarget(text string) ([]int64, error) { return appendPieces(nil, text), nil }

// Forced returns nothing: the languages are in the source.
func (t *Tokenizer) Forced(string, string) []int64 { return nil }

// Decode returns the text of ids.
func (t *Tokenizer) Decode(ids []int64) string {
	var text strings.Builder
	for _, id := range ids {
		for shift := 8 * (int(id>>lengthShift) - 1); shift >= 0; shift -= 8 {
			text.WriteByte(byte(id >> shift))
		}
	}
	return text.String()
}

// source returns the languages and the text of a source.
func (t *Tokenizer) source(ids []int64) (from, to, text string, err error) {
	if len(ids) < framing {
		return "", "", "", errSource
	}
	for i, id := range ids {
		if id < 0 || id>>lengthShift > pieceBytes || i < framing && id >= int64(len(t.languages)) || i >= framing && id>>lengthShift == 0 {
			return "", "", "", fmt.Errorf("%w: id %d at position %d", errSource, id, i)
		}
	}
	text = t.Decode(ids[framing:])
	if !utf8.ValidString(text) {
		return "", "", "", fmt.Errorf("%w: its text is not UTF-8", errSource)
	}
	return t.languages[ids[0]], t.languages[ids[1]], text, nil
}

// appendPieces appends the ids of a text.
func appendPieces(ids []int64, text string) []int64 {
	start, before := 0, rune(0)
	for i, r := range text {
		size := utf8.RuneLen(r)
		if size < 0 || r == utf8.RuneError {
			_, size = utf8.DecodeRuneInString(text[i:])
		}
		if i > start && (i+size-start > pieceBytes || isWord(before) != isWord(r) && before != ' ') {
			ids, start = append(ids, pack(text[start:i])), i
		}
		before = r
	}
	if start < len(text) {
		ids = append(ids, pack(text[start:]))
	}
	return ids
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) }

// pack returns the id of a piece.
func pack(piece string) (id int64) {
	for _, b := range []byte(piece) {
		id = id<<8 | int64(b)
	}
	return id | int64(len(piece))<<lengthShift
}
