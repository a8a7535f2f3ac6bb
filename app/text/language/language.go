// Package language knows the languages of all families of models: their names, the
// scripts that they are written in, what users call them, and which of them a text
// is in.
//
// A code is a tag of BCP 47, as short as it tells languages of one model apart: ja,
// zh, zh-Hant.
//
// All functions are safe for concurrent use.
package language

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// Name is what a language is called.
type Name struct {
	Code    string // as the model has it: ja, zh, ns
	Own     string // in the language itself: 日本語
	English string // Japanese
}

// NameOf returns the names of a language. It fails for codes of no family; Find turns
// other ways to write a language into a model's code.
func NameOf(code string) (name Name, ok bool) {
	entry, ok := entries[code]
	if !ok {
		return Name{}, false
	}
	return Name{Code: code, Own: entry.own, English: entry.english}, true
}

// Base is a code without its script: for rules that hold for a language however it is
// written.
func Base(code string) string {
	base, _, _ := strings.Cut(code, "-")
	return base
}

// wider are languages that some models have as a part of, or under the name of,
// another one, where CLDR does not say so or prefers the other name.
var wider = map[string]string{
	"fil": "tl", "fuv": "ff", "nn": "no", "nso": "ns", "pbt": "ps", "quy": "qu",
}

// widest is the language that a language is part of or another code of (arb: ar, iw: he),
// or itself.
func widest(base string) string {
	if tag, err := language.All.Parse(base); err == nil {
		canonical, _, _ := tag.Raw()
		base = canonical.String()
	}
	return cmp.Or(wider[base], base)
}

// Group is the same for the codes of a language that models give it by its parts, older names, scripts and regions: no, nb and nn;
// zh, zh-Hant and zh-TW.
func Group(code string) string { return widest(Base(code)) }

// SameScript says whether two codes of a group are written in one script.
func SameScript(a, b string) bool {
	one, okOne := parse(a)
	other, okOther := parse(b)
	script, _ := one.Script()
	same, _ := other.Script()
	return okOne && okOther && script == same
}

// maxTag is the length of the longest tag that Find reads, in bytes. Real ones
// are far shorter; what a request may contain is not.
const maxTag = 64

// Find returns the one of a model's codes that means a language which is written in
// one of the usual ways: a code of two or three letters in any case (ja, JA, jpn), an
// older, wider or narrower one (iw, fil, nb, arb, ger), with a script, region or encoding
// behind it (zh-Hans, zh_TW, pt-BR, ja_JP.UTF-8), or FLORES-200's (eng_Latn). Where the
// model has a language in several scripts, script and region decide. Names of languages
// are not understood.
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

// inScript returns the first of the codes that mean the same language, or one of them
// in the script of a tag.
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

// FindTarget is [Find] for a language to translate into. Chinese in traditional script
// is not found where the model has one Chinese: that is mostly simplified.
func FindTarget(codes []string, name string) (code string, ok bool) {
	code, ok = Find(codes, name)
	if code == "zh" && IsTraditional(name) {
		return "", false
	}
	return code, ok
}

// IsTraditional says whether a name means Chinese in traditional script, by its script
// or by a region that writes it.
func IsTraditional(name string) bool {
	tag, ok := parse(name)
	if !ok {
		return false
	}
	base, _, _ := tag.Raw()
	script, _ := tag.Script()
	return widest(base.String()) == "zh" && script.String() == "Hant"
}

// RightToLeft says whether a language, or a language in a script, is mostly written from right to left.
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

// parse reads a tag, or a locale of POSIX, whose encoding or variant is left out.
func parse(name string) (tag language.Tag, ok bool) {
	name = strings.TrimSpace(name)
	if len(name) > maxTag {
		return tag, false
	}
	if end := strings.IndexAny(name, ".@"); end >= 0 {
		name = name[:end]
	}
	// Raw leaves the language as it is written; a tag with an unknown part is an
	// error, and none of ours.
	tag, err := language.Raw.Parse(name)
	return tag, err == nil
}
