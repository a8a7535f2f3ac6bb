package markup

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"dragoman/app/text/entity"
)

// Verify checks a translation of Text itself, and returns it escaped for the format. It fails with an error that wraps ErrLost if
// a span is missing, repeated or made up, if pairs are no longer nested or lost their content, if numbers or signs differ, or if
// a marker was made up. If the languages are known ([Sentence.Between]), it also compares numbers in words.
func (s Sentence) Verify(ctx context.Context, translation string) (string, error) {
	return s.checked(ctx, translation, func(s Sentence) (string, error) { return s.verify(translation) })
}

func (s Sentence) verify(translation string) (string, error) {
	in := signsIn(translation)
	if in&digit != 0 {
		if n := s.markers(translation) - s.markers(s.Text); n > 0 {
			return "", fmt.Errorf("%w: %d markers were made up", ErrLost, n)
		}
	}
	// Numbers and signs alone are left to the model, so that only their values are compared.
	if len(s.Spans) == 0 || in&starting == 0 && s.AsIs() && !s.HasTerms() && strings.TrimSpace(translation) == translation {
		if in&brace != 0 && s.unexpected(translation) > 0 {
			return "", fmt.Errorf("%w: a span came in that was not in the sentence", ErrLost)
		}
		if err := (check{s, s.Text, translation}).run(in); err != nil {
			return "", err
		}
		if err := s.compareNumbers(s.Text, translation); err != nil {
			return "", fmt.Errorf("%w: %w", ErrLost, err)
		}
		return s.format.Escape(translation), nil
	}
	return s.verifySpans(translation)
}

// verifySpans treats the sentence as masked, with each span as its own marker.
func (s Sentence) verifySpans(translation string) (string, error) {
	m := Masked{sentence: s, to: len(s.Text), last: len(s.Spans)}
	waiting := map[string][]int{} // from span texts to the numbers of their groups
	for i, span := range s.Spans {
		s.looks.Past(1)
		if !span.Kind.isSoft() {
			m.groups = append(m.groups, group{first: i, last: i + 1, start: span.Start, end: span.End})
			waiting[s.spanText(i)] = append(waiting[s.spanText(i)], len(m.groups))
		}
	}
	found, surplus := s.search(translation, waiting)
	if missing := len(m.groups) - len(found); missing+surplus > 0 {
		return "", fmt.Errorf("%w: of %d spans %d are missing, and %d came in that were not in the sentence, or once more",
			ErrLost, len(m.groups), missing, surplus)
	}
	return m.assemble(found, translation)
}

// Compare returns an error that wraps ErrLost if a translation of the sentence, made of translations of its parts, has other
// numbers, acronyms or brackets. Its spans are sure to be kept. A sentence with terms is not compared.
func (s Sentence) Compare(ctx context.Context, translation string) error {
	if s.HasTerms() {
		return nil
	}
	_, err := s.checked(ctx, translation, func(s Sentence) (string, error) {
		text := s.translated(translation).Text
		both := check{sentence: s, source: s.Text, translation: text}
		if err := cmp.Or(both.acronyms(), both.brackets()); err != nil {
			return "", err
		}
		if err := s.compareNumbers(s.Text, text); err != nil {
			return "", fmt.Errorf("%w: %w", ErrLost, err)
		}
		return text, nil
	})
	return err
}

// compareNumbers returns an error if a translation has other numbers than its source.
func (s Sentence) compareNumbers(source, translation string) error {
	err := entity.Compare(s.looks.Context(), source, translation, s.from, s.to)
	s.looks.Check(s.looks.Context().Err()) // err may be the context's
	return err
}

// markers counts markers of the styles that do not occur in ordinary text.
func (s Sentence) markers(text string) int {
	count := 0
	for _, style := range styles {
		if style.open != "#" {
			count += len(style.find(s.looks, text))
		}
	}
	return count
}

// search finds the waiting spans in part of a translation. surplus counts spans that should not be there: repeated known ones,
// and those of kinds that do not occur by chance.
func (s Sentence) search(translation string, waiting map[string][]int) (found []mark, surplus int) {
	t := parse(scanner{text: translation, form: s.format, looks: s.looks})
	if strings.Contains(translation, "@") { // an e-mail address, which is held by its shape, may have come in
		t = t.in(s.to)
	}
	t = t.withFormulas()
	var more []Span
	for i, span := range t.Spans {
		s.looks.Past(1)
		if span.Kind.isSoft() {
			continue
		}
		text := t.spanText(i)
		switch numbers, known := waiting[text]; {
		case len(numbers) > 0:
			found = append(found, mark{span.Start, span.End, numbers[0]})
			waiting[text] = numbers[1:]
		case !known && neverByChance(span.Kind, text):
			more = append(more, span)
		}
	}
	taken := make([]bool, len(translation)+1) // the bytes of the spans found
	for _, m := range found {
		take(taken, m)
	}
	found, surplus = unparsed(translation, waiting, found, taken)
	for _, span := range more { // a span inside a larger one is not surplus
		if !isTaken(taken, span.Start, span.End) {
			surplus++
		}
	}
	return found, surplus
}

// mostUnparsed is the maximum number of span texts searched for in a translation without parsing.
const mostUnparsed = 32

// unparsed adds waiting spans whose text occurs in the translation without being parsed as a span: recognition of code depends on
// the language and on its neighbours. surplus counts further occurrences.
func unparsed(translation string, waiting map[string][]int, found []mark, taken []bool) (all []mark, surplus int) {
	texts := slices.Collect(maps.Keys(waiting))
	// Missing ones first, and the longest first: shorter ones may be parts of longer ones.
	slices.SortFunc(texts, func(a, b string) int {
		return cmp.Or(min(len(waiting[b]), 1)-min(len(waiting[a]), 1), len(b)-len(a), strings.Compare(a, b))
	})
	for _, text := range texts[:min(len(texts), mostUnparsed)] {
		for start := range apartIn(translation, text) {
			end := start + len(text)
			switch {
			case isTaken(taken, start, end):
			case len(waiting[text]) == 0:
				surplus++
			default:
				found = append(found, mark{start, end, waiting[text][0]})
				take(taken, found[len(found)-1])
				waiting[text] = waiting[text][1:]
			}
		}
	}
	slices.SortFunc(found, func(a, b mark) int { return a.start - b.start })
	return found, surplus
}

func take(taken []bool, m mark) {
	for i := m.start; i < m.end; i++ {
		taken[i] = true
	}
}

// isTaken reports whether a byte of [start, end) is taken.
func isTaken(taken []bool, start, end int) bool { return slices.Contains(taken[start:end], true) }

// unexpected counts the spans in part of a translation that should have none.
func (s Sentence) unexpected(translation string) int {
	known := map[string][]int{}
	for i, span := range s.Spans {
		if !span.Kind.isSoft() {
			known[s.spanText(i)] = nil
		}
	}
	_, surplus := s.search(translation, known)
	return surplus
}

// address matches URLs and e-mail addresses.
var address = regexp.MustCompile(`://|^[^\s@]+@[^\s@]+\.\pL+$`)

// neverByChance reports whether a span of a translation cannot occur by chance.
func neverByChance(kind Kind, text string) bool {
	return kind == Placeholder || kind == Tag || kind == Code && address.MatchString(text)
}
