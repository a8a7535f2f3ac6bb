package deepl

import (
	"errors"
	"net/http"

	"dragoman/app/compat"
	"dragoman/app/failure"
	"dragoman/app/glossary"
)

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

func dictionaryOf(d glossary.Dictionary) dictionaryInfo {
	return dictionaryInfo{glossaryCode(d.From), glossaryCode(d.To), d.Terms}
}

func multilingualOf(g glossary.Glossary) multilingualInfo {
	info := multilingualInfo{g.ID, g.Name, make([]dictionaryInfo, len(g.Dictionaries)), timeOf(g.Created)}
	for i, d := range g.Dictionaries {
		info.Dictionaries[i] = dictionaryOf(d)
	}
	return info
}

// dictionaries reads those of a request.
func (g glossaries) dictionaries(call compat.Call) (list []glossary.Terms, err error) {
	objects, err := call.Fields.Objects("dictionaries")
	for _, fields := range objects {
		terms, err := g.terms(call, fields)
		if err != nil {
			return nil, err
		}
		list = append(list, terms)
	}
	return list, err
}

// createMultilingual serves POST /v3/glossaries.
func (g glossaries) createMultilingual(call compat.Call) (any, error) {
	name, err := required(call.Fields, "name")
	if err != nil {
		return nil, err
	}
	list, err := g.dictionaries(call)
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return nil, compat.Refuse("Parameter 'dictionaries' not specified.")
	}
	made, err := g.Create(call.Context.Request.Context(), owner(call), name, list)
	if err != nil {
		return nil, err
	}
	return compat.Reply{Status: http.StatusCreated, Body: multilingualOf(made)}, nil
}

// listMultilingual serves GET /v3/glossaries.
func (g glossaries) listMultilingual(call compat.Call) (any, error) {
	all, err := g.List(call.Context.Request.Context(), owner(call))
	if err != nil {
		return nil, err
	}
	infos := make([]multilingualInfo, len(all)) // not nil: none are [] in JSON
	for i, one := range all {
		infos[i] = multilingualOf(one)
	}
	return map[string]any{"glossaries": infos}, nil
}

// getMultilingual serves GET /v3/glossaries/ID.
func (g glossaries) getMultilingual(call compat.Call) (any, error) {
	found, err := g.Get(call.Context.Request.Context(), owner(call), call.Context.Param("id"))
	if err != nil {
		return nil, err
	}
	return multilingualOf(found), nil
}

// changeMultilingual serves PATCH /v3/glossaries/ID: entries are added to those that are there.
func (g glossaries) changeMultilingual(call compat.Call) (any, error) {
	change := glossary.Change{Merge: true}
	if call.Fields.Given("name") {
		name, err := call.Fields.Text("name")
		if err != nil {
			return nil, err
		}
		change.Name = &name
	}
	var err error
	if change.Terms, err = g.dictionaries(call); err != nil {
		return nil, err
	}
	if change.Name == nil && len(change.Terms) == 0 {
		return nil, compat.Refuse("Neither 'name' nor 'dictionaries' specified.")
	}
	changed, err := g.Change(call.Context.Request.Context(), owner(call), call.Context.Param("id"), change)
	if err != nil {
		return nil, err
	}
	return multilingualOf(changed), nil
}

// dictionaryEntries serves GET /v3/glossaries/ID/entries.
func (g glossaries) dictionaryEntries(call compat.Call) (any, error) {
	p, err := pair(call, call.Fields)
	if err != nil {
		return nil, err
	}
	text, err := g.text(call, p)
	if err != nil {
		return nil, err
	}
	return map[string]any{"dictionaries": []map[string]string{{
		"source_lang": glossaryCode(p.From), "target_lang": glossaryCode(p.To), "entries": text, "entries_format": string(glossary.FormatTSV),
	}}}, nil
}

// putDictionary serves PUT /v3/glossaries/ID/dictionaries: entries take the place of those that are
// there.
func (g glossaries) putDictionary(call compat.Call) (any, error) {
	terms, err := g.terms(call, call.Fields)
	if err != nil {
		return nil, err
	}
	changed, err := g.Change(call.Context.Request.Context(), owner(call), call.Context.Param("id"), glossary.Change{Terms: []glossary.Terms{terms}})
	if err != nil {
		return nil, err
	}
	put, _ := changed.Dictionary(terms.Pair)
	return dictionaryOf(put), nil
}

// removeDictionary serves DELETE /v3/glossaries/ID/dictionaries.
func (g glossaries) removeDictionary(call compat.Call) (any, error) {
	p, err := pair(call, call.Fields)
	if err != nil {
		return nil, err
	}
	err = g.RemoveDictionary(call.Context.Request.Context(), owner(call), call.Context.Param("id"), p)
	return compat.Reply{Status: http.StatusNoContent}, notFound(err)
}

// notFound makes a dictionary that a path means and that is not there what a glossary would be.
func notFound(err error) error {
	if without, ok := errors.AsType[*failure.Failure](err); ok && without.Kind == failure.NoDictionary {
		return failure.New(failure.UnknownGlossary, "", "%s", without)
	}
	return err
}
