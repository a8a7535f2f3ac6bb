package spm

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"
	"weak"
)

// maxReplacement is the maximum length of a rule's replacement, in bytes. The longest of nmt_nfkc has 33 (U+FDFA, a phrase of 18
// letters).
const maxReplacement = 256

// charsmap holds the rewriting rules of a model: byte strings and their replacements. The zero charsmap has no rule.
//
// In the model file a charsmap is a length, a double-array trie in the layout of darts-clone, and a block of replacements, each
// ended by NUL. The trie's values are offsets into that block.
type charsmap struct {
	trie
	replacements string
}

// charsmaps are the rules of models in memory, by the hash of their bytes: nearly all models have the rules of nmt_nfkc, a
// quarter of a megabyte.
var charsmaps sync.Map // [sha256.Size]byte → weak.Pointer[charsmap]

// sharedCharsmap is parseCharsmap, but shares equal rules between models.
func sharedCharsmap(raw []byte) (*charsmap, error) {
	key := sha256.Sum256(raw)
	if known, ok := charsmaps.Load(key); ok {
		if c := known.(weak.Pointer[charsmap]).Value(); c != nil {
			return c, nil
		}
	}
	rules, err := parseCharsmap(raw)
	if err != nil {
		return nil, err
	}
	c := &rules
	w := weak.Make(c)
	charsmaps.Store(key, w)
	runtime.AddCleanup(c, func(key [sha256.Size]byte) { charsmaps.CompareAndDelete(key, w) }, key)
	return c, nil
}

// parseCharsmap parses the precompiled_charsmap of a model; an empty map has no rule. It checks that every leaf points into the
// block of replacements; lookups check the bounds of the trie itself.
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
	c := charsmap{trie: make(trie, size/4), replacements: string(body[size:])}
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

// next returns what the start of s, which is not empty, becomes: the longest rule's text, or else one character. length is the number
// of bytes of s used, at least 1.
func (c *charsmap) next(s string) (out string, length int) {
	if length, value := c.prefix(s); length > 0 {
		return c.replacement(value), length
	}
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size == 1 {
		return replacementChar, 1
	}
	return s[:size], size
}

// replacement returns the replacement of the rule with this value.
func (c *charsmap) replacement(value uint32) string {
	text, _, _ := strings.Cut(c.replacements[value:], "\x00")
	return text
}
