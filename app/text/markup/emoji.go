package markup

import (
	"strings"
	"unicode"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"dragoman/app/text/char"
)

const (
	emojiStyle = '\uFE0F' // selects the colourful form of the character before it
	keycapSign = "\u20E3" // draws the digit before it as a key
)

// attachedEmoji form words with the letters that they touch: 6♠, ⌘⌥Esc.
const attachedEmoji = "♭♮♯♠♣♥♦⌃⌘⌥⎋⏎"

// isDirection reports whether a text is direction marks, which are part of their word.
func isDirection(text string) bool { return unicode.Is(unicode.Bidi_Control, char.First(text)) }

// emoji returns the length of the run of emoji that starts here. A run has no spaces. Each emoji is a whole grapheme cluster:
// with its skin tone, all members of a family, both letters of a flag.
func (s *scanner) emoji() int {
	if !s.isEmoji(s.pos) {
		return 0
	}
	end := s.pos
	for clusters := graphemes.FromString(s.text[end:]); s.isEmoji(end) && clusters.Next(); {
		end += len(clusters.Value())
	}
	return end - s.pos
}

// isEmoji reports whether an emoji starts at i, or a symbol that models drop as they drop emoji.
func (s *scanner) isEmoji(i int) bool {
	r, n := char.Decode(s.text, i)
	switch {
	case r < 0x80:
		return s.keycap(i) > 0
	case r >= 0x1F000 && r <= 0x1FAFF,
		r >= 0x231A && r <= 0x23FF,
		r >= 0x2600 && r <= 0x27BF,
		r >= 0x2B00 && r <= 0x2BFF:
		return true
	}
	// ©, ‼, ™, → and others are emoji only with the style sign behind them.
	next, _ := char.Decode(s.text, i+n)
	return next == emojiStyle && (unicode.IsSymbol(r) || unicode.IsPunct(r) || r == 'ℹ')
}

// keycap returns the length of a digit, # or * that is drawn as a key, else 0.
func (s *scanner) keycap(i int) int {
	if c := s.byte(i); !char.IsASCIIDigit(c) && c != '#' && c != '*' {
		return 0
	}
	for _, sign := range [...]string{keycapSign, string(emojiStyle) + keycapSign} {
		if strings.HasPrefix(s.text[i+1:], sign) {
			return 1 + len(sign)
		}
	}
	return 0
}
