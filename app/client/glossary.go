package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/go-json-experiment/json"
)

const glossariesPath = "/glossaries"

// Glossary is what is known of a glossary that the service stores: all but its terms. Requests use
// it by its id, see [Request.Glossary].
type Glossary struct {
	ID           string       `json:"id"`
	Name         string       `json:"name"`
	Created      time.Time    `json:"created"`
	Changed      time.Time    `json:"changed"`
	Dictionaries []Dictionary `json:"dictionaries"`
}

// Dictionary is what is known of a glossary's terms for two languages.
type Dictionary struct {
	From  string `json:"from"` // codes of languages
	To    string `json:"to"`
	Terms int    `json:"entryCount"`
}

// TermFormat is how terms are written as a text, a line each without a header: [TSV] or [CSV].
type TermFormat string

// The formats. A term that has no target, or itself, is never translated.
const (
	TSV TermFormat = "text/tab-separated-values" // source, tab, target, without quotes
	CSV TermFormat = "text/csv"                  // source, comma, target, quoted as in RFC 4180
)

// Terms are those of a dictionary.
type Terms struct {
	From, To string // languages
	Format   TermFormat
	Text     []byte // UTF-8
}

// CreateGlossary makes a glossary of one dictionary; [Client.SetTerms] gives it others. It is not
// tried again where it is not known what became of the last try. Errors are as for
// [Client.Translate]; what is wrong with a term has the code [CodeInvalidGlossary] and names the line.
func (c *Client) CreateGlossary(ctx context.Context, name string, t Terms) (Glossary, error) {
	query := t.query()
	query.Set("name", name)
	call := termsCall("POST", glossariesPath, query, t)
	call.also, call.once = http.StatusCreated, true
	return askGlossary(ctx, c, call)
}

// SetTerms has a glossary have these terms, in place of those that it has for their languages.
func (c *Client) SetTerms(ctx context.Context, id string, t Terms) (Glossary, error) {
	return askGlossary(ctx, c, termsCall("PATCH", glossaryPath(id), t.query(), t))
}

// Glossaries returns the glossaries of this client's key, the newest first.
func (c *Client) Glossaries(ctx context.Context) ([]Glossary, error) {
	answer, err := get[struct {
		Glossaries []Glossary `json:"glossaries"`
	}](ctx, c, glossariesPath)
	return answer.Glossaries, err
}

// Glossary returns what is known of a glossary. It fails with code [CodeUnknownGlossary] where there is none.
func (c *Client) Glossary(ctx context.Context, id string) (Glossary, error) {
	return askGlossary(ctx, c, newCall(glossaryPath(id)))
}

// GlossaryTerms returns the terms that a glossary has for two languages, in a format. Without
// languages they are those of its only dictionary.
func (c *Client) GlossaryTerms(ctx context.Context, id, from, to string, format TermFormat) (Terms, error) {
	t := Terms{From: from, To: to, Format: format}
	path := glossaryPath(id) + "/entries"
	if query := t.query().Encode(); query != "" {
		path += "?" + query
	}
	call := newCall(path)
	call.accept = string(format)
	text, err := ask(ctx, c, call, func(raw []byte) ([]byte, error) { return raw, nil })
	t.Text = text
	return t, err
}

// DeleteGlossary forgets a glossary. Jobs that use it go on.
func (c *Client) DeleteGlossary(ctx context.Context, id string) error {
	call, tries := newCall(glossaryPath(id)), 0
	call.method, call.also = "DELETE", http.StatusNoContent
	return c.retry(ctx, call.id, func() error {
		tries++
		_, err := c.fetch(ctx, call)
		if tries > 1 && IsCode(err, CodeUnknownGlossary) {
			return nil // the try before this one deleted it, and its answer was lost
		}
		return err
	})
}

func glossaryPath(id string) string { return glossariesPath + "/" + url.PathEscape(id) }

// query has the languages that are known.
func (t Terms) query() url.Values {
	query := url.Values{}
	for name, value := range map[string]string{"from": t.From, "to": t.To} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// termsCall is a request whose body is terms.
func termsCall(method, path string, query url.Values, t Terms) call {
	call := newCall(path + "?" + query.Encode())
	call.method, call.body, call.media = method, append([]byte{}, t.Text...), string(t.Format)
	return call
}

// askGlossary makes a request that is answered with a glossary.
func askGlossary(ctx context.Context, c *Client, call call) (g Glossary, err error) {
	err = c.retry(ctx, call.id, func() error {
		raw, err := c.fetch(ctx, call)
		if _, unknown := errors.AsType[*connectionError](err); unknown && call.once {
			return backoff.Permanent(err)
		}
		if err != nil {
			return err
		}
		var answer struct {
			Glossary Glossary `json:"glossary"`
		}
		if err := json.Unmarshal(raw, &answer); err != nil {
			return invalid("%d bytes: %w", len(raw), err)
		}
		if g = answer.Glossary; g.ID == "" {
			return invalid("the glossary has no id")
		}
		return nil
	})
	return g, err
}
