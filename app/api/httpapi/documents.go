package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"mime"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/api/dialect"
	"dragoman/app/api/upload"
	"dragoman/app/document"
	"dragoman/app/document/kinds"
	"dragoman/app/document/libreoffice"
	"dragoman/app/documents"
	"dragoman/app/fault"
	"dragoman/app/guard/access"
	"dragoman/app/guard/body"
	"dragoman/app/guard/bound"
	"dragoman/app/jobs"
	"dragoman/app/text/excerpt"
	"dragoman/app/translate"
)

const (
	documentsPath = "/documents"
	// aroundDocument is the maximum size in bytes of the body beside the document.
	aroundDocument = 256 << 10
)

// documentOutput is a job's document in answers.
type documentOutput struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Bytes  int64  `json:"bytes"`
	Result string `json:"result"` // the path of the translated document, once the job is done
	// HeaderKept reports whether the first row of a table was kept, because it looks like column names.
	HeaderKept bool `json:"headerKept,omitzero"`
	// Kept is the number of texts of a workbook that stay because formulas refer to them.
	Kept int `json:"kept,omitzero"`
	// Left lists what of the document cannot be translated, by page.
	Left []string `json:"left,omitempty"`
}

func documentOf(job jobs.Job) *documentOutput {
	d := job.Document
	return &documentOutput{d.Name, d.Kind, d.Bytes, documentsPath + "/" + job.ID + "/result", d.HeaderKept, d.Kept, d.Left}
}

// openDocuments returns the document service, or nil if documents are disabled.
func openDocuments(server *dialect.Server, j *JobsConfig, log *slog.Logger) *upload.Service {
	if j == nil || j.MaxDocumentBytes == 0 {
		return nil
	}
	server.FileTypes = kinds.Extensions()
	if j.Old != nil {
		server.FileTypes = append(server.FileTypes, libreoffice.Extensions()...)
	}
	return upload.New(server, documents.Config{
		Jobs: j.Service, MaxBytes: j.MaxDocumentBytes, MaxRecords: j.MaxRecords, MaxTexts: j.MaxTexts, MaxChars: j.MaxChars, Log: log, Old: j.Old,
	})
}

// documentRoutes returns the routes of documents. Documents are jobs, and are queried and deleted like jobs.
func (j *jobsAPI) documentRoutes() []dialect.Route {
	const one = documentsPath + "/:id"
	return []dialect.Route{
		{Methods: "POST", Path: documentsPath, Handler: j.keyed(j.submitDocument), Room: j.room},
		{Methods: "GET", Path: one, Handler: j.keyed(j.get)},
		{Methods: "GET", Path: one + "/events", Handler: j.keyed(j.events)},
		{Methods: "GET", Path: one + "/result", Handler: j.keyed(j.result)},
		{Methods: "DELETE", Path: one, Handler: j.keyed(j.remove)},
	}
}

// limitDocument returns the limit of bodies with documents.
func (a *API) limitDocument() gin.HandlerFunc {
	if a.documents == nil {
		return a.limits.small
	}
	return a.limits.large(a.cfg.Jobs.MaxDocumentBytes+aroundDocument, "divide the document")
}

// result serves GET /documents/ID/result.
func (j *jobsAPI) result(c *gin.Context) (any, error) {
	job, err := j.ownJob(c)
	if err != nil {
		return nil, err
	}
	return nil, j.documents.Send(c, job)
}

// submitDocument serves POST /documents.
func (j *jobsAPI) submitDocument(c *gin.Context) (any, error) {
	key, err := idempotencyKey(c.Request.Header)
	if err != nil {
		return nil, err
	}
	sent, err := readDocument(c)
	if err != nil {
		return nil, err
	}
	order := sent.order
	order.Owner, order.Key, order.Fingerprint = access.Caller(c.Request), key, sent.fingerprint()
	return j.submitOnce(c, order.Submission, func() (jobs.Job, bool, error) {
		if err := sent.parse(&order); err != nil {
			return jobs.Job{}, false, err
		}
		if err := j.server.OwnMemory(c, &order.Request.Request); err != nil {
			return jobs.Job{}, false, documents.Explain(err)
		}
		if !isAwaited(c.Request) {
			return j.documents.Submit(c, order)
		}
		var done jobs.Job
		err := j.documents.Translate(c, order, func(job jobs.Job) (keep bool, err error) {
			done = job
			return true, nil
		})
		return done, true, err
	})
}

// sentDocument is a document with the fields of its request.
type sentDocument struct {
	order  documents.Order
	values url.Values
}

// readDocument reads the body of a request: a form, or the document itself.
func readDocument(c *gin.Context) (sent sentDocument, err error) {
	h := c.Request.Header
	if err := dialect.CheckCoding(h); err != nil {
		return sent, err
	}
	if sent.values, err = url.ParseQuery(c.Request.URL.RawQuery); err != nil {
		return sent, fault.New(fault.InvalidValue, "", "the query could not be read: %s", excerpt.Of(err.Error()))
	}
	raw, err := body.Read(c.Writer, c.Request)
	if err != nil {
		return sent, err
	}
	media, params, _ := mime.ParseMediaType(h.Get("Content-Type"))
	if media == "multipart/form-data" {
		return sent, sent.readForm(raw, params["boundary"])
	}
	sent.order.Name, sent.order.MediaType, sent.order.File = sent.values.Get("name"), media, raw
	if sent.order.Name == "" {
		sent.order.Name = documents.NameIn(h.Get("Content-Disposition"))
	}
	sent.values.Del("name")
	return sent, nil
}

func (sent *sentDocument) readForm(raw []byte, boundary string) error {
	form, err := body.ParseForm(raw, boundary)
	switch {
	case err != nil:
		return fault.New(fault.InvalidValue, "", "%s", excerpt.Of(err.Error()))
	case len(form.Files) == 0:
		return missing("file")
	case len(form.Files) > 1:
		return fault.New(fault.DuplicateField, "file", "there are %d files: send a request for each", len(form.Files))
	case form.Files[0].Field != "file":
		return fault.New(fault.UnknownField, excerpt.Of(form.Files[0].Field), "the document is in the field %s: send it as file", excerpt.Of(form.Files[0].Field))
	}
	file := form.Files[0]
	sent.order.Name, sent.order.MediaType, sent.order.File = file.Name, file.MediaType, file.Content
	for name, values := range form.Values {
		sent.values[name] = append(sent.values[name], values...)
	}
	return nil
}

// fingerprint identifies equal requests, whatever the encoding of their forms.
func (sent *sentDocument) fingerprint() string {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%q %q %q %d\n", sent.order.Name, sent.order.MediaType, sent.values.Encode(), len(sent.order.File))
	_, _ = sum.Write(sent.order.File)
	return hex.EncodeToString(sum.Sum(nil))
}

// Fields of requests with documents that translations do not have.
const (
	columnsField = "columns" // of a table; may be repeated, or have commas
	headerField  = "header"  // of a table: whether its header is kept
	alsoField    = "also"    // see document.Also; same format as columns
	webhookField = "webhook"
	asField      = "as" // the output format of a PDF

	optionsField = "options" // of a translation, in JSON
)

// parse reads the fields of a document's request, as POST /translation does.
func (sent *sentDocument) parse(order *documents.Order) error {
	var from optional[string]
	var payload payloadInput
	texts := map[string]*optional[string]{
		"fromLang": &from, "toLang": &payload.ToLang, "model": &payload.Model, "priority": &payload.Priority, "glossaryId": &payload.Glossary,
		"memoryId": &payload.Memory,
		"wrapped":  &payload.Wrapped,
	}
	options := ""
	for _, name := range slices.Sorted(maps.Keys(sent.values)) {
		values := sent.values[name]
		text := texts[name]
		names, err := []string(nil), error(nil)
		if name == columnsField || name == alsoField {
			names, err = dialect.SplitNames(name, values)
		} else if text != nil || name == optionsField || name == headerField || name == asField || name == webhookField {
			err = bound.Text(name, len(values[0]))
		}
		switch {
		case err != nil:
			return err
		case name == columnsField:
			order.Columns = names
		case name == alsoField:
			if order.Also = slices.Compact(slices.Sorted(slices.Values(names))); !order.Also.Known() {
				return fault.New(fault.InvalidValue, alsoField, "also is %q, expected some of alt, as-source, fuzzy, headers with commas between", excerpt.Of(strings.Join(values, ",")))
			}
		case len(values) > 1:
			return fault.New(fault.DuplicateField, excerpt.Of(name), "%s appears twice", excerpt.Of(name))
		case name == headerField:
			if order.Header = document.Header(values[0]); values[0] == "" || !order.Header.Known() {
				return fault.New(fault.InvalidValue, headerField, "header is %q, expected auto, keep or translate", excerpt.Of(values[0]))
			}
		case name == asField:
			if order.As = values[0]; values[0] == "" {
				return fault.New(fault.InvalidValue, asField, "as is empty: leave it out for a document that stays what it is")
			}
		case name == webhookField:
			if order.Request.Webhook = values[0]; values[0] == "" {
				return fault.New(fault.InvalidValue, webhookField, "webhook is empty: leave it out for none")
			}
		case name == optionsField:
			if options = values[0]; !jsontext.Value(options).IsValid() {
				return fault.New(fault.InvalidJSON, optionsField, "%s is not JSON", optionsField)
			}
		case text == nil:
			return fault.New(fault.UnknownField, excerpt.Of(name), "%s is not a field that is known here", excerpt.Of(name))
		case !utf8.ValidString(values[0]):
			return fault.New(fault.InvalidValue, name, "%s is not UTF-8", name)
		default:
			*text = optional[string]{values[0], true}
		}
	}
	if options != "" {
		// Within an object, so that errors name fields as in one.
		if err := decodeInput([]byte(`{"options":`+options+`}`), 0, &payload); err != nil {
			return err
		}
	}
	payload.FromLang, payload.Records = from.pointer(), &[]recordInput{}
	req, err := payload.request()
	if err != nil {
		return documents.Explain(err)
	}
	if !payload.Priority.set {
		req.Priority = translate.Low
	}
	order.Wrapped, req.Wrap = req.Wrap, "" // the option is about line breaks of the document, not of each text in it
	order.Request.Request, order.Glossaries = req.Request, req.glossaries
	return nil
}
