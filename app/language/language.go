// Package language knows the 100 languages of M2M100: their names, the scripts
// that they are written in, what users call them, and which of them a text is in.
//
// All functions are safe for concurrent use.
package language

import (
	"strings"

	"golang.org/x/text/language"
)

// Name is what a language is called.
type Name struct {
	Code    string // as the model has it: ja, zh, ns
	Own     string // in the language itself: 日本語
	English string // Japanese
}

// NameOf returns the names of a language. It fails for codes that are not M2M100's;
// Lookup turns other ways to write a language into such a code.
func NameOf(code string) (name Name, ok bool) {
	entry, ok := entries[code]
	if !ok {
		return Name{}, false
	}
	return Name{Code: code, Own: entry.own, English: entry.english}, true
}

// aliases are the codes that others have for languages of M2M100: old codes of ISO
// 639, parts of a language that the model has as a whole, and codes that M2M100
// replaced by its own.
var aliases = map[string]string{
	"cmn": "zh", // Mandarin
	"fil": "tl",
	"in":  "id",
	"iw":  "he",
	"ji":  "yi",
	"jw":  "jv",
	"mo":  "ro", // Moldovan
	"nb":  "no", // Bokmål
	"nn":  "no", // Nynorsk
	"nso": "ns",
	"sh":  "sr", // Serbo-Croatian
}

// maxTag is the length of the longest tag that Lookup reads, in bytes. Real ones
// are far shorter; what a request may contain is not.
const maxTag = 64

// Lookup returns M2M100's code of a language that is written in one of the usual
// ways: a code of two or three letters in any case (ja, JA, jpn), an older or wider
// one (iw, fil, nb), with a script, region or encoding behind it (zh-Hans, zh_TW,
// pt-BR, ja_JP.UTF-8, eng_Latn). Names of languages are not understood.
func Lookup(name string) (code string, ok bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	if len(name) > maxTag {
		return "", false
	}
	if _, ok := entries[name]; ok {
		return name, true
	}
	// A locale of POSIX goes on with an encoding or a variant.
	if end := strings.IndexAny(name, ".@"); end >= 0 {
		name = name[:end]
	}
	// Raw leaves the language as it is written; a tag with an unknown part is an
	// error, and none of ours.
	tag, err := language.Raw.Parse(name)
	if err != nil {
		return "", false
	}
	base, _, _ := tag.Raw()
	code = base.String()
	if alias, ok := aliases[code]; ok {
		code = alias
	}
	_, ok = entries[code]
	if !ok {
		return "", false
	}
	return code, true
}
