package markup

import (
	"context"
	"regexp"
	"strings"
	"unicode"

	"dragoman/app/text/char"
)

// Note references stand right behind the text that they annotate, in every language.

// noteLink returns the number of the last span of the link that span i opens, if the link is a note reference: without a letter,
// and right behind the annotated text. Otherwise it returns -1.
func (s Sentence) noteLink(i int) int {
	start := s.Spans[i].Start
	if !link.MatchString(s.spanText(i)) || !standsBehind(s.Text, start) {
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
	// noteName matches a note reference in Markdown or plain text.
	noteName = regexp.MustCompile(`^(?:(?:\[(?:\^[^\[\]\s]+|\d{1,4})\])+|[¹²³⁰⁴-⁹]+)$`)
	// notedWord matches a word with a note reference: any at the end of a sentence or clause, in brackets also elsewhere.
	notedWord = regexp.MustCompile(`^\PN*\p{Ll}{2,}(?:[.,;:!?…]+["'”’)»]*((?:\[\d{1,4}\])+|[¹²³⁰⁴-⁹]+)|(\[[1-9]\d{0,2}\]|\p{Ll}{2}[¹²³⁰⁴-⁹]+))$`)
)

// noteBehind returns the length of the note references at the end of a word.
func noteBehind(looks *char.Looks, word string) int {
	if r := char.Last(word); r != ']' && (r < 0x80 || unicode.IsLetter(r)) {
		return 0
	}
	if m := looks.Find(notedWord, word); m != nil {
		return len(word) - max(m[2], m[4])
	}
	return 0
}

// standsBehind reports whether byte at is right behind text that a note may annotate.
func standsBehind(text string, at int) bool {
	r := char.Last(text[:at])
	return !unicode.IsSpace(r) && !unicode.In(r, unicode.Ps, unicode.Pi)
}

// isNoteSpan reports whether span i is a note reference by itself.
func (s Sentence) isNoteSpan(i int) bool {
	text := s.spanText(i)
	return s.Spans[i].Kind == Formula && text[0] == '<' || noteName.MatchString(text)
}

// isNote reports whether a group stands right behind text and consists of note references, or of complete elements without text,
// such as a picture.
func (s Sentence) isNote(g group) bool {
	if !standsBehind(s.Text, g.start) {
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

// Noted returns the text for sentence segmentation. Note references behind punctuation are replaced by raised digits of the same
// number of bytes, which close a sentence.
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
			marks.first++ // closing ends of pairs belong to the sentence too: <b>One.</b><sup>1</sup>
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

// stick removes spacing between note references and the text before them.
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
