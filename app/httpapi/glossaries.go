package httpapi

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/dialect"
	"dragoman/app/failure"
	"dragoman/app/glossary"
)

const glossariesPath = "/glossaries"

// glossariesAPI serves the routes of glossaries.
type glossariesAPI struct {
	*API
	glossaries *glossary.Service
}

// dialect has the routes.
func (g *glossariesAPI) dialect() dialect.Dialect {
	const one = glossariesPath + "/:id"
	return dialect.Dialect{
		Routes: []dialect.Route{
			{Methods: "POST", Path: glossariesPath, Handler: g.handle(g.create), Free: true},
			{Methods: "GET", Path: glossariesPath, Handler: g.handle(g.list)},
			{Methods: "GET", Path: one, Handler: g.handle(g.get)},
			{Methods: "GET", Path: one + "/entries", Handler: g.handle(g.entries)},
			{Methods: "PUT", Path: one, Handler: g.handle(g.replace), Free: true},
			{Methods: "PATCH", Path: one, Handler: g.handle(g.change), Free: true},
			{Methods: "DELETE", Path: one, Handler: g.handle(g.remove)},
		},
		Render: render,
	}
}

// handle makes a handler that lets callers in, and answers errors.
func (g *glossariesAPI) handle(serve func(c *gin.Context) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		err := g.cfg.Gate.Enter(c, "")
		if err == nil {
			err = serve(c)
		}
		if err != nil {
			g.server.Fail(c, err)
		}
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
	out := glossaryOutput{
		ID: g.ID, Name: g.Name, Created: g.Created, Changed: g.Changed, URL: glossariesPath + "/" + g.ID,
		Dictionaries: make([]dictionaryOutput, len(g.Dictionaries)), // not nil: none are [] in JSON
	}
	for i, d := range g.Dictionaries {
		out.Dictionaries[i] = dictionaryOutput{d.From, d.To, d.Terms}
	}
	return out
}

// answer answers with a glossary.
func (g *glossariesAPI) answer(c *gin.Context, status int, made glossary.Glossary, err error) error {
	if err == nil {
		c.PureJSON(status, gin.H{"glossary": glossaryOf(made)})
	}
	return err
}

// create serves POST /glossaries.
func (g *glossariesAPI) create(c *gin.Context) error {
	draft, err := g.read(c)
	if err != nil {
		return err
	}
	if draft.Name == nil {
		return draft.missing("name")
	}
	made, err := g.glossaries.Create(c.Request.Context(), dialect.OwnerOf(c), *draft.Name, draft.Terms)
	if err == nil {
		c.Header("Location", glossaryOf(made).URL)
	}
	return g.answer(c, http.StatusCreated, made, err)
}

// list serves GET /glossaries: the caller's own.
func (g *glossariesAPI) list(c *gin.Context) error {
	list, err := g.glossaries.List(c.Request.Context(), dialect.OwnerOf(c))
	if err != nil {
		return err
	}
	output := make([]glossaryOutput, len(list)) // not nil: none are [] in JSON
	for i, one := range list {
		output[i] = glossaryOf(one)
	}
	c.PureJSON(http.StatusOK, gin.H{"glossaries": output})
	return nil
}

// get serves GET /glossaries/ID.
func (g *glossariesAPI) get(c *gin.Context) error {
	found, err := g.glossaries.Get(c.Request.Context(), dialect.OwnerOf(c), c.Param("id"))
	return g.answer(c, http.StatusOK, found, err)
}

// The media types of terms.
const (
	tsvType = "text/tab-separated-values"
	csvType = "text/csv"
)

// entries serves GET /glossaries/ID/entries.
func (g *glossariesAPI) entries(c *gin.Context) error {
	pair := glossary.Pair{From: c.Query("from"), To: c.Query("to")}
	if pair.From == "" || pair.To == "" {
		found, err := g.glossaries.Get(c.Request.Context(), dialect.OwnerOf(c), c.Param("id"))
		if err != nil {
			return err
		}
		if n := len(found.Dictionaries); n != 1 || pair != (glossary.Pair{}) {
			return failure.New(failure.InvalidGlossary, "", "the glossary has %s: name the languages of one, such as ?from=en&to=fr", dictionaries(n))
		}
		pair = found.Dictionaries[0].Pair
	}
	terms, err := g.glossaries.Terms(c.Request.Context(), dialect.OwnerOf(c), c.Param("id"), []glossary.Pair{pair})
	if err != nil {
		return err
	}
	c.Header("Vary", "Accept")
	if c.NegotiateFormat(tsvType, csvType) == csvType {
		c.Data(http.StatusOK, csvType+"; charset=utf-8", []byte(glossary.CSV(terms[0].List)))
	} else {
		c.Data(http.StatusOK, tsvType+"; charset=utf-8", []byte(glossary.TSV(terms[0].List)))
	}
	return nil
}

func dictionaries(n int) string {
	if n == 1 {
		return "one dictionary"
	}
	return strconv.Itoa(n) + " dictionaries"
}

// replace serves PUT /glossaries/ID: nothing stays but the id, and the name where none is given.
func (g *glossariesAPI) replace(c *gin.Context) error {
	draft, err := g.read(c)
	if err != nil {
		return err
	}
	draft.Whole = true
	return g.alter(c, draft)
}

// change serves PATCH /glossaries/ID: what is not named stays.
func (g *glossariesAPI) change(c *gin.Context) error {
	draft, err := g.read(c)
	if err != nil {
		return err
	}
	if draft.Name == nil && len(draft.Terms) == 0 {
		return failure.New(failure.InvalidGlossary, "", "there is nothing to change: send a name, or dictionaries")
	}
	return g.alter(c, draft)
}

func (g *glossariesAPI) alter(c *gin.Context, draft glossaryDraft) error {
	changed, err := g.glossaries.Change(c.Request.Context(), dialect.OwnerOf(c), c.Param("id"), draft.Change)
	return g.answer(c, http.StatusOK, changed, err)
}

// remove serves DELETE /glossaries/ID.
func (g *glossariesAPI) remove(c *gin.Context) error {
	if err := g.glossaries.Remove(c.Request.Context(), dialect.OwnerOf(c), c.Param("id")); err != nil {
		return err
	}
	c.Status(http.StatusNoContent)
	return nil
}
