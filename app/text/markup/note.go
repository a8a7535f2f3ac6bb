package markup

import (
	"context"
	"regexp"
	"strings"
	"unicode"

	"dragoman/app/text/char"
)

// The marks of notes stand right behind what they are about, in every language.

// noteLink is the last span of the link that span number i opens, if that is the mark of a note: without a letter, and
// right behind what it is about. It is -1 where there is none.
func (s Sentence) noteLink(i int) int {
	start := s.Spans[i].Start
	if !link.MatchString(s.spanText(i)) || !s.standsBehind(start) {
		return -1
	}
	end := s.pairEnd(i, mostWithin)
	if end < 0 || strings.TrimSpace(s.Text[s.Spans[i].End:s.Spans[end].Start]) == "" || !s.Slice(s.Spans[i].End, s.Spans[end].Start).Blank() {
		return -1
	}
	return end
}

var (
	link = regexp.MustCompile(`^<[aA]\s`)
	// noteName is the mark of a note in Markdown and in plain text.
	noteName = regexp.MustCompile(`^(?:(?:\[(?:\^[^\[\]\s]+|\d{1,4})\])+|[¹²³⁰⁴-⁹]+)$`)
	// notedWord is a word at the end of a sentence, or of a part of one, with the mark of a note.
	notedWord = regexp.MustCompile(`^\PN*\p{Ll}{2,}[.,;:!?…]+["'”’)»]*((?:\[\d{1,4}\])+|[¹²³⁰⁴-⁹]+)$`)
)

// noteBehind is the length of the marks of notes that a word ends in.
func noteBehind(looks *char.Looks, word string) int {
	if m := looks.Find(notedWord, word); m != nil {
		return m[3] - m[2]
	}
	return 0
}

// standsBehind says whether what starts at a byte stands right behind what it may be about.
func (s Sentence) standsBehind(at int) bool {
	r := char.Last(s.Text[:at])
	return !unicode.IsSpace(r) && !unicode.In(r, unicode.Ps, unicode.Pi)
}

// isNoteSpan says whether a span is the mark of a note by itself.
func (s Sentence) isNoteSpan(i int) bool {
	text := s.spanText(i)
	return s.Spans[i].Kind == Formula && text[0] == '<' || noteName.MatchString(text)
}

// isNote says whether a group stands right behind something and is marks of notes, or what else is whole and has no
// text, such as a picture.
func (s Sentence) isNote(g group) bool {
	if !s.standsBehind(g.start) {
		return false
	}
	open := 0
	for i := g.first; i < g.last; i++ {
		switch span := s.Spans[i]; {
		case span.Kind == Tag:
			open += span.Pair
		case !s.isNoteSpan(i):
			return false
		}
	}
	return open == 0
}

// Noted is the text for finding the sentences in it: where the mark of a note stands behind punctuation it has raised
// digits in its place, of as many bytes, which close a sentence.
func (s Sentence) Noted(ctx context.Context) (string, error) {
	return s.checked(ctx, "", func(s Sentence) (string, error) { return s.noted(), nil })
}

func (s Sentence) noted() string {
	s = s.withFormulas()
	var out strings.Builder
	at := 0
	for i := 0; i < len(s.Spans); i++ {
		s.looks.Past(1)
		g := group{first: i, last: i + 1, start: s.Spans[i].Start, end: s.Spans[i].End}
		for g.last < len(s.Spans) && s.Spans[g.last].Start == g.end {
			g.end = s.Spans[g.last].End
			g.last++
		}
		marks := g
		for marks.first < g.last && s.Spans[marks.first].Kind == Tag && s.Spans[marks.first].Pair < 0 {
			marks.first++ // ends of pairs are in the sentence too: <b>One.</b><sup>1</sup>
		}
		i = g.last - 1
		if n := g.end - g.start; n > 1 && marks.first < g.last && unicode.IsPunct(char.Last(s.Text[:g.start])) && s.isNote(marks) {
			out.WriteString(s.Text[at:g.start])
			out.WriteString(strings.Repeat("⁴", n%2) + strings.Repeat("¹", n/2-n%2))
			at = g.end
		}
	}
	if at == 0 {
		return s.Text
	}
	return out.String() + s.Text[at:]
}

// stick has nothing come between the marks of notes and what they stand behind.
func (g *group) stick() {
	switch g.before {
	case loose:
		g.before = tight
	case touching:
		g.before = glued
	}
	if g.after == spaced {
		g.after = noted
	}
}
