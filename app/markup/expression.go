package markup

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What is no language is not always in one word: a ?? b, x := 5, f(x, y), Vec<u8>, [1, 2]. Operators
// join what they stand between where that is a letter, a number or something that is held, and brackets
// join what they touch. A letter alone is held if it is no word of its language, but softly: the model
// sees it, and compareResidue counts it.

// withExpressions holds what operators and brackets join, and letters alone, in a text of a language.
func (s Sentence) withExpressions(lang string) Sentence {
	words, known := letterWords[lang]
	e := expressions{text: s.Text, form: s.format, spans: s.Spans, whole: s.wholePairs(), words: words, known: known}
	for e.pos < len(e.text) {
		e.token()
	}
	e.join()
	s.Spans = e.merged()
	return s
}

// letterWords are the letters that are words, in the languages where that is known; of those that are
// written in another script no letter of ASCII is.
var letterWords = map[string]string{
	"en": "aio", "fr": "aàoôyh", "de": "o", "nl": "u", "es": "aeouy", "it": "aeio", "pt": "aeoàé",
	"ja": "", "zh": "", "ko": "", "ru": "", "uk": "", "el": "", "ar": "", "he": "", "hi": "", "th": "",
}

type expressions struct {
	text   string
	form   Format
	spans  []Span // of the sentence
	whole  map[int]bool
	words  string // letters that are words
	known  bool   // whether these are all
	pos    int
	next   int // the first span that does not end before pos
	tokens []token
	more   []Span // to be held
}

// token is what stands between spaces, without the punctuation around it.
type token struct {
	start, end int
	kind       tokenKind
}

type tokenKind uint8

const (
	wordToken     tokenKind = iota
	letterToken             // a letter that is no word
	articleToken            // one that is
	nameToken               // letters without a vowel
	capitalToken            // capitals, where others are small
	numberToken             // digits
	heldToken               // code, a placeholder, a path
	operatorToken           // :=, +, ∈
	weakToken               // signs that sentences have, too: ?, :, -
)

// token adds the one that starts here, and goes behind it.
func (e *expressions) token() {
	start, first := e.pos, e.next
	for e.pos < len(e.text) {
		if e.next < len(e.spans) && e.spans[e.next].Start <= e.pos {
			if e.isApart(e.spans[e.next]) {
				break
			}
			e.pos = max(e.pos, e.spans[e.next].End)
			e.next++
			continue
		}
		r, n := decode(e.text, e.pos)
		if unicode.IsSpace(r) || isUnspaced(r) {
			break
		}
		e.pos += n
	}
	switch {
	case e.pos > start:
		e.read(start, e.pos, e.spans[first:e.next])
	case e.next < len(e.spans) && e.spans[e.next].Start <= e.pos:
		e.add(e.pos, e.spans[e.next].End, wordToken)
		e.pos = e.spans[e.next].End
		e.next++
	default:
		r, n := decode(e.text, e.pos)
		if !unicode.IsSpace(r) {
			e.add(e.pos, e.pos+n, wordToken)
		}
		e.pos += n
	}
}

// isApart says whether a span is no part of an expression.
func (e *expressions) isApart(span Span) bool {
	switch text := e.text[span.Start:span.End]; span.Kind {
	case Markdown, Entity, Shortcode, TermKind, FixedTerm, Formula:
		return true
	case Emoji:
		return !unicode.Is(unicode.Sm, first(text)) && !strings.ContainsAny(text, "♭♮♯")
	case Tag:
		if text[0] == '[' && !e.whole[max(span.Pair, -span.Pair)] && span.Start > 0 && isIdent(e.text[span.Start-1]) { // a[i]
			return false
		}
		return e.form != Text || span.Pair == 0 || !typeForm.MatchString(text)
	default:
		return strings.Contains(text, "\n") || lineBreaks[text] || complexMessage.MatchString(text)
	}
}

func (e *expressions) add(start, end int, kind tokenKind) {
	e.tokens = append(e.tokens, token{start, end, kind})
}

func (e *expressions) hold(start, end int) {
	e.add(start, end, heldToken)
	e.more = append(e.more, Span{Start: start, End: end, Kind: Code})
}

// read adds the token in the text from start to end, in which the spans are.
func (e *expressions) read(start, end int, spans []Span) {
	raw := e.text[start:end]
	if n := len(wholeForm.FindString(raw)); n > 0 && (raw[n-1] != '"' || raw[0] == '"' || strings.Count(e.text, `"`)%2 == 1) {
		e.hold(start, start+n)
		return
	}
	hard := slices.ContainsFunc(spans, func(span Span) bool { return !span.Kind.isSoft() && span.Kind != Emoji && span.Kind != Code })
	if !hard && !strings.ContainsFunc(raw, isLetterOrDigit) {
		e.add(start, end, signsKind(raw))
		return
	}
	hard = slices.ContainsFunc(spans, func(span Span) bool { return !span.Kind.isSoft() })
	if closing := e.bracket(start, end); closing > 0 {
		e.hold(start, closing)
		for e.pos = max(e.pos, closing); e.next < len(e.spans) && e.spans[e.next].Start < e.pos; {
			e.next++
		}
		return
	}
	rest := strings.TrimLeft(raw, "(\"“«„¿¡")
	start += len(raw) - len(rest)
	core := strings.TrimRight(rest, ".,;:!?…)\"”“»")
	end = start + len(core)
	switch covered := hard && len(spans) > 0 && isCovered(start, end, spans); {
	case core == "":
	case covered && !isNumeral(spans):
		if start > 0 && e.text[start-1] == '"' && strings.HasPrefix(e.text[end:], `"`) {
			e.hold(start-1, end+1) // "%d"
			return
		}
		e.add(start, end, heldToken)
	case isNumeral(spans) && (covered || !hasLetter(core)):
		if tail := e.text[end:]; core[len(core)-1] == '+' && hasSpace(tail) {
			e.hold(start, end)
			return
		}
		e.add(start, end, numberToken)
	case e.isOdd(core, start, spans):
		e.hold(start, end)
	default:
		e.add(start, end, e.wordKind(core, raw))
	}
}

func hasSpace(text string) bool { return !isWord(first(text)) }

// isCovered says whether the spans leave no letter of the text from start to end.
func isCovered(start, end int, spans []Span) bool {
	for _, s := range spans {
		if !s.Kind.isSoft() && s.Start <= start {
			start = max(start, s.End)
		}
	}
	return start >= end
}

func isNumeral(spans []Span) bool {
	return len(spans) > 0 && !slices.ContainsFunc(spans, func(s Span) bool { return s.Kind != Number })
}

// signsKind is what signs without a letter are.
func signsKind(text string) tokenKind {
	switch {
	case text == "|":
		return weakToken
	case len(text) > 1 && strings.ContainsAny(text, "&[]{}$"), strings.ContainsFunc(text, isOperator), strings.HasPrefix(text, "//"), text == "‰":
		return operatorToken
	case strings.Trim(text, "?!.:-") == "":
		return weakToken
	}
	return wordToken
}

// isOperator says whether r is a sign that no sentence has between words.
func isOperator(r rune) bool {
	return oneOfRunes(r, `+=<>|^~*\_`) || r >= 0x80 && unicode.Is(unicode.Sm, r) && !isMinus(r) && r != '～'
}

// longestLetter are the bytes of a letter with its marks.
const longestLetter = 8

// wordKind is the kind of a token that is not held.
func (e *expressions) wordKind(core, raw string) tokenKind {
	r, n := utf8.DecodeRuneInString(core)
	for n < min(len(core), longestLetter) {
		mark, size := decode(core, n)
		if !unicode.IsMark(mark) {
			break
		}
		n += size
	}
	switch {
	case n == len(core) && unicode.IsLetter(r) && isWord(r) && (r < 0x250 || r >= 0x370 && r < 0x400 || len(core) > 2):
		if e.isLetterWord(core) || n == len(raw)-1 && oneOf(raw[n], ".)") || strings.HasPrefix(raw, "(") && len(raw) == n+2 {
			return articleToken // a word, an initial, a point of a list
		}
		return letterToken
	case nameForm.MatchString(core):
		return nameToken
	case capitalForm.MatchString(core) && strings.IndexFunc(e.text, unicode.IsLower) >= 0:
		return capitalToken
	}
	return wordToken
}

// isLetterWord says whether a letter may be a word.
func (e *expressions) isLetterWord(letter string) bool {
	return !e.known || strings.Contains(e.words, strings.ToLower(letter))
}

// isOdd says whether a token that is not held yet is no word, with what it touches.
func (e *expressions) isOdd(core string, start int, spans []Span) bool {
	signs, bare, at := 0, "", start
	for _, span := range spans {
		if span.Kind != Number {
			signs++
		}
		if !span.Kind.isSoft() {
			bare, at = bare+e.text[at:max(at, span.Start)]+removed, max(at, span.End)
		}
	}
	bare += e.text[at:max(at, start+len(core))]
	switch {
	case emoticon.MatchString(core) && start > 0 && hasLetter(core):
		return true
	case signs == 0 && !strings.ContainsAny(core, "/.-|♭♯"):
		return false
	case brandForm.MatchString(core):
		return true
	case elision.MatchString(core) && !strings.HasSuffix(core, "'"):
		return false
	case signs > 0 && !longLetters.MatchString(bare) && hasLetter(bare) && strings.ContainsFunc(core, func(r rune) bool { return isOperator(r) || oneOfRunes(r, "[]{}&@#`♭♯") }):
		return true
	case hyphenedLetters.MatchString(core):
		return true
	case core[0] == '*':
		return start > 0 && pointerForm.MatchString(core)
	}
	return attachedForm.MatchString(core)
}

// longestBracket are the bytes from a bracket to the one that closes it.
const longestBracket = 80

// bracket returns where the brackets end that the token from start to end opens, with the name before
// them, where what is in them is no language; else 0.
func (e *expressions) bracket(start, end int) int {
	m := bracketForm.FindStringSubmatchIndex(e.text[start:end])
	if m == nil {
		return 0
	}
	name, open := strings.TrimLeft(e.text[start+m[2]:start+m[3]], "&*"), start+m[3]
	closing := closingBracket(e.text[open:min(len(e.text), open+longestBracket)])
	if closing == 0 {
		return 0
	}
	inner := e.text[open+1 : open+closing-1]
	end = open + closing
	for _, span := range e.spans[max(0, e.next-1):] { // no tag, and nothing is cut
		if span.Start >= end {
			break
		}
		if span.Start >= start && (e.isApart(span) || span.End > end) {
			return 0
		}
	}
	for end < len(e.text) && oneOf(e.text[end], "[(") && closing > 0 { // m[i][j]
		closing = closingBracket(e.text[end:min(len(e.text), end+longestBracket)])
		end += closing
	}
	if c := e.text[open]; name == "" && c == '(' && strings.HasPrefix(inner, "?") { // (?i)abc
		end = skip(e.text, end, func(r rune) bool { return !unicode.IsSpace(r) })
	}
	odd := false
	switch c := e.text[open]; {
	case name == "" && c == '(':
		odd = pairForm.MatchString(inner) || strings.HasPrefix(inner, "?") || strings.Contains(inner, "|") && !strings.Contains(inner, " ")
	case name == "":
		odd = c != '<' && len(inner) > 1 && !plainWord.MatchString(inner) && strings.ContainsFunc(inner, isLetterOrDigit)
	case strings.HasSuffix(name, "!"):
		odd = c != '{'
	case c == '<':
		odd = typeForm.MatchString(e.text[open : open+2+len(inner)])
	case c == '[':
		odd = len(inner) > 0 && inner != "sic" && !isInflection(name, inner) && strings.ContainsFunc(inner, unicode.IsLetter)
	case c == '(':
		odd = inner != "" && !isInflection(name, inner) &&
			(argumentForm.MatchString(inner) || len(name) == 1 && longLetters.MatchString(inner) == strings.Contains(inner, " "))
	}
	if !odd {
		return 0
	}
	return end
}

// isInflection says whether a word may have the ending inner: year(s), Schüler(innen), bateau(x).
func isInflection(name, inner string) bool {
	return inflection.MatchString(inner) && len(name) > 1 || inner == "x" && strings.HasSuffix(name, "u")
}

// closingBracket returns where the bracket is closed that text starts with, 0 where it is not.
func closingBracket(text string) int {
	opened := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\n':
			return 0
		case oneOf(c, "([{<") && (c != '<' || text[0] == '<'):
			opened++
		case oneOf(c, ")]}>") && (c != '>' || text[0] == '<'):
			if opened--; opened == 0 {
				return i + 1
			}
		}
	}
	return 0
}

var (
	emoticon        = regexp.MustCompile(`^[:;]-?[A-Z]$`)
	longLetters     = regexp.MustCompile(`\pL\pM*\pL`)
	plainWord       = regexp.MustCompile(`\pL[aeiouyAEIOUY]|[aeiouyAEIOUY]\pL|[^\x00-\x7f]\pL`)
	hyphenedLetters = regexp.MustCompile(`^[A-Za-z](?:-[A-Za-z])+$`)
	nameForm        = regexp.MustCompile(`^(?:[b-df-hj-np-tv-xz]{2,4}|[B-DF-HJ-NP-TV-XZ]{2,6})$`)
	capitalForm     = regexp.MustCompile(`^[A-Z]{2,}$`)
	pointerForm     = regexp.MustCompile(`^\*+[a-z]\w*$`)
	attachedForm    = regexp.MustCompile(`^(?:(?:&|~|\^|<-|\[\])[a-z]\w*|\w+(?:<-|->|[<>=&^~|]{2,})|--[A-Za-z]\w*|[a-z]\w*\.\.[a-z]\w*|[a-z]+/[a-z]+[-_][a-z]+|\pL[♭♯]\S*|[a-z]\.[a-z]{3,})$`)
	brandForm       = regexp.MustCompile(`^[\pL'’]*\pL[™®©]$`)
	// What is held with the quotes, dollars and inches at its ends.
	wholeForm    = regexp.MustCompile(`^(?:'\pL'|"\pL"|` + "`\\pL`" + `|\$[^\s$]*[\\^_={][^\s$]*\$|\d[\d.,'°′/]*")`)
	bracketForm  = regexp.MustCompile(`^([&*]?(?:[A-Za-z_]\w*!?)?)[\[({<]`)
	typeForm     = regexp.MustCompile(`^<(?:[A-Z]|[A-Z][a-z]\w*|[a-z]\d+)(?:, ?\w+)*>$`)
	pairForm     = regexp.MustCompile(`^-?\d+(?:\.\d+)?(?:, ?-?\d+(?:\.\d+)?)+$`)
	inflection   = regexp.MustCompile(`^(?:[senrd]|\pL{2,5})$`)
	argumentForm = regexp.MustCompile(`^(?:[\w*&]|[\w.]+(?:, ?[\w.]+)+|\w(?:[: ,=].*)?|["*].*)$`)
)

// join holds what operators join.
func (e *expressions) join() {
	for i := 0; i < len(e.tokens); i++ {
		t := e.tokens[i]
		if t.kind != operatorToken && t.kind != weakToken && !e.isUnit(i) {
			continue
		}
		first, last := i, i
		for first > 0 && e.adjacent(first-1) && e.isOperand(first-1, true) {
			first--
		}
		for last+1 < len(e.tokens) && e.adjacent(last) && (e.isOperand(last+1, false) || e.tokens[last+1].kind == operatorToken) {
			last++
		}
		if t.kind == weakToken && (first == i || last == i || !e.hasLetter(first, last)) {
			continue
		}
		if last > first {
			e.more = append(e.more, Span{Start: e.tokens[first].start, End: e.tokens[last].end, Kind: Code})
			for j := first; j <= last; j++ {
				e.tokens[j].kind = heldToken
			}
			i = last
		}
	}
	for _, t := range e.tokens {
		if text := e.text[t.start:t.end]; t.kind == letterToken && e.isAlone(t) || t.kind == operatorToken && len(text) > 1 || t.kind == wordToken && alternative.MatchString(text) || t.kind == nameToken && text[0] < 'a' {
			e.more = append(e.more, Span{Start: t.start, End: t.end, Kind: Sign})
		}
	}
}

// alternative is one, he/she, or a path, origin/main.
var alternative = regexp.MustCompile(`^[a-z]+/[a-z]+$`)

// isAlone says whether a letter touches no letter of a script without spaces, as in Tシャツ.
func (e *expressions) isAlone(t token) bool {
	return unicode.IsLower(first(e.text[t.start:])) || !isUnspaced(first(e.text[t.end:])) && !isUnspaced(last(e.text[:t.start]))
}

// isUnit says whether token i is a capital, or a name in capitals, that belongs to the number beside it.
func (e *expressions) isUnit(i int) bool {
	t := e.tokens[i]
	text := e.text[t.start:t.end]
	unit := t.kind == letterToken && (unicode.IsUpper(first(text)) || text[0] >= 0x80) || t.kind == nameToken && text[0] < 'a' || (t.kind == wordToken || t.kind == nameToken) && text != "pm" && currencyForm.MatchString(text)
	if i+1 < len(e.tokens) && e.adjacent(i) && e.tokens[i+1].kind == numberToken && productForm.MatchString(text) {
		return true // iOS 17
	}
	unit = unit || t.kind == heldToken && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) && utf8.RuneCountInString(text) <= 3
	return unit && (i > 0 && e.adjacent(i-1) && e.isAmount(i-1) || i+1 < len(e.tokens) && e.adjacent(i) && e.isAmount(i+1))
}

func (e *expressions) isAmount(i int) bool {
	t := e.tokens[i]
	return t.kind == numberToken || t.kind == heldToken && strings.IndexFunc(e.text[t.start:t.end], unicode.IsLetter) < 0
}

// currencyForm is a short word that is none, for it has no vowel.
var currencyForm = regexp.MustCompile(`^(?:[B-DF-HJ-NP-TV-XZ]?[b-df-hj-np-tv-xzłčлв]{1,2})$`)

var productForm = regexp.MustCompile(`^\pL*\p{Ll}\p{Lu}\pL*$`)

// adjacent says whether nothing but spaces stands between token i and the next one.
func (e *expressions) adjacent(i int) bool {
	gap := e.text[e.tokens[i].end:max(e.tokens[i].end, e.tokens[i+1].start)]
	if gap == ", " {
		return e.isLetter(i) && e.isLetter(i+1)
	}
	return gap != "" && strings.TrimFunc(gap, isSpace) == ""
}

func (e *expressions) isLetter(i int) bool {
	return e.tokens[i].kind == letterToken || e.tokens[i].kind == articleToken
}

// isOperand says whether an operator may join token i, which stands before it or not.
func (e *expressions) isOperand(i int, before bool) bool {
	switch e.tokens[i].kind {
	case letterToken, nameToken, capitalToken, numberToken, heldToken:
		return true
	case articleToken:
		return before || i+1 == len(e.tokens) || !e.adjacent(i) || e.tokens[i+1].kind != wordToken
	}
	return false
}

// hasLetter says whether one of the tokens from first to last is a letter that is no word.
func (e *expressions) hasLetter(first, last int) bool {
	return slices.ContainsFunc(e.tokens[first:last+1], func(t token) bool { return t.kind == letterToken })
}

// merged are the spans, with those in their place that are to be held.
func (e *expressions) merged() []Span {
	if len(e.more) == 0 {
		return e.spans
	}
	slices.SortStableFunc(e.more, func(a, b Span) int { return a.Start - b.Start })
	var list []Span
	rest := e.spans
	for _, span := range e.more {
		for len(rest) > 0 && rest[0].End <= span.Start {
			list, rest = append(list, rest[0]), rest[1:]
		}
		if n := len(list) - 1; n >= 0 && list[n].End > span.Start {
			if span.Kind != Sign {
				list[n].End, list[n].Kind, list[n].Pair = max(list[n].End, span.End), Code, 0
			}
		} else if span.Kind != Sign || !slices.ContainsFunc(rest[:min(len(rest), span.End-span.Start)], func(s Span) bool { return s.Start < span.End && s.Kind != Sign }) {
			list = append(list, span)
		} else {
			continue
		}
		for n := len(list) - 1; n >= 0 && len(rest) > 0 && rest[0].Start < list[n].End; rest = rest[1:] {
			list[n].End = max(list[n].End, rest[0].End)
			list[n].Start = min(list[n].Start, rest[0].Start)
		}
	}
	return append(list, rest...)
}
