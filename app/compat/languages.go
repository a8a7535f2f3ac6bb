package compat

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

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

// IsTraditional says whether a code means Chinese in traditional script.
func IsTraditional(code string) bool {
	switch strings.ReplaceAll(strings.ToLower(code), "_", "-") {
	case "zh-hant", "zh-tw", "zh-hk", "zh-mo", "zh-hant-tw", "zh-hant-hk", "zt":
		return true
	}
	return false
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

// tag is good enough to leave markup out of what is counted or looked at; nothing
// that is translated goes through it.
var tag = regexp.MustCompile(`<[^<>]*>`)

// Prose is a text without the markup of its format.
func Prose(text string, format translate.Format) string {
	if format != translate.HTML && format != translate.XML {
		return text
	}
	return tag.ReplaceAllLiteralString(text, "")
}

// Characters counts what there is to translate in a text, in code points.
func Characters(text string, format translate.Format) int {
	return utf8.RuneCountInString(Prose(text, format))
}
