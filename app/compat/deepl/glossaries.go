package deepl

import (
	"net/http"
	"strings"
	"time"

	"dragoman/app/compat"
	"dragoman/app/dialect"
	"dragoman/app/excerpt"
	"dragoman/app/failure"
	"dragoman/app/glossary"
	"dragoman/app/translate"
)

// glossaries serve what is below /v2/glossaries, each with one dictionary, and below /v3/glossaries,
// with any number: both are the same glossaries, and those of the service's own API.
type glossaries struct{ *glossary.Service }

func (g glossaries) routes(api compat.API) []dialect.Route {
	const v2, v3 = "/v2/glossaries", "/v3/glossaries"
	return []dialect.Route{
		api.Route("POST", v2, g.create).Uncharged(),
		api.Route("GET", v2, g.list),
		api.Route("GET", v2+"/:id", g.get),
		api.Route("GET", v2+"/:id/entries", g.entries),
		api.Route("DELETE", v2+"/:id", g.remove),
		api.Route("GET", "/v2/glossary-language-pairs", languagePairs),

		api.Route("POST", v3, g.createMultilingual).Uncharged(),
		api.Route("GET", v3, g.listMultilingual),
		api.Route("GET", v3+"/:id", g.getMultilingual),
		api.Route("PATCH", v3+"/:id", g.changeMultilingual).Uncharged(),
		api.Route("DELETE", v3+"/:id", g.remove),
		api.Route("GET", v3+"/:id/entries", g.dictionaryEntries),
		api.Route("PUT", v3+"/:id/dictionaries", g.putDictionary).Uncharged(),
		api.Route("DELETE", v3+"/:id/dictionaries", g.removeDictionary),
	}
}

// glossaryInfo is a glossary of version 2.
type glossaryInfo struct {
	GlossaryID   string `json:"glossary_id"`
	Ready        bool   `json:"ready"`
	Name         string `json:"name"`
	SourceLang   string `json:"source_lang"`
	TargetLang   string `json:"target_lang"`
	CreationTime string `json:"creation_time"`
	EntryCount   int    `json:"entry_count"`
}

// glossaryCode is DeepL's code of a language in glossaries, which is in lower case.
func glossaryCode(model string) string { return strings.ToLower(code(model)) }

// timeOf writes a time as DeepL does.
func timeOf(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// infoOf writes a glossary, which has one dictionary.
func infoOf(g glossary.Glossary) glossaryInfo {
	d := g.Dictionaries[0]
	return glossaryInfo{g.ID, true, g.Name, glossaryCode(d.From), glossaryCode(d.To), timeOf(g.Created), d.Terms}
}

// owner is whose glossaries a call can use.
func owner(call compat.Call) string { return dialect.OwnerOf(call.Context) }

// create serves POST /v2/glossaries.
func (g glossaries) create(call compat.Call) (any, error) {
	name, err := required(call.Fields, "name")
	if err != nil {
		return nil, err
	}
	terms, err := g.terms(call, call.Fields)
	if err != nil {
		return nil, err
	}
	made, err := g.Create(call.Context.Request.Context(), owner(call), name, []glossary.Terms{terms})
	if err != nil {
		return nil, err
	}
	return compat.Reply{Status: http.StatusCreated, Body: infoOf(made)}, nil
}

// required reads a field that must not be empty.
func required(fields compat.Fields, name string) (string, error) {
	value, err := fields.Text(name)
	if err == nil && value == "" {
		err = compat.Refuse("Parameter '%s' not specified.", name)
	}
	return value, err
}

// terms reads a dictionary, which has at least one term.
func (g glossaries) terms(call compat.Call, fields compat.Fields) (terms glossary.Terms, err error) {
	p, err := pair(call, fields)
	if err != nil {
		return terms, err
	}
	entries, err := required(fields, "entries")
	if err != nil {
		return terms, err
	}
	format, err := fields.Text("entries_format")
	if err != nil {
		return terms, err
	}
	switch format {
	case "", string(glossary.FormatTSV), string(glossary.FormatCSV):
	default:
		return terms, unsupported("entries_format", "Use tsv or csv.")
	}
	terms, err = glossary.Parse(glossary.Format(format), entries, p, g.Limits().Terms)
	if err == nil && len(terms.List) == 0 {
		err = compat.Refuse("Parameter 'entries' has no entry.")
	}
	return terms, err
}

// pair reads the languages of a dictionary.
func pair(call compat.Call, fields compat.Fields) (p glossary.Pair, err error) {
	if p.To, err = target(fields, call.Languages); err != nil {
		return p, err
	}
	if p.From, err = source(fields, call.Languages); err != nil {
		return p, err
	}
	switch p.From {
	case translate.Auto:
		return p, compat.Refuse("Parameter 'source_lang' not specified.")
	case p.To:
		return p, unsupported("target_lang", "It is the same language as 'source_lang'.")
	}
	return p, nil
}

// list serves GET /v2/glossaries: those that version 2 can have.
func (g glossaries) list(call compat.Call) (any, error) {
	all, err := g.List(call.Context.Request.Context(), owner(call))
	if err != nil {
		return nil, err
	}
	infos := []glossaryInfo{} // not nil: none are [] in JSON
	for _, one := range all {
		if len(one.Dictionaries) == 1 {
			infos = append(infos, infoOf(one))
		}
	}
	return map[string]any{"glossaries": infos}, nil
}

// one is the glossary of a path of version 2.
func (g glossaries) one(call compat.Call) (glossary.Glossary, error) {
	found, err := g.Get(call.Context.Request.Context(), owner(call), call.Context.Param("id"))
	if err == nil && len(found.Dictionaries) != 1 {
		err = compat.Refuse("Glossary %s has %d dictionaries: use /v3/glossaries.", excerpt.Of(found.ID), len(found.Dictionaries))
	}
	return found, err
}

// get serves GET /v2/glossaries/ID.
func (g glossaries) get(call compat.Call) (any, error) {
	found, err := g.one(call)
	if err != nil {
		return nil, err
	}
	return infoOf(found), nil
}

// entries serves GET /v2/glossaries/ID/entries.
func (g glossaries) entries(call compat.Call) (any, error) {
	found, err := g.one(call)
	if err != nil {
		return nil, err
	}
	text, err := g.text(call, found.Dictionaries[0].Pair)
	if err != nil {
		return nil, err
	}
	return compat.Reply{Status: http.StatusOK, Type: "text/tab-separated-values; charset=utf-8", Body: text}, nil
}

// text is the terms of a dictionary as TSV.
func (g glossaries) text(call compat.Call, p glossary.Pair) (string, error) {
	terms, err := g.Terms(call.Context.Request.Context(), owner(call), call.Context.Param("id"), []glossary.Pair{p})
	if err != nil {
		return "", notFound(err)
	}
	return strings.TrimSuffix(glossary.TSV(terms[0].List), "\n"), nil
}

// remove serves DELETE /v2/glossaries/ID and /v3/glossaries/ID.
func (g glossaries) remove(call compat.Call) (any, error) {
	err := g.Remove(call.Context.Request.Context(), owner(call), call.Context.Param("id"))
	return compat.Reply{Status: http.StatusNoContent}, err
}

// languagePair is an entry of /v2/glossary-language-pairs.
type languagePair struct {
	SourceLang string `json:"source_lang"`
	TargetLang string `json:"target_lang"`
}

// languagePairs serves /v2/glossary-language-pairs.
func languagePairs(call compat.Call) (any, error) {
	pairs := []languagePair{}
	for _, from := range call.Languages {
		for _, to := range call.Models.Targets(from) {
			if to != from {
				pairs = append(pairs, languagePair{glossaryCode(from), glossaryCode(to)})
			}
		}
	}
	return map[string]any{"supported_languages": pairs}, nil
}

// noGlossaries are the routes of a server that keeps none.
func noGlossaries(api compat.API) []dialect.Route {
	routes := []dialect.Route{
		api.Route("GET", "/v2/glossary-language-pairs", answer(map[string]any{"supported_languages": []string{}})),
	}
	for _, path := range []string{"/v2/glossaries", "/v3/glossaries"} {
		routes = append(routes,
			api.Route("GET", path, answer(map[string]any{"glossaries": []string{}})),
			api.Route("POST", path, refuse(failure.NoStoredGlossaries())),
			api.Route("GET PUT PATCH DELETE", path+"/:id", refuse(compat.RefuseAs(failure.NotFound, "Glossary not found"))))
	}
	return routes
}
