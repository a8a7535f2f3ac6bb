package markup

import (
	"fmt"
	"strings"
)

// Verify checks the translation of Text itself and returns it, escaped where the
// format asks for it. It fails with an error that wraps ErrLost where a span is
// missing, came once more or was made up, where pairs are not nested as they have to
// be or lost what was in them, where numbers or signs differ, numbers in words too where the
// languages are known ([Sentence.Between]), and where a marker was made up.
func (s Sentence) Verify(translation string) (string, error) {
	if n := markers(translation) - markers(s.Text); n > 0 {
		return "", fmt.Errorf("%w: %d markers were made up", ErrLost, n)
	}
	if len(s.Spans) == 0 {
		if err := compareNumbers(s.Text, translation, s.from, s.to); err != nil {
			return "", err
		}
		return s.format.Escape(translation), nil
	}
	waiting := map[string][]int{} // spans by their text
	total := 0
	for i, span := range s.Spans {
		if !span.Kind.isSoft() {
			waiting[s.spanText(i)] = append(waiting[s.spanText(i)], i)
			total++
		}
	}
	a := assembly{sentence: s}
	var found []mark
	at, strange := 0, 0
	t := Parse(translation, s.format)
	for i, span := range t.Spans {
		queue, known := waiting[t.spanText(i)]
		if span.Kind.isSoft() {
			continue
		}
		switch {
		case len(queue) > 0:
			waiting[t.spanText(i)] = queue[1:]
			a.text(translation[at:span.Start], loose, loose)
			a.span(queue[0])
			at = span.End
			found = append(found, mark{start: span.Start, end: span.End})
		case known || isStrange(span.Kind, t.spanText(i)):
			strange++
		}
	}
	if missing := total - len(found); missing+strange > 0 {
		return "", fmt.Errorf("%w: of %d spans %d are missing, and %d came in that were not in the sentence, or once more",
			ErrLost, total, missing, strange)
	}
	a.text(translation[at:], loose, loose)
	source, rest := s.withoutMarkup(), cutOut(translation, found)
	if err := s.compareSigns(source, rest); err != nil {
		return "", err
	}
	if err := compareNumbers(source, rest, s.from, s.to); err != nil {
		return "", err
	}
	return a.result()
}

// markers counts what looks like a marker that no text has by chance.
func markers(text string) int {
	count := 0
	for _, style := range styles {
		if style.open != "#" {
			count += len(style.find(text))
		}
	}
	return count
}

// withoutMarkup is the text with only its numbers and signs left of its spans.
func (s Sentence) withoutMarkup() string {
	var cut []mark
	for _, span := range s.Spans {
		if !span.Kind.isSoft() {
			cut = append(cut, mark{start: span.Start, end: span.End})
		}
	}
	return cutOut(s.Text, cut)
}

// strangers counts the spans in a part of a translation, which should have none of
// them: those of the sentence once more, and those that nobody writes by chance.
func (s Sentence) strangers(text string) int {
	known := map[string]bool{}
	for i, span := range s.Spans {
		if !span.Kind.isSoft() {
			known[s.spanText(i)] = true
		}
	}
	t, count := Parse(text, s.format), 0
	for i, span := range t.Spans {
		if !span.Kind.isSoft() && (known[t.spanText(i)] || isStrange(span.Kind, t.spanText(i))) {
			count++
		}
	}
	return count
}

// isStrange says whether a span in a translation cannot have come by chance.
func isStrange(kind Kind, text string) bool {
	return kind == Placeholder || kind == Tag || kind == Email || kind == URL && strings.Contains(text, "://")
}
