package markup

import (
	"slices"

	"dragoman/app/text/char"
)

// restWithoutTerms returns rest, also without the terms left to the model. If numbers is true, it has the masked numbers.
func (m Masked) restWithoutTerms(numbers bool) string {
	var marks []mark
	group := 0
	for i, span := range m.sentence.Spans {
		for group < len(m.groups) && m.groups[group].last <= i {
			group++
		}
		inGroup := group < len(m.groups) && m.groups[group].first <= i
		switch {
		case inGroup && m.groups[group].first == i:
			if numbers && m.isNumeric(m.groups[group]) {
				continue
			}
			marks = append(marks, mark{start: m.groups[group].start - m.from, end: m.groups[group].end - m.from})
		case !inGroup && span.Kind == TermKind && span.Start >= m.from && span.End <= m.to:
			marks = append(marks, mark{start: span.Start - m.from, end: span.End - m.from})
		}
	}
	return cutOut(m.sentence.Text[m.from:m.to], marks, asRemoved)
}

// written returns the group with its sides in a translation: white space beside a term is removed if its target is in a script
// without spaces.
func (g group) written(s Sentence) group {
	if term := s.Spans[g.first].Term; term != nil && g.before == spaced && char.IsUnspaced(char.First(term.Target)) {
		g.before = touching
	}
	if term := s.Spans[g.last-1].Term; term != nil && g.after == spaced && char.IsUnspaced(char.Last(term.Target)) {
		g.after = touching
	}
	return g
}

// isNumeric reports whether a group has numbers alone.
func (m Masked) isNumeric(g group) bool {
	return !slices.ContainsFunc(m.sentence.Spans[g.first:g.last], func(span Span) bool { return span.Kind != Number })
}

// withNumbers returns a translation with the masked numbers in place of their marks, and without the other marks.
func (m Masked) withNumbers(translation string, marks []mark) string {
	return cutOut(translation, marks, func(mark mark) string {
		if g := m.groups[mark.number-1]; m.isNumeric(g) {
			return m.sentence.Text[g.start:g.end]
		}
		return removed
	})
}

// withoutTerms removes the targets of unmasked terms from part of a translation, each at most as often as in the sentence.
func (s Sentence) withoutTerms(translation string) string {
	var soft Sentence
	for _, span := range s.Spans {
		if span.Kind == TermKind {
			soft.Spans = append(soft.Spans, span)
		}
	}
	if len(soft.Spans) == 0 {
		return translation
	}
	targets, left := soft.targets(func(target string) string { return target })
	var marks []mark
	for _, m := range targets.find(s.looks, translation) {
		if left[m.term.Target] > 0 {
			left[m.term.Target]--
			marks = append(marks, mark{start: m.start, end: m.end})
		}
	}
	return cutOut(translation, marks, asRemoved)
}
