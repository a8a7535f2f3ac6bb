package spm

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// space represents a space in normalized text and in pieces: U+2581.
const space = "\u2581"

const replacementChar = "\ufffd"

// normalizer rewrites text into the spelling of pieces.
type normalizer struct {
	rules *charsmap
	kept  trie // trie of the user-defined pieces, which are kept

	addDummyPrefix     bool   // put a space in front (at the end, with whitespaceAsSuffix)
	removeExtraSpaces  bool   // drop spaces at both ends, reduce runs of spaces to one
	whitespaceAsSuffix bool   // pieces end, not begin, with their space
	space              string // replacement of a space: "▁", or " " if a model does not escape spaces

	// Most characters are in no rule. These two tables find such characters without a walk through the tries. The tables are
	// exact, not heuristics: see trie.inert.
	plainASCII [utf8.RuneSelf]bool // characters that stay unchanged before another ASCII byte or the end
	plainBMP   [1 << 16 / 8]byte   // one bit per character: stays unchanged whatever follows
}

func newNormalizer(p normalizerProto, whitespaceAsSuffix bool, kept trie) (*normalizer, error) {
	rules, err := sharedCharsmap(p.charsmap)
	if err != nil {
		return nil, err
	}
	n := &normalizer{
		rules:              rules,
		kept:               kept,
		addDummyPrefix:     p.addDummyPrefix,
		removeExtraSpaces:  p.removeExtraSpaces,
		whitespaceAsSuffix: whitespaceAsSuffix,
		space:              " ",
	}
	if p.escapeSpaces {
		n.space = space
	}
	for c := range n.plainASCII {
		n.plainASCII[c] = c != ' ' && rules.inert(string(rune(c)), utf8.RuneSelf) && kept.inert(string(rune(c)), utf8.RuneSelf)
	}
	for r := rune(utf8.RuneSelf); r < 1<<16; r++ {
		if utf8.ValidRune(r) && rules.inert(string(r), 256) && kept.inert(string(r), 256) {
			n.plainBMP[r>>3] |= 1 << (r & 7)
		}
	}
	return n, nil
}

// append appends the normalized text to dst.
func (n *normalizer) append(dst []byte, text string) []byte {
	at := n.leadingSpaces(text)
	if at == len(text) {
		return dst
	}
	start := len(dst)
	if n.addDummyPrefix && !n.whitespaceAsSuffix {
		dst = append(dst, n.space...)
	}
	afterSpace := n.removeExtraSpaces // whether spaces that follow are extra
	for at < len(text) {
		if run := n.plainRun(text[at:]); run > 0 {
			dst = append(dst, text[at:at+run]...)
			at += run
			afterSpace = false
			continue
		}
		out, length := n.next(text[at:])
		if afterSpace {
			out = strings.TrimLeft(out, " ")
		}
		// A rule may remove its text. Then the text before it stays the last text, so spaces before and after the removed text
		// still form a run.
		if out != "" {
			dst = n.appendEscaped(dst, out)
			afterSpace = n.removeExtraSpaces && out[len(out)-1] == ' '
		}
		at += length
	}
	return n.finish(dst, start)
}

// leadingSpaces returns the number of bytes of spaces to drop from the start of text.
func (n *normalizer) leadingSpaces(text string) int {
	at := 0
	for n.removeExtraSpaces && at < len(text) {
		out, length := n.next(text[at:])
		if out != " " {
			break
		}
		at += length
	}
	return at
}

// plainRun returns the length in bytes of a prefix of s that is certainly unchanged and has no space.
func (n *normalizer) plainRun(s string) int {
	at := 0
	for at < len(s) {
		if c := s[at]; c < utf8.RuneSelf {
			if !n.plainASCII[c] || at+1 < len(s) && s[at+1] >= utf8.RuneSelf {
				break
			}
			at++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[at:])
		if size == 1 || r >= 1<<16 || n.plainBMP[r>>3]>>(r&7)&1 == 0 {
			break
		}
		at += size
	}
	return at
}

// next normalizes the start of s, which is not empty: the longest user-defined piece, or else what the rules make of it. length is the
// number of bytes of s used, at least 1.
func (n *normalizer) next(s string) (out string, length int) {
	if length, _ := n.kept.prefix(s); length > 0 {
		return s[:length], length
	}
	return n.rules.next(s)
}

func (n *normalizer) appendEscaped(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] == ' ' {
			dst = append(dst, n.space...)
		} else {
			dst = append(dst, s[i])
		}
	}
	return dst
}

// finish drops spaces from the end of dst[start:] and adds the suffix. A "▁" that the user typed at the end is dropped too,
// because SentencePiece cannot distinguish it from a space here. The dummy prefix of a text without other characters is dropped
// too.
func (n *normalizer) finish(dst []byte, start int) []byte {
	for n.removeExtraSpaces && bytes.HasSuffix(dst[start:], []byte(n.space)) {
		dst = dst[:len(dst)-len(n.space)]
	}
	if n.addDummyPrefix && n.whitespaceAsSuffix {
		dst = append(dst, n.space...)
	}
	return dst
}
