package markup

import (
	"unicode"

	"dragoman/app/text/char"
	"dragoman/app/text/entity"
)

// signedNumber returns the length of a number whose sign, currency or # is here: -5, +49 30 1234, €20, -$5, #1.
func (s *scanner) signedNumber() int {
	i := s.pos
	if r, n := char.Decode(s.text, i); char.IsMinus(r) || r == '+' {
		if p := s.before(); char.IsWord(p) || char.IsMinus(p) || p == '%' || p == '+' {
			return 0 // 10-20, COVID-19
		}
		i += n
	}
	if r, n := char.Decode(s.text, i); unicode.Is(unicode.Sc, r) || r == '#' {
		i += n
	}
	if r, _ := char.Decode(s.text, i); !unicode.IsDigit(r) || i == s.pos || s.keycap(i) > 0 {
		return 0
	}
	return s.numberEnd(i) - s.pos
}

// numberEnd returns the end of the number with a digit at i, including separators of numbers, times and dates, and the letters
// and signs right behind its digits: 1,234.5, 12:30, 2024-05-06, 1920x1080, 3rd, 5kg, 50%, 3万.
func (s *scanner) numberEnd(i int) int {
	end := s.digitsEnd(i)
	group := end - i // length in bytes of the last digit group, for groups separated by spaces
	for end < len(s.text) {
		r, n := char.Decode(s.text, end)
		next := s.digitsEnd(end + n)
		switch {
		case next == end+n: // no digit follows
		case r == ' ' && group <= 3 && next-(end+n) == 3,
			r != ' ' && joinsDigits(r):
			group = next - (end + n)
			end = next
			continue
		}
		switch {
		case r == '%' && s.byte(end+1) == '%': // 10%% belongs to printf
			return end
		case r < 0x80 && char.IsIdent(byte(r)) && s.keycap(end) == 0:
			end, group = end+n, longestName
		case entity.IsPower(r), char.OneOfRunes(r, "%‰°℃℉％"), unicode.Is(unicode.Sc, r):
			end, group = end+n, longestName
		default:
			return end
		}
		if next := s.digitsEnd(end); next > end {
			end = next
		}
	}
	return end
}

// digitsEnd returns the end of the digits that start at i, without keycap digits.
func (s *scanner) digitsEnd(i int) int {
	for i < len(s.text) {
		r, n := char.Decode(s.text, i)
		if !unicode.IsDigit(r) || s.keycap(i) > 0 {
			break
		}
		i += n
	}
	return i
}

func joinsDigits(r rune) bool {
	return char.OneOfRunes(r, ".,:/-–−'’×\u00A0\u2009\u202F٫٬．，：／")
}
