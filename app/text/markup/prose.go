package markup

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// Of the tokens of a text, separated by white space, only those of natural language are translated: words of letters with
// apostrophes and hyphens, abbreviations, numbers, and punctuation around and between them. These forms list what is allowed, so
// that every other token is held, whatever its notation.
const (
	removedCode = "\uFFFB"
	consonants  = `[b-df-hj-np-tv-xzB-DF-HJ-NP-TV-XZ]+`

	wordForm = `\pL[\pL\pM\x{200c}\x{200d}]*(?:(?:['’ʼ·‐‑\x{ad}-]|'')\pL[\pL\pM]*)*['’ʼ]?`
	// inflectedForm: year(s), (re)start, Schüler*innen, and held text.
	inflectedForm = `(?:\(\pL{1,4}\))?` + wordForm + `(?:[(\[]\pL{1,5}[)\]]|\*\p{Ll}{3,})?`
	// numberForm: groups of digits, times, dates, ranges and fractions, with currencies, percents and ordinals, or with a word as
	// in 10-year-old.
	numberForm = `(?:` + otherForm + `-?)?[+−-]?[\p{Sc}#]?\p{Nd}+(?:[.,:'’٫٬/–-]\p{Nd}+)*(?:[%‰°º]|\p{Sc}|` + ordinalForm + `)?(?:-?` + otherForm + `|-` + wordForm + `)?`
	// ordinalForm: endings of ordinals, decades and times of day.
	ordinalForm = `(?i:st|nd|rd|th|er|re|ère|es?|è|ème|ième|nde?|te[rnms]?|de|ste[rnms]?|ª|\.?[ap]\.?m|uhr|h(?:\d\d)?|['’]?s|['’]\pL{1,3}|-?\p{Ll}{4,})`
	// otherForm: letters of scripts whose prefixes and endings touch digits.
	otherForm = `[\x{530}-\x{1DFF}\x{3040}-\x{9FFF}\x{AC00}-\x{D7A3}]+`
	itemForm  = `(?:(?:\pL{1,4}['’ʼ])?` + removedCode + `(?:['’ʼ-]\pL+)*|` + inflectedForm + `|` + numberForm + `)`
	// jointForm: ends of sentences without a space, asides, he/she.
	jointForm = `(?:\.|[.,;:!?]+["”’»)\]]*|[,:;.!?]["“‘«]|["”’»)\].]*(?:[—–]|--)["“‘«(\[]*|…|\.{3}|[/|])`
	openForm  = `["'“”„‚‘«‹(\[¿¡*_…—–]*(?:\.{2,4}["'“‘«]*)?`
	closeForm = `["'”’“‘»›)\].,;:!?…*_—–-]*`
)

var (
	proseToken = regexp.MustCompile(`^-?` + openForm + itemForm + `(?:` + jointForm + itemForm + `)*` + closeForm + `$`)
	// proseSigns matches punctuation by itself.
	proseSigns = regexp.MustCompile(`^["'“”„‘’«»‹›(\[¿¡]*(?:[.…]+|[!?]+|[,;:]|[-–—−]+|[&/•·%§#|]|\p{Sc})?[)\]"'“”’»›]*[.,;:!?…]*$`)
	// heldPart matches placeholders whose word goes on as no word does: %s/%s, %s:x.
	heldPart = regexp.MustCompile(removed + `(?:/` + removed + `|[./]\p{Ll}|[\pL\pN]+[/\\_=@#$&+~:]\pL)`)
	// pluralForm matches forms of words in capitals, and of words with a slash: XIVe, alumno/a.
	pluralForm = regexp.MustCompile(`^(?:[IVXLC]+(?:e|er|re|ème|ª|º)|\pL{3,}/(?:as?|o|os|e|es|r|n|in|innen))$`)
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
		`^\p{Lu}{2,}:(?:\p{Lu}{2,}$|\d)`, `^\pL[:(,;]\pL(?:\PL|$)`, `^\pL[:(]\pL`, `\pL[,;]\d`, // AAPL:US
		`^-[^aeiouyAEIOUY]{2,}$`,           // -xvf
		`!\pL(?:\PL|$)`, `[!?]\d`, `\d;\d`, // Sheet!A:A
		`\|\P{Lu}`, `(?:^|\PL)\pL{1,2}\|`, `\|\pL{1,2}(?:\PL|$)`, // a|b
		`^[A-Za-z](?:-[A-Za-z])+$`, `^[a-z]\w*\.\.[a-z]\w*$`, `^[a-z]\.[a-z]{3,}$`,
		`\.\*`,                                             // 10.4.*
		`\p{Ll}\pM*\p{Lu}`, `\p{Lu}{2}(?:[^\P{Ll}s]|s\pL)`, // userName, XMLHttp
		`::`, `^[a-z][\w-]*(?::\w[\w-]*)+$`, `\pL:\d+-`, // xmlns:foo
		`^(?:[A-Za-z]\w*\.)*(?:[A-Za-z][\w-]{3,}\.[a-z][\w-]*|[a-z]\w*\.[a-z][\w-]{3,}|[a-z]\w+\.[a-z][\w-]+|[A-Za-z]\w+(?:\.[A-Za-z]\w+){2,}|[A-Z]+\.[A-Z]{3,}|[A-Z]{2,}\.[A-Z]+)$`, // foo.bar
		`^[._]\pL`, `\?\.`, `\pL[./]\d`, `^[a-z]\w*:\w+[,;]`, `\d-\p{Lu}{2}`, `\d:\d\p{Lu}`, `\d\.(?:\pL|\p{Lu}+)$`, `!\p{Ll}`,
		`^/`, `//`, `/[\w-]*\.[a-z]`, `^\P{Lu}*\p{Ll}/\P{Lu}*/\P{Lu}*$`, `^\p{Lu}+(?:/\p{Lu}+)+$`,
		`(?:^|/)(?:\pL|` + consonants + `)/`, `/(?:\pL|` + consonants + `|\d+\pL+)$`, `\d/\pL`, // km/h
		`[^lL]·|·[^lL]`, `^[Nn][º°]$`, // N·m
		`^(?:application|multipart)/|^text/(?:css|csv|html|plain|xml)$|^image/(?:gif|jpeg|png|svg|webp)`,
		removedCode + `[.!?,;:/]+[\pL\pN` + removedCode + `]`, `[\pL\pN][.!?,;:/]+` + removedCode,
	}, "|"))
)

// isProse reports whether a token is natural language. In it, removedCode stands for code, and removed for other held text, such
// as placeholders, which words may touch.
func (e *expressions) isProse(token string, start int) bool {
	token = strings.Map(visible, token) // 5 €
	if e.looks.Match(heldPart, token) {
		return false
	}
	for before, rest, found := strings.Cut(token, removed); found; before, rest, found = strings.Cut(token, removed) {
		if !e.isProse(strings.TrimRight(before, "|"), start) {
			return false
		}
		if rest != "" && strings.IndexByte("0123456789$@#=&", rest[0]) >= 0 {
			return false // $B$2
		}
		token = strings.TrimLeft(rest, "-'’:;,.!?/|")
	}
	if word := strings.TrimRight(token, "®™©†‡"); word == strings.ToLower(word) && e.looks.Match(longLetters, word) { // a name has a capital
		token = word
	}
	if word := strings.TrimRight(token, ".,;:!?"); len(word) > 2 && word[0] == '~' && word[len(word)-1] == '~' && word[1] != '~' { // ~sometimes~
		token = word[1 : len(word)-1]
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
	case strings.ContainsAny(token, neverProse), !e.looks.Match(proseToken, token), e.looks.Match(codePart, core) && !e.looks.Match(pluralForm, core), e.looks.Match(fieldForm, token), strings.ContainsFunc(core, isPhonetic),
		e.looks.Match(capitalsForm, core) && (e.hasLower() || len(token) == len(e.text)):
		return false
	case token[0] == '-' || token[0] == '*':
		return start == 0 || e.text[start-1] == '\n' || unicode.IsUpper(char.First(token[1:]))
	}
	return true
}

// neverProse are the ASCII signs that proseToken does not have.
const neverProse = "&<=>@\\^`{}~"

// isPhonetic reports whether r is a phonetic letter.
func isPhonetic(r rune) bool {
	return r == 'µ' || r >= 0x250 && r <= 0x2FF && r != 'ʼ' && r != 'ʻ' || r == 'ŋ'
}

func visible(r rune) rune {
	if char.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Cc) && string(r) != removedCode || r == utf8.RuneError {
		return -1
	}
	return r
}
