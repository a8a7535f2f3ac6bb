package compat

import (
	"strings"

	"dragoman/app/excerpt"
	"dragoman/app/failure"
	"dragoman/app/translate"
)

// Names of the side of a request whose language is not known: [failure.Failure.Field] of the errors
// of [Call.Source] and [Call.Target].
const (
	From = "from"
	To   = "to"
)

// Pair finds the languages of a request by what its client calls them in two fields; see
// [Call.Source] and [Call.Target].
func (call Call) Pair(fromField, toField string) (source, target string, err error) {
	from, err := call.Fields.Text(fromField)
	if err != nil {
		return "", "", err
	}
	to, err := call.Fields.Text(toField)
	if err != nil {
		return "", "", err
	}
	if source, err = call.Source(from); err != nil {
		return "", "", err
	}
	target, err = call.Target(to)
	return source, target, err
}

// Source finds the language to translate from. One that is empty or auto is to be detected:
// [translate.Auto].
func (call Call) Source(name string) (string, error) {
	if name == "" || strings.EqualFold(name, translate.Auto) {
		return translate.Auto, nil
	}
	if code, ok := call.Languages.Source(name); ok {
		return code, nil
	}
	return "", unknown(From, name, "is not a source language of this server, see /languages")
}

// Target finds the language to translate into.
func (call Call) Target(name string) (string, error) {
	code, ok := call.Languages.Target(name)
	switch {
	case ok:
		return code, nil
	case name == "":
		return "", failure.New(failure.MissingField, To, "the target language is missing")
	case IsTraditional(name):
		return "", unknown(To, name, "is not offered: this server does not tell traditional Chinese from simplified, use zh-Hans")
	}
	return "", unknown(To, name, "is not a target language of this server, see /languages")
}

func unknown(side, name, what string) error {
	return failure.New(failure.UnknownLanguage, side, "%q %s", excerpt.Of(name), what)
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

// Regional is how browser extensions and Google write Chinese: by a place where it is written so.
func Regional() Spelling { return Spelling{"zh": "zh-CN", "zh-Hant": "zh-TW", "zh-Hans": "zh-CN"} }

// Confidence is how sure a detector, which may be nil, is that prose is in the language that it was
// translated from: 0 to 1. The translator may have had more to go by than the detector, so that they
// differ: then it is not sure at all.
func Confidence(detector translate.Detector, prose, language string) float64 {
	if detector == nil {
		return 0
	}
	code, confidence, ok := detector.Detect(prose)
	if !ok || code != language {
		return 0
	}
	return confidence
}
