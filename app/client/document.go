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

// Document asks for a file to be translated. The service checks it, by its own limits; an [Error] names
// the field that it does not take.
type Document struct {
	From    string // code of a language such as "en", or Auto
	To      string // code of a language
	Name    string // of the file, without folders: what it ends in says of which kind it is
	Content []byte
	// Columns are those of a table that are translated, by the names in its first row, or by their
	// numbers from 1 on where it has none; without any all are.
	Columns []string
	// Header says whether the first row of a table stays: HeaderAuto, which is the default, HeaderKeep or HeaderTranslate.
	Header   string
	Also     []string // texts that are translated besides: AlsoAlt, AlsoHeaders
	Wrapped  string   // as [Request.Wrapped], of plain text
	As       string   // what a PDF becomes: "html", "txt"; "": a PDF
	Glossary string   // as [Request.Glossary]
	Model    string   // as [Request.Model]
	Priority string   // as [Request.Priority]; PriorityLow is the default
	Options  *Options // nil: as the service has them
	ID       string   // as [Request.ID]
}

// JobDocument is the document of a job, as the service took it in.
type JobDocument struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"` // such as "docx"
	Bytes int64  `json:"bytes"`
	// HeaderKept says that the first row of a table stays, for it looks like names.
	HeaderKept bool `json:"headerKept,omitzero"`
}

// Values of [Document.Header].
const (
	HeaderAuto      = "auto" // it stays where it looks like names as programs use them
	HeaderKeep      = "keep"
	HeaderTranslate = "translate"
)

// Values of [Document.Also].
const (
	AlsoAlt     = "alt"     // alternative texts of pictures, shapes and tables
	AlsoHeaders = "headers" // headers and footers of Excel's sheets
)

// SubmitDocument hands a document over to the service, as [Client.Submit] does with texts. [Job.Document]
// has the translation. d.Content may be changed once SubmitDocument has returned.
func (c *Client) SubmitDocument(ctx context.Context, d Document, o SubmitOptions) (*Job, error) {
	call, err := d.call(o)
	if err != nil {
		return nil, err
	}
	return c.submit(ctx, call, o)
}

// call is the request that submits the document.
func (d Document) call(o SubmitOptions) (call, error) {
	query := url.Values{
		"fromLang": {d.From}, "toLang": {d.To}, "name": {d.Name}, "columns": d.Columns, "glossaryId": {d.Glossary}, "model": {d.Model},
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

// Document returns the translated document as soon as the job has ended. All that is said of [Job.Wait]
// holds. The document is in memory as a whole: [Config.MaxResponseBytes] bounds it.
func (j *Job) Document(ctx context.Context) ([]byte, error) {
	if err := j.finish(ctx); err != nil {
		return nil, err
	}
	call := newCall(documentsPath + "/" + url.PathEscape(j.id) + "/result")
	call.accept = "*/*"
	return askOn(ctx, j.client, call, unparsed)
}
