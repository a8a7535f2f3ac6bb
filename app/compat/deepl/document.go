package deepl

import (
	"cmp"
	"math"
	"path"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/compat"
	"dragoman/app/dialect"
	"dragoman/app/documents"
	"dragoman/app/failure"
	"dragoman/app/jobs"
)

// Documents makes the routes for documents, which are as large as the service allows. Without a service
// they answer that there is none.
func Documents(server *dialect.Server, service *documents.Service) dialect.Dialect {
	api := compat.API{Server: server}
	d := docs{service}
	const one = "/v2/document/:id"
	if service == nil {
		off := refuse(failure.NoDocuments())
		return dialect.Dialect{Render: render, Documents: true, Routes: []dialect.Route{
			api.Route("POST", "/v2/document", off), api.Route("POST", one, off), api.Route("POST", one+"/result", off),
		}}
	}
	submit := api.Route("POST", "/v2/document", d.submit)
	submit.Room = service.Room
	return dialect.Dialect{Render: render, Documents: true, Routes: []dialect.Route{
		submit,
		api.Route("POST", one, d.status).Uncharged(),
		api.Serve("POST", one+"/result", d.result).Uncharged(),
	}}
}

// docs has the handlers of the routes for documents.
type docs struct{ *documents.Service }

// submit serves POST /v2/document.
func (d docs) submit(call compat.Call) (any, error) {
	fields := call.Fields
	file, ok := fields.File("file")
	if !ok {
		return nil, compat.Refuse("Parameter 'file' not specified.")
	}
	name, err := fields.Text("filename")
	if err != nil {
		return nil, err
	}
	file.Name = cmp.Or(file.Name, name)
	to, err := target(fields, call.Languages)
	if err != nil {
		return nil, err
	}
	from, err := source(fields, call.Languages)
	if err != nil {
		return nil, err
	}
	if err := checkDocument(fields, file.Name); err != nil {
		return nil, err
	}
	glossaries, err := glossaryIDs(fields)
	if err != nil {
		return nil, err
	}
	job, err := call.Submit(d.Service, file, from, to, glossaries...)
	if err != nil {
		return nil, err
	}
	return gin.H{"document_id": job.ID, "document_key": job.Document.Secret}, nil
}

// checkDocument refuses what would be missed in a document.
func checkDocument(fields compat.Fields, name string) error {
	format, err := fields.Text("output_format")
	if err != nil {
		return err
	}
	if format != "" && !strings.EqualFold("."+format, path.Ext(name)) {
		return unsupported("output_format", "A document keeps its format.")
	}
	return new(request).options(fields)
}

// known is the document that a request is about: its sender has its key.
func (d docs) known(call compat.Call) (jobs.Job, error) {
	key, err := call.Fields.Text("document_key")
	if err != nil {
		return jobs.Job{}, err
	}
	if key == "" {
		return jobs.Job{}, compat.Refuse("Parameter 'document_key' not specified.")
	}
	job, err := d.Owned(call.Context, call.Context.Param("id"), key)
	return job, err
}

// documentStatus is the answer of /v2/document/ID.
type documentStatus struct {
	ID        string `json:"document_id"`
	Status    string `json:"status"`
	Remaining *int   `json:"seconds_remaining,omitempty"` // a guess, while it is translated
	Billed    *int   `json:"billed_characters,omitempty"` // once it is done
	// Why it failed: DeepL's documentation has the one, its clients read the other.
	Message      string `json:"message,omitempty"`
	ErrorMessage string `json:"error_message,omitempty"`
}

// status serves /v2/document/ID.
func (d docs) status(call compat.Call) (any, error) {
	job, err := d.known(call)
	if err != nil {
		return nil, err
	}
	return statusOf(job, time.Now()), nil
}

func statusOf(job jobs.Job, now time.Time) documentStatus {
	out := documentStatus{ID: job.ID}
	switch job.State {
	case jobs.Queued:
		out.Status = "queued"
	case jobs.Running:
		out.Status = "translating"
		if done := job.Progress.Done; done > 0 {
			left := now.Sub(job.Started).Seconds() / float64(done) * float64(job.Progress.Records-done)
			out.Remaining = new(int(math.Ceil(max(1, left))))
		}
	case jobs.Done:
		out.Status, out.Billed = "done", &job.Progress.Characters
	default:
		out.Status, out.Message = "error", "The translation was cancelled."
		if job.Problem != nil {
			out.Message = compat.Message(failure.Recall(job.Problem.Code, "", job.Problem.Message))
		}
		out.ErrorMessage = out.Message
	}
	return out
}

// result serves /v2/document/ID/result.
func (d docs) result(call compat.Call) error {
	job, err := d.known(call)
	if err != nil {
		return err
	}
	return d.Send(call.Context, job)
}
