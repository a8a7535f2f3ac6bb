package httpapi

import (
	"errors"
	"fmt"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/glossary"
	"dragoman/app/guard/bound"
	"dragoman/app/text/excerpt"
	"dragoman/app/text/language"
	"dragoman/app/translate"
)

// glossaryDraft is a glossary, or a change of one, from a request.
type glossaryDraft struct {
	glossary.Change
	inQuery bool // fields are query parameters
}

func (d glossaryDraft) missing(field string) error {
	if d.inQuery {
		return fault.New(fault.InvalidGlossary, field, "%s is missing in the query, such as ?name=Ours&from=en&to=fr", field)
	}
	return missing(field)
}

// glossaryBody is a glossary in JSON.
type glossaryBody struct {
	Name         optional[string]            `json:"name"`
	Dictionaries optional[[]dictionaryInput] `json:"dictionaries"`
}

type dictionaryInput struct {
	From    *string       `json:"from"`
	To      *string       `json:"to"`
	Entries *[]entryInput `json:"entries"`
}

type entryInput struct {
	Source *string          `json:"source"`
	Target optional[string] `json:"target"`
}

// read reads a glossary or a change of one: JSON, or the terms of one dictionary as TSV or CSV, with the other fields in the
// query.
func (g *glossariesAPI) read(c *gin.Context) (glossaryDraft, error) {
	media, err := mediaType(c.Request.Header, jsonType, tsvType, csvType)
	if err != nil {
		return glossaryDraft{}, err
	}
	models, err := g.server.Select("")
	if err != nil {
		return glossaryDraft{}, err
	}
	raw, err := readBody(c)
	if err != nil {
		return glossaryDraft{}, err
	}
	in := glossaryReader{limits: g.glossaries.Limits(), languages: models.Languages()}
	switch media {
	case tsvType:
		return in.text(c, glossary.FormatTSV, raw)
	case csvType:
		return in.text(c, glossary.FormatCSV, raw)
	}
	return in.json(raw)
}

// glossaryReader reads glossaries.
type glossaryReader struct {
	limits    glossary.Limits
	languages []string // known languages
}

// text reads terms whose languages are in the query.
func (in glossaryReader) text(c *gin.Context, format glossary.Format, raw []byte) (glossaryDraft, error) {
	draft, query := glossaryDraft{inQuery: true}, c.Request.URL.Query()
	for _, field := range []string{"from", "to", "name"} {
		if err := bound.Text(field, len(query.Get(field))); err != nil {
			return draft, err
		}
		if field != "name" && query.Get(field) == "" {
			return draft, draft.missing(field)
		}
	}
	if query.Has("name") {
		name := query.Get("name")
		draft.Name = &name
	}
	pair, err := in.pair("", query.Get("from"), query.Get("to"))
	if err != nil {
		return draft, err
	}
	terms, err := glossary.Parse(format, string(raw), pair, in.limits.Terms)
	draft.Terms = []glossary.Terms{terms}
	return draft, err
}

func (in glossaryReader) json(raw []byte) (glossaryDraft, error) {
	var draft glossaryDraft
	var parsed glossaryBody
	bounded := json.WithUnmarshalers(json.JoinUnmarshalers(atMost[dictionaryInput](bound.Terms, tooManyRecords), atMost[entryInput](in.limits.Terms, tooManyRecords), dialect.Bounded(fieldName)))
	if err := json.Unmarshal(raw, &parsed, json.RejectUnknownMembers(true), bounded); err != nil {
		return draft, tooManyEntries(explainJSON(err))
	}
	draft.Name = parsed.Name.pointer()
	for i, d := range parsed.Dictionaries.value {
		terms, err := in.dictionary(fmt.Sprintf("dictionaries[%d].", i), d)
		if err != nil {
			return draft, err
		}
		draft.Terms = append(draft.Terms, terms)
	}
	return draft, nil
}

// tooManyEntries turns the error of a list that is too long into the error for glossaries.
func tooManyEntries(err error) error {
	if f, ok := errors.AsType[*fault.Failure](err); ok && f.Kind == fault.TooManyRecords {
		return fault.New(fault.TooLarge, f.Field, "%s has more items than a glossary may have: divide it between several glossaries", f.Field)
	}
	return err
}

// dictionary reads a dictionary in JSON; prefix is the path of its field.
func (in glossaryReader) dictionary(prefix string, d dictionaryInput) (terms glossary.Terms, err error) {
	switch {
	case d.From == nil:
		return terms, missing(prefix + "from")
	case d.To == nil:
		return terms, missing(prefix + "to")
	case d.Entries == nil:
		return terms, missing(prefix + "entries")
	}
	if terms.Pair, err = in.pair(prefix, *d.From, *d.To); err != nil {
		return terms, err
	}
	place := func(i int) string { return fmt.Sprintf("%sentries[%d]", prefix, i) }
	terms.List = make([]translate.Term, len(*d.Entries))
	for i, entry := range *d.Entries {
		if entry.Source == nil {
			return terms, missing(place(i) + ".source")
		}
		terms.List[i] = translate.Term{Source: *entry.Source, Target: entry.Target.value}
	}
	err = glossary.Check(terms.List, place)
	if wrong, ok := errors.AsType[*fault.ItemError](err); ok {
		wrong.Field = wrong.Place
	}
	return terms, err
}

// pair finds the codes of two languages.
func (in glossaryReader) pair(prefix, from, to string) (p glossary.Pair, err error) {
	for _, side := range []struct {
		field, name string
		code        *string
	}{{"from", from, &p.From}, {"to", to, &p.To}} {
		code, ok := language.Find(in.languages, side.name)
		if !ok {
			return p, fault.New(fault.UnknownLanguage, prefix+side.field, "%q is not a language of any model", excerpt.Of(side.name))
		}
		*side.code = code
	}
	if p.From == p.To {
		return p, fault.New(fault.InvalidGlossary, prefix+"to", "%sto is the same language as from: terms that stay as they are need no target", prefix)
	}
	return p, nil
}
