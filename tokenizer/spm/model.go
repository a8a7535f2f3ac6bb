package spm

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"unicode/utf8"
)

// maxFileBytes is the maximum size of a model file.
const maxFileBytes = 16 << 20

// maxKeptNodes is the maximum size of a workspace kept between texts: some 3 MB.
const maxKeptNodes = 1 << 16

// ErrUnsupported means that a model file is valid, as far as it was read, but of a kind that this package does not implement.
var ErrUnsupported = errors.New("unsupported SentencePiece model")

// Model is a SentencePiece model: BPE if it has merges, otherwise unigram. It is immutable and safe for concurrent use.
type Model struct {
	normalizer textNormalizer
	merges     *merges
	unigram    *unigram

	pieces         texts            // by id
	kinds          []uint8          // by id: normalPiece, unknownPiece and so on
	ids            map[string]int32 // of the pieces outside unigram's trie
	unknown        int32
	bytes          []int32 // the piece of each byte, with byte fallback
	unknownSurface string
	trim           trimming

	byWord bool // no merge crosses a space, see spansWords
	// words are the pieces that begin with a space and result from merging their own text. If byWord is set, one lookup handles a
	// whole word.
	words map[string]int32

	workspaces sync.Pool // of *workspace
}

// textNormalizer rewrites text into the spelling of pieces.
type textNormalizer interface {
	append(dst []byte, text string) []byte
}

// trimming tells how many leading spaces decoding removes.
type trimming int

const (
	trimNone trimming = iota
	trimOne           // one space, of the first piece that begins with one
	trimAll           // one space of each piece, until there is text
)

// Parse parses a model from the contents of its file. It does not keep file. It fails with ErrUnsupported for the kinds of models
// named in the package documentation, and with an error that tells the place for damaged files.
func Parse(file []byte) (*Model, error) {
	if len(file) > maxFileBytes {
		return nil, fmt.Errorf("SentencePiece model has more than %d MB, which none has", maxFileBytes>>20)
	}
	proto, err := parseProto(file)
	if err != nil {
		return nil, fmt.Errorf("not a SentencePiece model: %w", err)
	}
	if err := proto.checkSupported(); err != nil {
		return nil, err
	}
	m := &Model{
		unknownSurface: proto.trainer.unknownSurface,
		byWord:         !spansWords(proto.pieces),
	}
	m.workspaces.New = func() any { return new(workspace) }
	isUnigram := proto.trainer.modelType == unigramModel
	if err := m.addPieces(proto.pieces, isUnigram, proto.trainer.byteFallback); err != nil {
		return nil, err
	}
	if proto.trainer.byteFallback {
		if err := m.addBytes(); err != nil {
			return nil, err
		}
	}
	if isUnigram {
		m.unigram, err = newUnigram(m, proto.pieces)
	} else {
		m.merges, err = newMerges(proto.pieces, m.ids)
	}
	if err != nil {
		return nil, err
	}
	kept, err := m.userDefined()
	if err != nil {
		return nil, err
	}
	n, err := newNormalizer(proto.normalizer, proto.trainer.whitespaceAsSuffix, kept)
	if err != nil {
		return nil, err
	}
	m.normalizer = n
	if n.removeExtraSpaces {
		m.trim = trimAll
	} else if n.addDummyPrefix {
		m.trim = trimOne
	}
	m.findWords()
	return m, nil
}

func (p *modelProto) checkSupported() error {
	if len(p.pieces) == 0 {
		return errors.New("not a SentencePiece model: it has no pieces")
	}
	isUnigram := p.trainer.modelType == unigramModel
	if !isUnigram && p.trainer.modelType != bpeModel {
		return fmt.Errorf("%w: type %d, only unigram (type %d) and BPE (type %d) are implemented",
			ErrUnsupported, p.trainer.modelType, unigramModel, bpeModel)
	}
	if len(p.denormalizer.charsmap) > 0 {
		return fmt.Errorf("%w: denormalization rules", ErrUnsupported)
	}
	for id, piece := range p.pieces {
		switch piece.kind {
		case normalPiece, unknownPiece, controlPiece:
		case bytePiece:
			if !p.trainer.byteFallback {
				return fmt.Errorf("SentencePiece model: piece %d, %q, is a byte, but there is no byte fallback", id, piece.text)
			}
		case userPiece, unusedPiece:
			if !isUnigram {
				return fmt.Errorf("%w: piece %d, %q, is user-defined or unused (type %d), which only a unigram model may have",
					ErrUnsupported, id, piece.text, piece.kind)
			}
		default:
			return fmt.Errorf("%w: piece %d, %q, has type %d", ErrUnsupported, id, piece.text, piece.kind)
		}
	}
	return nil
}

// addPieces numbers the pieces. Pieces into which a unigram model splits texts are left to the model's trie. With byte fallback
// the piece NUL is left out, although some converters add it.
func (m *Model) addPieces(pieces []pieceProto, isUnigram, byteFallback bool) error {
	m.unknown = -1
	m.ids = map[string]int32{}
	if !isUnigram {
		m.ids = make(map[string]int32, len(pieces))
	}
	m.pieces, m.kinds = textsOf(pieces), make([]uint8, 0, len(pieces))
	for i, p := range pieces {
		id := int32(i)
		p.text = m.pieces.at(id) // not a part of the file's contents, so that references to the text keep nothing else in memory
		if first, ok := m.ids[p.text]; ok {
			return samePieces(first, id, p.text)
		}
		if p.kind == unknownPiece {
			if m.unknown >= 0 {
				return fmt.Errorf("SentencePiece model: pieces %d and %d are both the unknown piece", m.unknown, id)
			}
			m.unknown = id
		}
		if isUnigram && byteFallback && p.text == "\x00" {
			p.kind = unusedPiece
		}
		if !isUnigram || p.kind != normalPiece && p.kind != userPiece {
			m.ids[p.text] = id
		}
		m.kinds = append(m.kinds, uint8(p.kind))
	}
	if m.unknown < 0 {
		return errors.New("SentencePiece model: none of the pieces is the unknown piece")
	}
	return nil
}

func samePieces(first, second int32, text string) error {
	return fmt.Errorf("SentencePiece model: pieces %d and %d are both %q", first, second, text)
}

// addBytes finds the pieces of bytes.
func (m *Model) addBytes() error {
	m.bytes = make([]int32, 256)
	for b := range m.bytes {
		id, ok := m.ids[fmt.Sprintf(bytePieceForm, b)]
		if !ok || m.kinds[id] != bytePiece {
			return fmt.Errorf("SentencePiece model: byte fallback, but no piece for the byte %#02x", b)
		}
		m.bytes[b] = id
	}
	for id, kind := range m.kinds {
		if kind == bytePiece && !slices.Contains(m.bytes, int32(id)) {
			return fmt.Errorf("SentencePiece model: piece %d, %q, is said to be a byte", id, m.pieces.at(int32(id)))
		}
	}
	return nil
}

// userDefined returns the trie of the user-defined pieces.
func (m *Model) userDefined() (trie, error) {
	var ids []int32
	for id, kind := range m.kinds {
		if kind == userPiece {
			ids = append(ids, int32(id))
		}
	}
	return newTrie(m.pieces, ids, false)
}

func (m *Model) findWords() {
	m.words = map[string]int32{}
	if !m.byWord || m.unigram != nil {
		return
	}
	ws := new(workspace)
	for id := range m.kinds {
		piece := m.pieces.at(int32(id))
		word := []byte(piece)
		if m.kinds[id] != normalPiece || !bytes.HasPrefix(word, []byte(space)) {
			continue
		}
		if nodes := m.merges.merge(ws, word); len(nodes) == 1 && nodes[0].symbol == symbol(id) {
			m.words[piece] = int32(id)
		}
	}
}

// Size returns the number of pieces. Ids are 0 to Size()-1.
func (m *Model) Size() int { return len(m.kinds) }

// Piece returns the text of piece id, or "" if there is none.
func (m *Model) Piece(id int32) string {
	if id < 0 || int(id) >= m.Size() {
		return ""
	}
	return m.pieces.at(id)
}

// IDs returns the ids of all pieces.
func (m *Model) IDs() map[string]int64 {
	ids := make(map[string]int64, m.Size())
	for id := range int32(m.Size()) {
		ids[m.Piece(id)] = int64(id)
	}
	return ids
}

// ID returns the id of a piece.
func (m *Model) ID(piece string) (id int32, ok bool) {
	if id, ok = m.ids[piece]; ok || m.unigram == nil {
		return id, ok
	}
	return m.unigram.find(m, piece)
}

// Unknown returns the id of the piece for unknown characters.
func (m *Model) Unknown() int32 { return m.unknown }

// AppendNormalized appends text to dst in the form that [Model.AppendTokens] expects.
func (m *Model) AppendNormalized(dst []byte, text string) []byte {
	return m.normalizer.append(dst, text)
}

// Token is a piece of a normalized text, a run of unknown characters in it or, with byte
// fallback, a byte of such a character.
type Token struct {
	ID         int32 // of the piece, or Model.Unknown()
	Start, End int   // bytes of the normalized text
}

// AppendTokens appends the tokens of a normalized text, below 2 GB, to dst. They
// cover it from end to end.
func (m *Model) AppendTokens(dst []Token, normalized []byte) []Token {
	ws := m.workspaces.Get().(*workspace)
	defer m.release(ws)
	if m.unigram != nil {
		return m.unigram.appendTokens(m, dst, ws, normalized)
	}
	first := len(dst)
	for at := 0; at < len(normalized); {
		word := normalized[at:]
		if m.byWord {
			word = word[:wordLength(word)]
		}
		if id, ok := m.words[string(word)]; ok {
			dst = append(dst, Token{id, at, at + len(word)})
		} else {
			dst = m.appendMerged(dst, first, m.merges.merge(ws, word), normalized, at)
		}
		at += len(word)
	}
	return dst
}

// appendMerged appends the tokens of the word at normalized[at:], given its merged symbols.
func (m *Model) appendMerged(dst []Token, first int, nodes []node, normalized []byte, at int) []Token {
	for _, n := range nodes {
		if n.symbol >= 0 && n.symbol < m.merges.pieces {
			end := at + len(m.pieces.at(n.symbol))
			dst = append(dst, Token{n.symbol, at, end})
			at = end
			continue
		}
		_, size := utf8.DecodeRune(normalized[at:])
		dst = m.appendUnknown(dst, first, normalized, at, at+size)
		at += size
	}
	return dst
}

// appendUnknown appends an unknown character: its bytes if they are pieces, otherwise a token, which is merged with a preceding
// unknown token in dst[first:].
func (m *Model) appendUnknown(dst []Token, first int, normalized []byte, start, end int) []Token {
	if m.bytes != nil {
		for at := start; at < end; at++ {
			dst = append(dst, Token{m.bytes[normalized[at]], at, at + 1})
		}
		return dst
	}
	if last := len(dst) - 1; last >= first && dst[last].ID == m.unknown {
		dst[last].End = end
		return dst
	}
	return append(dst, Token{m.unknown, start, end})
}

// release keeps a workspace for the next text, unless a huge word made it huge.
func (m *Model) release(ws *workspace) {
	if cap(ws.nodes) <= maxKeptNodes && cap(ws.steps) <= maxKeptNodes {
		m.workspaces.Put(ws)
	}
}

// wordLength returns the length in bytes of the first word of a normalized text, which extends to the next "▁" after its first
// character.
func wordLength(s []byte) int {
	_, own := utf8.DecodeRune(s)
	if next := bytes.Index(s[own:], []byte(space)); next >= 0 {
		return own + next
	}
	return len(s)
}

// Encode splits text into pieces like spm_encode. A run of unknown characters is returned as it is in the normalized text, a byte
// as the byte's piece.
func (m *Model) Encode(text string) []string {
	normalized := m.AppendNormalized(nil, text)
	tokens := m.AppendTokens(nil, normalized)
	pieces := make([]string, len(tokens))
	for i, t := range tokens {
		if m.kinds[t.ID] == bytePiece {
			pieces[i] = m.pieces.at(t.ID)
		} else {
			pieces[i] = string(normalized[t.Start:t.End])
		}
	}
	return pieces
}
