package dialect

import (
	"context"

	"github.com/gin-gonic/gin"

	"dragoman/app/fault"
	"dragoman/app/glossary"
	"dragoman/app/guard/access"
	"dragoman/app/translate"
)

// glossaryField is the field of POST /translation that names a glossary.
const glossaryField = "payload.glossaryId"

// OwnerOf returns the owner of the glossaries that an admitted request may use: the name of its key. Without keys, all callers
// share all glossaries.
func OwnerOf(c *gin.Context) string { return access.Name(c.Request) }

// Glossary returns the owner of the glossaries that a call may use, and the glossary's id from its path.
func (call *Call) Glossary() (ctx context.Context, owner, id string) {
	return call.Context.Request.Context(), OwnerOf(call.Context), call.Context.Param("id")
}

// WithGlossaries adds the terms of stored glossaries to a request. The request's own terms win over those of glossaries, and the
// first glossary wins over later ones. WithGlossaries returns a part for each target language, because each has its own
// dictionary. Without ids the request is the only part.
func (s *Server) WithGlossaries(c *gin.Context, ids []string, req translate.Request) ([]translate.Request, error) {
	switch {
	case len(ids) == 0:
		return []translate.Request{req}, nil
	case s.Glossaries == nil:
		return nil, fault.New(fault.NotOffered, glossaryField, "this service keeps no glossaries: GLOSSARY_FILE is off")
	case req.From == translate.Auto:
		return nil, fault.New(fault.InvalidValue, glossaryField, "a glossary needs the language of the texts: name it in place of %s", translate.Auto)
	}
	pairs := make([]glossary.Pair, len(req.To))
	for i, to := range req.To {
		pairs[i] = glossary.Pair{From: req.From, To: to}
	}
	parts := make([]translate.Request, len(req.To))
	for i, to := range req.To {
		parts[i] = req
		parts[i].To = []string{to}
	}
	for _, id := range ids {
		terms, err := s.Glossaries.Terms(c.Request.Context(), OwnerOf(c), id, pairs)
		if err != nil {
			return nil, ofGlossary(err)
		}
		for i := range parts {
			parts[i].Terms = terms[i].With(parts[i].Terms)
		}
	}
	return parts, nil
}

// ofGlossary adds the field of the glossary to an error about it.
func ofGlossary(err error) error {
	f := fault.Explain(err, fault.Situation{})
	if f.Kind == fault.NoDictionary || f.Kind == fault.UnknownGlossary {
		f.Field = glossaryField
		return f
	}
	return err
}
