package translate

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"dragoman/app/guard/admission/cost"
	"dragoman/app/guard/bound"
	"dragoman/app/text/excerpt"
	"dragoman/app/text/markup"
)

// MaxTermBytes is the maximum length in bytes of a term, and of its target.
const MaxTermBytes = bound.Term

// validateTerms validates the terms of a request.
func validateTerms(req Request) error {
	known := make(map[string]bool, len(req.Terms))
	for i, term := range req.Terms {
		field := func(name string) string { return fmt.Sprintf("glossary[%d].%s", i, name) }
		switch {
		case known[norm.NFC.String(term.Source)]:
			return invalid(CodeInvalidOption, field("source"), "%s is there twice: leave one out", excerpt.Quote(term.Source))
		case term.Target != term.Source && len(req.To) > 1:
			return invalid(CodeInvalidOption, field("target"), "what %s becomes is in one language: ask for one target language, or leave the target out for a term that stays as it is",
				excerpt.Quote(term.Source))
		}
		known[norm.NFC.String(term.Source)] = true // as texts are compared
		for _, part := range [...]struct{ name, text string }{{"source", term.Source}, {"target", term.Target}} {
			if reason := refuseTerm(part.text); reason != "" {
				return invalid(CodeInvalidOption, field(part.name), "%s %s", excerpt.Quote(part.text), reason)
			}
		}
	}
	return nil
}

// refuseTerm returns the fault of a term or target, or "".
func refuseTerm(text string) string {
	switch {
	case !utf8.ValidString(text):
		return "is not UTF-8"
	case strings.TrimSpace(text) != text || text == "":
		return "is empty, or has white space at an end: write the words alone"
	case len(text) > MaxTermBytes:
		return fmt.Sprintf("has %d bytes, at most %d are allowed", len(text), MaxTermBytes)
	case strings.ContainsFunc(text, unicode.IsControl):
		return "has control characters, such as a line end: write it in one line"
	}
	return ""
}

// glossary returns the matcher of a request's terms, or nil if there are none.
func glossary(terms []Term) *markup.Terms {
	if len(terms) == 0 {
		return nil
	}
	list := make([]markup.Term, len(terms))
	for i, term := range terms {
		list[i] = markup.Term(term)
	}
	return markup.NewTerms(list)
}

// sizeOfTerms returns the memory of the matcher.
func sizeOfTerms(terms []Term) (size int64) {
	for _, term := range terms {
		size += int64(cost.Term + 2*len(term.Source))
	}
	return size
}
