package compat

import (
	"slices"
	"strings"

	tags "golang.org/x/text/language"

	"dragoman/app/language"
	"dragoman/app/translate"
)

// Languages are the codes of the languages that the model translates between, at
// least one.
type Languages []string

// Source returns the model's code for a source language as other APIs' clients
// write it: in any case, with a region or a script, or under another code.
func (l Languages) Source(code string) (string, bool) {
	for _, own := range l {
		if strings.EqualFold(own, code) {
			return own, true
		}
	}
	switch strings.ToLower(code) { // LibreTranslate's own codes
	case "pb":
		code = "pt" // of Brazil
	case "zt":
		code = "zh" // in traditional script
	}
	found, ok := language.Lookup(code)
	return found, ok && slices.Contains(l, found)
}

// Target is [Languages.Source] for a target language. Chinese in traditional script
// is not found: the models have one Chinese, and it is mostly simplified.
func (l Languages) Target(code string) (string, bool) {
	if IsTraditional(code) {
		return "", false
	}
	return l.Source(code)
}

// IsTraditional says whether a code means Chinese in traditional script, by its script
// or by a region that writes it.
func IsTraditional(code string) bool {
	if strings.EqualFold(code, "zt") { // LibreTranslate's
		return true
	}
	if found, _ := language.Lookup(code); found != "zh" {
		return false
	}
	code, _, _ = strings.Cut(code, ".") // the encoding of a locale
	script, _ := tags.Make(strings.TrimSpace(code)).Script()
	return script.String() == "Hant"
}

// NameOf returns what a language is called, its code where that is not known.
func NameOf(code string) language.Name {
	name, ok := language.NameOf(code)
	if !ok {
		return language.Name{Code: code, Own: code, English: code}
	}
	return name
}

// SourceOf is the language that a text was translated from. Where none was found,
// as in a text of digits, it is English: the APIs' clients need one.
func SourceOf(r translate.Result) string {
	if r.From == "" || r.From == translate.Auto {
		return "en"
	}
	return r.From
}
