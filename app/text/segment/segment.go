// Package segment cuts text as people have it into the sentences that a model for
// sentences translates, and puts the translations back where the sentences were.
//
// A text is a sequence of [Piece]s: sentences, and everything between them (line
// ends, indentation, list markers, table borders, spaces, symbols), which passes
// through untouched. [Split] finds the sentences from the outside in:
//
//	line      never continues in the next one, see below
//	marker    "  - ", "1. ", "> ", "## ", "①" at the start of a line
//	cell      what stands between tabs, " | ", " • " or long fills ("........")
//	sentence  Unicode UAX #29, corrected by the rules in breaks.go
//
// [Finer] halves a sentence that turned out to be too long, and [Join] writes the
// translations, with the spaces that the target language wants between sentences.
//
// A line is a unit. Text that is wrapped by hand at 72 columns would gain from
// joining its lines, but everything else would lose: lists, addresses, subtitles,
// poems, tables and texts of user interfaces have line ends that mean something,
// all line ends must come back, and it is unclear where in a translation the line
// end of the middle of a sentence belongs. Callers who know that a text is wrapped use
// [SplitWrapped], and lose the line ends inside of sentences.
//
// All functions are safe for concurrent use, take time that is linear in the length
// of their input, and accept any string: what is not UTF-8 passes through. Those with a context look at it as they go through
// a text, and fail with its error.
package segment

import (
	"context"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// Piece is a part of a text. The texts of a text's pieces, joined, are the text,
// byte for byte.
type Piece struct {
	Text string
	// Sentence says whether the piece is to be translated. It then has a letter, and
	// no white space at its ends. Any other piece passes through untouched; no two
	// of those follow each other.
	Sentence bool
}

// Split cuts a text into pieces. lang is the code of a language, such as "en" or
// "zh"; where it is "", English is assumed, and where it is
// unknown, what most languages have in common.
// The pieces share the memory of the text. An empty text has none.
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

// split returns the pieces of a text whose sentences find finds.
func split(ctx context.Context, text, lang string, find func(s *splitter)) (list []Piece, err error) {
	err = char.Look(ctx, len(text), func(l *char.Looks) {
		s := splitter{text: text, rules: rulesOf(lang), looks: l}
		find(&s)
		list = s.pieces()
	})
	return list, err
}

// span is a sentence's place in the text, in bytes.
type span struct{ start, end int }

// pieces are the spans, which are in order, and what is between them.
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

// lineEnd is where the line ends that starts at start, and where the next one
// starts. "\r\n" counts as two ends with an empty line between.
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

// sentence adds text[start:end] to the sentences if there is anything to translate.
// Scripts without spaces between words have no marks at the ends of sentences
// either, but spaces between clauses: a long text in one is cut there.
func (s *splitter) sentence(start, end int) {
	const longest = 600 // bytes: 200 Thai letters, about 60 tokens
	start, end = trim(s.text, start, end)
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

// trim leaves out white space and ornaments at both ends, so that emoji and the like,
// which the model cannot write, come back as they were.
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

// trimLeft does so at the start.
func trimLeft(text string, start, end int) int {
	after := false // an ornament
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

// Ends says whether the last sentence of a text is at its end, however the text goes on in another
// sentence: its end has a mark that is not the full stop of an abbreviation, or a line end is behind
// it. A text without a sentence has none that is not at its end. lang is as for [Split].
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
