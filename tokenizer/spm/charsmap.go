package spm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxReplacement bounds how much one rule can lengthen a text, in bytes. The
// longest of nmt_nfkc has 33 (U+FDFA, a phrase of 18 letters).
const maxReplacement = 256

// charsmap holds the rewriting rules of a model: byte strings and what replaces
// them. The zero charsmap has no rule.
//
// In the model file it is a length, a double-array trie in the layout of
// darts-clone, and a block of replacements, each ended by NUL. The trie's values
// are offsets into that block.
type charsmap struct {
	trie         []unit
	replacements string
}

// unit is a node of the trie. Its children lie at (own base) XOR (key byte),
// where the base is the node's index XOR its offset; a child is there if its
// label is that key byte. Where a rule ends at the node, the unit at the base
// itself is a leaf that holds the rule's value.
type unit uint32

// label is the key byte that leads to the unit. A leaf has the highest bit set,
// so its label equals no byte.
func (u unit) label() uint32  { return uint32(u) & (1<<31 | 0xff) }
func (u unit) hasLeaf() bool  { return u>>8&1 == 1 }
func (u unit) isLeaf() bool   { return u>>31 == 1 }
func (u unit) value() uint32  { return uint32(u) &^ (1 << 31) }
func (u unit) offset() uint32 { return uint32(u>>10) << (u & (1 << 9) >> 6) }

// parseCharsmap reads the precompiled_charsmap of a model; an empty one has no
// rule. Every leaf is checked to point into the block of replacements, and
// lookups check the bounds of the trie itself.
func parseCharsmap(raw []byte) (charsmap, error) {
	if len(raw) == 0 {
		return charsmap{}, nil
	}
	if len(raw) < 4 {
		return charsmap{}, fmt.Errorf("character map has %d bytes, expected at least 4", len(raw))
	}
	size, body := binary.LittleEndian.Uint32(raw), raw[4:]
	if uint64(size) >= uint64(len(body)) || size%4 != 0 || size == 0 {
		return charsmap{}, fmt.Errorf("character map of %d bytes says that its trie has %d", len(raw), size)
	}
	c := charsmap{trie: make([]unit, size/4), replacements: string(body[size:])}
	for i := range c.trie {
		c.trie[i] = unit(binary.LittleEndian.Uint32(body[4*i:]))
		if u := c.trie[i]; u.isLeaf() && int(u.value()) >= len(c.replacements) {
			return charsmap{}, fmt.Errorf("character map: unit %d points to byte %d of %d bytes of replacements",
				i, u.value(), len(c.replacements))
		}
	}
	return c, c.checkReplacements()
}

func (c *charsmap) checkReplacements() error {
	if !utf8.ValidString(c.replacements) {
		return errors.New("character map: replacements are not UTF-8")
	}
	for text := range strings.SplitSeq(c.replacements, "\x00") {
		if len(text) > maxReplacement {
			return fmt.Errorf("character map: a replacement has %d bytes, at most %d are supported",
				len(text), maxReplacement)
		}
	}
	return nil
}

// longest finds the longest rule that matches at the head of s: how many bytes
// it covers, 0 where none matches, and what replaces them.
func (c *charsmap) longest(s string) (length int, replacement string) {
	var last unit
	c.walk(s, func(n int, leaf unit) bool {
		length, last = n, leaf
		return true
	})
	if length == 0 {
		return 0, ""
	}
	return length, c.replacement(last)
}

// shortest finds the replacement of the shortest rule that matches at the head of s.
func (c *charsmap) shortest(s string) (replacement string, ok bool) {
	c.walk(s, func(_ int, leaf unit) bool {
		replacement, ok = c.replacement(leaf), true
		return false
	})
	return replacement, ok
}

// walk goes down the trie along s and calls visit for each rule on the way, with its
// length in bytes and its leaf, until that returns false. It returns the base of the
// node for all of s; ok is false where there is none or it did not get there.
func (c *charsmap) walk(s string, visit func(length int, leaf unit) bool) (base uint32, ok bool) {
	if len(c.trie) == 0 {
		return 0, false
	}
	base = c.trie[0].offset()
	for i := 0; i < len(s); i++ {
		var leaf unit
		if base, leaf, ok = c.child(base, s[i]); !ok {
			return 0, false
		}
		if leaf.isLeaf() && !visit(i+1, leaf) {
			return 0, false
		}
	}
	return base, true
}

// replacement is the text of a rule.
func (c *charsmap) replacement(leaf unit) string {
	text, _, _ := strings.Cut(c.replacements[leaf.value():], "\x00")
	return text
}

// child goes from the node with the given base to its child for key byte b. It
// returns the child's base, its leaf where a rule ends there and else 0, and
// whether there is such a child.
func (c *charsmap) child(base uint32, b byte) (childBase uint32, leaf unit, ok bool) {
	at := base ^ uint32(b)
	if int(at) >= len(c.trie) {
		return 0, 0, false
	}
	u := c.trie[at]
	if u.label() != uint32(b) {
		return 0, 0, false
	}
	at ^= u.offset()
	if u.hasLeaf() && int(at) < len(c.trie) {
		leaf = c.trie[at]
	}
	return at, leaf, true
}

// inert says that no rule is a head of key, and none begins with key followed
// by a byte below limit. Where such a key stands before such a byte, or at the
// end of a text, it stays as it is.
func (c *charsmap) inert(key string, limit int) bool {
	free := true
	base, ok := c.walk(key, func(int, unit) bool {
		free = false
		return false
	})
	for b := 0; ok && b < limit; b++ {
		if _, _, found := c.child(base, byte(b)); found {
			return false
		}
	}
	return free
}
