package tokenizer

import (
	"encoding/binary"
	"slices"
	"sort"
	"strings"
	"unicode"
)

// index has the pieces of translations by their text. It ignores case and spaces, as a word of a source may become the middle of
// a sentence, or its beginning.
//
// A piece that begins a text precedes the text in the order of the index, and all pieces between the two begin with it. So the
// pieces that begin a text are a chain: the last piece that precedes the text, and those before it that begin this piece, each
// the next one's shorter.
type index struct {
	ids     []int32  // in the order of their texts
	heads   []uint32 // the first four bytes of each text, which most searches need only
	shorter []int32  // the place of the last preceding piece that begins the text of the piece; negative: none
}

// spoken returns the text of a piece in the index.
func spoken(piece string) string { return strings.ToLower(strings.TrimPrefix(piece, space)) }

const space = "▁"

func newIndex(v *vocabulary) index {
	var x index
	texts := make([]string, v.size)
	for id := range texts {
		if piece, ok := v.piece(int64(id)); ok {
			texts[id] = spoken(piece)
		}
		if texts[id] != "" {
			x.ids = append(x.ids, int32(id))
		}
	}
	slices.SortFunc(x.ids, func(a, b int32) int { return strings.Compare(texts[a], texts[b]) })
	x.shorter, x.heads = make([]int32, len(x.ids)), make([]uint32, len(x.ids))
	for at, id := range x.ids {
		x.heads[at] = head(texts[id])
		before := int32(at - 1)
		for before >= 0 && !strings.HasPrefix(texts[id], texts[x.ids[before]]) {
			before = x.shorter[before]
		}
		x.shorter[at] = before
	}
	return x
}

// head returns the first four bytes of a text, in an order like that of texts.
func head(text string) uint32 {
	var first [4]byte
	copy(first[:], text)
	return binary.BigEndian.Uint32(first[:])
}

// Within calls add with the ids of all pieces of translations whose text is that of a token of a source, in any case, and in words
// that may be names, which are all but those of small letters, with the pieces within the word: for "▁Mary" also with "ary",
// because a translation may divide the word in another way. It may call add several times with an id.
func (t *Tokenizer) Within(source []int64, add func(id int64)) {
	w := word{index: t.within(), vocab: t.target.vocab, add: add}
	for _, id := range source {
		piece, ok := t.source.vocab.piece(id)
		if !ok || strings.HasPrefix(piece, space) {
			w.end()
		}
		if ok {
			w.extend(strings.TrimPrefix(piece, space))
		}
	}
	w.end()
}

// word is a word of a source, of several tokens.
type word struct {
	index
	vocab *vocabulary
	add   func(id int64)
	text  []byte
	ends  []int // of the tokens
	name  bool  // whether it may be a name
}

func (w *word) extend(token string) {
	w.name = w.name || strings.ContainsFunc(token, func(r rune) bool { return !unicode.IsLower(r) })
	w.text = append(w.text, strings.ToLower(token)...)
	w.ends = append(w.ends, len(w.text))
}

// end finds the pieces of a word, and begins another.
func (w *word) end() {
	text, start := string(w.text), 0
	for _, end := range w.ends {
		w.begin(text[start:end], end-start)
		start = end
	}
	if w.name {
		for i := range text {
			w.begin(text[i:], 0)
		}
	}
	w.text, w.ends, w.name = w.text[:0], w.ends[:0], false
}

// begin calls add with the pieces of at least `least` bytes that begin a text.
func (w *word) begin(text string, least int) {
	textOf := func(at int32) string {
		piece, _ := w.vocab.piece(int64(w.ids[at]))
		return spoken(piece)
	}
	first := head(text)
	next := sort.Search(len(w.heads), func(i int) bool {
		return w.heads[i] > first || w.heads[i] == first && textOf(int32(i)) > text
	})
	for at := int32(next - 1); at >= 0; at = w.shorter[at] {
		if piece := textOf(at); strings.HasPrefix(text, piece) {
			if len(piece) < least {
				break
			}
			w.add(int64(w.ids[at]))
		}
	}
}
