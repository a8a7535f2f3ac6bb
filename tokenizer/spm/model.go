package spm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"unicode/utf8"
)

// maxFileBytes bounds the size of a model file.
const maxFileBytes = 16 << 20

// maxKeptNodes is the largest workspace kept between texts: some 3 MB.
const maxKeptNodes = 1 << 16

// ErrUnsupported means that a model file is sound, as far as it was read, but of
// a kind that this package does not implement.
var ErrUnsupported = errors.New("unsupported SentencePiece model")

// Model is a SentencePiece BPE model. It is immutable and safe for concurrent
// use.
type Model struct {
	normalizer textNormalizer
	merges     *merges

	pieces         []string         // by id
	kinds          []int32          // likewise: normalPiece, unknownPiece or controlPiece
	ids            map[string]int32 // of all pieces
	unknown        int32
	unknownSurface string
	trim           trimming

	byWord bool // no merge crosses a space, see spansWords
	// words are the pieces that begin with a space and that merging gives for
	// their own text. Where byWord holds, one lookup does a whole word.
	words map[string]int32

	workspaces sync.Pool // of *workspace
}

// textNormalizer rewrites text into the form that the pieces are spelled in.
type textNormalizer interface {
	append(dst []byte, text string) []byte
}

// trimming is how many spaces are cut off the head of what was decoded.
type trimming int

const (
	trimNone trimming = iota
	trimOne           // of the first piece that has one
	trimAll           // of each piece before there is text
)

// Open reads the model file at path.
func Open(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	file, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	m, err := Parse(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Parse reads a model from the contents of its file, which it does not keep. It
// fails with ErrUnsupported for the kinds of models named in the package
// documentation, and with an error that says where for damaged files.
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
	if err := m.addPieces(proto.pieces); err != nil {
		return nil, err
	}
	n, err := newNormalizer(proto.normalizer, proto.trainer.whitespaceAsSuffix)
	if err != nil {
		return nil, err
	}
	m.normalizer = n
	if n.removeExtraSpaces {
		m.trim = trimAll
	} else if n.addDummyPrefix {
		m.trim = trimOne
	}
	if m.merges, err = newMerges(proto.pieces, m.ids); err != nil {
		return nil, err
	}
	m.findWords()
	return m, nil
}

func (p *modelProto) checkSupported() error {
	if len(p.pieces) == 0 {
		return errors.New("not a SentencePiece model: it has no pieces")
	}
	if p.trainer.modelType != bpeModel {
		return fmt.Errorf("%w: type %d, only BPE (type %d) is implemented", ErrUnsupported, p.trainer.modelType, bpeModel)
	}
	if p.trainer.byteFallback {
		return fmt.Errorf("%w: byte fallback", ErrUnsupported)
	}
	if len(p.denormalizer.charsmap) > 0 {
		return fmt.Errorf("%w: denormalization rules", ErrUnsupported)
	}
	for id, piece := range p.pieces {
		switch piece.kind {
		case normalPiece, unknownPiece, controlPiece:
		case userPiece, unusedPiece, bytePiece:
			return fmt.Errorf("%w: piece %d, %q, is user-defined, unused or a byte (type %d)",
				ErrUnsupported, id, piece.text, piece.kind)
		default:
			return fmt.Errorf("%w: piece %d, %q, has type %d", ErrUnsupported, id, piece.text, piece.kind)
		}
	}
	return nil
}

func (m *Model) addPieces(pieces []pieceProto) error {
	m.unknown = -1
	m.ids = make(map[string]int32, len(pieces))
	m.pieces, m.kinds = make([]string, 0, len(pieces)), make([]int32, 0, len(pieces))
	for i, p := range pieces {
		id := int32(i)
		if first, ok := m.ids[p.text]; ok {
			return fmt.Errorf("SentencePiece model: pieces %d and %d are both %q", first, id, p.text)
		}
		if p.kind == unknownPiece {
			if m.unknown >= 0 {
				return fmt.Errorf("SentencePiece model: pieces %d and %d are both the unknown piece", m.unknown, id)
			}
			m.unknown = id
		}
		m.ids[p.text] = id
		m.pieces = append(m.pieces, p.text)
		m.kinds = append(m.kinds, p.kind)
	}
	if m.unknown < 0 {
		return errors.New("SentencePiece model: none of the pieces is the unknown piece")
	}
	return nil
}

func (m *Model) findWords() {
	m.words = map[string]int32{}
	if !m.byWord {
		return
	}
	ws := new(workspace)
	for id, piece := range m.pieces {
		word := []byte(piece)
		if m.kinds[id] != normalPiece || !bytes.HasPrefix(word, []byte(space)) {
			continue
		}
		if nodes := m.merges.merge(ws, word); len(nodes) == 1 && nodes[0].symbol == symbol(id) {
			m.words[piece] = int32(id)
		}
	}
}

// Size is the number of pieces. Ids are 0 to Size()-1.
func (m *Model) Size() int { return len(m.pieces) }

// Piece returns the text of piece id, "" where there is none.
func (m *Model) Piece(id int32) string {
	if id < 0 || int(id) >= len(m.pieces) {
		return ""
	}
	return m.pieces[id]
}

// Unknown is the id of the piece that stands for unknown characters.
func (m *Model) Unknown() int32 { return m.unknown }

// AppendNormalized appends text to dst as [Model.AppendTokens] wants it.
func (m *Model) AppendNormalized(dst []byte, text string) []byte {
	return m.normalizer.append(dst, text)
}

// Token is a piece of a normalized text, or a run of unknown characters in it.
type Token struct {
	ID         int32 // of the piece, or Model.Unknown()
	Start, End int   // bytes of the normalized text
}

// AppendTokens appends the tokens of a normalized text, below 2 GB, to dst. They
// cover it from end to end.
func (m *Model) AppendTokens(dst []Token, normalized []byte) []Token {
	ws := m.workspaces.Get().(*workspace)
	defer m.release(ws)
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

// appendMerged appends the tokens of the word at normalized[at:], given what its
// characters merged to. Unknown characters join an unknown token right before
// them, if that is one of dst[first:].
func (m *Model) appendMerged(dst []Token, first int, nodes []node, normalized []byte, at int) []Token {
	for _, n := range nodes {
		if n.symbol >= 0 && n.symbol < m.merges.pieces {
			end := at + len(m.pieces[n.symbol])
			dst = append(dst, Token{n.symbol, at, end})
			at = end
			continue
		}
		_, size := utf8.DecodeRune(normalized[at:])
		if last := len(dst) - 1; last >= first && dst[last].ID == m.unknown {
			dst[last].End += size
		} else {
			dst = append(dst, Token{m.unknown, at, at + size})
		}
		at += size
	}
	return dst
}

// release keeps a workspace for the next text, unless a huge word made it huge.
func (m *Model) release(ws *workspace) {
	if cap(ws.nodes) <= maxKeptNodes {
		m.workspaces.Put(ws)
	}
}

// wordLength is the length in bytes of the first word of a normalized text,
// which reaches to the next "▁" that is not its own first character.
func wordLength(s []byte) int {
	_, own := utf8.DecodeRune(s)
	if next := bytes.Index(s[own:], []byte(space)); next >= 0 {
		return own + next
	}
	return len(s)
}

// Encode splits text into pieces as spm_encode does. A run of unknown characters
// is given as it stands in the normalized text.
func (m *Model) Encode(text string) []string {
	normalized := m.AppendNormalized(nil, text)
	tokens := m.AppendTokens(nil, normalized)
	pieces := make([]string, len(tokens))
	for i, t := range tokens {
		pieces[i] = string(normalized[t.Start:t.End])
	}
	return pieces
}
