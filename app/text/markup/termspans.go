package markup

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// WithTerms returns the sentence with its terms as spans of kind TermKind. It leaves out terms inside spans such as tags, URLs or
// code, and terms cut by the end of a span. A span inside a term, such as a number, becomes part of it.
func (s Sentence) WithTerms(ctx context.Context, terms *Terms) (Sentence, error) {
	return s.within(ctx, len(s.Text), func(s Sentence) Sentence { return s.withTerms(terms) })
}

func (s Sentence) withTerms(terms *Terms) Sentence {
	matches := terms.find(s.looks, s.Text)
	if len(matches) == 0 {
		return s
	}
	var spans []Span
	next := 0 // the first span that is not behind the last match
	for _, m := range matches {
		s.looks.Past(1)
		first := next
		for first < len(s.Spans) && s.Spans[first].End <= m.start {
			first++
		}
		last := first
		for last < len(s.Spans) && s.Spans[last].Start < m.end && s.Spans[last].isPartOf(m) {
			last++
		}
		spans = append(spans, s.Spans[next:first]...)
		next = first
		if last == len(s.Spans) || s.Spans[last].Start >= m.end {
			spans = append(spans, Span{Start: m.start, End: m.end, Kind: TermKind, Term: m.term})
			next = last
		}
	}
	s.Spans = append(spans, s.Spans[next:]...)
	return s
}

// isPartOf reports whether a span may become part of the term.
func (span Span) isPartOf(m termMatch) bool {
	switch span.Kind {
	case Tag, Entity, Markdown, Placeholder, Emoji:
		return false
	}
	return span.Pair == 0 && span.Start >= m.start && span.End <= m.end
}

// HasTerms reports whether the sentence has terms.
func (s Sentence) HasTerms() bool {
	return slices.ContainsFunc(s.Spans, func(span Span) bool { return span.Term != nil })
}

// InPlace returns the sentence with each term replaced by its target. Models tend to copy words of the target language.
func (s Sentence) InPlace() Sentence {
	var out lettered
	placed, at, letter := s, 0, s.firstLetter()
	placed.Spans = slices.Clone(s.Spans)
	for i, span := range s.Spans {
		out.WriteString(s.Text[at:span.Start])
		start := out.Len()
		if span.Term != nil {
			out.WriteString(s.target(i, !out.hasLetter(), letter))
		} else {
			out.WriteString(s.spanText(i))
		}
		placed.Spans[i].Start, placed.Spans[i].End = start, out.Len()
		at = span.End
	}
	out.WriteString(s.Text[at:])
	placed.Text = out.String()
	return placed
}

// Protected returns the sentence with its terms as spans that are masked, like tags.
func (s Sentence) Protected() Sentence {
	s.Spans = slices.Clone(s.Spans)
	for i := range s.Spans {
		if s.Spans[i].Term != nil {
			s.Spans[i].Kind = FixedTerm
		}
	}
	return s
}

// TermForm holds the target of a term as written at the start of a translation, and elsewhere.
type TermForm struct{ First, Inside string }

// TermForms returns the forms of the terms that are not masked, in order.
func (s Sentence) TermForms() []TermForm {
	var list []TermForm
	letter := s.firstLetter()
	for i, span := range s.Spans {
		if span.Kind == TermKind {
			list = append(list, TermForm{First: s.target(i, true, letter), Inside: s.target(i, false, letter)})
		}
	}
	return list
}

// Terms counts the terms that a translation lacks, and those that it has more often than the sentence.
func (s Sentence) Terms(ctx context.Context, translation string) (missing, extra int, err error) {
	_, err = s.within(ctx, len(s.Text)+len(translation), func(s Sentence) Sentence {
		targets, want := s.targets(s.format.Escape)
		for _, m := range targets.find(s.looks, translation) {
			want[m.term.Target]--
		}
		for _, n := range want {
			missing, extra = missing+max(0, n), extra+max(0, -n)
		}
		return s
	})
	return missing, extra, err
}

// Kept returns a translation of the sentence like [Sentence.Translated], with spans for the targets of its terms.
func (s Sentence) Kept(ctx context.Context, translation string) (Sentence, error) {
	return s.within(ctx, len(s.Text)+len(translation), func(s Sentence) Sentence {
		t := s.translated(translation).in(s.to)
		if !s.HasTerms() {
			return t
		}
		targets, _ := s.targets(func(target string) string { return target })
		return t.withTerms(targets)
	})
}

// targets returns the targets of the sentence's terms in the form that write gives them, and the count of each.
func (s Sentence) targets(write func(string) string) (targets *Terms, count map[string]int) {
	var list []Term
	count = make(map[string]int)
	for _, span := range s.Spans {
		s.looks.Past(1)
		if span.Term == nil {
			continue
		}
		target := write(span.Term.Target)
		if count[target] == 0 {
			list = append(list, Term{target, target})
		}
		count[target]++
	}
	return NewTerms(list), count
}

// target returns the target of the term of span i, at the start of a text or elsewhere. If the text has a capital that the term
// has not, the target gets one, too. At the start of a translation the target gets one unless the sentence begins with a small
// letter. letter is the result of firstLetter.
func (s Sentence) target(i int, atStart bool, letter int) string {
	span := s.Spans[i]
	term := span.Term
	written, size := utf8.DecodeRuneInString(term.Target)
	if !unicode.IsLower(written) || term.Target == term.Source || strings.ToLower(term.Target) != term.Target {
		return term.Target
	}
	capital := unicode.IsUpper(char.First(s.spanText(i))) && !unicode.IsUpper(char.First(term.Source))
	startsHere := letter >= span.Start
	if !atStart && (!capital || startsHere) || atStart && unicode.IsLower(char.First(s.Text[letter:])) {
		return term.Target
	}
	return string(unicode.ToTitle(written)) + term.Target[size:]
}

// firstLetter returns the position of the first letter of the text, or the text's length.
func (s Sentence) firstLetter() int {
	if at := strings.IndexFunc(s.Text, unicode.IsLetter); at >= 0 {
		return at
	}
	return len(s.Text)
}

// lettered is a text builder that answers repeatedly whether it has a letter.
type lettered struct {
	strings.Builder
	read  int // bytes known to have no letter
	found bool
}

func (l *lettered) hasLetter() bool {
	if !l.found {
		l.found, l.read = hasLetter(l.String()[l.read:]), l.Len()
	}
	return l.found
}
