package entity

import (
	_ "embed" // the table
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/text/char"
)

// unit is what a number counts: kilograms, percent, dollars.
type unit struct {
	ids []string // possible units, as CLDR names them; nil if there is none
	// sign reports whether it is a sign or symbol, which every translation has: %, $, kg. Words, such as minutes, may be left out.
	sign  bool
	word  bool // its name is one of the language, no symbol
	short bool // its name has two letters
	half  bool // a half of it follows: 2時間半
}

const percent = "concentr-percent"

// isWord reports whether it is a word for the unit, and no abbreviation.
func (u unit) isWord() bool { return u.ids != nil && u.word && !u.short }

// units holds the names of units in a language.
type units struct {
	ids   map[string][]string // by name
	names map[string][]string // by unit
}

//go:embed units.txt
var unitTable string

// everywhere is the language of the symbols that all languages have.
const everywhere = "*"

// symbols returns the units of all languages.
func symbols() *units { return lexiconOf(everywhere).units }

func newUnits(lang, line string) *units {
	u := &units{ids: map[string][]string{}, names: map[string][]string{}}
	for column := range strings.SplitSeq(line, "\t") {
		id, names, _ := strings.Cut(column, "=")
		for name := range strings.SplitSeq(names, "|") {
			if name == "" || lang != everywhere && utf8.RuneCountInString(name) == 1 && !char.IsUnspaced(char.First(name)) {
				continue // most are words or abbreviations of something else
			}
			for _, form := range slices.Compact([]string{name, strings.ToLower(name)}) {
				if form == name || len(name) > shortName {
					u.ids[form] = append(u.ids[form], id)
				}
			}
			u.names[id] = append(u.names[id], name)
		}
	}
	return u
}

// shortName is the maximum length in bytes of a name whose case matters: mm and Mm, MB and Mb.
const shortName = 3

// longestUnit is the maximum length in bytes of the name of a unit.
const longestUnit = 32

// unitBehind returns the unit whose longest name starts at i, behind at most one space or hyphen.
func (r *reader) unitBehind(i int) unit {
	start := char.Skip(r.text, i, isRemoved) // <b>5</b> km
	if c, n := char.Decode(r.text, start); char.IsSpace(c) || c == '-' {
		start += n
	}
	u, end := r.longestUnit(start, longestUnit, start == i)
	u.short = end-start < shortName
	u.half = u.ids != nil && strings.HasPrefix(r.text[end:], "半")
	return u
}

// SymbolBehind returns the length in bytes of the symbol of a unit behind the number that ends at byte i, with the space before it:
// " kg", "mL", " km/h", of Chinese, Japanese and Korean also of its name, 公里. It returns 0 if there is none.
func SymbolBehind(text string, i int, lang string) int {
	start := i
	if c, n := char.Decode(text, i); char.IsSpace(c) {
		start += n
	}
	if c, _ := char.Decode(text, start); c == utf8.RuneError || unicode.IsSpace(c) || unicode.IsDigit(c) || char.OneOfRunes(c, ".,:;!?()[]{}<>|\"'*_~") {
		return 0
	}
	r := reader{text: text, lexicon: noLexicon}
	if isEastern(lang) {
		r.lexicon = lexiconOf(lang)
	}
	u, end := r.longestUnit(start, longestSymbol, start == i)
	if u.ids == nil || strings.HasPrefix(text[end:], "半") {
		return 0
	}
	return end - i
}

// longestUnit returns the unit whose longest name starts at byte start and has about most bytes, and the end of the name. glued
// reports whether a number touches the name.
func (r *reader) longestUnit(start, most int, glued bool) (u unit, end int) {
	for at := start; at < min(len(r.text), start+most); {
		c, n := char.Decode(r.text, at)
		at += n
		if next, _ := char.Decode(r.text, at); char.IsWord(c) && char.IsWord(next) {
			continue
		}
		name := r.text[start:at]
		switch found := r.unitNamed(name); {
		case found.ids == nil, glued && name == "s": // the 1990s
		case name == "in" && char.IsWord(char.First(strings.TrimLeft(r.text[at:min(len(r.text), at+longestSymbol)], " "))): // 5 in May
		default:
			u, end = found, at
		}
	}
	return u, end
}

// longestSymbol is the maximum length in bytes of the symbol of a unit.
const longestSymbol = 12

// unitBefore returns the unit before the number at start: $5, USD 5, %5.
func (r *reader) unitBefore(start int) unit {
	const longest = len("USD ")
	before := strings.TrimRight(strings.TrimRight(r.text[max(0, start-longest-len(string(removed))):start], string(removed)), " ")
	before = strings.TrimSuffix(before, "-") // $-5
	switch c := char.Last(before); {
	case unicode.Is(unicode.Sc, c), c == '%', c == '％', c == '٪':
		if strings.HasSuffix(before, "R$") {
			return r.unitNamed("R$")
		}
		return r.unitNamed(string(c))
	case c >= 'A' && c <= 'Z':
		if word := before[len(strings.TrimRightFunc(before, unicode.IsUpper)):]; len(word) == len("USD") {
			return r.unitNamed(word)
		}
	}
	return unit{}
}

// unitNamed returns the unit of a name.
func (r *reader) unitNamed(name string) unit {
	if ids := symbols().ids[name]; ids != nil {
		if r.lexicon.units != nil {
			ids = append(slices.Clip(ids), r.lexicon.units.ids[name]...)
		}
		return unit{ids: ids, sign: true}
	}
	if r.lexicon.units == nil {
		return unit{}
	}
	ids := r.lexicon.units.ids[name]
	if ids == nil && (len(name) > shortName || len(name) == shortName && strings.ToLower(name[1:]) == name[1:]) { // Yen
		ids = r.lexicon.units.ids[strings.ToLower(name)]
	}
	if ids == nil && r.lang == "de" {
		if noun, dative := strings.CutSuffix(name, "n"); dative { // in 5 Tagen
			ids = r.lexicon.units.ids[noun]
		}
	}
	return unit{ids: ids, word: ids != nil, sign: ids != nil && (slices.ContainsFunc(ids, isKept) || !char.IsUnspaced(char.First(name)) && !strings.ContainsFunc(name, isVowel))}
}

// isKept reports whether every translation has a unit, also in words. That of a time may be clear from the text, and bits, bars and
// feet have other meanings.
func isKept(id string) bool {
	kind, name, _ := strings.Cut(id, "-")
	return slices.Contains(keptKinds, kind) && name != "bit" && name != "byte" && name != "foot"
}

var keptKinds = strings.Fields("concentr mass length volume speed electric energy power frequency digital currency")

func isVowel(r rune) bool {
	return r > unicode.MaxLatin1 && !unicode.Is(unicode.Cyrillic, r) || strings.ContainsRune("aeiouyàáâäåæèéêëìíîïòóôöøùúûüýAEIOUYаеёиоуыэюяіїєАЕЁИОУЫЭЮЯ", r)
}

// count returns how often the names of the unit in some languages occur in a text, at most up to a limit.
func (u unit) count(text string, langs []string, limit int) (n int) {
	lower := strings.ToLower(text)
	for _, lang := range langs {
		table := lexiconOf(lang).units
		if table == nil {
			continue
		}
		for _, id := range u.ids {
			for _, name := range table.names[id] {
				if n += countUnit(text, lower, name, limit-n); n >= limit {
					return n
				}
			}
		}
	}
	return n
}

// countUnit counts the occurrences of a name in a text, or, for long names, of other cases of the noun.
func countUnit(text, lower, name string, limit int) (count int) {
	const noun, long = 6, 8 // in letters
	if runes := []rune(strings.ToLower(name)); len(runes) >= noun && !char.IsUnspaced(runes[0]) {
		ending := 1 + min(1, len(runes)/long)
		return min(limit, strings.Count(lower, string(runes[:len(runes)-ending])))
	}
	for at := 0; count < limit; {
		n := strings.Index(text[at:], name)
		if n < 0 {
			break
		}
		before, behind := char.Last(text[:at+n]), char.First(text[at+n+len(name):])
		if at += n + len(name); !(isSpaced(before) && isSpaced(char.First(name))) && !(isSpaced(behind) && isSpaced(char.Last(name))) {
			count++
		}
	}
	return count
}

// Says reports whether a text has a name, in its language, of the unit with a symbol.
func Says(symbol, text, lang string) bool {
	u := unit{ids: symbols().ids[symbol]}
	return u.ids != nil && u.count(text, []string{lang}, 1) > 0
}

// isSpaced reports whether r is a letter of a word that spaces separate from others.
func isSpaced(r rune) bool { return unicode.IsLetter(r) && char.IsWord(r) }

// isLike reports whether two units may be the same.
func (u unit) isLike(other unit) bool {
	return slices.ContainsFunc(u.ids, func(id string) bool { return slices.Contains(other.ids, id) })
}

// isNamedShort reports whether another unit may be the first word of this one's name: 80 km/h, 時速80キロ; 20 degrees Celsius, 20度.
func (u unit) isNamedShort(other unit, text string) bool {
	return slices.ContainsFunc(u.ids, func(id string) bool {
		kind, name, _ := strings.Cut(id, "-")
		name, _, isRate := strings.Cut(name, "-per-")
		if kind == "temperature" {
			return slices.Contains(other.ids, "angle-degree")
		}
		return isRate && strings.ContainsAny(text, "/速每毎") && slices.ContainsFunc(other.ids, func(id string) bool {
			_, short, _ := strings.Cut(id, "-")
			return strings.HasPrefix(name, short)
		})
	})
}
