package markup

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// token adds the token that starts here and moves behind it.
func (e *expressions) token() {
	start, first := e.pos, e.next
	e.isForeign = false
	for e.pos < len(e.text) {
		if e.next < len(e.spans) && e.spans[e.next].Start <= e.pos {
			if e.isApart(e.spans[e.next]) {
				break
			}
			e.looks.Past(1 + e.spans[e.next].End - e.spans[e.next].Start)
			e.pos = max(e.pos, e.spans[e.next].End)
			e.next++
			continue
		}
		r, n := char.Decode(e.text, e.pos)
		for len(e.foreign) > 0 && e.foreign[0][1] <= e.pos {
			e.foreign = e.foreign[1:]
		}
		isForeign := len(e.foreign) > 0 && e.foreign[0][0] <= e.pos
		if unicode.IsSpace(r) || char.IsUnspaced(r) && !isForeign && (unicode.IsLetter(r) || char.OneOfRunes(r, widePunctuation)) {
			break
		}
		e.isForeign = e.isForeign || isForeign
		e.looks.Past(n)
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
		r, n := char.Decode(e.text, e.pos)
		if !unicode.IsSpace(r) {
			e.add(e.pos, e.pos+n, wordToken)
		}
		e.pos += n
	}
}

// widePunctuation ends a token.
const widePunctuation = "、。，．！？：；（）「」『』【】《》〈〉・…"

// isApart reports whether a span cannot be part of an expression.
func (e *expressions) isApart(span Span) bool {
	switch text := e.text[span.Start:span.End]; span.Kind {
	case Markdown, TermKind, FixedTerm, Formula:
		return true
	case Entity:
		return e.form != Text || text != "&amp;"
	case Emoji:
		return !unicode.Is(unicode.Sm, char.First(text)) && !strings.ContainsAny(text, attachedEmoji) && !isDirection(text)
	case Tag:
		if text[0] == '[' && !e.whole[max(span.Pair, -span.Pair)] && span.Start > 0 && char.IsIdent(e.text[span.Start-1]) { // a[i]
			return false
		}
		name := elementName.FindString(text[1:])
		return e.form != Text || span.Pair <= 0 || e.whole[span.Pair] || !isWordOr("_:")(char.Last(e.text[:span.Start])) || blockElements[name] || runningElements[name] || name == "a"
	default:
		if (span.Kind == Code || span.Kind == Placeholder) && (span.Start == 0 || char.OneOf(e.text[span.Start-1], "\n]")) && lineEdge.MatchString(text) {
			return true
		}
		return text[0] == '<' && span.Kind != Sign || span.Kind == Code && text[0] == '"' || strings.Contains(text, "\n") || (lineBreaks[text] || text == `\t` || text == `\u0020`) && !strings.HasPrefix(e.text[span.End:], `"`) || startsMessage(text)
	}
}

func (e *expressions) add(start, end int, kind tokenKind) {
	n := len(e.tokens)
	if kind == wordToken && (n == 0 || e.tokens[n-1].kind == wordToken) && strings.IndexByte(e.text[start:end], '/') < 0 {
		e.word = token{start, end, kind}
		return
	}
	if e.word.end > 0 && kind != wordToken {
		e.tokens = append(e.tokens, e.word)
	}
	e.tokens, e.word = append(e.tokens, token{start, end, kind}), token{}
}

// words moves behind the white space and the plain words here, and reports whether there are any. Most tokens are such words, which
// need no other rule.
func (e *expressions) words() bool {
	start, end := e.pos, len(e.text)
	if e.next < len(e.spans) {
		end = e.spans[e.next].Start
	}
	for len(e.foreign) > 0 && e.foreign[0][1] <= e.pos {
		e.foreign = e.foreign[1:]
	}
	if len(e.foreign) > 0 {
		end = min(end, e.foreign[0][0])
	}
	if e.next > 0 && e.spans[e.next-1].End == e.pos && !isASCIISpace(e.text[e.pos]) { // a word may go on behind a tag
		return false
	}
	for e.pos < end && e.pos-start < char.BetweenLooks {
		if isASCIISpace(e.text[e.pos]) {
			e.pos++
			continue
		}
		from, to, size, sure := wordIn(e.text[e.pos:end])
		if size == 0 || e.pos+size == end && end < len(e.text) {
			break
		}
		e.addWord(e.pos, e.text[e.pos:e.pos+size], from, to, sure)
		e.pos += size
	}
	e.looks.Past(e.pos - start)
	return e.pos > start
}

// addWord adds the token raw at byte start, of which [wordIn] returned the other values.
func (e *expressions) addWord(start int, raw string, from, to int, sure bool) {
	kind := wordToken
	if !sure {
		if strings.ContainsAny(raw[to:], "'’") { // which may belong to the word
			from, to = coreOf(raw)
		}
		kind = e.wordKind(raw[from:to], raw)
	}
	e.add(start+from, start+to, kind)
}

func (e *expressions) hold(start, end int) {
	end = e.closed(start, end)
	start, end = unquoted(e.text, start, end)
	for e.pos = max(e.pos, end); e.next < len(e.spans) && e.spans[e.next].Start < e.pos; {
		e.next++
	}
	e.add(start, end, heldToken)
	e.more = append(e.more, Span{Start: start, End: end, Kind: Code})
}

// unquoted returns the range [start, end) without quotes around all of it: each language has its own.
func unquoted(text string, start, end int) (from, to int) {
	first, n := char.Decode(text, start)
	last, m := utf8.DecodeLastRuneInString(text[start:end])
	if end-start > n+m && (strings.ContainsRune(closers[first], last) && strings.ContainsRune(quotes, first) || first == '`' && last == '\'') &&
		quotedName.MatchString(text[start+n:end-m]) && !char.OneOfRunes(char.First(text[end:]), ":=") && !char.OneOfRunes(char.Last(text[:start]), ":=") {
		return start + n, end - m
	}
	return start, end
}

const quotes = "\"'“„‘‚«‹"

// quotedName matches what quotes in a sentence name: a placeholder or an identifier. Those of code are part of it.
var quotedName = regexp.MustCompile(`^(?:%[\d$.a-z]{1,6}|\{+[\w ]*\}+|[\w.-]{2,})$`)

// closed returns the end of the held range [start, end), or of the brackets opened in it, as in Map<String, List<Integer>>.
func (e *expressions) closed(start, end int) int {
	var opened []int
	for i := start; i < end; i++ {
		switch c := e.text[i]; {
		case char.OneOf(c, "([{<") && (i == start || char.IsIdent(e.text[i-1]) || len(opened) > 0):
			opened = append(opened, i)
		case char.OneOf(c, ")]}>") && len(opened) > 0:
			opened = opened[:len(opened)-1]
		}
	}
	if len(opened) == 0 {
		return end
	}
	to := opened[0] + closingBracket(e.text[opened[0]:min(len(e.text), opened[0]+longestBracket)])
	if to <= end || !e.isFree(opened[0], to) {
		return end
	}
	return to
}

// isFree reports whether bytes [start, end) contain no tag and no span that extends behind them.
func (e *expressions) isFree(start, end int) bool {
	for _, span := range e.spans[max(0, e.next-1):] {
		if span.Start >= end {
			break
		}
		if span.End > start && (e.isApart(span) || span.End > end) {
			return false
		}
	}
	return true
}

// read adds the token of bytes [start, end), which contain spans.
func (e *expressions) read(start, end int, spans []Span) {
	raw := e.text[start:end]
	if len(spans) == 0 && !e.isForeign { // beside a tag
		if from, to, size, sure := wordIn(raw); size == len(raw) && !e.isPartOfWord(start, end, 0) {
			e.addWord(start, raw, from, to, sure)
			return
		}
	}
	if n := noteBehind(e.looks, raw); n > 0 {
		e.read(start, end-n, slices.DeleteFunc(slices.Clone(spans), func(s Span) bool { return s.End > end-n }))
		e.add(end-n, end, heldToken)
		e.more = append(e.more, Span{Start: end - n, End: end, Kind: Code})
		return
	}
	if e.isPartOfWord(start, end, len(spans)) && e.isProse(bare(raw, start, spans), start) {
		e.add(start, end, wordToken)
		return
	}
	if len(spans) > 0 {
		e.joinHeld(start, end, spans)
	}
	if n := lengthOf(e.looks.Find(wholeForm, raw)); n > 0 && (raw[n-1] != '"' || raw[0] == '"' || e.hasInches()) {
		e.hold(start, start+n)
		return
	}
	if closing := e.bracket(start, end, spans); closing > 0 {
		e.hold(start, closing)
		return
	}
	e.looks.Past(len(raw))
	hard := slices.ContainsFunc(spans, func(span Span) bool { return !span.Kind.isSoft() && span.Kind != Emoji && span.Kind != Code })
	if !hard && !strings.ContainsFunc(raw, char.IsLetterOrDigit) {
		if kind := signsKind(raw); kind == operatorToken || e.isProse(raw, start) {
			e.add(start, end, kind)
		} else {
			e.hold(start, end)
		}
		return
	}
	if n := len(faceForm.FindString(raw)); n > 0 && isFace(raw[:n]) {
		if e.isForeign {
			n = len(raw)
		}
		e.hold(start, start+n)
		return
	}
	hard = slices.ContainsFunc(spans, func(span Span) bool { return !span.Kind.isSoft() })
	e.looks.Past(len(raw))
	from, to := coreOf(raw)
	e.looks.Past(len(raw))
	whole := start
	start, end = start+from, start+to
	core := raw[from:to]
	switch covered := hard && len(spans) > 0 && isCovered(start, end, spans); {
	case core == "":
	case len(spans) == 1 && spans[0] == (Span{Start: start, End: end, Kind: Number}) && strings.ContainsFunc(core, char.IsSpace): // 14 July
		e.add(start, end, numberToken)
	case covered && !isNumeral(spans):
		e.add(start, end, heldToken)
	case e.isForeign, slices.ContainsFunc(spans, func(s Span) bool { return s.Kind == Tag && e.text[s.Start] == '<' }), !e.isProse(bare(raw, whole, spans), whole):
		if a, b := e.inner(core, spans); a > 0 || b < len(core) {
			e.hold(start+a, start+b)
			break
		}
		e.hold(start, end)
	case isNumeral(spans) && (covered || !hasLetter(core)):
		e.add(start, end, numberToken)
	case strings.ContainsFunc(core, isCodeSign) && !e.looks.Match(longLetters, bare(core, start, spans)) && hasLetter(bare(core, start, spans)):
		e.hold(start, end) // f'{x}', a*
	default:
		e.add(start, end, e.wordKind(core, raw))
	}
}

// wordIn returns the range of the word in the token that starts a text, and the length of the token, if it is one word, with an
// apostrophe or hyphens, and at most the usual punctuation around it: isProse, after all of its forms, is true for it, and no rule
// holds anything of it. size is 0 for other tokens. sure reports whether the letters tell that it is a word, and neither a name nor a
// letter by itself.
func wordIn(text string) (from, to, size int, sure bool) {
	if r, n := char.Decode(text, 0); !char.IsPlainLetter(r) && char.OneOfRunes(r, "\"“„‘«‹¿¡") {
		from = n
	}
	lower, vowel := false, false
	letters, capitals, start := 0, 0, from // of the word, or of its part behind a hyphen or apostrophe
	sign := rune(0)                        // before the part
	for to = from; ; {
		for to < len(text) && isASCIILower(text[to]) && capitals < 2 {
			lower, vowel = true, vowel || isVowel(text[to])
			letters++
			to++
		}
		r, n := char.Decode(text, to)
		switch isLetter := char.IsPlainLetter(r) && r < 0x2000 && r != 'ŋ'; {
		case isLetter:
			isUpper := unicode.IsUpper(r)
			if isUpper && (letters > capitals || letters == 0 && sign == '-') || !isUpper && capitals > 1 {
				return 0, 0, 0, false
			}
			if letters++; isUpper {
				capitals++
			}
			lower, vowel = lower || !isUpper, vowel || r >= utf8.RuneSelf || isVowel(byte(r))
		case letters > 0 && (r == '\'' || r == '’' || r == '-') && char.IsPlainLetter(char.First(text[to+n:])):
			if r == '-' && (letters < 2 || sign == '-' && to-start < 2) {
				return 0, 0, 0, false
			}
			letters, capitals, start, sign = 0, 0, to+n, r
		case letters > 1 || letters == 1 && (sign == '\'' || sign == '’' || sign == 0 && from == 0):
			for size = to; size < len(text) && size-to <= longestEnd && !isASCIISpace(text[size]); {
				size++
			}
			if size > to && !usualEnds[text[to:size]] {
				return 0, 0, 0, false
			}
			return from, to, size, lower && vowel && (letters > 1 || sign != 0) && (size == to || !strings.ContainsAny(text[to:size], "'’"))
		default:
			return 0, 0, 0, false
		}
		to += n
	}
}

// isVowel reports whether an ASCII letter is a vowel.
func isVowel(c byte) bool {
	return c|0x20 == 'a' || c|0x20 == 'e' || c|0x20 == 'i' || c|0x20 == 'o' || c|0x20 == 'u' || c|0x20 == 'y'
}

// longestEnd is the maximum length in bytes of usualEnds.
const longestEnd = len(".”")

// usualEnds is the punctuation behind words.
var usualEnds = func() map[string]bool {
	set := map[string]bool{":": true}
	for _, sign := range []string{".", ",", ";", "!", "?"} {
		set[sign] = true
		for _, quote := range []string{`"`, "”", "»", "’", "'"} {
			set[quote], set[sign+quote], set[quote+sign] = true, true, true
		}
	}
	return set
}()

// joinHeld joins the placeholders and code of a token with only signs or a short unit between them, a unit behind them, and signs
// before the first one.
func (e *expressions) joinHeld(start, end int, spans []Span) {
	last := -1
	for i, span := range spans {
		text := e.text[span.Start:span.End]
		if span.Kind != Placeholder && span.Kind != Code || text[0] == '\\' || strings.HasPrefix(text, `{\`) || char.Last(text) == ']' {
			last = -1
			continue
		}
		held, next := span, end
		if i+1 < len(spans) {
			next = spans[i+1].Start
		}
		held.End += len(unitForm.FindString(e.text[span.End:next]))
		if before := e.text[start:span.Start]; last < 0 && sigils.MatchString(before) {
			held.Start = start
		}
		if last >= 0 && isBetween.MatchString(e.text[spans[last].End:span.Start]) {
			held.Start = spans[last].Start
		}
		if held != span {
			e.more = append(e.more, held)
		}
		last = i
	}
}

var (
	// sigils matches signs at the start of a word of code.
	sigils = regexp.MustCompile(`^[@$&~^\\/.#-]+$`)
	// isBetween matches what joins two held spans: %dx%d, %s/%s.
	isBetween = regexp.MustCompile(`^(?:[^\pL\pN]*|[A-Za-z0-9]{1,2})$`)
	// unitForm matches a unit: %dpx.
	unitForm = regexp.MustCompile(`^(?:[a-z0-9]{1,2}|[kMGT]?(?:Hz|[A-Z]))\b`)
)

// inner returns the range of a held word without the prefix and the ending that its language attaches: l'iPhone, CO2-Steuer.
func (e *expressions) inner(core string, spans []Span) (from, to int) {
	to = len(core)
	if isHard := func(s Span) bool { return !s.Kind.isSoft() }; slices.ContainsFunc(spans, isHard) || to > longestExpression || strings.ContainsAny(core, "@™®") {
		return 0, to
	}
	if n := len(elision.FindString(core)); n > 0 && !e.isProse(core[n:], 0) {
		from = n
	}
	if m := wordTail.FindStringSubmatchIndex(core[from:]); m != nil && strings.ContainsFunc(core[from:from+m[3]], func(r rune) bool { return unicode.IsLower(r) || unicode.IsDigit(r) }) && !e.isProse(core[from:from+m[3]], 0) {
		to = from + m[3]
	}
	return from, to
}

// isPartOfWord reports whether a word continues beyond a tag or mark beside bytes [start, end), which contain the given number of
// spans.
func (e *expressions) isPartOfWord(start, end, spans int) bool {
	at := end
	for i := e.next; i < len(e.spans) && e.spans[i].Start == at && isTagKind(e.spans[i].Kind); i++ {
		at = e.spans[i].End
	}
	from := start
	for i := e.next - spans - 1; i >= 0 && e.spans[i].End == from && isTagKind(e.spans[i].Kind); i-- {
		from = e.spans[i].Start
	}
	isJoint := func(a, b rune) bool {
		return char.IsWord(a) && unicode.IsLetter(a) && char.IsWord(b) && unicode.IsLetter(b)
	}
	return at > end && isJoint(char.Last(e.text[:end]), char.First(e.text[at:])) || from < start && isJoint(char.Last(e.text[:from]), char.First(e.text[start:]))
}

func isTagKind(kind Kind) bool { return kind == Tag || kind == Markdown }

// hasInches reports whether the text has an odd number of quotes: one of them may mean inches.
func (e *expressions) hasInches() bool {
	if e.quotes == 0 {
		e.quotes = 1 + strings.Count(e.text, `"`)
	}
	return e.quotes%2 == 0
}

// hasLower reports whether the text has a small letter.
func (e *expressions) hasLower() bool {
	if e.lower == 0 {
		e.lower = 2 + strings.IndexFunc(e.text, unicode.IsLower)
	}
	return e.lower > 1
}

// isCovered reports whether spans that are not soft cover bytes [start, end).
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

// signsKind returns the kind of a token made of signs only.
func signsKind(text string) tokenKind {
	switch {
	case text == "|":
		return weakToken
	case len(text) > 1 && strings.ContainsAny(text, "&[]{}$"), strings.ContainsFunc(text, isOperator), strings.HasPrefix(text, "//"), text == "‰", text == "..":
		return operatorToken
	case strings.Trim(text, "?!.:-&") == "":
		return weakToken
	}
	return wordToken
}

// isFace reports whether a text in brackets has signs and no two letters side by side.
func isFace(text string) bool {
	signs := 0
	for _, r := range text[1 : len(text)-1] {
		if !char.IsLetterOrDigit(r) && !char.OneOfRunes(r, `'’"“”„«».,!?…-–—`) {
			if signs++; r >= 0x80 {
				signs++
			}
		}
	}
	return signs > 1 && !longLetters.MatchString(text)
}

// isOperator reports whether r is a sign that does not occur between the words of a sentence.
func isOperator(r rune) bool {
	return char.OneOfRunes(r, `+=<>|^~*\_`) || r >= 0x80 && unicode.Is(unicode.Sm, r) && r != '～'
}

// longestLetter is the maximum length in bytes of a letter with its marks.
const longestLetter = 8

// longestNameForm is the maximum length of nameForm.
const longestNameForm = 6

// wordKind returns the kind of a token that is not held.
func (e *expressions) wordKind(core, raw string) tokenKind {
	r, n := utf8.DecodeRuneInString(core)
	for n < min(len(core), longestLetter) {
		mark, size := char.Decode(core, n)
		if !unicode.IsMark(mark) {
			break
		}
		n += size
	}
	switch {
	case n == len(core) && unicode.IsLetter(r) && char.IsWord(r) && (r < 0x250 || r >= 0x370 && r < 0x400 || len(core) > 2):
		if e.isLetterWord(core) || n == len(raw)-1 && char.OneOf(raw[n], ".)") || strings.HasPrefix(raw, "(") && len(raw) == n+2 {
			return articleToken // a word, an initial or the label of a list item
		}
		return letterToken
	case len(core) <= longestNameForm && nameForm.MatchString(core):
		return nameToken
	case core[0] <= 'Z' && e.looks.Match(capitalForm, core) && e.hasLower():
		return capitalToken
	}
	return wordToken
}

// isLetterWord reports whether a letter may be a word.
func (e *expressions) isLetterWord(letter string) bool {
	return !e.known || strings.Contains(e.letters, strings.ToLower(letter))
}

// bare returns text, which starts at byte start of the sentence, with removed in place of its spans and removedCode in place of
// code.
func bare(text string, start int, spans []Span) string {
	var out strings.Builder
	at := 0
	for _, span := range spans {
		a, b := max(span.Start-start, at), min(span.End-start, len(text))
		if span.Kind.isSoft() || a >= b || span.Kind == Tag && text[a] == '[' || span.Kind == Emoji && strings.ContainsAny(text[a:b], attachedEmoji) {
			continue
		}
		if text[a:b] == "&amp;" {
			out.WriteString(text[at:a] + "&")
			at = b
			continue
		}
		sign := removed
		if noteName.MatchString(text[a:b]) || isDirection(text[a:b]) {
			sign = ""
		} else if span.Kind == Code || char.IsWord(char.First(text[a:b])) || text[a] == '\\' && !lineBreaks[text[a:b]] && text[a:b] != `\t` && b > a+1 && char.IsIdent(text[a+1]) {
			if strings.ContainsAny(text[a:b], "'’") { // an apostrophe behind it is not a possessive one
				continue
			}
			sign = removedCode
		}
		out.WriteString(text[at:a] + sign)
		at = b
	}
	return out.String() + text[at:]
}

// mostEdges is the maximum number of signs that are taken from the ends of a token, so that the search for their partners is linear.
const mostEdges = 16

// coreOf returns the range of a token without the punctuation of the sentence, and without quotes and brackets that enclose all
// of it or have their partner outside.
func coreOf(token string) (from, to int) {
	to = len(token)
	for range mostEdges {
		r, n := char.Decode(token, from)
		l, m := utf8.DecodeLastRuneInString(token[from:to])
		closing, opening := closers[r], openers[l]
		switch {
		case from == to:
			return 0, len(token)
		case char.OneOfRunes(l, ".,;:!?…"):
			to -= m
		case closing != "" && strings.ContainsRune(closing, l) && to-from > n && encloses(token[from:to], r, l):
			from, to = from+n, to-m
		case closing != "" && r != '\'' && !strings.ContainsAny(token[from+n:to], closing) || char.OneOfRunes(r, "¿¡"):
			from += n
		case opening != "" && l != '\'' && l != '’' && !strings.ContainsAny(token[from:to-m], opening):
			to -= m
		default:
			return from, to
		}
	}
	return from, to
}

// encloses reports whether the last sign of a text closes the first one.
func encloses(text string, opening, closing rune) bool {
	depth := 0
	for i, r := range text {
		switch {
		case r == opening && (opening != closing || i == 0):
			depth++
		case r == closing:
			if depth--; depth == 0 {
				return i+utf8.RuneLen(r) == len(text)
			}
		}
	}
	return false
}

// closers maps a bracket or quote to the signs that may close it; openers is the inverse.
var (
	closers = map[rune]string{'(': ")", '[': "]", '"': `"`, '\'': "'", '“': "”", '„': "“”", '‘': "’", '‚': "‘’", '«': "»", '‹': "›"}
	openers = map[rune]string{')': "(", ']': "[", '"': `"`, '\'': "'", '”': "“„", '“': "„", '’': "‘", '»': "«", '›': "‹"}
)

// isCodeSign reports whether r is neither part of a word or number nor punctuation of sentences.
func isCodeSign(r rune) bool {
	return !char.IsLetterOrDigit(r) && !unicode.IsMark(r) && !unicode.In(r, unicode.Pd, unicode.Pi, unicode.Pf, unicode.Sc, unicode.Cf) &&
		r != removedRune && !char.OneOfRunes(r, ".,;:!?…'’\"()/%´·•„‚")
}

var (
	// lineEdge matches text that starts a line: a time, the fields of a subtitle, a key.
	lineEdge    = regexp.MustCompile(`^\[.*\]$|^[^ ]+: |\..*=\s*$|"$`)
	longLetters = regexp.MustCompile(`\pL\pM*\pL`)
	nameForm    = regexp.MustCompile(`^(?:[b-df-hj-np-tv-xz]{2,4}|[B-DF-HJ-NP-TV-XZ]{2,6})$`)
	capitalForm = regexp.MustCompile(`^[A-Z]{2,}$`)
	// elision and wordTail match what a language attaches to a held word.
	elision  = regexp.MustCompile(`^\pL{1,4}['’]`)
	wordTail = regexp.MustCompile(`^(.*?\p{Lu}.*?)((?:['’]\pL{1,3})|(?:-\p{L}?\p{Ll}{3,})+)$`)
	faceForm = regexp.MustCompile(`^\([^\s()\pN]{2,12}\)`) // (ʘ‿ʘ)
	// wholeForm matches text that is held together with the quotes, dollars and inches at its ends.
	wholeForm = regexp.MustCompile(`^(?:#[A-Z/0]+!|:[\w+-]+:|"[^"\s]+":(?:"[^"\s]+")?|'\pL'|"\pL"|` + "`\\pL`" + `|\$[^\s$]*[\\^_={][^\s$]*\$|\d[\d.,'°′/]*"|'[^\s']*[%\\*$/=<>{}\[\]|^_~#@+][^\s']*'|"[^\s"]*[%\\*$/=<>{}\[\]|^_~#@+][^\s"]*")`)
)
