package dialect

import (
	"strings"

	"dragoman/app/fault"
	"dragoman/app/text/excerpt"
	"dragoman/app/text/language"
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

// Pairs are the languages that a selection of models translates from and into, by code.
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

// Names of the side of a request whose language is not known: [fault.Failure.Field] of the errors
// of [Call.Source] and [Call.Target].
const (
	From = "from"
	To   = "to"
)

// Pair finds the languages of a request by what its client calls them in two fields; see
// [Call.Source] and [Call.Target].
func (call *Call) Pair(fromField, toField string) (source, target string) {
	from, to := call.Text(fromField), call.Text(toField)
	return call.Source(from), call.Target(to)
}

// Source finds the language to translate from. One that is empty or auto is to be detected:
// [translate.Auto].
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

// Target finds the language to translate into.
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

// Spelling is how a program writes the codes of some languages. All others it writes as they are.
type Spelling map[string]string

// Of is a code as the program writes it.
func (s Spelling) Of(code string) string {
	if own, ok := s[code]; ok {
		return own
	}
	return code
}

// SourceOf is the language that a text was translated from, as the program writes it.
func (s Spelling) SourceOf(r translate.Result) string { return s.Of(SourceOf(r)) }

// Regional is how browser extensions and Google write Chinese: by a place where it is written so.
func Regional() Spelling { return Spelling{"zh": "zh-CN", "zh-Hant": "zh-TW", "zh-Hans": "zh-CN"} }

// SourceOf is the language that a text was translated from. Where none was found,
// as in a text of digits, it is English: the APIs' clients need one.
func SourceOf(r translate.Result) string {
	if r.From == "" || r.From == translate.Auto {
		return "en"
	}
	return r.From
}
