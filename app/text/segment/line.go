package segment

import (
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// longFill is the number of runes without any letter or digit that separates like a line end: dot leaders, columns of spaces,
// underscores to write on. It also limits the text that UAX #29 examines repeatedly, which keeps the segmentation linear.
const longFill = 10

// line finds the sentences of one line, cell by cell, without its marker.
func (s *splitter) line(start, end int) {
	start += marker(s.text[start:end], s.rules)
	table := start < end && s.text[start] == '|'
	s.brackets = false
	var (
		from  = start // of the current cell
		count = 0     // runes since the last letter or digit
		fill  = start // where these runes start
	)
	// finish ends the current cell at i, or at the start of the fill before i.
	finish := func(i int) {
		if count < longFill {
			s.cell(from, i)
			return
		}
		lead, _ := s.fillEnds(fill, i)
		s.cell(from, lead)
	}
	for i := start; i < end; {
		at := i
		for ; i < end && count < longFill; i++ { // most characters
			if c := s.text[i]; char.IsASCIILetter(c) || char.IsASCIIDigit(c) {
				count = 0
			} else if c != ' ' && c != ',' && c != '.' {
				break
			} else if count++; count == 1 {
				fill = i
			}
		}
		if s.looks.Past(i - at); i == end {
			break
		}
		r, w := char.Decode(s.text[:end], i)
		s.looks.Past(w)
		switch {
		case wordly(r), count == 0 && unicode.IsMark(r): // a mark belongs to its letter
			if count >= longFill {
				lead, tail := s.fillEnds(fill, i)
				s.cell(from, lead)
				from = tail
			}
			count = 0
		case s.separates(r, i, i+w, start, end, table):
			finish(i)
			from, count = i+w, 0
		default:
			if count == 0 {
				fill = i
			}
			count++
			s.brackets = s.brackets || openBracket(r)
		}
		i += w
	}
	finish(end)
}

// separates reports whether the rune r at text[at:next] separates two cells of the line text[start:end].
func (s *splitter) separates(r rune, at, next, start, end int, table bool) bool {
	switch r {
	case '\t':
		return true
	case '|', '·', '•', '⁃', '‣':
	default:
		return false
	}
	if table && r == '|' {
		return true
	}
	if at > start && !unicode.IsSpace(lastRune(s.text[start:at])) {
		return false
	}
	if r == '•' || r == '⁃' || r == '‣' {
		return true
	}
	after, _ := char.Decode(s.text[:end], next)
	return next == end || unicode.IsSpace(after)
}

// fillEnds returns the end of the cell before the fill text[start:end] and the start of the cell behind it. Up to three runes of
// punctuation that touch a word belong to that word if white space separates them from the rest, as in
// "Hello.            (World)".
func (s *splitter) fillEnds(start, end int) (lead, tail int) {
	const most = 3
	visible := func(r rune) bool { return !unicode.IsSpace(r) }
	lead, tail = start, end
	for range most {
		r, w := char.Decode(s.text[:end], lead)
		if w == 0 || !visible(r) {
			break
		}
		lead += w
	}
	for range most {
		r, w := utf8.DecodeLastRuneInString(s.text[start:tail])
		if w == 0 || !visible(r) {
			break
		}
		tail -= w
	}
	if r, _ := char.Decode(s.text, lead); visible(r) {
		lead = start
	}
	if visible(lastRune(s.text[start:tail])) {
		tail = end
	}
	return lead, tail
}
