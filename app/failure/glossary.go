package failure

import (
	"errors"

	"dragoman/app/glossary"
)

// explainGlossary explains what package glossary refuses.
func explainGlossary(err error, _ Request) *Failure {
	var (
		term        *glossary.TermError
		limit       *glossary.LimitError
		dictionary  *glossary.DictionaryError
		unavailable *glossary.UnavailableError
	)
	switch {
	case errors.Is(err, glossary.ErrUnknown):
		return New(UnknownGlossary, "", "%s", glossary.ErrUnknown)
	case errors.Is(err, glossary.ErrName):
		return New(InvalidGlossary, "name", "%s", glossary.ErrName)
	case errors.Is(err, glossary.ErrEmpty):
		return New(InvalidGlossary, "dictionaries", "%s", glossary.ErrEmpty)
	case errors.As(err, &term):
		return New(InvalidGlossary, term.Field, "%s", term)
	case errors.As(err, &dictionary):
		return New(NoDictionary, "", "%s", dictionary)
	case errors.As(err, &limit) && limit.Glossaries > 0:
		return New(TooManyGlossaries, "", "%s", limit)
	case errors.As(err, &limit):
		return New(TooLarge, "", "%s", limit)
	case errors.As(err, &unavailable):
		return New(NoGlossaries, "", "%s", unavailable.Reason)
	}
	return nil
}
