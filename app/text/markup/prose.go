package markup

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"dragoman/app/text/char"
)

// Of the tokens of a text, separated by white space, only those of natural language are translated: words of letters with
// apostrophes and hyphens, abbreviations, numbers, and punctuation around and between them. These forms list what is allowed, so
// that every other token is held, whatever its notation.
const (
	removedCode = "\uFFFB"

	wordForm = `\pL[\pL\pM\x{200c}\x{200d}]*(?:(?:['’ʼ·‐‑\x{ad}-]|'')\pL[\pL\pM]*)*['’ʼ]?`
	// inflectedForm: year(s), (re)start, Schüler*innen, and held text.
	inflectedForm = `(?:\(\pL{1,4}\))?` + wordForm + `(?:[(\[]\pL{1,5}[)\]]|\*\p{Ll}{3,})?`
	// numberForm: groups of digits, times, dates, ranges and fractions, with currencies, percents and ordinals, or with a word as
	// in 10-year-old.
	numberForm = `[+−-]?[\p{Sc}#№]?\p{Nd}+(?:[.,:'’٫٬/–-]\p{Nd}+)*(?:[%‰°º]|\p{Sc}|['’]?\pL{1,3}|ième)?(?:-` + wordForm + `)?`
	itemForm   = `(?:(?:\pL{1,4}['’ʼ])?` + removedCode + `(?:['’ʼ-]\pL+)*|` + inflectedForm + `|` + numberForm + `)`
	// jointForm: ends of sentences without a space, asides, he/she.
	jointForm = `(?:\.|[.,;:!?]+["”’»)\]]*|[,:;.!?]["“‘«]|["”’»)\].]*(?:[—–]|--)["“‘«(\[]*|…|\.{3}|[/|])`
	openForm  = `["'“”„‚‘«‹(\[¿¡*_…—–]*`
	closeForm = `["'”’“‘»›)\].,;:!?…*_—–-]*`
)

var (
	proseToken = regexp.MustCompile(`^-?` + openForm + itemForm + `(?:` + jointForm + itemForm + `)*` + closeForm + `$`)
	// proseSigns matches punctuation by itself.
	proseSigns = regexp.MustCompile(`^["'“”„‘’«»‹›(\[¿¡]*(?:[.…]+|[!?]+|[,;:]|[-–—−]+|[&/•·%§№#|]|\p{Sc})?[)\]"'“”’»›]*[.,;:!?…]*$`)
	// oddSigns matches emoticons and lines, which are not punctuation.
	oddSigns = regexp.MustCompile(`^(?:[:;]['’]?-?[)(\[\]|/\\*]+[.,!?]*|-{3,})$`)
	// memberForm matches names of members, but not abbreviations: a.x, not a.m.
	memberForm = regexp.MustCompile(`^[a-z](?:\.[a-z]+)+$`)
	// capitalsForm: R-OH, BTC-USD, USB-C.
	capitalsForm = regexp.MustCompile(`^(?:\p{Lu}+(?:-\p{Lu}{2,})+|\p{Lu}{2,}-\p{Lu})$`)
	// fieldForm matches names of fields: Content-Length: and "strict":.
	fieldForm = regexp.MustCompile(`^(?:"[^"\s]+":|\p{Lu}\w*(?:-\p{Lu}\w*)+:|X-\p{Lu}\w*(?:-\p{Lu}\w*)*|\p{Lu}\w*-\p{Lu}\w*(?:-\p{Lu}\w*)+)$`)
	// codePart matches parts that tokens of natural language never have.
	codePart = regexp.MustCompile(strings.Join([]string{
		`[,:;.!?]"[^"]*"`, `";"`, // name:"Bob"
		`^[a-z]+/[a-z]+[-_][a-z]+$`, `\p{Ll}/\p{Lu}{2}`, // fix/login-bug, main/INFO
		`^\p{Lu}{2,}:\p{Lu}{2,}$`, `^\pL[:(]\pL`, // AAPL:US
		`^-[^aeiouyAEIOUY]{2,}$`,           // -xvf
		`!\pL(?:\PL|$)`, `[!?]\d`, `\d;\d`, // Sheet!A:A
		`\|\P{Lu}`, `(?:^|\PL)\pL{1,2}\|`, `\|\pL{1,2}(?:\PL|$)`, // a|b
		`\.\*`, // 10.4.*
		removedCode + `[.!?,;:/]+[\pL\pN` + removedCode + `]`, `[\pL\pN][.!?,;:/]+` + removedCode,
	}, "|"))
)

// literals are the literals of JSON.
var literals = set("true false null")

// dotted are abbreviations that look like names of members.
var dotted = set(`e.g i.e a.m p.m a.k.a w.r.t n.b q.e.d r.s.v.p z.b u.a d.h s.o u.s.w u.u o.k p.s s.v c.v`)

// isProse reports whether a token is natural language. In it, removedCode stands for code, and removed for other held text, such
// as placeholders, which words may touch.
func (e *expressions) isProse(token string, start int) bool {
	token = strings.Map(withoutSpace, token) // 5 €
	for before, rest, found := strings.Cut(token, removed); found; before, rest, found = strings.Cut(token, removed) {
		if !e.isProse(strings.TrimRight(before, "|"), start) {
			return false
		}
		if rest != "" && strings.IndexByte("0123456789$@#=&", rest[0]) >= 0 {
			return false // $B$2
		}
		token = strings.TrimLeft(rest, "-'’:;,.!?/|")
	}
	if word := strings.TrimRight(token, "®™©"); word == strings.ToLower(word) && e.looks.Match(longLetters, word) { // a name has a capital
		token = word
	}
	e.looks.Past(len(token))
	from, to := coreOf(token)
	core := token[from:to]
	e.looks.Past(len(token))
	switch {
	case token == "":
		return true
	case !strings.ContainsFunc(token, char.IsLetterOrDigit) && !strings.Contains(token, removedCode):
		return e.looks.Match(proseSigns, token) && !e.looks.Match(oddSigns, token)
	case !e.looks.Match(proseToken, token), e.looks.Match(codePart, core), e.looks.Match(fieldForm, token), strings.ContainsFunc(core, isPhonetic),
		e.looks.Match(capitalsForm, core) && (e.hasLower() || len(token) == len(e.text)), e.hasOddEnd(core, token[to:]):
		return false
	case literals[core] && e.isValue(start): // "private": true
		return false
	case e.looks.Match(memberForm, core):
		return dotted[core] || strings.Contains(token, core+".") && start+len(token) < len(e.text)
	case token[0] == '-' || token[0] == '*':
		return start == 0 || e.text[start-1] == '\n' || unicode.IsUpper(char.First(token[1:]))
	}
	return !strings.ContainsAny(core, ",;") || !strings.ContainsFunc(core, unicode.IsLetter) || !e.isList(core)
}

// isValue reports whether the key of a JSON value precedes byte start. It caches the last answer, as all parts of a token have
// the same start.
func (e *expressions) isValue(start int) bool {
	if !e.valued || e.valueAt != start {
		e.valued, e.valueAt, e.value = true, start, strings.HasSuffix(strings.TrimRight(e.text[:start], " "), `":`)
	}
	return e.value
}

// hasOddEnd reports whether text that is not a word is followed by a sign that only words have: x', n!.
func (e *expressions) hasOddEnd(core, behind string) bool {
	if e.looks.Match(longLetters, core) {
		return false
	}
	name := strings.TrimSuffix(core, "'")
	isPrime := strings.HasPrefix(behind, "'") || name != core && name != ""
	return isPrime && name != "o" || char.OneOfRunes(char.First(behind), "!*") && hasLetter(core) && !e.isLetterWord(core)
}

// isList reports whether a field of a comma-separated core is not a word: x,y and eax,1.
func (e *expressions) isList(core string) bool {
	for field := range strings.FieldsFuncSeq(core, func(r rune) bool { return char.OneOfRunes(r, ",;") }) {
		field = strings.Trim(field, `"'.!?()`)
		if field != "" && (!longLetters.MatchString(field) && !e.isLetterWord(field) || !strings.ContainsFunc(field, isVowel)) {
			return true
		}
	}
	return false
}

// isPhonetic reports whether r is a phonetic letter.
func isPhonetic(r rune) bool { return r >= 0x250 && r <= 0x2FF && r != 'ʼ' && r != 'ʻ' || r == 'ŋ' }

// compareTokens returns an error that wraps ErrLost if a token of the source that is not natural language occurs less often in
// the translation. It does not depend on the recognizers.
func (s Sentence) compareTokens(both *tally) error {
	source := both.source
	e := expressions{text: source, looks: s.looks, lang: s.from}
	for at := 0; at < len(source); {
		e.looks.Past(1)
		start := char.Skip(source, at, isBetweenTokens)
		at = char.Skip(source, start, func(r rune) bool { return !isBetweenTokens(r) })
		if token := source[start:at]; strings.ContainsFunc(token, char.IsLetterOrDigit) && !strings.Contains(token, removed) && !e.isProse(token, start) {
			from, to := coreOf(token)
			if core := token[from:to]; core != "" {
				switch there, kept, err := both.count(core); {
				case err != nil:
					return err
				case there > kept:
					return fmt.Errorf("%w: a token that is no prose was changed", ErrLost)
				}
			}
		}
	}
	return nil
}

func isBetweenTokens(r rune) bool { return unicode.IsSpace(r) || char.IsUnspaced(r) }

func withoutSpace(r rune) rune {
	if char.IsSpace(r) {
		return -1
	}
	return r
}
