package deepl

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/glossary"
	"dragoman/app/text/excerpt"
	"dragoman/app/translate"
)

// glossaries serves the routes below /v2/glossaries, with one dictionary per glossary, and below /v3/glossaries, with any number:
// both serve the same glossaries, those of the service's own API.
type glossaries struct{ *glossary.Service }

// version has the differences between the two versions.
type version struct {
	read  func(glossaries, *dialect.Call) []glossary.Terms // dictionaries of a new glossary
	shows func(glossary.Glossary) error                    // fails for glossaries that the version cannot represent
	info  func(glossary.Glossary) any
}

func (g glossaries) routes(api dialect.API) []dialect.Route {
	const two, three = "/v2/glossaries", "/v3/glossaries"
	v2 := version{glossaries.dictionary, oneDictionary, infoOf}
	v3 := version{glossaries.neededDictionaries, func(glossary.Glossary) error { return nil }, multilingualOf}
	return []dialect.Route{
		api.Route("POST", two, g.create(v2)).Uncharged(),
		api.Route("GET", two, g.list(v2)),
		api.Route("GET", two+"/:id", g.get(v2)),
		api.Route("GET", two+"/:id/entries", g.entries),
		api.Route("DELETE", two+"/:id", g.remove),
		api.Route("GET", "/v2/glossary-language-pairs", languagePairs),

		api.Route("POST", three, g.create(v3)).Uncharged(),
		api.Route("GET", three, g.list(v3)),
		api.Route("GET", three+"/:id", g.get(v3)),
		api.Route("PATCH", three+"/:id", g.change).Uncharged(),
		api.Route("DELETE", three+"/:id", g.remove),
		api.Route("GET", three+"/:id/entries", g.dictionaryEntries),
		api.Route("PUT", three+"/:id/dictionaries", g.putDictionary).Uncharged(),
		api.Route("DELETE", three+"/:id/dictionaries", g.removeDictionary),
	}
}

// noGlossaries returns the routes of a server with glossaries disabled.
func noGlossaries(api dialect.API) []dialect.Route {
	none := func(list string) func(*dialect.Call) (any, error) {
		return func(*dialect.Call) (any, error) { return map[string]any{list: []string{}}, nil }
	}
	routes := []dialect.Route{api.Route("GET", "/v2/glossary-language-pairs", none("supported_languages"))}
	for _, path := range []string{"/v2/glossaries", "/v3/glossaries"} {
		routes = append(routes,
			api.Route("GET", path, none("glossaries")),
			api.Route("POST", path, refuse(fault.NoStoredGlossaries())),
			api.Route("GET PUT PATCH DELETE", path+"/:id", refuse(dialect.RefuseAs(fault.NotFound, "Glossary not found"))))
	}
	return routes
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

// multilingualInfo is a glossary of version 3.
type multilingualInfo struct {
	GlossaryID   string           `json:"glossary_id"`
	Name         string           `json:"name"`
	Dictionaries []dictionaryInfo `json:"dictionaries"`
	CreationTime string           `json:"creation_time"`
}

type dictionaryInfo struct {
	SourceLang string `json:"source_lang"`
	TargetLang string `json:"target_lang"`
	EntryCount int    `json:"entry_count"`
}

// infoOf returns a glossary with one dictionary.
func infoOf(g glossary.Glossary) any {
	d := dictionaryOf(g.Dictionaries[0])
	return glossaryInfo{g.ID, true, g.Name, d.SourceLang, d.TargetLang, timeOf(g.Created), d.EntryCount}
}

func multilingualOf(g glossary.Glossary) any {
	return multilingualInfo{g.ID, g.Name, dialect.Each(g.Dictionaries, dictionaryOf), timeOf(g.Created)}
}

func dictionaryOf(d glossary.Dictionary) dictionaryInfo {
	return dictionaryInfo{glossaryCode(d.From), glossaryCode(d.To), d.Terms}
}

// oneDictionary fails for a glossary that version 2 cannot represent.
func oneDictionary(g glossary.Glossary) error {
	if len(g.Dictionaries) != 1 {
		return dialect.Refuse("Glossary %s has %d dictionaries: use /v3/glossaries.", excerpt.Of(g.ID), len(g.Dictionaries))
	}
	return nil
}

// glossaryCode returns DeepL's code for a language in glossaries: in lower case.
func glossaryCode(model string) string { return strings.ToLower(code(model)) }

// timeOf formats a time as DeepL does.
func timeOf(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// create returns the handler of POST /v2/glossaries and /v3/glossaries.
func (g glossaries) create(v version) func(*dialect.Call) (any, error) {
	return func(call *dialect.Call) (any, error) {
		name := required(call.Fields, "name")
		terms := v.read(g, call)
		if err := call.Err(); err != nil {
			return nil, err
		}
		ctx, owner, _ := call.Glossary()
		made, err := g.Create(ctx, owner, name, terms)
		if err != nil {
			return nil, err
		}
		return dialect.Reply{Status: http.StatusCreated, Body: v.info(made)}, nil
	}
}

// dictionary reads the dictionary of a request of version 2.
func (g glossaries) dictionary(call *dialect.Call) []glossary.Terms {
	return []glossary.Terms{g.terms(call, call.Fields)}
}

// neededDictionaries reads the dictionaries of a request of version 3, at least one.
func (g glossaries) neededDictionaries(call *dialect.Call) []glossary.Terms {
	list := g.dictionaries(call)
	if len(list) == 0 {
		call.Fail(notSpecified("dictionaries"))
	}
	return list
}

// dictionaries reads the dictionaries of a request of version 3.
func (g glossaries) dictionaries(call *dialect.Call) (list []glossary.Terms) {
	for _, fields := range call.Objects("dictionaries") {
		if list = append(list, g.terms(call, fields)); call.Err() != nil {
			break
		}
	}
	return list
}

// terms reads a dictionary, which must have at least one term.
func (g glossaries) terms(call *dialect.Call, fields dialect.Fields) (terms glossary.Terms) {
	p, entries := pair(call, fields), required(fields, "entries")
	formats := map[string]glossary.Format{"": "", "tsv": glossary.FormatTSV, "csv": glossary.FormatCSV}
	format := dialect.Choose(fields, "entries_format", formats, func(string) error { return unsupported("entries_format", "Use tsv or csv.") })
	if call.Err() != nil {
		return terms
	}
	terms, err := glossary.Parse(format, entries, p, g.Limits().Terms)
	if err == nil && len(terms.List) == 0 {
		err = dialect.Refuse("Parameter 'entries' has no entry.")
	}
	fields.Fail(err)
	return terms
}

// pair reads the languages of a dictionary.
func pair(call *dialect.Call, fields dialect.Fields) (p glossary.Pair) {
	p.To, p.From = target(call, fields), source(call, fields)
	switch p.From {
	case translate.Auto:
		fields.Fail(notSpecified("source_lang"))
	case p.To:
		fields.Fail(unsupported("target_lang", "It is the same language as 'source_lang'."))
	}
	return p
}

// list returns the handler of GET /v2/glossaries and /v3/glossaries.
func (g glossaries) list(v version) func(*dialect.Call) (any, error) {
	return func(call *dialect.Call) (any, error) {
		ctx, owner, _ := call.Glossary()
		all, err := g.List(ctx, owner)
		infos := []any{} // not nil: an empty list is [] in JSON
		for _, one := range all {
			if v.shows(one) == nil {
				infos = append(infos, v.info(one))
			}
		}
		return map[string]any{"glossaries": infos}, err
	}
}

// get returns the handler of GET /v2/glossaries/ID and /v3/glossaries/ID.
func (g glossaries) get(v version) func(*dialect.Call) (any, error) {
	return func(call *dialect.Call) (any, error) {
		found, err := g.found(call, v)
		if err != nil {
			return nil, err
		}
		return v.info(found), nil
	}
}

// found returns the glossary of a version's path.
func (g glossaries) found(call *dialect.Call, v version) (glossary.Glossary, error) {
	found, err := g.Get(call.Glossary())
	if err == nil {
		err = v.shows(found)
	}
	return found, err
}

// entries serves GET /v2/glossaries/ID/entries.
func (g glossaries) entries(call *dialect.Call) (any, error) {
	found, err := g.found(call, version{shows: oneDictionary})
	if err != nil {
		return nil, err
	}
	text, err := g.text(call, found.Dictionaries[0].Pair)
	return dialect.Reply{Type: "text/tab-separated-values; charset=utf-8", Body: []byte(text)}, err
}

// dictionaryEntries serves GET /v3/glossaries/ID/entries.
func (g glossaries) dictionaryEntries(call *dialect.Call) (any, error) {
	p := pair(call, call.Fields)
	text, err := g.text(call, p)
	return map[string]any{"dictionaries": []map[string]string{{
		"source_lang": glossaryCode(p.From), "target_lang": glossaryCode(p.To), "entries": text, "entries_format": string(glossary.FormatTSV),
	}}}, err
}

// text returns the terms of a dictionary as TSV.
func (g glossaries) text(call *dialect.Call, p glossary.Pair) (string, error) {
	if err := call.Err(); err != nil {
		return "", err
	}
	ctx, owner, id := call.Glossary()
	terms, err := g.Terms(ctx, owner, id, []glossary.Pair{p})
	if err != nil {
		return "", notFound(err)
	}
	return strings.TrimSuffix(glossary.TSV(terms[0].List), "\n"), nil
}

// change serves PATCH /v3/glossaries/ID: it adds entries to the existing ones.
func (g glossaries) change(call *dialect.Call) (any, error) {
	change := glossary.Change{Merge: true}
	if call.Given("name") {
		change.Name = new(call.Text("name"))
	}
	change.Terms = g.dictionaries(call)
	if change.Name == nil && len(change.Terms) == 0 {
		call.Fail(dialect.Refuse("Neither 'name' nor 'dictionaries' specified."))
	}
	changed, err := g.alter(call, change)
	if err != nil {
		return nil, err
	}
	return multilingualOf(changed), nil
}

// putDictionary serves PUT /v3/glossaries/ID/dictionaries: it replaces the existing entries.
func (g glossaries) putDictionary(call *dialect.Call) (any, error) {
	terms := g.terms(call, call.Fields)
	changed, err := g.alter(call, glossary.Change{Terms: []glossary.Terms{terms}})
	put, _ := changed.Dictionary(terms.Pair)
	return dictionaryOf(put), err
}

// alter changes the glossary of a path.
func (g glossaries) alter(call *dialect.Call, change glossary.Change) (glossary.Glossary, error) {
	if err := call.Err(); err != nil {
		return glossary.Glossary{}, err
	}
	ctx, owner, id := call.Glossary()
	return g.Change(ctx, owner, id, change)
}

// remove serves DELETE /v2/glossaries/ID and /v3/glossaries/ID.
func (g glossaries) remove(call *dialect.Call) (any, error) {
	return dialect.Reply{Status: http.StatusNoContent}, g.Remove(call.Glossary())
}

// removeDictionary serves DELETE /v3/glossaries/ID/dictionaries.
func (g glossaries) removeDictionary(call *dialect.Call) (any, error) {
	p := pair(call, call.Fields)
	if err := call.Err(); err != nil {
		return nil, err
	}
	ctx, owner, id := call.Glossary()
	return dialect.Reply{Status: http.StatusNoContent}, notFound(g.RemoveDictionary(ctx, owner, id, p))
}

// notFound turns the error of a missing dictionary in a path into the error of a missing glossary.
func notFound(err error) error {
	if without, ok := errors.AsType[*fault.Failure](err); ok && without.Kind == fault.NoDictionary {
		return fault.New(fault.UnknownGlossary, "", "%s", without)
	}
	return err
}

// languagePair is an entry of /v2/glossary-language-pairs.
type languagePair struct {
	SourceLang string `json:"source_lang"`
	TargetLang string `json:"target_lang"`
}

// languagePairs serves /v2/glossary-language-pairs.
func languagePairs(call *dialect.Call) (any, error) {
	return map[string]any{"supported_languages": dialect.Each(dialect.Pairs(call.Models), func(pair [2]string) languagePair {
		return languagePair{glossaryCode(pair[0]), glossaryCode(pair[1])}
	})}, nil
}
