package spm

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// trie finds byte strings that begin a text, and a number for each of them. It is a double array in the layout of darts-clone, as
// in model files. The zero trie is empty.
type trie []unit

// unit is a node of the trie. Its children are at (own base) XOR (key byte), where the base is the node's index XOR its offset; a
// child exists if its label is that key byte. If a key ends at the node, the unit at the base itself is a leaf with the key's
// value.
type unit uint32

// In the trie of a model's pieces, a unit that leads to a single key is a tail: the rest of that key is read from the piece's
// text. The tail has the number of the piece in the bits above its label; the label is 0 if the key is a prefix of others.
const tailBits = 8

func tailOf(label byte, id int32) unit { return 1<<31 | unit(id)<<tailBits | unit(label) }

// isTail reports whether the unit is a tail for key byte b; piece returns the number of its piece.
func (u unit) isTail(b byte) bool { return b != 0 && u&(1<<31|0xff) == 1<<31|unit(b) }
func (u unit) piece() int32       { return int32(u &^ (1 << 31) >> tailBits) }

// freeUnit is not a node: no byte is its label.
const freeUnit unit = 1 << 31

// label returns the key byte that leads to the unit. A leaf has the highest bit set, so its label equals no byte.
func (u unit) label() uint32  { return uint32(u) & (1<<31 | 0xff) }
func (u unit) hasLeaf() bool  { return u>>8&1 == 1 }
func (u unit) isLeaf() bool   { return u>>31 == 1 }
func (u unit) value() uint32  { return uint32(u) &^ (1 << 31) }
func (u unit) offset() uint32 { return uint32(u>>10) << (u & (1 << 9) >> 6) }

// walk descends the trie along s and calls visit for each key on the way, with its length in bytes and its leaf, until visit
// returns false. It returns the base of the node for all of s; ok is false if there is no such node or the walk ended early.
func (t trie) walk(s string, visit func(length int, leaf unit) bool) (base uint32, ok bool) {
	if len(t) == 0 {
		return 0, false
	}
	base = t[0].offset()
	for i := 0; i < len(s); i++ {
		var leaf unit
		if base, leaf, ok = t.child(base, s[i]); !ok {
			return 0, false
		}
		if leaf.isLeaf() && !visit(i+1, leaf) {
			return 0, false
		}
	}
	return base, true
}

// child goes from the node with the given base to its child for key byte b. It returns the child's base, its leaf if a key ends
// there and otherwise 0, and whether the child exists.
func (t trie) child(base uint32, b byte) (childBase uint32, leaf unit, ok bool) {
	at := base ^ uint32(b)
	if int(at) >= len(t) {
		return 0, 0, false
	}
	u := t[at]
	if u.label() != uint32(b) {
		return 0, 0, false
	}
	at ^= u.offset()
	if u.hasLeaf() && int(at) < len(t) {
		leaf = t[at]
	}
	return at, leaf, true
}

// prefix returns the length of the longest key that begins s, or 0, and its value.
func (t trie) prefix(s string) (length int, value uint32) {
	t.walk(s, func(n int, leaf unit) bool {
		length, value = n, leaf.value()
		return true
	})
	return length, value
}

// inert reports whether no key is a prefix of s, and none begins with s followed by a byte below limit. Before such a byte, or at
// the end of a text, no key then begins at s.
func (t trie) inert(s string, limit int) bool {
	free := true
	base, ok := t.walk(s, func(int, unit) bool {
		free = false
		return false
	})
	for b := 0; ok && b < limit; b++ {
		if _, _, found := t.child(base, byte(b)); found {
			return false
		}
	}
	return free
}

// newTrie returns the trie of the pieces with these ids, with tails or without. The values of the trie are the ids. newTrie sorts
// ids by their pieces. Pieces must not be empty or contain NUL. newTrie fails if two pieces are equal.
func newTrie(pieces texts, ids []int32, tails bool) (trie, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	slices.SortFunc(ids, func(a, b int32) int { return cmp.Or(strings.Compare(pieces.at(a), pieces.at(b)), cmp.Compare(a, b)) })
	for i, id := range ids[1:] {
		if pieces.at(ids[i]) == pieces.at(id) {
			return nil, samePieces(ids[i], id, pieces.at(id))
		}
	}
	b := trieBuilder{pieces: pieces, tails: tails}
	b.grow()
	b.used[0] = 1 // the root
	b.place(0, ids, 0)
	return slices.Clone(b.units), nil
}

// Room for children is searched among the last units only, as in darts-clone, because free units before them are hard to fill,
// and not worth the time.
const (
	blockUnits  = 256
	windowUnits = 4 * blockUnits
)

// trieBuilder builds a trie from its root down, depth first.
type trieBuilder struct {
	pieces texts
	tails  bool
	units  trie
	used   []uint64 // a bit for each unit that is a node or a leaf
	bases  []uint64 // a bit for each unit that is the base of a node
	labels []byte   // of the current node
}

func (b *trieBuilder) grow() {
	b.units = append(b.units, slices.Repeat(trie{freeUnit}, blockUnits)...)
	b.used = append(b.used, make([]uint64, blockUnits/64)...)
	b.bases = append(b.bases, make([]uint64, blockUnits/64)...)
}

// place finds room for the children of a node. ids are the pieces that lead through the node; they share their first depth bytes.
func (b *trieBuilder) place(node uint32, ids []int32, depth int) {
	b.labels = b.labels[:0]
	leaf := len(b.pieces.at(ids[0])) == depth
	if leaf {
		b.labels = append(b.labels, 0)
	}
	for i := 0; i < len(ids); i++ {
		if text := b.pieces.at(ids[i]); len(text) > depth && (len(b.labels) == 0 || text[depth] != b.labels[len(b.labels)-1]) {
			b.labels = append(b.labels, text[depth])
		}
	}
	base := b.findBase(node)
	b.bases[base/64] |= 1 << (base % 64)
	for _, label := range b.labels {
		child := base ^ uint32(label)
		b.used[child/64] |= 1 << (child % 64)
		b.units[child] = unit(label)
	}
	b.units[node] = b.units[node]&0xff | offsetBits(node^base)
	if leaf {
		b.units[node] |= 1 << 8
		if b.units[base] = 1<<31 | unit(ids[0]); b.tails {
			b.units[base] = tailOf(0, ids[0])
		}
		ids = ids[1:]
	}
	for len(ids) > 0 {
		label, n := b.pieces.at(ids[0])[depth], 1
		for n < len(ids) && b.pieces.at(ids[n])[depth] == label {
			n++
		}
		if b.tails && n == 1 {
			b.units[base^uint32(label)] = tailOf(label, ids[0])
		} else {
			b.place(base^uint32(label), ids[:n], depth+1)
		}
		ids = ids[n:]
	}
}

// findBase returns a base at which all labels are free. Bases are unique, so that a label identifies its parent.
func (b *trieBuilder) findBase(node uint32) uint32 {
	for word := max(0, len(b.units)-windowUnits) / 64; word < len(b.used); word++ {
		for free := ^b.used[word]; free != 0; free &= free - 1 {
			at := uint32(64*word + bits.TrailingZeros64(free))
			base := at ^ uint32(b.labels[0])
			if offset := node ^ base; (offset < 1<<21 || offset%blockUnits == 0) && b.fits(base) {
				return base
			}
		}
	}
	base := uint32(len(b.units)) | node%blockUnits // a far offset must be a multiple of blocks
	b.grow()
	return base
}

func (b *trieBuilder) fits(base uint32) bool {
	if b.bases[base/64]>>(base%64)&1 == 1 {
		return false
	}
	for _, label := range b.labels {
		if at := base ^ uint32(label); b.used[at/64]>>(at%64)&1 == 1 {
			return false
		}
	}
	return true
}

// offsetBits returns the encoded offset of a unit: in 21 bits, or in blocks of 256.
func offsetBits(offset uint32) unit {
	if offset < 1<<21 {
		return unit(offset << 10)
	}
	return unit(offset<<2 | 1<<9)
}
