package markup

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"dragoman/app/text/char"
)

// Masked is a sentence with markers in place of spans.
type Masked struct {
	// Text is the text to translate, without white space, emoji and tags at its ends whose position in a translation is certain.
	// It is empty if nothing else is left.
	Text string

	sentence Sentence
	style    style
	from, to int     // byte range of the sentence that Text covers
	last     int     // index of the first span after this range
	groups   []group // groups[i] has the marker with number i+1
}

// group is one or more spans, separated by white space at most, that share one marker.
type group struct {
	first, last   int // span numbers: first included, last excluded
	start, end    int // their byte range in the sentence
	marker        int // position of the marker in Text
	before, after side
}

// side describes the neighbour of a group on one side, and thereby the spacing there.
type side uint8

const (
	loose    side = iota // the end of the text or a sign: spacing stays as the model writes it
	glued                // a word: the marker gets a space there, which is removed again
	touching             // a word of a script without spaces: as glued, unless the translation has spaces
	tight                // a sign inside a pair: a space that the model adds is removed
	spaced               // white space: a word of the translation must not touch the group
	noted                // white space behind a note reference: as spaced, if the translation has spaces
)

// Mask puts markers of style number, from 0 to Styles-1, in place of the spans. In style 0, numbers and signs beside other spans
// stay in the text, where Restore compares them; the other styles mask them. A sign that touches another span is masked with it.
//
// ok is false if the markers could be confused with text of the sentence, or if the result would equal that of an earlier style:
// try the next one.
func (s Sentence) Mask(ctx context.Context, number int) (m Masked, ok bool, err error) {
	if number < 0 || number >= Styles || len(s.Spans) == 0 {
		return Masked{}, false, nil
	}
	_, err = s.within(ctx, len(s.Text), func(s Sentence) Sentence {
		m, ok = s.mask(styles[number], number > 0 || s.AsIs())
		ok = ok && (len(m.groups) > 0 || number == 0)
		m.sentence.looks = nil
		return s
	})
	return m, ok, err
}

// mask masks the spans whose position a translation may change; soft includes numbers and signs.
func (s Sentence) mask(how style, soft bool) (m Masked, ok bool) {
	m = Masked{sentence: s, style: how}
	var first int
	first, m.last, m.from, m.to = s.strip()
	m.group(first, m.last, soft)
	m.Text = m.text()
	return m, m.isClear()
}

// group collects spans [a, b) into groups.
func (m *Masked) group(a, b int, soft bool) {
	s := m.sentence
	for i := a; i < b; i++ {
		span := s.Spans[i]
		s.looks.Past(1)
		if span.Kind.isSoft() && !soft && !m.touchesHard(i, a, b) {
			continue
		}
		if n := len(m.groups) - 1; n >= 0 && m.groups[n].last == i && strings.TrimSpace(s.Text[m.groups[n].end:span.Start]) == "" {
			m.groups[n].last, m.groups[n].end = i+1, span.End
			continue
		}
		m.groups = append(m.groups, group{first: i, last: i + 1, start: span.Start, end: span.End})
	}
	for i := range m.groups {
		g := &m.groups[i]
		s.looks.Past(1)
		g.before = sideOf(s.Text[m.from:g.start], char.Last, s.Spans[g.first].Pair < 0)
		g.after = sideOf(s.Text[g.end:m.to], char.First, s.Spans[g.last-1].Pair > 0)
		if g.start > m.from && s.isNote(*g) {
			g.stick()
		}
	}
}

// touchesHard reports whether span i is a sign that touches a masked span of [a, b).
func (m *Masked) touchesHard(i, a, b int) bool {
	s := m.sentence
	span := s.Spans[i]
	return span.Kind == Sign && (i > a && s.Spans[i-1].End == span.Start && !s.Spans[i-1].Kind.isSoft() ||
		i+1 < b && s.Spans[i+1].Start == span.End && !s.Spans[i+1].Kind.isSoft())
}

// text returns the sentence with markers in place of its groups.
func (m *Masked) text() string {
	var out strings.Builder
	at := m.from
	for i, g := range m.groups {
		m.sentence.looks.Past(g.end - at)
		out.WriteString(m.sentence.Text[at:g.start])
		if g.before == glued || g.before == touching {
			out.WriteByte(' ')
		}
		m.groups[i].marker = out.Len()
		out.WriteString(m.style.marker(i + 1))
		if g.after == glued || g.after == touching {
			out.WriteByte(' ')
		}
		at = g.end
	}
	out.WriteString(m.sentence.Text[at:m.to])
	return out.String()
}

// isClear reports whether the markers are found in the text, and nothing else that looks like one.
func (m *Masked) isClear() bool {
	marks := m.style.find(m.sentence.looks, m.Text)
	if len(marks) != len(m.groups) {
		return false
	}
	for i, mark := range marks {
		if mark.number != i+1 || mark.start != m.groups[i].marker || mark.end-mark.start != len(m.style.marker(i+1)) {
			return false
		}
	}
	return true
}

// strip returns the ranges of spans and bytes without those whose position in a translation is certain, its ends: emoji, note
// references, tags whose partner is in another sentence, and pairs around the whole.
func (s Sentence) strip() (first, last, from, to int) {
	first, last, from, to = 0, len(s.Spans), 0, len(s.Text)
	whole := s.wholePairs()
	for {
		s.looks.Past(1)
		from, to = s.Trimmed(from, to)
		if first == last {
			return first, last, from, to
		}
		a, z := s.Spans[first], s.Spans[last-1]
		from, to = min(from, a.Start), max(to, z.End) // "<! " ends in white space of its own
		switch atStart, atEnd := a.Start == from, z.End == to; {
		case atStart && (isOuter(a, whole) || s.isNoteSpan(first)):
			from, first = a.End, first+1
		case atEnd && (isOuter(z, whole) || s.isNoteSpan(last-1)):
			to, last = z.Start, last-1
		case atStart && atEnd && a.Pair > 0 && z.Pair == -a.Pair:
			from, first, to, last = a.End, first+1, z.Start, last-1
		default:
			return first, last, from, to
		}
	}
}

func isOuter(span Span, whole map[int]bool) bool {
	switch span.Kind {
	case Emoji:
		return true
	case Tag:
		return span.Pair == 0 || !whole[max(span.Pair, -span.Pair)]
	}
	return false
}

// wholePairs returns the pairs with both ends in the sentence.
func (s Sentence) wholePairs() map[int]bool {
	opened, whole := map[int]bool{}, map[int]bool{}
	for _, span := range s.Spans {
		s.looks.Past(1)
		if span.Pair > 0 {
			opened[span.Pair] = true
		} else if opened[-span.Pair] {
			whole[-span.Pair] = true
		}
	}
	return whole
}

// Restore puts the spans back into the translation of Text. It fails with an error that wraps ErrLost if a marker is missing,
// repeated or made up, if a span appears beside its marker, if pairs are no longer nested or lost their content, or if numbers
// differ.
//
// It recognizes markers as models write them: with spaces, in full-width forms, in other brackets, in another case, in any order.
func (m Masked) Restore(ctx context.Context, translation string) (string, error) {
	return m.sentence.checked(ctx, translation, func(s Sentence) (string, error) {
		m.sentence = s
		return m.restore(translation)
	})
}

// checked runs check on a translation of the sentence and returns its result. check checks ctx.
func (s Sentence) checked(ctx context.Context, translation string, check func(s Sentence) (string, error)) (made string, err error) {
	_, ended := s.within(ctx, len(s.Text)+len(translation), func(s Sentence) Sentence {
		made, err = check(s)
		return s
	})
	if ended != nil {
		return "", ended
	}
	return made, err
}

func (m Masked) restore(translation string) (string, error) {
	marks := m.style.find(m.sentence.looks, translation)
	if err := m.check(marks); err != nil {
		return "", err
	}
	source, rest := m.restWithoutTerms(false), m.sentence.withoutTerms(cutOut(translation, marks, asRemoved))
	m.sentence.looks.Past(len(rest) + len(source))
	if n := m.style.residue(rest) - m.style.residue(source); n > 0 {
		return "", fmt.Errorf("%w: parts of %d markers are left in the translation", ErrLost, n)
	}
	if n := m.sentence.unexpected(rest) - m.sentence.unexpected(source); n > 0 {
		return "", fmt.Errorf("%w: %d spans came in that were not in the sentence, or once more", ErrLost, n)
	}
	return m.assemble(marks, translation)
}

// check returns an error unless every marker occurs exactly once.
func (m Masked) check(marks []mark) error {
	count := make([]int, len(m.groups)+1) // by number; made-up numbers count at 0
	for _, mark := range marks {
		if mark.number > len(m.groups) {
			mark.number = 0
		}
		count[mark.number]++
	}
	missing, repeated := 0, 0
	for _, n := range count[1:] {
		switch {
		case n == 0:
			missing++
		case n > 1:
			repeated++
		}
	}
	if missing+repeated+count[0] > 0 {
		return fmt.Errorf("%w: of %d markers %d are missing, %d came more than once, and %d were made up",
			ErrLost, len(m.groups), missing, repeated, count[0])
	}
	return nil
}

// assemble puts the groups in place of their marks in a translation. It first compares the signs, names and numbers of the rest
// with the sentence.
func (m Masked) assemble(marks []mark, translation string) (string, error) {
	s := m.sentence
	source, rest := m.restWithoutTerms(false), s.withoutTerms(cutOut(translation, marks, asRemoved))
	if err := (check{s, source, rest}).run(signsIn(rest)); err != nil {
		return "", err
	}
	if err := s.compareNumbers(m.restWithoutTerms(true), s.withoutTerms(m.withNumbers(translation, marks))); err != nil {
		return "", fmt.Errorf("%w: %w", ErrLost, err)
	}
	a := assembly{sentence: s, apart: s.looks.Match(apartSign, s.Text)}
	a.original(0, m.from, 0)
	at, after := 0, loose
	for _, mark := range marks {
		g := m.groups[mark.number-1].written(s)
		s.looks.Past(mark.end - at)
		a.text(translation[at:mark.start], after, g.before)
		a.original(g.start, g.end, g.first)
		at, after = mark.end, g.after
	}
	a.text(translation[at:], after, loose)
	a.original(m.to, len(s.Text), m.last)
	out, err := a.result()
	// Also where brackets were masked.
	want, got := parenthesesOf(s.Text), parenthesesOf(out)
	if err == nil && (check{s, s.Text, out}.isEmptied() || want.open == want.closed && got.open != got.closed) {
		err = fmt.Errorf("%w: a bracket is missing, or has nothing in it any more", ErrLost)
	}
	if err == nil {
		err = s.compareDivided(out)
	}
	return out, err
}

// removed stands for text that was cut out. It is not part of a word.
const removed = "\uFFFC"

func asRemoved(mark) string { return removed }

// cutOut replaces the marks, which are in order.
func cutOut(text string, marks []mark, by func(mark) string) string {
	var out strings.Builder
	at := 0
	for _, mark := range marks {
		out.WriteString(text[at:mark.start] + by(mark))
		at = mark.end
	}
	return out.String() + text[at:]
}

// sideOf classifies the end of text next to a group. inside is whether that end is inside a pair, where spaces are never added.
func sideOf(text string, edge func(string) rune, inside bool) side {
	switch r := edge(text); {
	case text == "":
		return loose
	case unicode.IsSpace(r):
		return spaced
	case char.IsWord(r), inside && unicode.IsLetter(r):
		return glued
	case unicode.IsLetter(r) || unicode.IsDigit(r):
		return touching
	case inside:
		return tight
	}
	return loose
}
