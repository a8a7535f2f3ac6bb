package markup

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"dragoman/app/text/char"
)

// Words are held by their shape, not by their meaning: T800, H₂O, m², C++, node_modules/pkg, $env:USERNAME, ½. A word is plain if
// it has only letters and marks, with apostrophes and hyphens between them, and capitals at its start or throughout. All other
// words are code, except forms that each language writes in its own way: numbers, alone or with the letters of an ordinal, a time
// or a decade (3rd, 5pm, 1990s), and numbers before a plain word (10-year-old).
//
// The recognizers come first; a span of theirs is extended to the word that contains it. Words end at white space, at tags and
// other spans in pairs, and at letters of scripts without spaces.

// words adds spans for the words of the text that are not plain.
func (s *scanner) words() {
	w := words{text: s.text, looks: s.looks, form: s.form, branch: s.branch, in: s.spans, whole: Sentence{Spans: s.spans, looks: s.looks}.wholePairs()}
	for w.pos < len(w.text) {
		w.looks.Past(1)
		w.word()
	}
	w.amounts()
	s.spans = w.out
}

type words struct {
	text    string
	looks   *char.Looks
	form    Format
	branch  bool         // the text is a branch of an ICU message
	whole   map[int]bool // pairs of tags
	in, out []Span
	next    int // index of the first span of in that does not end before pos
	pos     int
}

// word moves behind the word or the boundary that starts here.
func (w *words) word() {
	start, first := w.pos, w.next
	typed := false // Array<number>
	plain := true  // only small ASCII letters so far
	for w.pos < len(w.text) {
		if w.next < len(w.in) && w.in[w.next].Start == w.pos {
			if w.isBoundary(w.in[w.next]) {
				break
			}
			typed = typed || w.in[w.next].Kind == Tag && w.text[w.pos] == '<'
			w.pos = w.in[w.next].End
			w.next++
			plain = false
			continue
		}
		r, n := char.Decode(w.text, w.pos)
		if unicode.IsSpace(r) || unicode.IsLetter(r) && char.IsUnspaced(r) {
			break
		}
		plain = plain && r >= 'a' && r <= 'z'
		w.looks.Past(n)
		w.pos += n
	}
	switch {
	case w.pos == start && w.next < len(w.in) && w.in[w.next].Start == w.pos:
		w.out = append(w.out, w.in[w.next])
		w.pos = w.in[w.next].End
		w.next++
	case w.pos == start:
		_, n := char.Decode(w.text, w.pos)
		w.pos += n
	case plain:
	case typed:
		from, to := coreOf(w.text[start:w.pos])
		w.out = append(w.out, Span{Start: start + from, End: start + to, Kind: Code})
	default:
		w.hold(start, w.pos, w.in[first:w.next])
	}
}

// isBoundary reports whether a span never becomes part of a word.
func (w *words) isBoundary(span Span) bool {
	text := w.text[span.Start:span.End]
	switch span.Kind {
	case Tag: // except in Array<number>
		return w.form != Text || span.Pair == 0 || text[0] != '<' || span.Pair < 0 || w.whole[max(span.Pair, -span.Pair)] || !isWordOr("_:")(char.Last(w.text[:span.Start])) || formatting[strings.Trim(text, "</>")]
	case Emoji: // 6♠, ⌘⌥Esc
		return !strings.Contains(attachedEmoji, text) && !isDirection(text)
	case Markdown, TermKind, FixedTerm:
		return true
	case Entity:
		return w.form != Text
	case Number: // 10万, 3日
		return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) && char.IsUnspaced(r) })
	}
	return span.Pair != 0 || text[0] == '<' && span.Kind != Sign || strings.ContainsAny(text, "\n\"") ||
		lineBreaks[text] || complexMessage.MatchString(text)
}

// attachedEmoji form words with the letters that they touch.
const attachedEmoji = "♭♮♯♠♣♥♦⌃⌘⌥⎋⏎"

// isDirection reports whether a text is direction marks, which are part of their word.
func isDirection(text string) bool { return unicode.Is(unicode.Bidi_Control, char.First(text)) }

// formatting are elements whose other end may be elsewhere in the document.
var formatting = set("a b i u s p em strong small sub sup span div font li ul tr td")

// hold adds the spans of the word at bytes [start, end), which contains spans.
func (w *words) hold(start, end int, spans []Span) {
	if n := noteBehind(w.looks, w.text[start:end]); n > 0 {
		before := slices.DeleteFunc(slices.Clone(spans), func(s Span) bool { return s.End > end-n })
		w.hold(start, end-n, before)
		w.out = append(w.out, Span{Start: end - n, End: end, Kind: Code})
		return
	}
	w.looks.Past(end - start)
	var held []Span
	at := start
	isSoft := func(s Span) bool { return s.Kind.isSoft() || s.Kind == Emoji && isDirection(w.text[s.Start:s.End]) }
	for _, span := range spans {
		if !isSoft(span) {
			held = append(w.odd(held, at, span.Start), span)
			at = span.End
		}
	}
	held = w.joined(w.odd(held, at, end), start, end)
	for _, span := range spans {
		if !isSoft(span) {
			continue
		}
		for len(held) > 0 && held[0].End <= span.Start {
			w.out, held = append(w.out, held[0]), held[1:]
		}
		for len(held) > 0 && held[0].Start < span.End { // a number is held as a whole
			span = Span{Start: min(held[0].Start, span.Start), End: max(held[0].End, span.End), Kind: held[0].Kind}
			held = held[1:]
		}
		if n := len(w.out) - 1; n >= 0 && w.out[n].End > span.Start {
			w.out[n].End = max(w.out[n].End, span.End)
			continue
		}
		w.out = append(w.out, span)
	}
	for _, span := range held {
		if n := len(w.out) - 1; n >= 0 && w.out[n].End > span.Start {
			w.out[n].End, w.out[n].Kind = max(w.out[n].End, span.End), span.Kind
			continue
		}
		w.out = append(w.out, span)
	}
}

var (
	// sigils matches signs at the start of a word of code.
	sigils = regexp.MustCompile(`^(?:[@$&~^\\/.#-]+|@:)$`)
	// isBetween matches what joins two held spans: %dx%d, %s/%s.
	isBetween = regexp.MustCompile(`^(?:[^\pL\pN]*|[A-Za-z0-9]{1,2})$`)
	// restOfName matches what goes on behind a name of code: %s:x, $a/b.
	restOfName = regexp.MustCompile(`^(?:[/\\_=@#$&+~:]\pL[\pL\pN]*)+`)
	// unitForm matches a unit: %dpx.
	unitForm = regexp.MustCompile(`^[A-Za-z0-9]{1,2}\b`)
)

// separators end a word even if letters follow: "this,that", "yes—no".
const separators = ",;|!?\"“”„«»‹›…—–‘、。，"

// odd adds spans for the words in bytes [start, end) that are not plain.
func (w *words) odd(held []Span, start, end int) []Span {
	for start < end {
		next := end
		for from := start; from < end; {
			n := strings.IndexAny(w.text[from:end], separators)
			if n < 0 {
				break
			}
			// != does not end a word, and neither does the sign in !important.
			if from += n; w.text[from] != '!' || from+1 == end || w.text[from+1] != '=' && (from > start || !isASCIILower(w.text[from+1])) {
				next = from
				break
			}
			from++
		}
		w.looks.Past(next - start)
		if a, b := w.trimmed(start, next); a < b {
			w.looks.Past(b - a)
			from, to := oddPart(w.looks, w.text[a:b])
			if dash := a > start && w.text[a-1] == '-' && (a-1 == 0 || !char.IsWord(char.Last(w.text[:a-1]))); dash && from < to && from == 0 {
				held = append(held, Span{Start: a - 1, End: b, Kind: Code})
			} else if from < to {
				held = append(held, Span{Start: a + from, End: a + to, Kind: Code})
			}
		}
		if next < end {
			_, n := char.Decode(w.text, next)
			next += n
		}
		start = next
	}
	return held
}

// trimmed returns the range [start, end) without punctuation at its ends.
func (w *words) trimmed(start, end int) (a, b int) {
	text := strings.TrimLeft(w.text[start:end], "([{<>|*=~'’`¿¡-")
	text = strings.TrimRight(text, ".:'’`*|<>=~-_[{(")
	for n := len(text); n > 0 && (char.Last(text) == ')' && strings.Count(text, "(") < strings.Count(text, ")") ||
		char.Last(text) == ']' && !strings.Contains(text, "[") || char.Last(text) == '}' && !strings.Contains(text, "{")); {
		if n > longestTemplate {
			return start, start
		}
		text = strings.TrimRight(text[:len(text)-1], ".:'’`*|<>=~-_")
	}
	from := start + strings.Index(w.text[start:end], text)
	if !w.branch && char.First(text) == '#' && !hasLetter(text) {
		return from, from
	}
	return from, from + len(text)
}

// joined joins held spans of a word with only signs or a letter between them, and extends them by the rest of their name, a unit
// behind them, and signs of code before them.
func (w *words) joined(held []Span, start, end int) []Span {
	var list []Span
	for i, span := range held {
		text := w.text[span.Start:span.End]
		isEscape := text[0] == '\\' || strings.HasPrefix(text, `{\`) || char.Last(text) == ']' // words may touch it
		if n := len(list) - 1; n >= 0 {
			if gap := w.text[list[n].End:span.Start]; isBetween.MatchString(gap) && !(isEscape && hasLetter(gap)) {
				list[n] = join(list[n], span)
			} else {
				list = append(list, span)
			}
		} else {
			if before := w.text[start:span.Start]; !isEscape && unitForm.FindString(before) == before || sigils.MatchString(before) {
				span.Start = start
			}
			list = append(list, span)
		}
		next := end
		if i+1 < len(held) {
			next = held[i+1].Start
		}
		last := &list[len(list)-1]
		if behind := w.text[last.End:next]; char.IsWord(char.Last(w.text[:last.End])) {
			last.End += char.Skip(behind, 0, char.IsWord)
			last.End += len(restOfName.FindString(w.text[last.End:next]))
		} else if !isEscape {
			last.End += len(unitForm.FindString(behind))
		}
	}
	return list
}

func join(a, b Span) Span {
	a.End = b.End
	if a.Kind != b.Kind {
		a.Kind = Code
		if b.Kind == Placeholder {
			a.Kind = Placeholder
		}
	}
	return a
}
