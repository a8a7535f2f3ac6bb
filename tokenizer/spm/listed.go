package spm

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Listed is a model of Hugging Face's library tokenizers: BPE with listed merges, or unigram. It is derived from a SentencePiece
// model but splits some unusual texts differently, at other places where a piece can be merged in two ways.
type Listed struct {
	Pieces  []string        // by id
	Unknown int32           // the id of the piece for unknown characters
	Control map[string]bool // pieces that no text is split into
	Merges  [][2]string     // the best first
	Scores  []float32       // scores of the pieces of a unigram model, which has no merges; otherwise nil
	// Normalize are functions that rewrite a text, in order.
	Normalize []func(text string) string
	Prefix    bool // whether a space is prepended to a text that does not begin with one
	Words     bool // whether a space is prepended to each word, and white space is removed
}

// Model returns the model. It fails if a merge does not combine two pieces into another piece, or if there are not as many scores
// as pieces.
func (l Listed) Model() (*Model, error) {
	if l.Scores != nil && len(l.Scores) != len(l.Pieces) {
		return nil, fmt.Errorf("%d scores of %d pieces", len(l.Scores), len(l.Pieces))
	}
	pieces := make([]pieceProto, len(l.Pieces))
	for id, text := range l.Pieces {
		if text == "" {
			return nil, fmt.Errorf("piece %d is empty", id)
		}
		pieces[id] = pieceProto{text: text, kind: normalPiece}
		if int32(id) == l.Unknown {
			pieces[id].kind = unknownPiece
		} else if l.Control[text] {
			pieces[id].kind = controlPiece
		}
	}
	for id, score := range l.Scores {
		pieces[id].score = score
		// Texts are split before each space.
		if pieces[id].kind == normalPiece && strings.Contains(pieces[id].text[1:], space) {
			pieces[id].kind = unusedPiece
		}
	}
	m := &Model{byWord: true, trim: trimAll, normalizer: l}
	m.workspaces.New = func() any { return new(workspace) }
	if err := m.addPieces(pieces, l.Scores != nil, false); err != nil {
		return nil, err
	}
	if l.Scores != nil {
		var err error
		m.unigram, err = newUnigram(m, pieces)
		return m, err
	}
	if err := m.addMerges(l.Merges); err != nil {
		return nil, err
	}
	m.findWords()
	return m, nil
}

// addMerges builds the tables of listed merges.
func (m *Model) addMerges(list [][2]string) error {
	if m.Size() >= 1<<symbolBits || len(list) >= 1<<symbolBits {
		return fmt.Errorf("%d pieces and %d merges, at most %d are supported", m.Size(), len(list), 1<<symbolBits-1)
	}
	m.merges = noMerges(m.Size())
	for id := range m.kinds {
		text := m.pieces.at(int32(id))
		if r, size := utf8.DecodeRuneInString(text); size == len(text) && m.kinds[id] == normalPiece {
			m.merges.setSymbol(r, symbol(id))
		}
	}
	var found []uint64
	for number, pair := range list {
		left, okLeft := m.ids[pair[0]]
		right, okRight := m.ids[pair[1]]
		merged, ok := m.ids[pair[0]+pair[1]]
		if !ok || !okLeft || !okRight {
			return fmt.Errorf("merge %d is of %q and %q: they, or both together, are no pieces", number, pair[0], pair[1])
		}
		found = append(found, newSlot(left, right, int32(number)))
		m.merges.ranks = append(m.merges.ranks, int32(number))
		m.merges.results = append(m.merges.results, merged)
	}
	m.merges.pairs = newPairTable(found)
	return nil
}

// append implements textNormalizer.
func (l Listed) append(dst []byte, text string) []byte {
	text = strings.ToValidUTF8(text, replacementChar)
	for _, normalize := range l.Normalize {
		text = normalize(text)
	}
	if !l.Words {
		return l.appendSpaced(dst, text)
	}
	for word := range strings.FieldsSeq(text) {
		dst = l.appendSpaced(dst, word)
	}
	return dst
}

// appendSpaced appends a text with spaces in the form of pieces, and a space in front.
func (l Listed) appendSpaced(dst []byte, text string) []byte {
	text = strings.ReplaceAll(text, " ", space)
	if l.Prefix && text != "" && !strings.HasPrefix(text, space) {
		dst = append(dst, space...)
	}
	return append(dst, text...)
}

// Precompiled returns a function that applies a precompiled character map as SentencePiece does, the longest rule first. The library
// tokenizers 0.23.3 applies the shortest rule that matches the start of a grapheme and drops the rest, such as the tones of
// decomposed Vietnamese letters.
func Precompiled(raw []byte) (func(text string) string, error) {
	rules, err := parseCharsmap(raw)
	if err != nil {
		return nil, err
	}
	return func(text string) string {
		var out strings.Builder
		for text != "" {
			part, length := rules.next(text)
			out.WriteString(part)
			text = text[length:]
		}
		return out.String()
	}, nil
}
