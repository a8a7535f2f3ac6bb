package markup

import (
	"slices"
	"sort"
	"strings"
	"unicode"

	"golang.org/x/net/html"

	"dragoman/app/text/char"
)

// Syntax goes on across the tags of HTML and XML that do not end a word: <b>house</b>@example.com is an address, and the parts of a
// URL may have a class each. The text without these tags is scanned once more; each span that a tag divides becomes one span of
// code on each side of the tag.

// joint is a place of the joined text: bytes from at on come from byte from of the text.
type joint struct{ at, from int }

// acrossTags adds the spans that tags divide.
func (s *scanner) acrossTags() {
	joined, joints := s.joinedText()
	if joints == nil {
		return
	}
	inner := scanner{text: joined, form: CDATA, looks: s.looks, ahead: map[string]int{}}
	var list []Span
	for _, span := range inner.run() {
		s.looks.Past(1)
		first := sort.Search(len(joints), func(i int) bool { return joints[i].at > span.Start }) - 1
		if first+1 >= len(joints) || joints[first+1].at >= span.End || !goesAcross(span.Kind, joined[span.Start:span.End]) {
			continue
		}
		for i := first; i < len(joints) && joints[i].at < span.End; i++ {
			part := Span{Start: max(span.Start, joints[i].at), End: span.End, Kind: Code}
			if i+1 < len(joints) {
				part.End = min(part.End, joints[i+1].at)
			}
			offset := joints[i].from - joints[i].at
			list = appendSpan(list, s.text, Span{Start: part.Start + offset, End: part.End + offset, Kind: Code})
		}
	}
	if list == nil {
		return
	}
	all := append(s.spans, list...)
	slices.SortStableFunc(all, func(a, b Span) int { return a.Start - b.Start })
	s.spans = make([]Span, 0, len(all))
	for _, span := range all {
		if n := len(s.spans) - 1; n >= 0 && s.spans[n].End > span.Start { // a part of it was recognized
			if s.spans[n].End >= span.End && s.spans[n].Kind == Placeholder { // a message with tags in it
				continue
			}
			s.spans[n].End, s.spans[n].Kind = max(s.spans[n].End, span.End), Code
			continue
		}
		s.spans = append(s.spans, span)
	}
}

// goesAcross reports whether a span that a tag divides is held: a word of letters and digits is not.
func goesAcross(kind Kind, text string) bool {
	switch kind {
	case Placeholder:
		return true
	case Number:
		return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Sc, r) || char.OneOfRunes(r, "%‰°％") })
	case Code:
		return strings.ContainsAny(text, `_@#=$\/(<{°%`)
	}
	return false
}

// joinedText returns the text without the tags that do not end a word, and the places where they were. It returns no places if
// there is no such tag between two characters other than white space.
func (s *scanner) joinedText() (joined string, joints []joint) {
	var out strings.Builder
	divides := false
	for i := 0; i < len(s.tags); i++ {
		t := s.tags[i]
		s.looks.Past(1)
		if t.Kind == html.TextToken {
			joints = append(joints, joint{out.Len(), t.Start})
			out.WriteString(s.text[t.Start:t.End])
			continue
		}
		ends := s.endsWord(i)
		if t.opaque && t.Partner > 0 {
			i, ends = t.Partner, true
		}
		if end := s.tags[i].End; ends {
			joints = append(joints, joint{out.Len(), t.Start})
			out.WriteByte('\n')
		} else if t.Start > 0 && end < len(s.text) && !unicode.IsSpace(char.Last(s.text[:t.Start])) && !unicode.IsSpace(char.First(s.text[end:])) {
			divides = true
		}
	}
	if !divides {
		return "", nil
	}
	return out.String(), joints
}

// endsWord reports whether no syntax goes on across tag i: an element that shows something, a superscript, or the next element of
// a list.
func (s *scanner) endsWord(i int) bool {
	t := s.tags[i]
	switch {
	case t.Kind == html.SelfClosingTagToken, t.Kind == html.StartTagToken && voidElements[t.Name] && t.Name != "wbr", t.Kind == html.DoctypeToken:
		return true
	case t.Name == "sup", t.Name == "sub":
		return true
	}
	return t.Kind == html.EndTagToken && i+1 < len(s.tags) && s.tags[i+1].Kind == html.StartTagToken && s.tags[i+1].Name == t.Name && t.Name != "span"
}
