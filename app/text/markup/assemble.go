package markup

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"dragoman/app/text/char"
)

// assembly puts a translation together from its text and the spans of the sentence,
// and remembers where the spans are in it.
type assembly struct {
	sentence Sentence
	out      lettered
	first    int      // what firstLetter says, 1 more; 0 until there is a term
	order    []int    // the spans as they come
	at       [][2]int // where those are in out
	apart    bool     // the sentence has spaces before its signs
}

func (a *assembly) span(i int) {
	start := a.out.Len()
	a.sentence.looks.Past(1)
	if a.sentence.Spans[i].Term == nil {
		a.out.WriteString(a.sentence.output(i))
	} else {
		if a.first == 0 {
			a.first = 1 + a.sentence.firstLetter()
		}
		a.out.WriteString(a.sentence.format.Escape(a.sentence.target(i, !a.out.hasLetter(), a.first-1)))
	}
	a.order, a.at = append(a.order, i), append(a.at, [2]int{start, a.out.Len()})
}

// original adds the bytes of the sentence from start to end, neither of them inside a
// span; first is the first span that does not end before start.
func (a *assembly) original(start, end, first int) {
	s := a.sentence
	for i := first; i < len(s.Spans) && s.Spans[i].End <= end; i++ {
		a.out.WriteString(s.format.Escape(s.Text[start:s.Spans[i].Start]))
		a.span(i)
		start = s.Spans[i].End
	}
	a.out.WriteString(s.format.Escape(s.Text[start:end]))
}

// text adds text of the translation that stands between two groups, or between one
// and an end of the text. after is the side of the group before it next to
// it, before that of the group behind it.
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

// apartSign is a sign with a space on its inner side.
var apartSign = regexp.MustCompile(`\s[.,)\]]|\(\s`)

// closing is a sign that has no space before it.
var closing = regexp.MustCompile(`^(?:[)\]]|[.,](?:[^.,0-9A-Za-z]|$))`)

// result returns the translation, if the pairs in it are as in the sentence.
func (a *assembly) result() (string, error) {
	switch {
	case a.sentence.pairsNested():
		if !a.sentence.isNested(a.order) {
			return "", fmt.Errorf("%w: the pairs are no longer nested", ErrLost)
		}
	case !a.sentence.isSameOrder(a.order):
		return "", fmt.Errorf("%w: pairs that were not nested came in another order", ErrLost)
	}
	out := a.out.String()
	if n := a.emptied(out); n > 0 {
		return "", fmt.Errorf("%w: %d pairs have nothing in them any more, or letters that were not there", ErrLost, n)
	}
	return a.sentence.spaced(out), nil
}

// isNested says whether spans, in this order, close what was opened last, and whether
// those without their other end stand in their order and outside of all pairs.
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

// isSameOrder says whether the ends of pairs come in their order.
func (s Sentence) isSameOrder(order []int) bool {
	before := -1
	for _, i := range order {
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

// emptied counts the pairs that had something in them and have no more, and those that had no letter and have one.
func (a *assembly) emptied(out string) int {
	s, count := a.sentence, 0
	if !slices.ContainsFunc(s.Spans, func(span Span) bool { return span.Pair != 0 }) {
		return 0
	}
	before, now := make([]content, len(s.Spans)), make([]content, len(a.order)) // up to each span, for pairs are in each other
	var sum content
	at := 0
	for i, span := range s.Spans {
		before[i] = sum.plus(s.format.Escape(s.Text[at:span.Start])) // as it is in out: &amp; has letters
		sum, at = before[i].plus(s.format.Escape(s.spanText(i))), span.End
	}
	sum, at = content{}, 0
	for k, place := range a.at {
		now[k] = sum.plus(out[at:place[0]])
		sum, at = now[k].plus(out[place[0]:place[1]]), place[1]
	}
	opened := map[int]int{} // pair to its number in order
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

// content counts what a text has.
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
