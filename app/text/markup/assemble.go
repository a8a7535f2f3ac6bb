package markup

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"

	"dragoman/app/text/char"
	"dragoman/app/text/entity"
)

// assembly builds a translation from its text and the spans of the sentence, and records where each span is in the result.
type assembly struct {
	sentence Sentence
	out      lettered
	first    int      // 1 + firstLetter(); 0 until the first term
	order    []int    // the numbers of the spans, in the order of the translation
	at       [][2]int // byte ranges of these spans in out
	apart    bool     // the sentence has spaces on the inner side of its signs
}

func (a *assembly) span(i int) {
	start := a.out.Len()
	a.sentence.looks.Past(1)
	if a.sentence.Spans[i].Term == nil {
		text := a.sentence.output(i)
		if a.sentence.Spans[i].Kind == Number && a.sentence.to != "" {
			text = entity.Write(text, a.sentence.from, a.sentence.to)
		}
		a.out.WriteString(text)
	} else {
		if a.first == 0 {
			a.first = 1 + a.sentence.firstLetter()
		}
		a.out.WriteString(a.sentence.format.Escape(a.sentence.target(i, !a.out.hasLetter(), a.first-1)))
	}
	a.order, a.at = append(a.order, i), append(a.at, [2]int{start, a.out.Len()})
}

// original adds the bytes of the sentence from start to end with their spans. Neither start nor end lies inside a span; first is
// the number of the first span that does not end before start.
func (a *assembly) original(start, end, first int) {
	s := a.sentence
	for i := first; i < len(s.Spans) && s.Spans[i].End <= end; i++ {
		a.out.WriteString(s.format.Escape(s.Text[start:s.Spans[i].Start]))
		a.span(i)
		start = s.Spans[i].End
	}
	a.out.WriteString(s.format.Escape(s.Text[start:end]))
}

// text adds text of the translation that stands between two groups, or between a group and an end of the text. after is the near
// side of the group in front of the text, before that of the group behind it.
func (a *assembly) text(text string, after, before side) {
	bare := strings.TrimFunc(text, char.IsSpace)
	trimLeft := after == glued || after == tight || after == touching && !char.IsWord(char.First(bare)) || !a.apart && closing.MatchString(bare) ||
		after == noted && !char.IsWord(char.First(bare)) && unicode.IsLetter(char.First(bare))
	trimRight := before == glued || before == tight || before == touching && !char.IsWord(char.Last(bare)) ||
		!a.apart && strings.HasSuffix(bare, "(")
	switch {
	case bare == "":
		if after == glued || before == glued || after == touching || before == touching {
			text = ""
		} else if text == "" && after == spaced && before == spaced {
			text = " "
		}
	default:
		if trimLeft {
			text = strings.TrimLeftFunc(text, char.IsSpace)
		} else if after != loose && char.IsWord(char.First(text)) {
			text = " " + text
		}
		if trimRight {
			text = strings.TrimRightFunc(text, char.IsSpace)
		} else if before != loose && char.IsWord(char.Last(text)) {
			text += " "
		}
	}
	a.out.WriteString(a.sentence.format.Escape(text))
}

// apartSign matches a sign with a space on its inner side.
var apartSign = regexp.MustCompile(`\s[.,)\]]|\(\s`)

// closing matches a sign that takes no space before it.
var closing = regexp.MustCompile(`^(?:[)\]]|[.,](?:[^.,0-9A-Za-z]|$))`)

// result returns the translation. It fails with ErrLost if its pairs are not as in the sentence.
func (a *assembly) result() (string, error) {
	switch {
	case a.sentence.pairsNested():
		if !a.sentence.isNested(a.order) {
			return "", fmt.Errorf("%w: the pairs are no longer nested", ErrLost)
		}
	case !a.isSameOrder():
		return "", fmt.Errorf("%w: pairs that were not nested came in another order", ErrLost)
	}
	out := a.out.String()
	if n := a.emptied(out); n > 0 {
		return "", fmt.Errorf("%w: %d pairs have nothing in them any more, or letters that were not there", ErrLost, n)
	}
	out = a.sentence.spaced(out)
	if !a.hasTags(out) {
		return "", fmt.Errorf("%w: a tag came in or is missing", ErrLost)
	}
	return out, nil
}

// hasTags reports whether a translation in HTML or XML has the tags of the sentence and no others. Whatever was done to get it,
// it is then as well-formed as the source.
func (a *assembly) hasTags(out string) bool {
	s := a.sentence
	if !s.format.hasTags() || !strings.Contains(out, "<") && !strings.Contains(s.Text, "<") {
		return true
	}
	count := map[string]int{}
	for step, text := range [...]string{s.Text, out} {
		tokens, end := tokenize(s.looks, text, s.format)
		if step == 0 && end < len(text) {
			return true // what an incomplete tag swallows is text in a translation
		}
		for _, t := range tokens {
			if t.Kind != html.TextToken {
				count[text[t.Start:t.End]] += 1 - 2*step
			}
		}
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// isNested reports whether spans in this order close in reverse order of opening, and whether spans without their other end keep
// their order and stay outside all pairs.
func (s Sentence) isNested(order []int) bool {
	var opened []int
	alone, whole := -1, s.wholePairs()
	for _, i := range order {
		s.looks.Past(1)
		switch pair := s.Spans[i].Pair; {
		case pair == 0:
		case !whole[max(pair, -pair)]:
			if len(opened) > 0 || i < alone {
				return false
			}
			alone = i
		case pair > 0:
			opened = append(opened, pair)
		case len(opened) == 0 || opened[len(opened)-1] != -pair:
			return false
		default:
			opened = opened[:len(opened)-1]
		}
	}
	return true
}

// isSameOrder reports whether the ends of pairs keep the order of the sentence.
func (a *assembly) isSameOrder() bool {
	s := a.sentence
	before := -1
	for _, i := range a.order {
		if s.Spans[i].Pair == 0 {
			continue
		}
		if i < before {
			return false
		}
		before = i
	}
	return true
}

// emptied counts the pairs that lost all their content, and the pairs that gained letters where they had none.
func (a *assembly) emptied(out string) int {
	s, count := a.sentence, 0
	if !slices.ContainsFunc(s.Spans, func(span Span) bool { return span.Pair != 0 }) {
		return 0
	}
	before, now := make([]content, len(s.Spans)), make([]content, len(a.order)) // running sums up to each span: pairs nest
	var sum content
	at := 0
	for i, span := range s.Spans {
		before[i] = sum.plus(s.format.Escape(s.Text[at:span.Start])) // escaped as it is in out: &amp; has letters
		sum, at = before[i].plus(s.format.Escape(s.spanText(i))), span.End
	}
	sum, at = content{}, 0
	for k, place := range a.at {
		now[k] = sum.plus(out[at:place[0]])
		sum, at = now[k].plus(out[place[0]:place[1]]), place[1]
	}
	opened := map[int]int{} // from a pair to its position in order
	for k, i := range a.order {
		s.looks.Past(1)
		pair := s.Spans[i].Pair
		if pair > 0 {
			opened[pair] = k
			continue
		}
		first, ok := opened[-pair]
		if pair == 0 || !ok {
			continue
		}
		had := before[i].minus(before[a.order[first]].plus(s.format.Escape(s.spanText(a.order[first]))))
		has := now[k].minus(now[first].plus(out[a.at[first][0]:a.at[first][1]]))
		if has.visible == 0 && had.visible > 0 || has.letters > 0 && had.letters == 0 {
			count++
		}
	}
	return count
}

// content counts the visible characters and letters of a text.
type content struct{ visible, letters int }

func (c content) plus(text string) content {
	for _, r := range text {
		if !unicode.IsSpace(r) {
			c.visible++
		}
		if unicode.IsLetter(r) {
			c.letters++
		}
	}
	return c
}

func (c content) minus(d content) content {
	return content{c.visible - d.visible, c.letters - d.letters}
}
