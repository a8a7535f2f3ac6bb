// Package upload translates documents from requests, by package documents, and sends the translated documents.
package upload

import (
	"context"
	"crypto/rand"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/documents"
	"dragoman/app/guard/access"
	"dragoman/app/guard/body"
	"dragoman/app/jobs"
	"dragoman/app/translate"
)

// Service translates documents for all APIs. It is safe for concurrent use.
type Service struct {
	*documents.Service
	jobs   *jobs.Service
	server *dialect.Server
}

// New returns a service for the callers of a server.
func New(server *dialect.Server, cfg documents.Config) *Service {
	return &Service{documents.New(cfg), cfg.Jobs, server}
}

// Room fails if an admitted sender has no room for another job; see [jobs.Service.Room].
func (s *Service) Room(c *gin.Context) error {
	return s.jobs.Room(c.Request.Context(), access.Caller(c.Request), "")
}

// Owned returns the document with an id, if the sender may see it and knows its secret.
func (s *Service) Owned(c *gin.Context, id, secret string) (jobs.Job, error) {
	owner := ""
	if s.server.Gate.NeedsKeys() {
		owner = access.Caller(c.Request)
	}
	return s.Service.Owned(c.Request.Context(), owner, id, secret)
}

// Submit creates a job for a document; see [documents.Service.Submit].
func (s *Service) Submit(c *gin.Context, o documents.Order) (job jobs.Job, created bool, err error) {
	return s.Service.Submit(c.Request.Context(), sender{s.server, c}, o)
}

// Translate is Submit for a request that waits for the document, as long as for a translation: Translate calls use when the job
// is done. Then the job is removed, unless use keeps it.
func (s *Service) Translate(c *gin.Context, o documents.Order, use func(job jobs.Job) (keep bool, err error)) error {
	ctx, cancel, err := s.server.Bounded(c)
	if err != nil {
		return err
	}
	defer cancel()
	return s.Service.Translate(ctx, sender{s.server, c}, o, use)
}

// SubmitFile creates a job for a document sent to a drop-in API; wanted has its languages and terms. The document has a secret,
// which is in the returned job.
func (s *Service) SubmitFile(call *dialect.Call, file body.File, wanted dialect.Request) (jobs.Job, error) {
	order, err := s.order(call, file, wanted)
	if err != nil {
		return jobs.Job{}, err
	}
	job, _, err := s.Submit(call.Context, order)
	return job, err
}

// TranslateFile is SubmitFile for an API that answers once the document is translated; see Translate.
func (s *Service) TranslateFile(call *dialect.Call, file body.File, wanted dialect.Request, use func(job jobs.Job) (keep bool, err error)) error {
	order, err := s.order(call, file, wanted)
	if err != nil {
		return err
	}
	return s.Translate(call.Context, order, use)
}

// order returns the order of a document sent to a drop-in API.
func (s *Service) order(call *dialect.Call, file body.File, wanted dialect.Request) (order documents.Order, err error) {
	if err := call.Err(); err != nil {
		return order, err
	}
	if err := s.jobs.Available(); err != nil {
		return order, err
	}
	order = documents.Order{Name: file.Name, MediaType: file.MediaType, File: file.Content, Glossaries: wanted.Glossaries, Secret: rand.Text()}
	order.Owner = access.Caller(call.Context.Request)
	order.Request.Request = translate.Request{Model: call.Model, From: wanted.From, To: []string{wanted.To}, Terms: wanted.Terms, Memory: wanted.Memory, Unfinished: true}
	if err := call.Server.OwnMemory(call.Context, &order.Request.Request); err != nil {
		return order, err
	}
	return order, nil
}

// Send answers with the translated document of a job. If Send fails after a part was sent, it panics with [http.ErrAbortHandler],
// so that the client does not take the part for the whole.
func (s *Service) Send(c *gin.Context, job jobs.Job) error {
	mediaType, made, err := s.Made(c.Request.Context(), job)
	if err != nil {
		return err
	}
	c.Header("Content-Type", mediaType)
	c.Header("Content-Disposition", documents.Disposition(documents.ResultName(job)))
	// A document may be an HTML page, which browsers must not show as a page of the service.
	c.Header("X-Content-Type-Options", "nosniff")
	c.Header("Cache-Control", "private, no-store")
	c.Header("Content-Length", strconv.FormatInt(made.Bytes, 10))
	c.Status(http.StatusOK)
	if c.Request.Method == http.MethodHead {
		return nil
	}
	for n := range made.Parts {
		part, err := made.Part(c.Request.Context(), n)
		if err == nil {
			err = dialect.Write(c, part)
		}
		if err != nil {
			dialect.CutOff(c, err)
		}
	}
	return nil
}

// sender is a [documents.Sender].
type sender struct {
	*dialect.Server
	c *gin.Context
}

func (s sender) Bounded() (context.Context, context.CancelFunc, error) { return s.Server.Bounded(s.c) }

func (s sender) WithGlossaries(ids []string, req translate.Request) ([]translate.Request, error) {
	return s.Server.WithGlossaries(s.c, ids, req)
}

func (s sender) CheckCharge(characters int) error { return s.Gate.CheckCharge(s.c.Request, characters) }

func (s sender) Charge(req translate.Request, characters int) error {
	return s.ChargeDocument(s.c, &req, characters)
}
