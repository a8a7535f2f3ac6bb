package markup

import (
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode"

	"dragoman/app/text/char"
)

// Words are held by their shape, not by their meaning: T800, H₂O, C++, node_modules/pkg, $env:USERNAME. A token is the text between
// white space and letters of scripts without spaces, with the spans of the recognizers in it. Every token that is no prose
// (prose.go) is held.
//
// Code is not always one token: a ?? b, x := 5, f(x, y), Vec<u8>, [1, 2]. Operators join their operands where these are letters,
// numbers or held text; brackets join the text that they touch. A letter alone is held if it is not a word of its language, but
// softly: the model sees it, and check.symbols counts it.

// withWords adds spans for all tokens that are no prose and for expressions to the sentence, by the rules of language lang. foreign
// are the runs of letters in scripts that are not those of the language.
func (s Sentence) withWords(lang string, foreign [][2]int) Sentence {
	words, known := letterWords[lang]
	e := expressions{text: s.Text, looks: s.looks, lang: lang, form: s.format, spans: s.Spans, whole: s.wholePairs(), letters: words, known: known, foreign: foreign}
	for e.pos < len(e.text) {
		e.looks.Past(1)
		if !e.words() {
			e.token()
		}
	}
	e.join()
	s.Spans = e.merged()
	return s
}

// letterWords are the one-letter words of the languages for which they are known. Languages of other scripts have none in ASCII.
var letterWords = map[string]string{
	"en": "aio", "fr": "aàoôyh", "de": "o", "nl": "u", "es": "aeouy", "it": "aeio", "pt": "aeoàé",
	"ja": "", "zh": "", "ko": "", "ru": "", "uk": "", "el": "", "ar": "", "he": "", "hi": "", "th": "",
}

type expressions struct {
	text    string
	looks   *char.Looks
	lang    string
	form    Format
	spans   []Span // of the sentence
	whole   map[int]bool
	letters string // one-letter words of lang
	known   bool   // whether letters is complete
	pos     int
	next    int     // number of the first span that does not end before pos
	tokens  []token // without plain words that stand between other plain words
	word    token   // the last plain word, unless it is in tokens
	more    []Span  // spans to add

	foreign   [][2]int // the runs of letters in other scripts that do not end before pos
	isForeign bool     // whether the token has some

	quotes, lower int // 1 + the number of quotes, 2 + the position of the first small letter; 0 until computed

}

// token is text between spaces, without the punctuation around it.
type token struct {
	start, end int
	kind       tokenKind
}

type tokenKind uint8

const (
	wordToken     tokenKind = iota
	letterToken             // a letter that is not a word
	articleToken            // a letter that is a word
	nameToken               // letters without vowels
	capitalToken            // capitals in a text that has small letters
	numberToken             // digits
	heldToken               // code, a placeholder, a path
	operatorToken           // :=, +, ∈
	weakToken               // signs that sentences also have: ?, :, -
)

// mostJoined is the maximum number of tokens joined on each side of an operator. A longer expression is joined at its next
// operator.
const mostJoined = 16

// join adds spans for tokens joined by operators.
func (e *expressions) join() {
	for i := 0; i < len(e.tokens); i++ {
		t := e.tokens[i]
		e.looks.Past(t.end - t.start)
		if t.kind != operatorToken && t.kind != weakToken && !e.isUnit(i) {
			continue
		}
		first, last := i, i
		for first > 0 && i-first < mostJoined && e.adjacent(first-1) && (e.isOperand(first-1, true) || first == i && e.isVariable(i, first-1)) {
			first--
		}
		for last+1 < len(e.tokens) && last-i < mostJoined && e.adjacent(last) && (e.isOperand(last+1, false) || e.tokens[last+1].kind == operatorToken || last == i && e.isVariable(i, last+1)) {
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
		e.looks.Past(t.end - t.start)
		if t.kind == operatorToken {
			if from, to := coreOf(e.text[t.start:t.end]); from > 0 && to-from == 1 {
				continue // (*): is (*) : in French
			}
		}
		if text := e.text[t.start:t.end]; t.kind == letterToken && e.isAlone(t) || t.kind == operatorToken && len(text) > 1 || t.kind == wordToken && strings.Contains(text, "/") && alternative.MatchString(text) || t.kind == nameToken && text[0] < 'a' && len(text) > 2 { // TV may be translated
			e.more = append(e.more, Span{Start: t.start, End: t.end, Kind: Sign})
		}
	}
}

// alternative matches two words with a slash: he/she, or a path such as origin/main.
var alternative = regexp.MustCompile(`^[a-z]+/[a-z]+$`)

// isAlone reports whether a letter touches no letter of a script without spaces, as it does in Tシャツ.
func (e *expressions) isAlone(t token) bool {
	return unicode.IsLower(char.First(e.text[t.start:])) || !char.IsUnspaced(char.First(e.text[t.end:])) && !char.IsUnspaced(char.Last(e.text[:t.start]))
}

// isUnit reports whether token i, a capital or a name in capitals, belongs to the number beside it.
func (e *expressions) isUnit(i int) bool {
	if !(i > 0 && e.isAmount(i-1) && e.adjacent(i-1) || i+1 < len(e.tokens) && e.isAmount(i+1) && e.adjacent(i)) {
		return false
	}
	t := e.tokens[i]
	text := e.text[t.start:t.end]
	unit := t.kind == letterToken && (unicode.IsUpper(char.First(text)) || text[0] >= 0x80) || t.kind == nameToken && text[0] < 'a' || (t.kind == wordToken || t.kind == nameToken) && text != "pm" && currencyForm.MatchString(text)
	return unit || t.kind == heldToken && unitSign.MatchString(text)
}

func (e *expressions) isAmount(i int) bool {
	t := e.tokens[i]
	return t.kind == numberToken || t.kind == heldToken && strings.IndexFunc(e.text[t.start:t.end], unicode.IsLetter) < 0
}

// currencyForm matches a short string without vowels, which is therefore not a word.
var currencyForm = regexp.MustCompile(`^(?:[B-DF-HJ-NP-TV-XZ]?[b-df-hj-np-tv-xzłčлв]{1,2})$`)

// unitSign matches held text that belongs to a number beside it.
var unitSign = regexp.MustCompile(`^(?:№|[\pL°/.]{1,3})$`)

// adjacent reports whether only spaces separate token i from the next one.
func (e *expressions) adjacent(i int) bool {
	gap := e.text[e.tokens[i].end:max(e.tokens[i].end, e.tokens[i+1].start)]
	if gap == ", " {
		return e.isLetter(i) && e.isLetter(i+1)
	}
	return gap != "" && strings.TrimFunc(gap, char.IsSpace) == ""
}

func (e *expressions) isLetter(i int) bool {
	return e.tokens[i].kind == letterToken || e.tokens[i].kind == articleToken
}

// isOperand reports whether an operator may join token i; before tells on which side of the operator it stands.
func (e *expressions) isOperand(i int, before bool) bool {
	switch e.tokens[i].kind {
	case letterToken, nameToken, capitalToken, numberToken, heldToken:
		return true
	case articleToken:
		text := e.text[e.tokens[i].start:e.tokens[i].end]
		return before || text != "I" && text != strings.ToLower(text) || i+1 == len(e.tokens) || !e.adjacent(i) || e.tokens[i+1].kind != wordToken
	}
	return false
}

// isVariable reports whether token j beside operator i is a word that must be a variable there: count -= step.
func (e *expressions) isVariable(i, j int) bool {
	operator, word := e.tokens[i], e.tokens[j]
	return word.kind == wordToken && variableForm.MatchString(e.text[word.start:word.end]) && strongForm.MatchString(e.text[operator.start:operator.end])
}

var (
	variableForm = regexp.MustCompile(`^[a-z][a-z_]*$`)
	// strongForm matches operators that occur only in programs.
	strongForm = regexp.MustCompile(`^(?:[-+*/%&|^!<>=:]=|[!=]==|&&|\|\||\?\?|<<|>>>)$`)
)

// hasLetter reports whether a token from first to last is a letter that is not a word.
func (e *expressions) hasLetter(first, last int) bool {
	return slices.ContainsFunc(e.tokens[first:last+1], func(t token) bool { return t.kind == letterToken })
}

// merged returns the spans of the sentence and the added ones, in order. An added span absorbs the spans that it overlaps.
func (e *expressions) merged() []Span {
	if len(e.more) == 0 {
		return e.spans
	}
	e.cut()
	slices.SortStableFunc(e.more, func(a, b Span) int { return a.Start - b.Start })
	var list []Span
	rest := e.spans
	for _, span := range e.more {
		e.looks.Past(span.End - span.Start)
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

// cut divides the added spans at the tags of HTML and XML, which are spans of their own.
func (e *expressions) cut() {
	if !e.form.hasTags() {
		return
	}
	var list []Span
	for _, span := range e.more {
		i := sort.Search(len(e.spans), func(i int) bool { return e.spans[i].End > span.Start })
		for ; i < len(e.spans) && e.spans[i].Start < span.End; i++ {
			e.looks.Past(1)
			if e.spans[i].Kind == Tag {
				before := span
				before.End, span.Start = max(span.Start, e.spans[i].Start), e.spans[i].End
				list = appendSpan(list, e.text, before)
			}
		}
		list = appendSpan(list, e.text, span)
	}
	e.more = list
}

// appendSpan appends a span without the white space at its ends, unless nothing is left.
func appendSpan(list []Span, text string, span Span) []Span {
	if span.Start < span.End {
		span.Start, span.End = Sentence{Text: text}.Trimmed(span.Start, span.End)
	}
	if span.Start < span.End {
		list = append(list, span)
	}
	return list
}
