package markup

// Part is a part of a sentence. One that is not fixed is translated like a sentence.
type Part struct {
	Sentence
	Fixed bool // stays as it is: write Original
}

// Around splits a sentence at its spans. The parts join to it. The white space
// around a span belongs to it, and so does what has no letters between two.
//
// Numbers and signs split a sentence only where it has no other spans: a part that is not
// fixed may have some, and needs ways 1 and 2 and Around, once more.
func (s Sentence) Around() []Part {
	soft := s.AsIs()
	var list parted
	for i := 0; i < len(s.Spans); i++ {
		span := s.Spans[i]
		if span.Kind.isSoft() && !soft {
			continue
		}
		list.text(s, span.Start)
		list.fixed(span.End)
	}
	list.text(s, len(s.Text))
	parts := make([]Part, len(list.ends))
	start := 0
	for i, end := range list.ends {
		parts[i] = Part{Sentence: s.Slice(start, end), Fixed: list.kept[i]}
		start = end
	}
	return parts
}

// parted are the ends of parts.
type parted struct {
	ends []int
	kept []bool
}

func (p *parted) end() int {
	if len(p.ends) == 0 {
		return 0
	}
	return p.ends[len(p.ends)-1]
}

// text adds the text up to end, with the white space around it fixed.
func (p *parted) text(s Sentence, end int) {
	start := p.end()
	if s.Slice(start, end).Blank() {
		p.fixed(end)
		return
	}
	from, to := trimmed(s.Text, start, end)
	p.fixed(from)
	p.ends, p.kept = append(p.ends, to), append(p.kept, false)
	p.fixed(end)
}

// fixed adds what comes up to end to the fixed part before it, or makes one of it.
func (p *parted) fixed(end int) {
	last := len(p.ends) - 1
	switch {
	case end == p.end():
	case last >= 0 && p.kept[last]:
		p.ends[last] = end
	default:
		p.ends, p.kept = append(p.ends, end), append(p.kept, true)
	}
}
