package libretranslate

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/api/upload"
	"dragoman/app/documents"
	"dragoman/app/fault"
	"dragoman/app/jobs"
)

// Files returns the routes of files, which may be as large as the service allows. Pages of other origins may not use the routes,
// because these create jobs, and a caller can have only a few jobs. Without a service the routes answer that documents are
// disabled.
func Files(server *dialect.Server, service *upload.Service) dialect.Dialect {
	api, f := dialect.API{Server: server}, files{service}
	upload, download := api.Route("POST", "/translate_file", f.translate), dialect.Route{Methods: "GET", Path: "/download_file/:name", Handler: f.download}
	if service == nil {
		upload.Handler, download.Handler = dialect.Refusing(fault.NoDocuments()), dialect.Refusing(fault.NoDocuments())
	} else {
		upload.Room = service.Room
	}
	return dialect.Dialect{Render: render, Documents: true, Routes: []dialect.Route{upload, download}}
}

// files has the handlers of the file routes.
type files struct{ *upload.Service }

// translate serves POST /translate_file: it answers when the file is translated.
func (f files) translate(call *dialect.Call) (any, error) {
	file, ok := call.File("file")
	if !ok {
		return nil, missing("file")
	}
	from, to := codesOf(call, named(call.Fields, "source"), named(call.Fields, "target"))
	if file.Name == "" {
		call.Fail(dialect.Refuse("Invalid request: empty file"))
	}
	var url string
	err := f.TranslateFile(call, file, dialect.Request{From: from, To: to}, func(job jobs.Job) (keep bool, err error) {
		url = address(call.Context.Request, job)
		return true, nil
	})
	if refused, ok := errors.AsType[*fault.Failure](err); ok && refused.Kind == fault.UnknownDocument {
		return nil, dialect.RefuseAs(fault.UnknownDocument, "Invalid request: file format not supported: %s", refused.Message)
	} else if err != nil {
		return nil, err
	}
	return gin.H{"translatedFileUrl": url}, nil
}

// download serves GET /download_file/NAME without a key to everybody who knows the name, as LibreTranslate does.
func (f files) download(c *gin.Context) (any, error) {
	known, _, _ := strings.Cut(c.Param("name"), ".")
	id, secret, _ := strings.Cut(known, "-")
	job, err := f.Shared(c.Request.Context(), id, secret)
	if err == nil {
		err = f.Send(c, job)
	}
	return nil, err
}

// address returns the URL of a job's file as the client can reach it, under a name that cannot be guessed and ends in the file's
// name.
func address(r *http.Request, job jobs.Job) string {
	u := url.URL{Scheme: "http", Host: r.Host, Path: "/download_file/" + job.ID + "-" + job.Document.Secret + "." + documents.ResultName(job)}
	if r.TLS != nil {
		u.Scheme = "https"
	}
	return u.String()
}
