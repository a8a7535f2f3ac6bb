package httpapi

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/guard/body"
	"dragoman/app/guard/bound"
	"dragoman/app/memory"
	"dragoman/app/text/excerpt"
	"dragoman/app/text/language"
)

const memoriesPath = "/memories"

// memoriesAPI serves the routes of translation memories.
type memoriesAPI struct {
	server   *dialect.Server
	memories *memory.Service
	version  string // of the program
}

func (m *memoriesAPI) routes() []dialect.Route {
	const one, entries = memoriesPath + "/:id", memoriesPath + "/:id/entries"
	keyed := m.server.Keyed
	return []dialect.Route{
		{Methods: "GET", Path: memoriesPath, Handler: keyed(m.list)},
		{Methods: "GET", Path: one, Handler: keyed(m.get)},
		{Methods: "PUT", Path: one, Handler: keyed(m.put), Free: true},
		{Methods: "DELETE", Path: one, Handler: keyed(m.remove)},
		{Methods: "GET", Path: entries, Handler: keyed(m.export)},
		{Methods: "POST", Path: entries, Handler: keyed(m.add), Free: true},
		{Methods: "DELETE", Path: entries, Handler: keyed(m.removeEntry)},
	}
}

// limitMemory returns the limit of bodies: files are parsed as they arrive.
func (a *API) limitMemory() gin.HandlerFunc {
	return func(c *gin.Context) {
		if c.Request.Method != http.MethodPut || a.cfg.Memories == nil {
			a.limits.small(c)
			return
		}
		most := a.cfg.Memories.Limits().Bytes
		body.Widen(c.Request, most, largeBodyTimeout)
		body.Pass(c.Request)
		a.limits.limit(c, most, "divide the file")
	}
}

// memoryOutput is a translation memory in answers.
type memoryOutput struct {
	ID         string             `json:"id"`
	Created    time.Time          `json:"created"`
	Changed    time.Time          `json:"changed"`
	EntryCount int                `json:"entryCount"`
	Languages  []dictionaryOutput `json:"languages"`
	URL        string             `json:"url"`
}

func memoryOf(m memory.Memory) memoryOutput {
	return memoryOutput{ // a memory whose first file is being read was not changed yet
		ID: m.ID, Created: m.Created, Changed: slices.MaxFunc([]time.Time{m.Created, m.Changed}, time.Time.Compare), EntryCount: m.Entries(), URL: memoriesPath + "/" + m.ID,
		Languages: dialect.Each(m.Parts, func(p memory.Part) dictionaryOutput { return dictionaryOutput{p.From, p.To, p.Entries} }),
	}
}

// answerMemory answers with a memory, which may be new.
func answerMemory(c *gin.Context, m memory.Memory, created bool, answer gin.H) (any, error) {
	about := memoryOf(m)
	answer["memory"] = about
	if !created {
		return answer, nil
	}
	c.Header("Location", about.URL)
	return dialect.Reply{Status: http.StatusCreated, Body: answer}, nil
}

// list serves GET /memories: the caller's own translation memories.
func (m *memoriesAPI) list(c *gin.Context) (any, error) {
	list, err := m.memories.List(c.Request.Context(), dialect.OwnerOf(c))
	return gin.H{"memories": dialect.Each(list, memoryOf)}, err
}

// get serves GET /memories/ID.
func (m *memoriesAPI) get(c *gin.Context) (any, error) {
	found, err := m.memories.Get(askedFor(c))
	return gin.H{"memory": memoryOf(found)}, err
}

// Media types of files of translation memories.
const (
	tmxType    = "application/x-tmx+xml"
	xliffType  = "application/xliff+xml"
	xliff1Type = "application/x-xliff+xml"
	xmlType    = "application/xml"
	textXML    = "text/xml"
)

// importOutput tells what became of a file.
type importOutput struct {
	Taken   int      `json:"taken"`
	Skipped int      `json:"skipped"`
	Reasons []string `json:"reasons"`
}

// put serves PUT /memories/ID: a file takes the place of all entries, or with keep only of those with equal sources.
func (m *memoriesAPI) put(c *gin.Context) (any, error) {
	media, err := mediaType(c.Request.Header, tmxType, xliffType, tsvType, xliff1Type, xmlType, textXML)
	if err != nil {
		return nil, err
	}
	reading, err := m.reading(c, media == tsvType)
	if err != nil {
		return nil, err
	}
	keep := c.Query("keep")
	if keep != "" && keep != "true" && keep != "false" {
		return nil, fault.New(fault.InvalidValue, "keep", "keep is %q, expected true or false", excerpt.Of(keep))
	}
	ctx, owner, id := askedFor(c)
	found, report, err := m.memories.Put(ctx, owner, id, keep == "true", reading.Source(body.Stream(c.Writer, c.Request)))
	if err != nil {
		return nil, err
	}
	return answerMemory(c, found, report.Created, gin.H{"import": importOutput{report.Taken, report.Skipped, append([]string{}, report.Reasons...)}})
}

// reading returns how to read a file, whose languages the query may tell.
func (m *memoriesAPI) reading(c *gin.Context, tsv bool) (r memory.Reading, err error) {
	models, err := m.server.Select("")
	if err != nil {
		return r, err
	}
	languages := models.Languages()
	r = memory.Reading{TSV: tsv, Find: func(code string) (string, bool) { return language.Find(languages, strings.ReplaceAll(code, "_", "-")) }}
	for _, side := range []struct {
		field string
		code  *string
	}{{"from", &r.Pair.From}, {"to", &r.Pair.To}} {
		name := c.Query(side.field)
		if err := bound.Text(side.field, len(name)); err != nil {
			return r, err
		}
		if name == "" && !tsv {
			continue
		}
		if name == "" {
			return r, fault.New(fault.InvalidMemory, side.field, "%s is missing in the query, such as ?from=en&to=fr", side.field)
		}
		code, ok := r.Find(name)
		if !ok {
			return r, fault.New(fault.UnknownLanguage, side.field, "%q is not a language of any model", excerpt.Of(name))
		}
		*side.code = code
	}
	return r, checkPair(r.Pair)
}

// checkPair fails for a language and itself.
func checkPair(p memory.Pair) error {
	if p.From == p.To && p.From != "" {
		return fault.New(fault.InvalidMemory, "to", "to is the same language as from")
	}
	return nil
}

// entriesBody is the body of POST /memories/ID/entries.
type entriesBody struct {
	From    *string       `json:"from"`
	To      *string       `json:"to"`
	Entries *[]memoryItem `json:"entries"`
}

type memoryItem struct {
	Source *prose `json:"source"`
	Target *prose `json:"target"`
}

// add serves POST /memories/ID/entries.
func (m *memoriesAPI) add(c *gin.Context) (any, error) {
	if err := checkMediaType(c.Request.Header); err != nil {
		return nil, err
	}
	raw, err := readBody(c)
	if err != nil {
		return nil, err
	}
	entries, err := m.decode(raw)
	if err != nil {
		return nil, err
	}
	ctx, owner, id := askedFor(c)
	found, created, err := m.memories.Add(ctx, owner, id, entries, func(i int) string { return fmt.Sprintf("entries[%d]", i) })
	if err != nil {
		return nil, err
	}
	return answerMemory(c, found, created, gin.H{})
}

func (m *memoriesAPI) decode(raw []byte) ([]memory.Entry, error) {
	var parsed entriesBody
	bounded := json.WithUnmarshalers(json.JoinUnmarshalers(atMost[memoryItem](memory.MaxAdded, tooManyEntriesAtOnce), dialect.Bounded(fieldName)))
	if err := json.Unmarshal(raw, &parsed, json.RejectUnknownMembers(true), bounded); err != nil {
		return nil, explainJSON(err)
	}
	switch {
	case parsed.From == nil:
		return nil, missing("from")
	case parsed.To == nil:
		return nil, missing("to")
	case parsed.Entries == nil:
		return nil, missing("entries")
	case len(*parsed.Entries) == 0:
		return nil, fault.New(fault.InvalidMemory, "entries", "there is nothing to add: send at least one entry")
	}
	pair, err := m.pair(*parsed.From, *parsed.To)
	if err != nil {
		return nil, err
	}
	entries := make([]memory.Entry, len(*parsed.Entries))
	for i, e := range *parsed.Entries {
		switch {
		case e.Source == nil:
			return nil, missing(fmt.Sprintf("entries[%d].source", i))
		case e.Target == nil:
			return nil, missing(fmt.Sprintf("entries[%d].target", i))
		}
		entries[i] = memory.Entry{Pair: pair, Source: string(*e.Source), Target: string(*e.Target)}
	}
	return entries, nil
}

func tooManyEntriesAtOnce(field string, most int) error {
	return fault.New(fault.TooLarge, field, "%s has more than %d items: send several requests, or a file by PUT %s/ID?keep=true", field, most, memoriesPath)
}

// pair finds the codes of two languages.
func (m *memoriesAPI) pair(from, to string) (p memory.Pair, err error) {
	models, err := m.server.Select("")
	if err != nil {
		return p, err
	}
	p, err = glossaryReader{languages: models.Languages()}.pair("", from, to)
	if f := fault.Explain(err, fault.Situation{}); err != nil && f.Kind == fault.InvalidGlossary {
		err = checkPair(memory.Pair{From: from, To: from}) // in words about memories
	}
	return p, err
}

// export serves GET /memories/ID/entries: all entries as TMX.
func (m *memoriesAPI) export(c *gin.Context) (any, error) {
	ctx, owner, id := askedFor(c)
	found, err := m.memories.Get(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	out := &lazyWriter{Writer: c.Writer, begin: func() {
		c.Header("Content-Type", tmxType+"; charset=utf-8")
		c.Header("Content-Disposition", `attachment; filename="`+found.ID+`.tmx"`)
		c.Status(http.StatusOK)
	}}
	file := memory.NewTMX(out, m.version)
	err = m.memories.Each(ctx, found, file.Add)
	if err == nil {
		err = file.Close()
	}
	if err != nil && out.begin == nil {
		dialect.CutOff(c, err)
	}
	return nil, err
}

// lazyWriter calls begin before the first write.
type lazyWriter struct {
	io.Writer
	begin func() // nil after the first write
}

func (w *lazyWriter) Write(raw []byte) (int, error) {
	if w.begin != nil {
		w.begin()
		w.begin = nil
	}
	return w.Writer.Write(raw)
}

// removeEntry serves DELETE /memories/ID/entries: the entry whose source is the text in the query.
func (m *memoriesAPI) removeEntry(c *gin.Context) (any, error) {
	for _, field := range []string{"from", "to", "text"} {
		if c.Query(field) == "" {
			return nil, fault.New(fault.InvalidMemory, field, "%s is missing in the query, such as ?from=en&to=fr&text=Hello", field)
		}
	}
	if err := cmp.Or(bound.Text("from", len(c.Query("from"))), bound.Text("to", len(c.Query("to")))); err != nil {
		return nil, err
	}
	ctx, owner, id := askedFor(c)
	pair := memory.Pair{From: c.Query("from"), To: c.Query("to")}
	return dialect.Reply{Status: http.StatusNoContent}, m.memories.Delete(ctx, owner, id, pair, c.Query("text"))
}

// remove serves DELETE /memories/ID.
func (m *memoriesAPI) remove(c *gin.Context) (any, error) {
	return dialect.Reply{Status: http.StatusNoContent}, m.memories.Remove(askedFor(c))
}
