package libretranslate

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"dragoman/app/compat"
	"dragoman/app/dialect"
	"dragoman/app/documents"
	"dragoman/app/failure"
	"dragoman/app/jobs"
)

// Files makes the routes for files, which are as large as the service allows. Pages of other origins cannot use them:
// they make jobs, of which a caller has few. Without a service they answer that there is none.
func Files(server *dialect.Server, service *documents.Service) dialect.Dialect {
	f := files{api{server}, service}
	const upload, download = "/translate_file", "/download_file/:name"
	if service == nil {
		off := f.notOffered(failure.NoDocuments())
		return dialect.Dialect{Render: render, Documents: true, Routes: []dialect.Route{{Methods: "POST", Path: upload, Handler: off}, {Methods: "GET", Path: download, Handler: off}}}
	}
	translate := compat.API{Server: server}.Route("POST", upload, f.translate)
	translate.Room = service.Room
	return dialect.Dialect{Render: render, Documents: true, Routes: []dialect.Route{
		translate,
		{Methods: "GET", Path: download, Handler: f.download},
	}}
}

// files has the handlers of the routes for files.
type files struct {
	api
	documents *documents.Service
}

// translate serves POST /translate_file: it answers when the file is translated.
func (f files) translate(call compat.Call) (any, error) {
	file, ok := call.Fields.File("file")
	if !ok {
		return nil, missing("file")
	}
	source, target, err := namesOf(call.Fields)
	if err != nil {
		return nil, err
	}
	from, to, err := codesOf(call.Languages, source, target)
	if err != nil {
		return nil, err
	}
	if file.Name == "" {
		return nil, compat.Refuse("Invalid request: empty file")
	}
	ctx, cancel, err := f.Bounded(call.Context)
	if err != nil {
		return nil, err
	}
	defer cancel()
	job, err := call.Submit(f.documents, file, from, to)
	var refused *failure.Failure
	switch {
	case errors.As(err, &refused) && refused.Kind == failure.UnknownDocument:
		return nil, compat.RefuseAs(failure.UnknownDocument, "Invalid request: file format not supported: %s", refused.Message)
	case err != nil:
		return nil, err
	}
	if job, err = f.documents.Wait(ctx, job.ID); err != nil {
		return nil, err
	}
	if p := job.Problem; p != nil {
		return nil, failure.Recall(p.Code, "", p.Message)
	}
	return gin.H{"translatedFileUrl": address(call.Context.Request, job)}, nil
}

// download serves GET /download_file/NAME, for everybody who knows the name, as LibreTranslate does.
func (f files) download(c *gin.Context) {
	known, _, _ := strings.Cut(c.Param("name"), ".")
	id, secret, _ := strings.Cut(known, "-")
	job, err := f.documents.Shared(c.Request.Context(), id, secret)
	if err == nil {
		err = f.documents.Send(c, job)
	}
	if err != nil {
		f.Fail(c, err)
	}
}

// address is where the file of a job is, as the sender of a request can reach it: below a name that
// nobody can guess, and that ends in that of the file.
func address(r *http.Request, job jobs.Job) string {
	u := url.URL{Scheme: "http", Host: r.Host, Path: "/download_file/" + job.ID + "-" + job.Document.Secret + "." + documents.ResultName(job)}
	if r.TLS != nil {
		u.Scheme = "https"
	}
	return u.String()
}
