package google

import (
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/glossary"
)

// glossaries serves the glossaries of version 3. They are the glossaries of the service's own API and are created there, because
// Google imports them from its Cloud Storage.
type glossaries struct{ *glossary.Service }

func (g glossaries) routes(api dialect.API, all string) []dialect.Route {
	one := all + "/:id"
	if g.Service == nil {
		none := func(*dialect.Call) (any, error) { return nil, fault.NoStoredGlossaries() }
		return []dialect.Route{api.Route("GET POST", all, none), api.Route("GET DELETE", one, none)}
	}
	return []dialect.Route{
		api.Route("GET", all, g.list),
		api.Route("POST", all, create).Uncharged(),
		api.Route("GET", one, g.get),
		api.Route("DELETE", one, g.remove),
	}
}

// glossaryInfo is a glossary. It has a pair of languages, or the set of languages if it has several dictionaries.
type glossaryInfo struct {
	Name    string    `json:"name"`
	Pair    *codePair `json:"languagePair,omitempty"`
	Set     *codeSet  `json:"languageCodesSet,omitempty"`
	Entries int       `json:"entryCount"`
	Submit  time.Time `json:"submitTime"`
	End     time.Time `json:"endTime"`
	Display string    `json:"displayName"`
}

type codePair struct {
	Source string `json:"sourceLanguageCode"`
	Target string `json:"targetLanguageCode"`
}

type codeSet struct {
	Codes []string `json:"languageCodes"`
}

// infoOf returns a glossary of a location.
func infoOf(parent string, g glossary.Glossary) glossaryInfo {
	info := glossaryInfo{Name: parent + "/glossaries/" + g.ID, Submit: g.Created, End: g.Changed, Display: g.Name, Set: &codeSet{Codes: []string{}}}
	for _, d := range g.Dictionaries {
		info.Entries += d.Terms
		info.Pair = &codePair{dialect.Regional().Of(d.From), dialect.Regional().Of(d.To)}
		info.Set.Codes = append(info.Set.Codes, info.Pair.Source, info.Pair.Target)
	}
	if len(g.Dictionaries) == 1 {
		info.Set = nil
		return info
	}
	slices.Sort(info.Set.Codes)
	info.Pair, info.Set.Codes = nil, slices.Compact(info.Set.Codes)
	return info
}

// list serves GET of glossaries, on a single page.
func (g glossaries) list(call *dialect.Call) (any, error) {
	if call.Given("filter") {
		call.Fail(dialect.Refuse("Invalid request: this server has no filter, leave it out"))
	}
	if err := call.Err(); err != nil {
		return nil, err
	}
	ctx, owner, _ := call.Glossary()
	all, err := g.List(ctx, owner)
	parent, _ := parentOf(call.Context)
	return map[string]any{"glossaries": dialect.Each(all, func(g glossary.Glossary) glossaryInfo { return infoOf(parent, g) })}, err
}

// create serves POST of glossaries.
func create(*dialect.Call) (any, error) {
	return nil, dialect.RefuseAs(fault.NotOffered, "This server does not read Google Cloud Storage: create the glossary by POST /glossaries, and name it here as projects/P/locations/L/glossaries/ID")
}

// get serves GET of a glossary.
func (g glossaries) get(call *dialect.Call) (any, error) {
	found, err := g.Get(call.Glossary())
	if err != nil {
		return nil, err
	}
	parent, _ := parentOf(call.Context)
	return infoOf(parent, found), nil
}

// remove serves DELETE of a glossary. It answers with a finished operation, for which Google's clients wait.
func (g glossaries) remove(call *dialect.Call) (any, error) {
	ctx, owner, id := call.Glossary()
	parent, _ := parentOf(call.Context)
	message := func(name string) gin.H {
		return gin.H{"@type": "type.googleapis.com/google.cloud.translation.v3." + name, "name": parent + "/glossaries/" + id}
	}
	return gin.H{
		"name": parent + "/operations/" + id, "metadata": message("DeleteGlossaryMetadata"), "done": true, "response": message("DeleteGlossaryResponse"),
	}, g.Remove(ctx, owner, id)
}
