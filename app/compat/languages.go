package compat

import (
	"strings"

	"dragoman/app/language"
	"dragoman/app/translate"
)

// Languages are the codes of the languages that the model translates between, at
// least one.
type Languages []string

// Source returns the model's code for a source language as other APIs' clients
// write it: in any case, with a region or a script, or under another code.
func (l Languages) Source(code string) (string, bool) { return language.Find(l, ownCode(code)) }

// Target is [Languages.Source] for a target language; see [language.FindTarget].
func (l Languages) Target(code string) (string, bool) { return language.FindTarget(l, ownCode(code)) }

// Sources are the languages that a selection of models translates from, by code.
func Sources(s translate.Selection) Languages {
	list := Languages{}
	for _, from := range s.Languages() {
		if to := s.Targets(from); len(to) > 1 || len(to) == 1 && to[0] != from {
			list = append(list, from)
		}
	}
	return list
}

// Targets are the languages that a selection of models translates into, by code.
func Targets(s translate.Selection) Languages {
	all := s.Languages()
	into := make(map[string]bool, len(all))
	for _, from := range all {
		if len(into) == len(all) {
			break
		}
		for _, to := range s.Targets(from) {
			if to != from {
				into[to] = true
			}
		}
	}
	list := Languages{}
	for _, code := range all {
		if into[code] {
			list = append(list, code)
		}
	}
	return list
}

// IsTraditional says whether a code means Chinese in traditional script.
func IsTraditional(code string) bool { return language.IsTraditional(ownCode(code)) }

// ownCode is what LibreTranslate's own codes mean.
func ownCode(code string) string {
	switch strings.ToLower(code) {
	case "pb":
		return "pt-BR"
	case "zt":
		return "zh-Hant"
	}
	return code
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
