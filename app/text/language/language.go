// Package language has data on the languages of all families of models: their names, their scripts and other codes for them. It
// also detects the language of a text.
//
// A code is a BCP 47 tag, only as long as needed to distinguish the languages of a model: ja, zh, zh-Hant.
//
// All functions are safe for concurrent use.
package language

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// Name holds the names of a language.
type Name struct {
	Code    string // as in the model: ja, zh, ns
	Own     string // in the language itself: 日本語
	English string // Japanese
}

// NameOf returns the names of a language. ok is false for codes of no family; Find converts other notations to a model's code.
func NameOf(code string) (name Name, ok bool) {
	entry, ok := entries[code]
	if !ok {
		return Name{}, false
	}
	return Name{Code: code, Own: entry.own, English: entry.english}, true
}

// Codes returns the codes of the languages of all families, sorted.
func Codes() []string { return slices.Sorted(maps.Keys(entries)) }

// Base returns a code without its script, for rules that apply to a language in any script.
func Base(code string) string {
	base, _, _ := strings.Cut(code, "-")
	return base
}

// Pair is the language of texts, and the language of their translations.
type Pair struct{ From, To string }

func (p Pair) String() string { return p.From + " to " + p.To }

// Compare orders pairs by From, then by To.
func (p Pair) Compare(other Pair) int {
	return cmp.Or(cmp.Compare(p.From, other.From), cmp.Compare(p.To, other.To))
}

// Locale is a code in parts: a canonical language, and the script and region that the code has, or those of most speakers.
type Locale struct{ Language, Script, Region string }

// LocaleOf returns the parts of a BCP 47 tag, or none for another text, and for und.
func LocaleOf(code string) (l Locale) {
	tag, err := language.Parse(code)
	if err == nil && code != "und" {
		base, _ := tag.Base()
		script, _ := tag.Script()
		region, _ := tag.Region()
		l = Locale{base.String(), script.String(), region.String()}
	}
	return l
}

// wider maps languages to the language that includes them in some models, or by whose name some models call them, where CLDR does
// not say so or prefers the other name.
var wider = map[string]string{
	"fil": "tl", "fuv": "ff", "nn": "no", "nso": "ns", "pbt": "ps", "quy": "qu",
}

// widest returns the language that includes base or of which it is another code (arb: ar, iw: he), or base itself.
func widest(base string) string {
	if tag, err := language.All.Parse(base); err == nil {
		canonical, _, _ := tag.Raw()
		base = canonical.String()
	}
	return cmp.Or(wider[base], base)
}

// Group returns a common name for all codes of a language in models, by its parts, older names, scripts and regions: no, nb and
// nn; zh, zh-Hant and zh-TW.
func Group(code string) string { return widest(Base(code)) }

// SameScript reports whether two codes of a group are written in the same script.
func SameScript(a, b string) bool {
	one, okOne := parse(a)
	other, okOther := parse(b)
	script, _ := one.Script()
	same, _ := other.Script()
	return okOne && okOther && script == same
}

// Same reports whether two codes, also with _ or of three letters, are of one language, Chinese in one script.
func Same(code, other string) bool {
	code, other = strings.ReplaceAll(code, "_", "-"), strings.ReplaceAll(other, "_", "-")
	group := Group(code)
	return strings.EqualFold(code, other) || strings.EqualFold(group, Group(other)) && (group != "zh" || SameScript(code, other))
}

// maxTag is the maximum length in bytes of a tag that Find reads. Valid tags are far shorter; requests may contain longer ones.
const maxTag = 64

// Find returns the code of a model for a language in one of the usual notations: a code of two or three letters in any case (ja,
// JA, jpn), an older, wider or narrower one (iw, fil, nb, arb, ger), with a script, region or encoding (zh-Hans, zh_TW, pt-BR,
// ja_JP.UTF-8), or a code of FLORES-200 (eng_Latn). If the model has a language in several scripts, script and region decide. It
// does not accept names of languages.
func Find(codes []string, name string) (code string, ok bool) {
	name = strings.TrimSpace(name)
	if i := slices.IndexFunc(codes, func(code string) bool { return strings.EqualFold(code, name) }); i >= 0 {
		return codes[i], true
	}
	tag, ok := parse(name)
	if !ok {
		return "", false
	}
	raw, _, _ := tag.Raw()
	base, wide := raw.String(), widest(raw.String())
	for _, same := range []func(string) bool{
		func(code string) bool { return Base(code) == base },
		func(code string) bool { return widest(Base(code)) == wide },
	} {
		if code, ok := inScript(codes, same, tag); ok {
			return code, true
		}
	}
	return "", false
}

// inScript returns the first code that means the same language, preferring a code with the script of tag.
func inScript(codes []string, same func(code string) bool, tag language.Tag) (found string, ok bool) {
	script, _ := tag.Script()
	for _, code := range codes {
		if !same(code) {
			continue
		}
		if strings.HasSuffix(code, "-"+script.String()) {
			return code, true
		}
		if !ok || Base(found) == Base(code) && code == Base(code) {
			found, ok = code, true
		}
	}
	return found, ok
}

// FindTarget is [Find] for a target language. It does not find Chinese in traditional script if the model has a single Chinese,
// which is mostly simplified.
func FindTarget(codes []string, name string) (code string, ok bool) {
	code, ok = Find(codes, name)
	if code == "zh" && IsTraditional(name) {
		return "", false
	}
	return code, ok
}

// IsTraditional reports whether a name means Chinese in traditional script, by its script or by a region that uses it.
func IsTraditional(name string) bool {
	tag, ok := parse(name)
	if !ok {
		return false
	}
	base, _, _ := tag.Raw()
	script, _ := tag.Script()
	return widest(base.String()) == "zh" && script.String() == "Hant"
}

// RightToLeft reports whether a language, or a language in a script, is usually written from right to left.
func RightToLeft(code string) bool {
	tag, ok := parse(code)
	if !ok {
		return false
	}
	switch script, _ := tag.Script(); script.String() {
	case "Arab", "Hebr", "Adlm", "Nkoo", "Syrc", "Thaa":
		return true
	}
	return false
}

// Direction returns the direction of a language as HTML and other formats name it: rtl or ltr.
func Direction(code string) string {
	if RightToLeft(code) {
		return "rtl"
	}
	return "ltr"
}

// parse reads a tag, or a POSIX locale without its encoding or variant.
func parse(name string) (tag language.Tag, ok bool) {
	name = strings.TrimSpace(name)
	if len(name) > maxTag {
		return tag, false
	}
	if end := strings.IndexAny(name, ".@"); end >= 0 {
		name = name[:end]
	}
	// Raw does not canonicalize the language. A tag with an unknown part is an error, and never a code of a model.
	tag, err := language.Raw.Parse(name)
	return tag, err == nil
}
