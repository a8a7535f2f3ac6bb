package client

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
)

const (
	documentsPath = "/documents"
	fileType      = "application/octet-stream"
)

// Document is a file to translate. The service validates it; an [Error] names the invalid field.
type Document struct {
	From    string // code of a language such as "en", or Auto
	To      string // code of a language
	Name    string // name of the file, without folders: its extension determines the kind
	Content []byte
	// Columns are the columns of a table to translate, by the names in the table's first row, or by numbers from 1 on if that row
	// has no names. Without Columns, all are translated.
	Columns []string
	// Header tells whether the first row of a table stays: HeaderAuto, which is the default, HeaderKeep or HeaderTranslate.
	Header   string
	Also     []string // further texts to translate: AlsoAlt, AlsoHeaders, and what is done with catalogues: AlsoSource, AlsoFuzzy
	Wrapped  string   // as [Request.Wrapped], for plain text
	As       string   // format of a translated PDF: "html", "txt"; "": PDF
	Glossary string   // as [Request.Glossary]
	Memory   string   // as [Request.Memory]
	Model    string   // as [Request.Model]
	Priority string   // as [Request.Priority]; PriorityLow is the default
	Options  *Options // nil: the service's defaults
	ID       string   // as [Request.ID]
}

// JobDocument is the document of a job, as accepted by the service.
type JobDocument struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"` // such as "docx"
	Bytes int64  `json:"bytes"`
	// HeaderKept is set if the first row of a table stays because it looks like names.
	HeaderKept bool `json:"headerKept,omitzero"`
	// Kept is the number of texts of a workbook that stay because formulas refer to them.
	Kept int `json:"kept,omitzero"`
	// Left lists what of the document cannot be translated, by page.
	Left []string `json:"left,omitempty"`
}

// Values of [Document.Header].
const (
	HeaderAuto      = "auto" // the row stays if it looks like column names as programs use them
	HeaderKeep      = "keep"
	HeaderTranslate = "translate"
)

// Values of [Document.Also].
const (
	AlsoAlt     = "alt"       // alternative texts of pictures, shapes and tables
	AlsoHeaders = "headers"   // headers and footers of Excel's sheets
	AlsoSource  = "as-source" // the translations of a catalogue, which are in the source language
	AlsoFuzzy   = "fuzzy"     // translations in gettext are marked as fuzzy
)

// SubmitDocument submits a document to the service, as [Client.Submit] does with texts. [Job.Document] returns the translation.
// d.Content may be modified after SubmitDocument has returned.
func (c *Client) SubmitDocument(ctx context.Context, d Document, o SubmitOptions) (*Job, error) {
	call, err := d.call(o)
	if err != nil {
		return nil, err
	}
	return c.submit(ctx, call, o)
}

// call returns the request that submits the document.
func (d Document) call(o SubmitOptions) (call, error) {
	query := url.Values{
		"fromLang": {d.From}, "toLang": {d.To}, "name": {d.Name}, "columns": d.Columns, "glossaryId": {d.Glossary}, "memoryId": {d.Memory}, "model": {d.Model},
		"priority": {d.Priority}, "webhook": {o.Webhook}, "header": {d.Header}, "also": d.Also, "wrapped": {d.Wrapped}, "as": {d.As},
	}
	for _, name := range d.Columns {
		if strings.Contains(name, ",") {
			return call{}, fmt.Errorf("client: the service takes no column with a comma in its name, such as %.100q: name it by its number", name)
		}
	}
	if d.Options != nil {
		raw, err := json.Marshal(d.Options)
		if err != nil {
			return call{}, fmt.Errorf("client: the options cannot be written as JSON: %w", err)
		}
		query.Set("options", string(raw))
	}
	id, err := idOf("Document", d.ID)
	return call{method: "POST", path: documentsPath + queryString(query), body: d.Content, media: fileType, accept: jsonType, id: id}, err
}

// Document returns the translated document as soon as the job has ended. The method waits like [Job.Wait]. The whole document is
// in memory: [Config.MaxResponseBytes] limits it.
func (j *Job) Document(ctx context.Context) ([]byte, error) {
	if err := j.finish(ctx); err != nil {
		return nil, err
	}
	call := newCall(documentsPath + "/" + url.PathEscape(j.id) + "/result")
	call.accept = "*/*"
	return askOn(ctx, j.client.transport, call, unparsed)
}
