package spm

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"
)

// unknownPenalty is the difference between the scores of the worst piece and of an unknown character.
const unknownPenalty = 10

// maxScore limits the score of a path, because a larger sum would lose its lower bits. When the limit is passed, all scores
// restart at 0 from the position reached.
const maxScore = 100_000

// unigram splits a text into the pieces whose scores have the highest sum.
//
// A piece's score is the logarithm of its probability. The best path to a position in the text consists of the best path to the
// start of its last piece, and that piece; one pass from left to right therefore finds the best paths to all positions (Viterbi's
// algorithm). As in SentencePiece's EncodeOptimized, sums are float32 and the first found of two equal paths is kept.
type unigram struct {
	trie    trie      // with tails
	scores  []float32 // by id of a piece
	unknown float32   // the score of an unknown character
}

// step is the last piece of the best path to a position in the text.
type step struct {
	score float32 // score of the whole path
	from  int32   // start of the piece; -1 if there is no path yet
	id    int32
}

// newUnigram builds the tables of pieces. Pieces that no text is split into are in m.ids.
func newUnigram(m *Model, pieces []pieceProto) (u *unigram, err error) {
	u = &unigram{scores: make([]float32, len(pieces))}
	var ids []int32
	worst := float32(math.MaxFloat32)
	for id, p := range pieces {
		if math.IsInf(float64(p.score), 0) {
			return nil, fmt.Errorf("SentencePiece model: piece %d, %q, has the score %v", id, p.text, p.score)
		}
		u.scores[id] = p.score
		switch m.kinds[id] {
		case normalPiece:
			worst = min(worst, p.score)
		case userPiece: // better than any way to split the piece's text
			u.scores[id] = float32(0.1 * float64(len(p.text)-1))
		default:
			continue
		}
		if other, ok := m.ids[p.text]; ok {
			return nil, samePieces(other, int32(id), p.text)
		}
		if strings.Contains(p.text, "\x00") {
			return nil, fmt.Errorf("SentencePiece model: piece %d, %q, has the character NUL", id, p.text)
		}
		ids = append(ids, int32(id))
	}
	if len(ids) == 0 {
		return nil, errors.New("SentencePiece model: no piece is one that a text can have")
	}
	u.unknown = worst - unknownPenalty
	u.trie, err = newTrie(m.pieces, ids, true)
	return u, err
}

// appendTokens appends the tokens of a normalized text to dst.
//
// steps are the steps to the positions from cut on. If no piece extends beyond a position, all paths pass through it: the path
// before it is final and leaves memory. A text thereby takes only the memory of its longest stretch without such a position,
// usually a word.
func (u *unigram) appendTokens(m *Model, dst []Token, ws *workspace, text []byte) []Token {
	first, cut := len(dst), 0
	steps := append(ws.steps[:0], step{})
	for at := 0; at < len(text); {
		if at-cut == len(steps)-1 && at > 0 {
			dst = m.appendPath(dst, first, steps, text, cut)
			steps = append(steps[:0], step{score: steps[at-cut].score})
			cut = at
		}
		if score := steps[at-cut].score; score < -maxScore || score > maxScore {
			for i := at - cut; i < len(steps); i++ {
				steps[i].score -= score
			}
		}
		size := min(characterSize(text[at]), len(text)-at)
		steps = u.extend(m, steps, at-cut, text[at:], size)
		at += size
	}
	if len(text) > 0 {
		dst = m.appendPath(dst, first, steps, text, cut)
	}
	ws.steps = steps
	return dst
}

// extend extends the path to position from by each piece that begins text, and by an unknown character of size bytes if no piece
// is a single character.
func (u *unigram) extend(m *Model, steps []step, from int, text []byte, size int) []step {
	single, here, base := false, steps[from].score, u.trie[0].offset()
	for i, b := range text {
		at := base ^ uint32(b)
		if int(at) >= len(u.trie) {
			break
		}
		node := u.trie[at]
		if node.isTail(b) {
			id := node.piece()
			if rest := m.pieces.at(id)[i+1:]; len(rest) < len(text)-i && string(text[i+1:][:len(rest)]) == rest {
				n := i + 1 + len(rest)
				single = single || n == size
				steps = improve(steps, from+n, step{here + u.scores[id], int32(from), id})
			}
			break
		}
		if node.label() != uint32(b) {
			break
		}
		base = at ^ node.offset()
		if !node.hasLeaf() {
			continue
		}
		id := u.trie[base].piece()
		single = single || i+1 == size
		steps = improve(steps, from+i+1, step{here + u.scores[id], int32(from), id})
	}
	if !single {
		steps = improve(steps, from+size, step{here + u.unknown, int32(from), unknownID})
	}
	return steps
}

// find returns the id of a piece.
func (u *unigram) find(m *Model, text string) (id int32, ok bool) {
	base := u.trie[0].offset()
	for i := range len(text) {
		at := base ^ uint32(text[i])
		if int(at) >= len(u.trie) {
			return 0, false
		}
		node := u.trie[at]
		if node.isTail(text[i]) {
			return node.piece(), m.pieces.at(node.piece()) == text
		}
		if node.label() != uint32(text[i]) {
			return 0, false
		}
		if base = at ^ node.offset(); i+1 == len(text) && node.hasLeaf() {
			return u.trie[base].piece(), true
		}
	}
	return 0, false
}

// improve replaces the path to a position by a better one.
func improve(steps []step, place int, s step) []step {
	for len(steps) <= place {
		steps = append(steps, step{from: -1})
	}
	if known := &steps[place]; known.from < 0 || s.score > known.score {
		*known = s
	}
	return steps
}

// unknownID stands for the unknown piece in a path.
const unknownID = -1

// appendPath appends the tokens of the path to the last position of steps; the steps begin at text[cut:]. It reverses the path in
// place.
func (m *Model) appendPath(dst []Token, first int, steps []step, text []byte, cut int) []Token {
	place, next := int32(len(steps)-1), int32(-1)
	for place > 0 {
		from := steps[place].from
		steps[place].from = next
		place, next = from, place
	}
	for from := 0; next >= 0; next = steps[next].from {
		start, end := cut+from, cut+int(next)
		if id := steps[next].id; id == unknownID {
			dst = m.appendUnknown(dst, first, text, start, end)
		} else {
			dst = append(dst, Token{id, start, end})
		}
		from = int(next)
	}
	return dst
}

// characterSize is the length in bytes of the character that begins with b.
func characterSize(b byte) int { return max(1, min(4, bits.LeadingZeros8(^b))) }
