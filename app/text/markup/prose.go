package markup

import (
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
	// capitalsForm: R-OH, BTC-USD, USB-C.
	capitalsForm = regexp.MustCompile(`^(?:\p{Lu}+(?:-\p{Lu}{2,})+|\p{Lu}{2,}-\p{Lu})$`)
	// fieldForm matches names of fields: Content-Length: and "strict":.
	fieldForm = regexp.MustCompile(`^(?:"[^"\s]+":|\p{Lu}\w*(?:-\p{Lu}\w*)+:|X-\p{Lu}\w*(?:-\p{Lu}\w*)*|\p{Lu}\w*-\p{Lu}\w*(?:-\p{Lu}\w*)+)$`)
	// codePart matches parts that tokens of natural language never have.
	codePart = regexp.MustCompile(strings.Join([]string{
		`[,:;.!?]"[^"]*"`, `";"`, // name:"Bob"
		`^[a-z]+/[a-z]+[-_][a-z]+$`, `\p{Ll}/\p{Lu}{2}`, // fix/login-bug, main/INFO
		`^\p{Lu}{2,}:\p{Lu}{2,}$`, `^\pL[:(,;]\pL(?:\PL|$)`, `^\pL[:(]\pL`, `\pL[,;]\d`, // AAPL:US
		`^-[^aeiouyAEIOUY]{2,}$`,           // -xvf
		`!\pL(?:\PL|$)`, `[!?]\d`, `\d;\d`, // Sheet!A:A
		`\|\P{Lu}`, `(?:^|\PL)\pL{1,2}\|`, `\|\pL{1,2}(?:\PL|$)`, // a|b
		`\.\*`, // 10.4.*
		removedCode + `[.!?,;:/]+[\pL\pN` + removedCode + `]`, `[\pL\pN][.!?,;:/]+` + removedCode,
	}, "|"))
)

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
		e.looks.Match(capitalsForm, core) && (e.hasLower() || len(token) == len(e.text)):
		return false
	case token[0] == '-' || token[0] == '*':
		return start == 0 || e.text[start-1] == '\n' || unicode.IsUpper(char.First(token[1:]))
	}
	return true
}

// isPhonetic reports whether r is a phonetic letter.
func isPhonetic(r rune) bool { return r >= 0x250 && r <= 0x2FF && r != 'ʼ' && r != 'ʻ' || r == 'ŋ' }

func isBetweenTokens(r rune) bool { return unicode.IsSpace(r) || char.IsUnspaced(r) }

func withoutSpace(r rune) rune {
	if char.IsSpace(r) {
		return -1
	}
	return r
}
