package httpapi

import (
	"fmt"

	"dragoman/app/fault"
	"dragoman/app/translate"
)

// termInput is a term of a glossary.
type termInput struct {
	Source *string          `json:"source"`
	Target optional[string] `json:"target"` // missing if the term stays unchanged
}

func tooManyTerms(field string, most int) error {
	return fault.New(fault.InvalidOption, field, "%s has more than %d terms: send those that the texts have", field, most)
}

// termsOf checks that no field is missing.
func termsOf(inputs []termInput) ([]translate.Term, error) {
	if len(inputs) == 0 {
		return nil, nil
	}
	terms := make([]translate.Term, len(inputs))
	for i, term := range inputs {
		if term.Source == nil {
			return nil, missing(fmt.Sprintf("payload.glossary[%d].source", i))
		}
		terms[i] = translate.Term{Source: *term.Source, Target: *term.Source}
		if term.Target.set {
			terms[i].Target = term.Target.value
		}
	}
	return terms, nil
}
