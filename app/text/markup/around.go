package markup

import "context"

// Part is a part of a sentence. A part that is not fixed is translated like a sentence of its own.
type Part struct {
	Sentence
	Fixed bool // write Original instead of translating
}

// Around splits a sentence at its spans. The parts, joined, are the sentence. White space around a span belongs to the span's
// part, as does text without letters between two spans.
//
// Numbers and signs split a sentence only if it has no other spans. A part that is not fixed may therefore still have some, and
// goes through ways 1 and 2 of the package comment and Around again.
func (s Sentence) Around(ctx context.Context) (parts []Part, err error) {
	_, err = s.within(ctx, len(s.Text), func(s Sentence) Sentence {
		parts = s.around()
		return s
	})
	return parts, err
}

func (s Sentence) around() []Part {
	var texts [][2]int // byte ranges of the parts that are not fixed
	start, soft := 0, s.AsIs()
	text := func(end int) {
		if !s.Slice(start, end).Blank() {
			from, to := s.Trimmed(start, end)
			texts = append(texts, [2]int{from, to})
		}
	}
	for _, span := range s.Spans {
		s.looks.Past(1)
		if !span.Kind.isSoft() || soft {
			text(span.Start)
			start = span.End
		}
	}
	text(len(s.Text))
	var parts []Part
	at := 0
	fixed := func(end int) {
		if at < end {
			parts = append(parts, Part{Sentence: s.Slice(at, end), Fixed: true})
		}
	}
	for _, t := range texts {
		s.looks.Past(1)
		fixed(t[0])
		parts = append(parts, Part{Sentence: s.Slice(t[0], t[1])})
		at = t[1]
	}
	fixed(len(s.Text))
	return parts
}
