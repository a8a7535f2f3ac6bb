// Package segment cuts arbitrary text into sentences for models that translate sentences, and replaces the sentences by their
// translations.
//
// A text is a sequence of [Piece]s: sentences, and all text between them (line ends, indentation, list markers, table borders,
// spaces, symbols), which passes through unchanged. [Split] finds the sentences from the outside in:
//
//	line      is never continued by the next one, see below
//	marker    "  - ", "1. ", "> ", "## ", "①" at the start of a line
//	cell      the text between tabs, " | ", " • " or long fills ("........")
//	sentence  Unicode UAX #29, corrected by the rules in breaks.go
//
// [Finer] halves a sentence that is too long, and [Join] writes the translations, with spaces between sentences as in the target
// language.
//
// A line is a unit. Joining the lines of text that is wrapped by hand at 72 columns would improve that text, but harm all others:
// in lists, addresses, subtitles, poems, tables and texts of user interfaces, line ends have a meaning, all line ends must be
// preserved, and a line end inside a sentence has no certain position in the translation. For text known to be wrapped,
// [SplitWrapped] drops the line ends inside sentences.
//
// All functions are safe for concurrent use, take time linear in the length of their input, and accept any string: invalid UTF-8
// passes through. Functions with a context check it as they go through a text, and fail with its error.
package segment

import (
	"context"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// Piece is a part of a text. The texts of all pieces, joined, are the text, byte for byte.
type Piece struct {
	Text string
	// Sentence reports whether the piece is to be translated. A sentence has a letter, and no white space at its ends. Any other
	// piece passes through unchanged; two of them never follow each other.
	Sentence bool
}

// Split cuts a text into pieces. lang is a language code, such as "en" or "zh"; "" means English, and for an unknown code rules
// common to most languages apply. The pieces share the memory of the text. An empty text has no pieces.
func Split(ctx context.Context, text, lang string) ([]Piece, error) {
	return split(ctx, text, lang, func(s *splitter) {
		for start := 0; start < len(text); {
			end, next := lineEnd(text, start)
			s.looks.Past(next - start)
			s.line(start, end)
			start = next
		}
	})
}

// split returns the pieces of a text. find collects its sentences.
func split(ctx context.Context, text, lang string, find func(s *splitter)) (list []Piece, err error) {
	err = char.Look(ctx, len(text), func(l *char.Looks) {
		s := splitter{text: text, rules: rulesOf(lang), looks: l}
		find(&s)
		list = s.pieces()
	})
	return list, err
}

// span is the byte range of a sentence.
type span struct{ start, end int }

// pieces returns the spans, which are in order, and the text between them.
func (s *splitter) pieces() []Piece {
	text := s.text
	if text == "" {
		return nil
	}
	list := make([]Piece, 0, 2*len(s.spans)+1)
	at := 0
	for _, sentence := range s.spans {
		s.looks.Past(1)
		if sentence.start > at {
			list = append(list, Piece{Text: text[at:sentence.start]})
		}
		list = append(list, Piece{Text: text[sentence.start:sentence.end], Sentence: true})
		at = sentence.end
	}
	if at < len(text) {
		list = append(list, Piece{Text: text[at:]})
	}
	return list
}

// splitter collects the sentences of one text.
type splitter struct {
	text  string
	rules *rules
	looks *char.Looks
	spans []span

	brackets bool // whether the current line has an opening bracket
}

// lineEnd returns the end of the line that starts at start, and the start of the next one. "\r\n" counts as two line ends with an
// empty line between them.
func lineEnd(text string, start int) (end, next int) {
	for i := start; i < len(text); i++ {
		switch c := text[i]; {
		case c >= '\n' && c <= '\r':
			return i, i + 1
		case c == 0xC2 && i+1 < len(text) && text[i+1] == 0x85: // U+0085
			return i, i + 2
		case c == 0xE2 && i+2 < len(text) && text[i+1] == 0x80 && (text[i+2] == 0xA8 || text[i+2] == 0xA9): // U+2028, U+2029
			return i, i + 3
		}
	}
	return len(text), len(text)
}

// sentence adds text[start:end] to the sentences if it has anything to translate. Scripts without spaces between words have no
// marks at the ends of sentences either, but spaces between clauses: a long text is cut at those.
func (s *splitter) sentence(start, end int) {
	const longest = 600 // bytes: 200 Thai letters, about 60 tokens
	if end-start > longest {
		start, end = trim(s.text, start, end)
	}
	if end-start <= longest {
		s.add(start, end)
		return
	}
	target := (end - start) / ((end-start)/longest + 1)
	var before rune
	for i, from := start, start; i < end; {
		r, w := char.Decode(s.text, i)
		s.looks.Past(w)
		if unicode.IsSpace(r) && i-from >= target && end-i >= target/2 && unspaced(before) {
			if next, _ := char.Decode(s.text, i+w); unspaced(next) {
				s.add(from, i)
				from, start = i+w, i+w
			}
		}
		before = r
		i += w
	}
	s.add(start, end)
}

// add adds a sentence, trimmed, if it has a letter.
func (s *splitter) add(start, end int) {
	start, end = trim(s.text, start, end)
	if hasLetter(s.text[start:end]) {
		s.spans = append(s.spans, span{start, end})
	}
}

// trim removes white space and ornaments from both ends, so that emoji and similar symbols, which the model cannot write, are
// preserved.
func trim(text string, start, end int) (int, int) {
	start = trimLeft(text, start, end)
	for end > start {
		r, w := utf8.DecodeLastRuneInString(text[start:end])
		if joiner(r) { // part of an emoji, or of a letter
			before, _ := utf8.DecodeLastRuneInString(text[start : end-w])
			if !ornament(before) {
				break
			}
		} else if !blank(r) && !ornament(r) {
			break
		}
		end -= w
	}
	return start, end
}

// trimLeft trims the start.
func trimLeft(text string, start, end int) int {
	after := false // the last rune is an ornament
	for start < end {
		r, w := char.Decode(text, start)
		if !blank(r) && !ornament(r) && !(after && joiner(r)) {
			break
		}
		after = after && joiner(r) || ornament(r)
		start += w
	}
	return start
}

// Ends reports whether the last sentence of a text is complete, whatever sentence follows: it ends in a mark other than the full
// stop of an abbreviation, or in a line end. It returns true for a text without sentences. lang is as for [Split].
func Ends(ctx context.Context, text, lang string) (bool, error) {
	const another = "The" // in any script: a capital letter, and no abbreviation
	long, err := Split(ctx, text+" "+another, lang)
	if err != nil {
		return false, err
	}
	short, err := Split(ctx, text, lang)
	return countSentences(long) > countSentences(short), err
}

func countSentences(pieces []Piece) (n int) {
	for _, p := range pieces {
		if p.Sentence {
			n++
		}
	}
	return n
}
