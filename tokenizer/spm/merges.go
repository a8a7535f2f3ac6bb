package spm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// symbol is the unit of merging: a piece, by its id, or a character that is not a piece but occurs in one, by a number above all
// piece ids. noSymbol is a character that occurs in no piece.
type symbol = int32

const noSymbol symbol = -1

// symbolBits limits the number of symbols, so that a merge of three symbols fits into one word of the table.
const symbolBits = 21

// noRank is the rank of a pair that does not merge: greater than all other ranks.
const noRank = 1<<31 - 1

// merges tells which characters are symbols and which pairs of symbols merge.
//
// SentencePiece concatenates the text of two neighbours and looks the result up among the pieces. Here that lookup is done once,
// at load, for every way to cut every piece in two; text is then merged by symbol numbers alone.
type merges struct {
	pieces int32           // symbols below this number are piece ids
	bmp    []symbol        // of each character below 1<<16
	astral map[rune]symbol // of the other characters
	pairs  pairTable       // from pairs to the numbers of their merges
	// ranks, ranks order the merges, by number: the best merge has rank 0. If a merge is numbered by its piece, equal scores have
	// equal ranks.
	ranks []int32
	// results has the resulting piece of each merge, by number. If results is nil, the number of a merge is its piece.
	results []symbol
}

// noMerges returns a table without symbols, for a number of pieces.
func noMerges(pieces int) *merges {
	return &merges{pieces: int32(pieces), bmp: slices.Repeat([]symbol{noSymbol}, 1<<16), astral: map[rune]symbol{}}
}

// newMerges builds the tables of pieces, which have these ids. Only normal pieces take part, because no text spells a control or
// unknown piece.
func newMerges(pieces []pieceProto, ids map[string]symbol) (*merges, error) {
	m := noMerges(len(pieces))
	var normal []symbol
	for id, p := range pieces {
		if p.kind != normalPiece {
			continue
		}
		normal = append(normal, symbol(id))
		if r, size := utf8.DecodeRuneInString(p.text); size == len(p.text) {
			m.setSymbol(r, symbol(id))
		}
	}
	if err := m.addCharacters(pieces, normal); err != nil {
		return nil, err
	}
	m.rank(pieces, normal)
	m.addPairs(pieces, normal, ids)
	return m, nil
}

// addCharacters numbers the characters that occur only inside pieces.
func (m *merges) addCharacters(pieces []pieceProto, normal []symbol) error {
	next := m.pieces
	for _, id := range normal {
		for _, r := range pieces[id].text {
			if m.symbolOf(r) == noSymbol {
				m.setSymbol(r, next)
				next++
			}
		}
	}
	if next >= 1<<symbolBits {
		return fmt.Errorf("%d pieces and characters, at most %d are supported", next, 1<<symbolBits-1)
	}
	return nil
}

func (m *merges) rank(pieces []pieceProto, normal []symbol) {
	byScore := slices.Clone(normal)
	slices.SortFunc(byScore, func(a, b symbol) int { return cmp.Compare(pieces[b].score, pieces[a].score) })
	m.ranks = make([]int32, len(pieces))
	for i, id := range byScore {
		m.ranks[id] = int32(i)
		if i > 0 && pieces[id].score == pieces[byScore[i-1]].score {
			m.ranks[id] = m.ranks[byScore[i-1]]
		}
	}
}

// addPairs finds the merges: every cut of every piece into two symbols.
func (m *merges) addPairs(pieces []pieceProto, normal []symbol, ids map[string]symbol) {
	spelled := func(text string) symbol {
		if id, ok := ids[text]; ok && pieces[id].kind == normalPiece {
			return id
		}
		if r, size := utf8.DecodeRuneInString(text); size == len(text) {
			return m.symbolOf(r)
		}
		return noSymbol
	}
	found := make([]uint64, 0, 2*len(normal))
	for _, id := range normal {
		text := pieces[id].text
		for cut := range text {
			if cut == 0 {
				continue
			}
			left := spelled(text[:cut])
			if left == noSymbol {
				continue
			}
			if right := spelled(text[cut:]); right != noSymbol {
				found = append(found, newSlot(left, right, id))
			}
		}
	}
	m.pairs = newPairTable(found)
}

func (m *merges) setSymbol(r rune, s symbol) {
	if r < 1<<16 {
		m.bmp[r] = s
	} else {
		m.astral[r] = s
	}
}

func (m *merges) symbolOf(r rune) symbol {
	if r < 1<<16 {
		return m.bmp[r]
	}
	if s, ok := m.astral[r]; ok {
		return s
	}
	return noSymbol
}

// pair returns the number and rank of the merge of two neighbours, or noRank.
func (m *merges) pair(left, right symbol) (rank, number int32) {
	if left < 0 || right < 0 {
		return noRank, noSymbol
	}
	if number = m.pairs.find(left, right); number == noSymbol {
		return noRank, noSymbol
	}
	return m.ranks[number], number
}

// result returns the piece that a merge gives.
func (m *merges) result(number int32) symbol {
	if m.results == nil {
		return number
	}
	return m.results[number]
}

// spansWords reports whether a piece has a space after its first character. If no piece has one, no merge crosses a "▁", and
// words can be merged one by one.
func spansWords(pieces []pieceProto) bool {
	return slices.ContainsFunc(pieces, func(p pieceProto) bool {
		return p.kind == normalPiece && strings.LastIndex(p.text, space) > 0
	})
}

// pairTable is a hash table from two symbols to the number of their merge, with open addressing and at most half full. A slot is
// 0 or a pair's key and the number of the pair's merge: 1<<63 | left<<42 | right<<21 | number.
type pairTable struct {
	slots []uint64
	mask  uint64
}

func newPairTable(entries []uint64) pairTable {
	size := 1
	for size < 2*len(entries)+1 {
		size *= 2
	}
	t := pairTable{slots: make([]uint64, size), mask: uint64(size - 1)}
	for _, e := range entries {
		at := t.start(e >> symbolBits)
		for t.slots[at] != 0 {
			at = (at + 1) & t.mask
		}
		t.slots[at] = e
	}
	return t
}

func (t *pairTable) find(left, right symbol) int32 {
	key := pairKey(left, right)
	for at := t.start(key); ; at = (at + 1) & t.mask {
		switch slot := t.slots[at]; {
		case slot == 0:
			return noSymbol
		case slot>>symbolBits == key:
			return int32(slot & (1<<symbolBits - 1))
		}
	}
}

// start returns the first slot to probe: Fibonacci hashing, middle bits.
func (t *pairTable) start(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> 20 & t.mask }

func newSlot(left, right symbol, number int32) uint64 {
	return pairKey(left, right)<<symbolBits | uint64(number)
}

func pairKey(left, right symbol) uint64 {
	return 1<<(2*symbolBits) | uint64(left)<<symbolBits | uint64(right)
}
