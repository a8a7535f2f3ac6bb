package compat

import (
	"strings"

	"dragoman/app/excerpt"
	"dragoman/app/failure"
	"dragoman/app/translate"
)

// Names of the side of a request whose language is not known: [failure.Failure.Field] of the errors
// of [Call.Pair].
const (
	From = "from"
	To   = "to"
)

// Pair finds the languages of a request by what its client calls them. A source that is empty or auto
// is to be detected. The error is of the kind UnknownLanguage, and its field is [From] or [To].
func (call Call) Pair(from, to string) (source, target string, err error) {
	if source, err = call.Source(from); err != nil {
		return "", "", err
	}
	target, err = call.target(to)
	return source, target, err
}

// PairOf is [Call.Pair] for the languages in two fields of the request.
func (call Call) PairOf(fromField, toField string) (source, target string, err error) {
	from, err := call.Fields.Text(fromField)
	if err != nil {
		return "", "", err
	}
	to, err := call.Fields.Text(toField)
	if err != nil {
		return "", "", err
	}
	return call.Pair(from, to)
}

// Source is [Call.Pair] for the source alone.
func (call Call) Source(name string) (string, error) {
	if name == "" || strings.EqualFold(name, translate.Auto) {
		return translate.Auto, nil
	}
	if code, ok := call.Languages.Source(name); ok {
		return code, nil
	}
	return "", unknown(From, name, "is not a source language of this server, see /languages")
}

func (call Call) target(name string) (string, error) {
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

// Targets is [Call.Pair] for target languages alone, in their order.
func (call Call) Targets(names []string) (codes []string, err error) {
	for _, name := range names {
		code, err := call.target(name)
		if err != nil {
			return nil, err
		}
		codes = append(codes, code)
	}
	return codes, nil
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
