package dialect

import (
	"strings"

	"dragoman/app/fault"
	"dragoman/app/text/excerpt"
	"dragoman/app/text/language"
	"dragoman/app/translate"
)

// Languages are the codes of the languages that the model translates between, at least one.
type Languages []string

// Source returns the model's code for a source language as written by clients of other APIs: in any case, with a region or a
// script, or under another code.
func (l Languages) Source(code string) (string, bool) { return language.Find(l, ownCode(code)) }

// Target is [Languages.Source] for a target language; see [language.FindTarget].
func (l Languages) Target(code string) (string, bool) { return language.FindTarget(l, ownCode(code)) }

// Sources returns the codes of the source languages of a selection of models.
func Sources(s translate.Selection) Languages {
	list := Languages{}
	for _, from := range s.Languages() {
		if to := s.Targets(from); len(to) > 1 || len(to) == 1 && to[0] != from {
			list = append(list, from)
		}
	}
	return list
}

// Targets returns the codes of the target languages of a selection of models.
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

// Pairs returns the pairs of source and target language of a selection of models.
func Pairs(s translate.Selection) [][2]string {
	pairs := [][2]string{}
	for _, from := range s.Languages() {
		for _, to := range s.Targets(from) {
			if to != from {
				pairs = append(pairs, [2]string{from, to})
			}
		}
	}
	return pairs
}

// IsTraditional reports whether a code means Chinese in traditional script.
func IsTraditional(code string) bool { return language.IsTraditional(ownCode(code)) }

// ownCode converts LibreTranslate's own codes to common ones.
func ownCode(code string) string {
	switch strings.ToLower(code) {
	case "pb":
		return "pt-BR"
	case "zt":
		return "zh-Hant"
	}
	return code
}

// NameOf returns the name of a language; if the name is unknown, the code takes its place.
func NameOf(code string) language.Name {
	name, ok := language.NameOf(code)
	if !ok {
		return language.Name{Code: code, Own: code, English: code}
	}
	return name
}

// Sides of a request whose language is unknown: [fault.Failure.Field] of the errors of [Call.Source] and [Call.Target].
const (
	From = "from"
	To   = "to"
)

// Pair finds the languages of a request by the client's codes in two fields; see [Call.Source] and [Call.Target].
func (call *Call) Pair(fromField, toField string) (source, target string) {
	from, to := call.Text(fromField), call.Text(toField)
	return call.Source(from), call.Target(to)
}

// Source finds the source language. An empty name or auto means detection: [translate.Auto].
func (call *Call) Source(name string) string {
	if name == "" || strings.EqualFold(name, translate.Auto) {
		return translate.Auto
	}
	code, ok := call.Languages.Source(name)
	if !ok {
		call.Fail(unknown(From, name, "is not a source language of this server, see /languages"))
	}
	return code
}

// Target finds the target language.
func (call *Call) Target(name string) string {
	code, ok := call.Languages.Target(name)
	switch {
	case ok:
	case name == "":
		call.Fail(fault.New(fault.MissingField, To, "the target language is missing"))
	case IsTraditional(name):
		call.Fail(unknown(To, name, "is not offered: this server does not tell traditional Chinese from simplified, use zh-Hans"))
	default:
		call.Fail(unknown(To, name, "is not a target language of this server, see /languages"))
	}
	return code
}

func unknown(side, name, what string) error {
	return fault.New(fault.UnknownLanguage, side, "%q %s", excerpt.Of(name), what)
}

// Spelling maps languages to a program's own codes. All codes that are not in the map are the same in the program.
type Spelling map[string]string

// Of returns the program's code for a language.
func (s Spelling) Of(code string) string {
	if own, ok := s[code]; ok {
		return own
	}
	return code
}

// SourceOf returns the source language of a result in the program's spelling.
func (s Spelling) SourceOf(r translate.Result) string { return s.Of(SourceOf(r)) }

// Regional returns the codes of browser extensions and Google for Chinese, which name a region of its script.
func Regional() Spelling { return Spelling{"zh": "zh-CN", "zh-Hant": "zh-TW", "zh-Hans": "zh-CN"} }

// SourceOf returns the source language of a result. If no language was detected, as in a text of digits, SourceOf returns
// English, because the APIs' clients need a language.
func SourceOf(r translate.Result) string {
	if r.From == "" || r.From == translate.Auto {
		return "en"
	}
	return r.From
}
