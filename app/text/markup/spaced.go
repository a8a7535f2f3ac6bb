package markup

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"dragoman/app/text/char"
)

// Spaced returns a translation with a space added at each tag or Markdown mark between two words, unless the sentence has the
// same tags between words: a source language without spaces has none to copy. It also adds a space beside a mark of emphasis that
// Markdown would not recognize.
func (s Sentence) Spaced(ctx context.Context, translation string) (string, error) {
	return s.checked(ctx, translation, func(s Sentence) (string, error) { return s.spaced(translation), nil })
}

func (s Sentence) spaced(translation string) string {
	if len(s.Spans) == 0 {
		return translation
	}
	own, known := map[string]bool{}, map[string]bool{}
	for i := range s.Spans {
		own[s.spanText(i)] = true
	}
	for _, tags := range s.betweenWords() {
		known[s.Text[s.Spans[tags[0]].Start:s.Spans[tags[1]].End]] = true
	}
	t := parse(scanner{text: translation, form: s.format, looks: s.looks}).withFormulas()
	var out strings.Builder
	at := 0
	for _, tags := range t.betweenWords() {
		first, last := tags[0], tags[1]
		foreign := !own[t.spanText(first)] && (t.Spans[first].Kind == Tag || t.Text[t.Spans[first].Start] == '_')
		if foreign || known[translation[t.Spans[first].Start:t.Spans[last].End]] {
			continue
		}
		for first <= last && t.Spans[first].Pair <= 0 { // skip closing tags
			first++
		}
		end := t.Spans[last].End
		if first <= last {
			end = t.Spans[first].Start
		}
		out.WriteString(translation[at:end] + " ")
		at = end
	}
	return out.String() + translation[at:]
}

// betweenWords returns the first and last span of each run of tags and marks with words right before and behind it.
func (s Sentence) betweenWords() (list [][2]int) {
	for i := 0; i < len(s.Spans); i++ {
		s.looks.Past(1)
		if !s.isBare(i) {
			continue
		}
		start := i
		for i+1 < len(s.Spans) && s.Spans[i+1].Start == s.Spans[i].End && s.isBare(i+1) {
			i++
		}
		before, next := char.Last(s.Text[:s.Spans[start].Start]), char.First(s.Text[s.Spans[i].End:])
		if char.IsWord(before) && char.IsWord(next) || slices.ContainsFunc(s.Spans[start:i+1], s.isUnmarked) {
			list = append(list, [2]int{start, i})
		}
	}
	return list
}

// isUnmarked reports whether a span is a mark of emphasis that Markdown reads as a sign: there is a letter outside of it, and a sign
// inside, such as a bracket or the end of a link. Underscores are signs beside any letter.
func (s Sentence) isUnmarked(span Span) bool {
	mark := s.Text[span.Start:][:1]
	if span.Kind != Markdown || !strings.Contains("*_~", mark) {
		return false
	}
	outer, inner := char.Last(strings.TrimRight(s.Text[:span.Start], mark)), char.First(strings.TrimLeft(s.Text[span.End:], mark))
	if span.Pair < 0 {
		outer, inner = inner, outer
	}
	return !unicode.IsSpace(outer) && !isMarkdownSign(outer) && (mark == "_" || isMarkdownSign(inner))
}

func isMarkdownSign(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// isBare reports whether a span shows nothing by itself.
func (s Sentence) isBare(i int) bool {
	return isTagKind(s.Spans[i].Kind) && s.Spans[i].Pair != 0 || s.isPoint(i)
}
