package markup

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
	"unicode"

	"dragoman/app/text/char"
)

// Syntax goes on across the tags of HTML and XML that do not end a word: <b>house</b>@example.com is an address, and the parts of a
// URL may have a class each. The text without these tags is scanned once more; each span that a tag divides becomes one span of
// code on each side of the tag.

// joint is a place of the joined text: bytes from at on come from byte from of the text.
type joint struct{ at, from int }

// acrossTags adds the spans that tags divide.
func (s Sentence) acrossTags(lang string) Sentence {
	joined, joints := s.joinedText()
	if joints == nil {
		return s
	}
	var list []Span
	for _, span := range parse(scanner{text: joined, form: CDATA, looks: s.looks}).in(lang).Spans {
		s.looks.Past(1)
		first := sort.Search(len(joints), func(i int) bool { return joints[i].at > span.Start }) - 1
		if first+1 >= len(joints) || joints[first+1].at >= span.End || !goesAcross(span.Kind, joined[span.Start:span.End]) {
			continue
		}
		for i := first; i < len(joints) && joints[i].at < span.End; i++ {
			end := span.End
			if i+1 < len(joints) {
				end = min(end, joints[i+1].at)
			}
			offset := joints[i].from - joints[i].at
			part := Span{Start: max(span.Start, joints[i].at) + offset, End: end + offset, Kind: Code}
			if k := sort.Search(len(s.Spans), func(k int) bool { return s.Spans[k].End >= part.End }); k == len(s.Spans) || s.Spans[k].Start > part.Start || s.Spans[k].Kind != Placeholder { // a message with tags in it
				list = appendSpan(list, s.Text, part)
			}
		}
	}
	e := expressions{text: s.Text, looks: s.looks, form: s.format, spans: s.Spans, more: list}
	s.Spans = e.merged()
	return s
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
func (s Sentence) joinedText() (joined string, joints []joint) {
	var out strings.Builder
	at, divides := 0, false
	for i, span := range s.Spans {
		s.looks.Past(1)
		opaque := span.Kind == Code && s.Text[span.Start] == '<'
		if span.Kind != Tag && !opaque {
			continue
		}
		joints = append(joints, joint{out.Len(), at})
		out.WriteString(s.Text[at:span.Start])
		at = span.End
		if opaque || s.endsWord(i) {
			joints = append(joints, joint{out.Len(), span.Start})
			out.WriteByte('\n')
		} else if span.Start > 0 && at < len(s.Text) && !unicode.IsSpace(char.Last(s.Text[:span.Start])) && !unicode.IsSpace(char.First(s.Text[at:])) {
			divides = true
		}
	}
	if !divides {
		return "", nil
	}
	joints = append(joints, joint{out.Len(), at})
	out.WriteString(s.Text[at:])
	return out.String(), joints
}

// endsWord reports whether no syntax goes on across the tag of span i: an element that shows something, a superscript, or the next
// element of a list.
func (s Sentence) endsWord(i int) bool {
	name, span := s.tagName(i), s.Spans[i]
	switch text := s.spanText(i); {
	case strings.HasSuffix(text, "/>"), voidElements[name] && name != "wbr", strings.HasPrefix(text, "<!D"), strings.HasPrefix(text, "<!d"), name == "sup", name == "sub":
		return true
	}
	return span.Pair < 0 && name != "span" && i+1 < len(s.Spans) && s.Spans[i+1].Start == span.End && s.Spans[i+1].Pair > 0 && s.tagName(i+1) == name
}

// tagName returns the name of the tag of span i, in lower case, or "" for a comment.
func (s Sentence) tagName(i int) string {
	return strings.ToLower(elementName.FindString(strings.TrimLeft(s.spanText(i), "</")))
}

// dividedNumber matches a number that removed tags divide: <b>3</b>.<i>2</i>.
var dividedNumber = regexp.MustCompile(`\d\x{FFFC}+[.,]\x{FFFC}*\d`)

// compareDivided returns an error that wraps ErrLost if tags divide a number of the sentence, and the translation has other numbers
// without its tags: the markers hide the joints of such a number.
func (s Sentence) compareDivided(translation string) error {
	if s.format == Text {
		return nil
	}
	source := s.withoutTags()
	if !s.looks.Match(dividedNumber, source) {
		return nil
	}
	t := parse(scanner{text: translation, form: s.format, looks: s.looks})
	if err := s.compareNumbers(strings.ReplaceAll(source, removed, ""), strings.ReplaceAll(t.withoutTags(), removed, "")); err != nil {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return nil
}

// withoutTags returns the text with removed in place of its tags.
func (s Sentence) withoutTags() string {
	var tags []mark
	for _, span := range s.Spans {
		s.looks.Past(1)
		if span.Kind == Tag {
			tags = append(tags, mark{start: span.Start, end: span.End})
		}
	}
	return cutOut(s.Text, tags, asRemoved)
}
