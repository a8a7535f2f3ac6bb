package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

const glossariesPath = "/glossaries"

// Glossary describes a glossary that the service stores, without its terms. Requests name a glossary by its id, see
// [Request.Glossary].
type Glossary struct {
	ID           string       `json:"id"`
	Name         string       `json:"name"`
	Created      time.Time    `json:"created"`
	Changed      time.Time    `json:"changed"`
	Dictionaries []Dictionary `json:"dictionaries"`
}

// Dictionary describes a glossary's terms for two languages.
type Dictionary struct {
	From  string `json:"from"` // codes of languages
	To    string `json:"to"`
	Terms int    `json:"entryCount"`
}

// TermFormat is the format of terms as a text, a line each without a header: [TSV] or [CSV].
type TermFormat string

// Formats of terms. A term without a target, or with itself as target, is never translated.
const (
	TSV TermFormat = "text/tab-separated-values" // source, tab, target, without quotes
	CSV TermFormat = "text/csv"                  // source, comma, target, quoted as in RFC 4180
)

// Terms are the terms of a dictionary.
type Terms struct {
	From, To string // languages
	Format   TermFormat
	Text     []byte // UTF-8
}

// CreateGlossary creates a glossary with one dictionary; [Client.SetTerms] adds others. CreateGlossary does not try again if the
// outcome of the last try is unknown. Errors are as for [Client.Translate]; an invalid term has the code [CodeInvalidGlossary],
// and the message names the line.
func (c *Client) CreateGlossary(ctx context.Context, name string, t Terms) (Glossary, error) {
	call := t.call("POST", glossariesPath, name)
	call.also, call.once = http.StatusCreated, true
	return ask(ctx, c.transport, call, readGlossary)
}

// SetTerms replaces the terms of a glossary for their languages.
func (c *Client) SetTerms(ctx context.Context, id string, t Terms) (Glossary, error) {
	return ask(ctx, c.transport, t.call("PATCH", glossaryPath(id), ""), readGlossary)
}

// call returns a request whose body is the terms.
func (t Terms) call(method, path, name string) call {
	call := newCall(path + queryString(url.Values{"from": {t.From}, "to": {t.To}, "name": {name}}))
	call.method, call.body, call.media = method, append([]byte{}, t.Text...), string(t.Format)
	return call
}

// Glossaries returns the glossaries of this client's key, the newest first.
func (c *Client) Glossaries(ctx context.Context) ([]Glossary, error) {
	answer, err := get[struct {
		Glossaries []Glossary `json:"glossaries"`
	}](ctx, c.transport, glossariesPath)
	return answer.Glossaries, err
}

// Glossary returns the description of a glossary. It fails with code [CodeUnknownGlossary] if there is no such glossary.
func (c *Client) Glossary(ctx context.Context, id string) (Glossary, error) {
	return ask(ctx, c.transport, newCall(glossaryPath(id)), readGlossary)
}

// readGlossary parses an answer about a glossary.
func readGlossary(raw []byte) (Glossary, error) {
	answer, err := decode[struct {
		Glossary Glossary `json:"glossary"`
	}](raw)
	if err == nil && answer.Glossary.ID == "" {
		err = invalid("the glossary has no id")
	}
	return answer.Glossary, err
}

// GlossaryTerms returns the terms of a glossary for two languages, in a format. Without languages it returns the terms of the
// glossary's only dictionary.
func (c *Client) GlossaryTerms(ctx context.Context, id, from, to string, format TermFormat) (Terms, error) {
	call := newCall(glossaryPath(id) + "/entries" + queryString(url.Values{"from": {from}, "to": {to}}))
	call.accept = string(format)
	text, err := ask(ctx, c.transport, call, unparsed)
	return Terms{From: from, To: to, Format: format, Text: text}, err
}

// DeleteGlossary removes a glossary. Jobs that use it continue.
func (c *Client) DeleteGlossary(ctx context.Context, id string) error {
	return c.remove(ctx, glossaryPath(id), CodeUnknownGlossary)
}

func glossaryPath(id string) string { return glossariesPath + "/" + url.PathEscape(id) }
