package markup

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// Whole returns the sentence with each pair of tags or Markdown marks around whole words. A tag within a word applies to the
// whole word, as its position in the word's translation is unknown: **T**he becomes **The**, and <a>book</a>s becomes
// <a>books</a>. A pair that extends to other words leaves the word if the larger part of the word is outside the pair.
//
// Superscripts and subscripts are one span, which stays as it is, if they have no word in them or form a unit, a formula or an
// ordinal with their base (m<sup>2</sup>, H<sub>2</sub>O, 1<sup>st</sup>).
//
// A tag that may stand at any position, such as a comment or a link target, moves behind the word. Hints for hyphenation are
// removed: the translation has other words.
//
// A word ends where a capital follows a small letter, and where an element follows another one of the same name.
func (s Sentence) Whole(ctx context.Context) (Sentence, error) {
	return s.within(ctx, len(s.Text), func(s Sentence) Sentence { return s.withoutHints().withFormulas().withWholeWords() })
}

// softHyphen and zeroWidthSpace mark possible line breaks in a word.
const softHyphen, zeroWidthSpace = '\u00ad', '\u200b'

func hasHints(text string) bool {
	return strings.ContainsRune(text, softHyphen) || strings.ContainsRune(text, zeroWidthSpace)
}

// Undivided returns text without hints for hyphenation in its words. before is the character before the text.
func Undivided(text string, before rune) string {
	if !hasHints(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r != softHyphen && r != zeroWidthSpace:
			before = r
		case char.IsWord(before):
			return -1
		}
		return r
	}, text)
}

// WithoutStray returns text without characters of no width, such as a byte order mark, beside white space, punctuation of sentences
// and the ends of the text, where they mark no break in a word.
func WithoutStray(text string) string {
	const zeroWidth, edges = "\u200b\u2060\ufeff", ".,;:!?…\"'”’»()[]“«。、！？"
	if !strings.ContainsRune(text, '\u200b') && !strings.ContainsRune(text, '\u2060') && !strings.ContainsRune(text, '\ufeff') || !hasLetter(text) {
		return text
	}
	isEdge := func(r rune) bool { return unicode.IsSpace(r) || char.OneOfRunes(r, edges+zeroWidth) }
	var out strings.Builder
	for at := 0; at < len(text); {
		r, n := char.Decode(text, at)
		if !char.OneOfRunes(r, zeroWidth) || !isEdge(char.Last(text[:at])) && !isEdge(char.First(text[at+n:])) {
			out.WriteString(text[at : at+n])
		}
		at += n
	}
	return out.String()
}

// withoutHints returns the sentence without hints for hyphenation in its words.
func (s Sentence) withoutHints() Sentence {
	if !hasHints(s.Text) {
		return s
	}
	var out strings.Builder
	var spans []Span
	at, before := 0, ' '
	text := func(end int) {
		t := Undivided(s.Text[at:end], before)
		if out.WriteString(t); t != "" {
			before = char.Last(t)
		}
	}
	for i, span := range s.Spans {
		s.looks.Past(span.End - at)
		text(span.Start)
		at = span.End
		if span.Kind != Tag && span.Kind != Markdown {
			before = ' '
		}
		span.Start = out.Len()
		out.WriteString(s.spanText(i))
		span.End = out.Len()
		spans = append(spans, span)
	}
	if text(len(s.Text)); out.Len() < len(s.Text) {
		s.Text, s.Spans = out.String(), spans
	}
	return s
}

// raised matches a tag of a superscript or subscript.
var raised = regexp.MustCompile(`^</?(sup|sub)\b`)

// The maximum numbers of letters of a formula's base and of its superscript or subscript.
const mostBase, mostRaised = 3, 4

// IsBase reports whether a text, part of a word, is short enough to be the base of a formula.
func IsBase(text string) bool {
	return utf8.RuneCountInString(strings.TrimFunc(text, unicode.IsDigit)) <= mostBase
}

// IsRaised reports whether a text is short enough to be the superscript of a formula.
func IsRaised(text string) bool {
	return utf8.RuneCountInString(text) <= mostRaised && !strings.ContainsFunc(text, unicode.IsSpace)
}

// GoesOn reports whether a word continues from the end of one text to the start of the next.
func GoesOn(before, next string) bool {
	a, b := char.Last(before), char.First(next)
	return char.IsWord(a) && char.IsWord(b) && !(unicode.IsLower(a) && unicode.IsUpper(b))
}

// hasTags reports whether the sentence has tags or Markdown marks.
func (s Sentence) hasTags() bool {
	return slices.ContainsFunc(s.Spans, func(span Span) bool { return isTagKind(span.Kind) })
}

// withFormulas makes one span of each formula, and of each empty pair.
func (s Sentence) withFormulas() Sentence {
	if !s.hasTags() {
		return s
	}
	var spans []Span
	for i := 0; i < len(s.Spans); i++ {
		s.looks.Past(1)
		if next := i + 1; next < len(s.Spans) && s.Spans[i].Kind == Tag && s.Spans[i].Pair > 0 && s.Spans[next].Pair == -s.Spans[i].Pair && s.Spans[next].Start == s.Spans[i].End {
			spans = append(spans, Span{Start: s.Spans[i].Start, End: s.Spans[next].End, Kind: Tag})
			i = next
			continue
		}
		last, start, end := s.formula(i)
		if last < 0 {
			spans = append(spans, s.Spans[i])
			continue
		}
		for len(spans) > 0 && spans[len(spans)-1].End > start { // a number at its start
			start = min(start, spans[len(spans)-1].Start)
			spans = spans[:len(spans)-1]
		}
		for last+1 < len(s.Spans) && s.Spans[last+1].Start < end {
			last++
			end = max(end, s.Spans[last].End)
		}
		spans = append(spans, Span{Start: start, End: end, Kind: Formula})
		i = last
	}
	s.Spans = spans
	return s
}

// formula finds the formula or note reference of the pair that span i opens, and returns its last span and byte range; last is -1
// if there is none.
func (s Sentence) formula(i int) (last, start, end int) {
	if last = s.noteLink(i); last >= 0 {
		return last, s.Spans[i].Start, s.Spans[last].End
	}
	last = s.raisedEnd(i)
	if last < 0 {
		return -1, 0, 0
	}
	start, end = s.Spans[i].Start, s.Spans[last].End
	inner := s.Slice(s.Spans[i].End, s.Spans[last].Start)
	from := wordStart(s.Text, start)
	base, bare := s.Text[from:start], strings.TrimSpace(inner.Text)
	short := len(inner.Spans) == 0 || inner.AsIs() // without a link to a note
	switch {
	case short && base != "" && IsBase(base) && IsRaised(bare):
	case inner.Blank(), short && base == "" && utf8.RuneCountInString(bare) == 1 && standsBehind(s.Text, start):
		return last, start, end // a note reference, which may follow any word
	default:
		return -1, 0, 0
	}
	// H<sub>2</sub>SO<sub>4</sub>: text behind the pair is part of the formula if it is as short.
	for {
		to := wordEnd(s.Text, end)
		next := last + 1
		for next < len(s.Spans) && s.Spans[next].Start < to {
			next++
		}
		if !IsBase(s.Text[end:to]) {
			return last, from, end
		}
		if next < len(s.Spans) && s.Spans[next].Start == to {
			if closing := s.raisedEnd(next); closing > 0 && s.Slice(s.Spans[next].End, s.Spans[closing].Start).Blank() {
				last, end = closing, s.Spans[closing].End
				continue
			}
		}
		return max(last, next-1), from, to
	}
}

// raisedEnd returns the closing span of the superscript or subscript that span i opens, or -1.
func (s Sentence) raisedEnd(i int) int {
	if !raised.MatchString(strings.ToLower(s.spanText(i))) {
		return -1
	}
	return s.pairEnd(i, mostWithin)
}

// mostWithin is the maximum number of spans within a formula or note reference.
const mostWithin = 8

// pairEnd returns the closing span of the pair of tags that span i opens, if it is less than most spans away, or -1.
func (s Sentence) pairEnd(i, most int) int {
	if s.Spans[i].Kind != Tag || s.Spans[i].Pair <= 0 {
		return -1
	}
	for k := i + 1; k < min(len(s.Spans), i+most); k++ {
		if s.Spans[k].Pair == -s.Spans[i].Pair {
			return k
		}
	}
	return -1
}

// wordStart returns the start of the word that ends at byte at; wordEnd returns the end of the word that starts there.
func wordStart(text string, at int) int {
	return len(strings.TrimRightFunc(text[:at], char.IsWord))
}

func wordEnd(text string, at int) int { return char.Skip(text, at, char.IsWord) }

// withWholeWords moves the ends of pairs out of words.
func (s Sentence) withWholeWords() Sentence {
	if !s.hasTags() {
		return s
	}
	pairs := s.wholePairs()
	other := make(map[int]int, 2*len(pairs)) // from each end of a pair to its other end
	opened := map[int]int{}
	for i, span := range s.Spans {
		s.looks.Past(1)
		if span.Pair > 0 && pairs[span.Pair] {
			opened[span.Pair] = i
		} else if at, ok := opened[-span.Pair]; ok && span.Pair < 0 {
			other[i], other[at] = at, i
		}
	}
	m := mover{Sentence: s, other: other, to: map[int]int{}, wide: map[int]int{}}
	for i := 0; i < len(s.Spans); i++ {
		s.looks.Past(1)
		if m.movable(i) {
			i = m.word(i)
		}
	}
	if len(m.to) == 0 {
		return s
	}
	for range 2 {
		if moved := m.moved(); moved.pairsNested() {
			return moved.withJoinedMarks()
		}
		for k := range m.wide { // both positions of an end cannot hold at once
			m.to[k] = m.wide[k]
		}
	}
	return s
}

// withJoinedMarks merges pairs of the same Markdown mark that are adjacent or directly nested: a run of four signs is not a mark.
func (s Sentence) withJoinedMarks() Sentence {
	var spans []Span
	var out []byte
	pairs := map[int]int{} // from merged pairs to their remaining pair, or to 0 for removed pairs
	number := func(span Span) int {
		n, ok := pairs[max(span.Pair, -span.Pair)]
		if !ok {
			return span.Pair
		}
		return n * cmp.Compare(span.Pair, 0)
	}
	at := 0
	for i, span := range s.Spans {
		s.looks.Past(span.End - at)
		out = append(out, s.Text[at:span.Start]...)
		at = span.End
		was := span.Pair
		if span.Pair = number(span); was != 0 && span.Pair == 0 {
			continue // an end of a nested pair
		}
		if k := len(spans) - 1; k >= 0 && span.Kind == Markdown && spans[k].Kind == Markdown && spans[k].End == len(out) && span.Pair > 0 && s.spanText(i) != "[" &&
			string(out[spans[k].Start:]) == s.spanText(i) {
			switch before := spans[k].Pair; {
			case before < 0:
				pairs[was] = -before
				out, spans = out[:spans[k].Start], spans[:k]
				continue
			case before > 0:
				pairs[was] = 0
				continue
			}
		}
		span.Start = len(out)
		out = append(out, s.spanText(i)...)
		span.End = len(out)
		spans = append(spans, span)
	}
	out = append(out, s.Text[at:]...)
	s.Text, s.Spans = string(out), spans
	return s
}

// pairsNested reports whether all pairs are nested.
func (s Sentence) pairsNested() bool {
	order := make([]int, len(s.Spans))
	for i := range order {
		order[i] = i
	}
	return s.isNested(order)
}

// mover moves ends of pairs to the start or the end of words.
type mover struct {
	Sentence
	other map[int]int
	to    map[int]int // from spans to their new positions
	wide  map[int]int // from spans to the positions at which their pair includes the word
	gap   [2]int      // the last result of gapAt
}

// movable reports whether a span is an end of a pair, or may stand at any position.
func (m *mover) movable(i int) bool {
	span := m.Spans[i]
	if m.isPoint(i) {
		return true
	}
	_, ok := m.other[i]
	return ok && (span.Kind == Tag || span.Kind == Markdown)
}

// isPoint reports whether a span is a tag that shows nothing by itself: a comment, a link target.
func (s Sentence) isPoint(i int) bool {
	return s.Spans[i].Kind == Tag && point.MatchString(s.spanText(i))
}

var point = regexp.MustCompile(`(?is)^<(?:!--|wbr\b|(?:a|span)\b[^<>]*(?:/>|></))`)

// word moves the spans within the word around span i, if there is one, and returns the last span that it examined.
func (m *mover) word(i int) (last int) {
	start := wordStart(m.Text, m.Spans[i].Start)
	for n := i - 1; n >= 0 && m.Spans[n].End > start; n-- { // the word begins within a number or a name
		start = min(start, m.Spans[n].Start)
	}
	inside, end, last := []int(nil), 0, i
	var sizes []int // for each span of inside: the letters before it
	size := utf8.RuneCountInString(m.Text[start:m.Spans[i].Start])
	if size == 0 {
		return i
	}
	for k := i; ; {
		// The spans at this position.
		stop := k
		for stop+1 < len(m.Spans) && m.Spans[stop+1].Start == m.Spans[stop].End && m.movable(stop+1) {
			stop++
		}
		at := m.Spans[stop].End
		last = stop
		if !m.goesOn(k, stop) {
			break
		}
		for ; k <= stop; k++ {
			inside, sizes = append(inside, k), append(sizes, size)
		}
		end = wordEnd(m.Text, at)
		size += utf8.RuneCountInString(m.Text[at:end])
		for k < len(m.Spans) && m.Spans[k].Start < end { // numbers, names
			end = max(end, m.Spans[k].End)
			last, k = k, k+1
		}
		if k >= len(m.Spans) || m.Spans[k].Start != end || !m.movable(k) {
			break
		}
	}
	if len(inside) == 0 {
		return last
	}
	for n, k := range inside {
		m.move(k, start, end, sizes[n], size)
	}
	// Spans at the ends of the word are ordered together with the spans moved there.
	for n, at := inside[0]-1, start; n >= 0 && m.Spans[n].End == at && m.movable(n); n-- {
		m.at(n, start)
		at = m.Spans[n].Start
	}
	for n, at := inside[len(inside)-1]+1, end; n < len(m.Spans) && (m.Spans[n].Start < end || m.Spans[n].Start == at && m.movable(n)); n++ {
		if m.Spans[n].Start >= end {
			m.at(n, end)
			at = m.Spans[n].End
		}
	}
	return last
}

// goesOn reports whether a word continues behind spans [a, b].
func (m *mover) goesOn(a, b int) bool {
	if !GoesOn(m.Text[:m.Spans[a].Start], m.Text[m.Spans[b].End:]) {
		return false
	}
	for k := a; k < b; k++ {
		if m.Spans[k].Pair < 0 && m.Spans[k+1].Pair > 0 && m.name(k) == m.name(k+1) {
			return false
		}
	}
	return true
}

// name returns a name that both ends of a pair share.
func (m *mover) name(i int) string {
	if text := m.spanText(i); m.Spans[i].Kind == Markdown && strings.HasPrefix(text, "]") {
		return "["
	} else if m.Spans[i].Kind == Markdown {
		return text
	}
	return elementName.FindString(strings.TrimLeft(m.spanText(i), "</"))
}

// move sets the new position of span k, which stands in the word [start, end) behind before of its all letters.
func (m *mover) move(k, start, end, before, all int) {
	o, paired := m.other[k]
	span := m.Spans[k]
	if m.wide[k] = end; span.Pair > 0 {
		m.wide[k] = start
	}
	switch {
	case !paired:
		m.to[k] = end
	case span.Pair > 0:
		rest, _ := utf8.DecodeRuneInString(m.Text[end:])
		if beyond := m.hasWords(end, m.Spans[o].Start); beyond && before >= all-before && !unicode.IsPunct(rest) {
			m.to[k] = m.gapAt(end)[1]
		} else {
			m.to[k] = start
		}
	default:
		if beyond := m.hasWords(m.Spans[o].End, start); beyond && before < all-before {
			m.to[k] = m.gapAt(start)[0]
		} else {
			m.to[k] = end
		}
	}
}

// gapAt returns the range of the spaces around byte at.
func (m *mover) gapAt(at int) [2]int {
	if at < m.gap[0] || at > m.gap[1] || m.gap[1] == 0 {
		m.gap = [2]int{len(strings.TrimRight(m.Text[:at], " ")), len(m.Text) - len(strings.TrimLeft(m.Text[at:], " "))}
	}
	return m.gap
}

// hasWords reports whether a range of the text has a letter to translate, or is long.
func (m *mover) hasWords(start, end int) bool {
	const long = 256
	return end-start > long || start < end && !m.Slice(start, end).Blank()
}

// position returns the final position of a span.
func (m *mover) position(i int) int {
	if to, ok := m.to[i]; ok {
		return to
	}
	return m.Spans[i].Start
}

// widen includes whole words in the pairs that would be left without any word.
func (m *mover) widen() {
	for i, o := range m.other {
		m.looks.Past(1)
		if i < o && !m.hasWords(m.position(i), m.position(o)) {
			for _, k := range [...]int{i, o} {
				if wide, ok := m.wide[k]; ok {
					m.to[k] = wide
				}
			}
		}
	}
}

// at sets the new position of a span unless it has one.
func (m *mover) at(i, to int) {
	if _, goes := m.to[i]; !goes {
		m.to[i] = to
	}
}

// moved returns the sentence with its spans at their new positions.
func (m *mover) moved() Sentence {
	m.widen()
	order := make([]int, len(m.Spans))
	before := make([]int, len(m.Spans)+1) // the bytes of the spans before each
	var bare strings.Builder              // the text without spans
	at := 0
	for i, span := range m.Spans {
		m.looks.Past(span.End - at)
		order[i], before[i+1] = i, before[i]+span.End-span.Start
		bare.WriteString(m.Text[at:span.Start])
		at = span.End
	}
	bare.WriteString(m.Text[at:])
	slices.SortStableFunc(order, m.compare)
	var out strings.Builder
	moved := m.Sentence
	moved.Spans = make([]Span, 0, len(m.Spans))
	at = 0
	for _, i := range order {
		m.looks.Past(1)
		to := m.position(i)
		to -= before[sort.Search(len(m.Spans), func(k int) bool { return m.Spans[k].Start >= to })]
		out.WriteString(bare.String()[at:to])
		at = to
		span := m.Spans[i]
		span.Start = out.Len()
		out.WriteString(m.spanText(i))
		span.End = out.Len()
		moved.Spans = append(moved.Spans, span)
	}
	out.WriteString(bare.String()[at:])
	moved.Text = out.String()
	return moved
}

// compare orders spans by their new positions. At one position, pairs nest: ends of pairs stand before starts, and the first pair
// to open is the last to close. Spans that stay stand behind those that move there.
func (m *mover) compare(a, b int) int {
	_, movesA := m.to[a]
	_, movesB := m.to[b]
	pairA, pairB := cmp.Compare(m.Spans[a].Pair, 0), cmp.Compare(m.Spans[b].Pair, 0)
	switch at := cmp.Compare(m.position(a), m.position(b)); {
	case at != 0 || !movesA && !movesB:
		return at
	case movesA != movesB:
		return map[bool]int{true: -1, false: 1}[movesA]
	case pairA > 0 || pairB > 0:
		return cmp.Or(cmp.Compare(max(pairA, 0), max(pairB, 0)), cmp.Compare(m.position(m.other[b]), m.position(m.other[a])), a-b)
	case pairA < 0 && pairB < 0:
		return cmp.Or(cmp.Compare(m.position(m.other[b]), m.position(m.other[a])), m.other[b]-m.other[a])
	}
	return 0
}
