package deepl

import (
	"cmp"
	"math"
	"path"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/api/upload"
	"dragoman/app/fault"
	"dragoman/app/jobs"
)

// Documents returns the routes of documents, which may be as large as the service allows. Without a service the routes answer
// that documents are disabled.
func Documents(server *dialect.Server, service *upload.Service) dialect.Dialect {
	api, d := dialect.API{Server: server}, docs{service}
	on := func(h func(*dialect.Call) (any, error)) func(*dialect.Call) (any, error) {
		if service == nil {
			return refuse(fault.NoDocuments())
		}
		return h
	}
	const all, one = "/v2/document", "/v2/document/:id"
	routes := []dialect.Route{api.Route("POST", all, on(d.submit)), api.Route("POST", one, on(d.status)), api.Route("POST", one+"/result", on(d.result))}
	if service != nil {
		routes[0].Room, routes[1].Free, routes[2].Free = service.Room, true, true
	}
	return dialect.Dialect{Render: render, Documents: true, Routes: routes}
}

// docs has the handlers of the document routes.
type docs struct{ *upload.Service }

// submit serves POST /v2/document.
func (d docs) submit(call *dialect.Call) (any, error) {
	file, ok := call.File("file")
	if !ok {
		return nil, dialect.Refuse("Parameter 'file' not specified.")
	}
	file.Name = cmp.Or(call.Text("filename"), file.Name)
	to, from := target(call, call.Fields), source(call, call.Fields)
	if format := call.Text("output_format"); format != "" && !strings.EqualFold("."+format, path.Ext(file.Name)) {
		call.Fail(unsupported("output_format", "A document keeps its format."))
	}
	o := readOptions(call.Fields) // refuses options that a document would not reflect
	job, err := d.SubmitFile(call, file, dialect.Request{From: from, To: to, Glossaries: glossaryIDs(call.Fields), Memory: o.memory})
	if err != nil {
		return nil, err
	}
	return gin.H{"document_id": job.ID, "document_key": job.Document.Secret}, nil
}

// known returns the document of a request; the sender must have the document's key.
func (d docs) known(call *dialect.Call) (jobs.Job, error) {
	key := required(call.Fields, "document_key")
	if err := call.Err(); err != nil {
		return jobs.Job{}, err
	}
	return d.Owned(call.Context, call.Context.Param("id"), key)
}

// documentStatus is the answer of /v2/document/ID.
type documentStatus struct {
	ID        string `json:"document_id"`
	Status    string `json:"status"`
	Remaining *int   `json:"seconds_remaining,omitempty"` // an estimate, while the document is translated
	Billed    *int   `json:"billed_characters,omitempty"` // once it is done
	// The reason of a failure: DeepL's documentation has one field, its clients read the other.
	Message      string `json:"message,omitempty"`
	ErrorMessage string `json:"error_message,omitempty"`
}

// status serves /v2/document/ID.
func (d docs) status(call *dialect.Call) (any, error) {
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
			out.Message = dialect.Message(fault.Recall(job.Problem.Code, "", job.Problem.Message))
		}
		out.ErrorMessage = out.Message
	}
	return out
}

// result serves /v2/document/ID/result.
func (d docs) result(call *dialect.Call) (any, error) {
	job, err := d.known(call)
	if err != nil {
		return nil, err
	}
	return nil, d.Send(call.Context, job)
}
