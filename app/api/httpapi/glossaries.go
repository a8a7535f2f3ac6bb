package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/glossary"
	"dragoman/app/guard/bound"
)

const glossariesPath = "/glossaries"

// glossariesAPI serves the routes of glossaries.
type glossariesAPI struct {
	server     *dialect.Server
	glossaries *glossary.Service
}

func (g *glossariesAPI) routes() []dialect.Route {
	const one = glossariesPath + "/:id"
	keyed := g.server.Keyed
	return []dialect.Route{
		{Methods: "POST", Path: glossariesPath, Handler: keyed(g.create), Free: true},
		{Methods: "GET", Path: glossariesPath, Handler: keyed(g.list)},
		{Methods: "GET", Path: one, Handler: keyed(g.get)},
		{Methods: "GET", Path: one + "/entries", Handler: keyed(g.entries)},
		{Methods: "PUT", Path: one, Handler: keyed(g.replace), Free: true},
		{Methods: "PATCH", Path: one, Handler: keyed(g.change), Free: true},
		{Methods: "DELETE", Path: one, Handler: keyed(g.remove)},
	}
}

// glossaryOutput is a glossary in answers.
type glossaryOutput struct {
	ID           string             `json:"id"`
	Name         string             `json:"name"`
	Created      time.Time          `json:"created"`
	Changed      time.Time          `json:"changed"`
	Dictionaries []dictionaryOutput `json:"dictionaries"`
	URL          string             `json:"url"`
}

type dictionaryOutput struct {
	From       string `json:"from"`
	To         string `json:"to"`
	EntryCount int    `json:"entryCount"`
}

func glossaryOf(g glossary.Glossary) glossaryOutput {
	return glossaryOutput{
		ID: g.ID, Name: g.Name, Created: g.Created, Changed: g.Changed, URL: glossariesPath + "/" + g.ID,
		Dictionaries: dialect.Each(g.Dictionaries, func(d glossary.Dictionary) dictionaryOutput { return dictionaryOutput{d.From, d.To, d.Terms} }),
	}
}

func answerGlossary(g glossary.Glossary, err error) (any, error) {
	return gin.H{"glossary": glossaryOf(g)}, err
}

// askedFor returns the owner of a request's glossaries, and the glossary's id from its path.
func askedFor(c *gin.Context) (ctx context.Context, owner, id string) {
	return c.Request.Context(), dialect.OwnerOf(c), c.Param("id")
}

// create serves POST /glossaries.
func (g *glossariesAPI) create(c *gin.Context) (any, error) {
	draft, err := g.read(c)
	if err != nil {
		return nil, err
	}
	if draft.Name == nil {
		return nil, draft.missing("name")
	}
	made, err := g.glossaries.Create(c.Request.Context(), dialect.OwnerOf(c), *draft.Name, draft.Terms)
	if err != nil {
		return nil, err
	}
	out := glossaryOf(made)
	c.Header("Location", out.URL)
	return dialect.Reply{Status: http.StatusCreated, Body: gin.H{"glossary": out}}, nil
}

// list serves GET /glossaries: the caller's own glossaries.
func (g *glossariesAPI) list(c *gin.Context) (any, error) {
	list, err := g.glossaries.List(c.Request.Context(), dialect.OwnerOf(c))
	return gin.H{"glossaries": dialect.Each(list, glossaryOf)}, err
}

// get serves GET /glossaries/ID.
func (g *glossariesAPI) get(c *gin.Context) (any, error) {
	return answerGlossary(g.glossaries.Get(askedFor(c)))
}

// Media types of terms.
const (
	tsvType = "text/tab-separated-values"
	csvType = "text/csv"
)

// entries serves GET /glossaries/ID/entries.
func (g *glossariesAPI) entries(c *gin.Context) (any, error) {
	ctx, owner, id := askedFor(c)
	pair := glossary.Pair{From: c.Query("from"), To: c.Query("to")}
	if err := cmp.Or(bound.Text("from", len(pair.From)), bound.Text("to", len(pair.To))); err != nil {
		return nil, err
	}
	if pair.From == "" || pair.To == "" {
		found, err := g.glossaries.Get(ctx, owner, id)
		if err != nil {
			return nil, err
		}
		if n := len(found.Dictionaries); n != 1 || pair != (glossary.Pair{}) {
			return nil, fault.New(fault.InvalidGlossary, "", "the glossary has %s: name the languages of one, such as ?from=en&to=fr", english.Plural(n, "dictionary", "dictionaries"))
		}
		pair = found.Dictionaries[0].Pair
	}
	terms, err := g.glossaries.Terms(ctx, owner, id, []glossary.Pair{pair})
	if err != nil {
		return nil, err
	}
	c.Header("Vary", "Accept")
	format, text := tsvType, glossary.TSV
	if c.NegotiateFormat(tsvType, csvType) == csvType {
		format, text = csvType, glossary.CSV
	}
	return dialect.Reply{Type: format + "; charset=utf-8", Body: []byte(text(terms[0].List))}, nil
}

// replace serves PUT /glossaries/ID: it keeps only the id, and the name unless another is given.
func (g *glossariesAPI) replace(c *gin.Context) (any, error) {
	draft, err := g.read(c)
	if err != nil {
		return nil, err
	}
	draft.Whole = true
	return g.alter(c, draft)
}

// change serves PATCH /glossaries/ID: fields that are not given stay.
func (g *glossariesAPI) change(c *gin.Context) (any, error) {
	draft, err := g.read(c)
	if err != nil {
		return nil, err
	}
	if draft.Name == nil && len(draft.Terms) == 0 {
		return nil, fault.New(fault.InvalidGlossary, "", "there is nothing to change: send a name, or dictionaries")
	}
	return g.alter(c, draft)
}

func (g *glossariesAPI) alter(c *gin.Context, draft glossaryDraft) (any, error) {
	ctx, owner, id := askedFor(c)
	return answerGlossary(g.glossaries.Change(ctx, owner, id, draft.Change))
}

// remove serves DELETE /glossaries/ID.
func (g *glossariesAPI) remove(c *gin.Context) (any, error) {
	return dialect.Reply{Status: http.StatusNoContent}, g.glossaries.Remove(askedFor(c))
}
