// Package documents translates files. It turns the texts of a document into a job, which keeps the file, and rewrites the
// document once when all of them are translated. Both passes through the document are the same code, see package document. They
// are long work, done in turns.
//
//	documents.go    the service, and access to documents
//	submit.go       from a file to a job
//	result.go       from a finished job to a file
//	name.go         names of files
package documents

import (
	"context"
	"crypto/subtle"
	"errors"
	"log/slog"

	"dragoman/app/document"
	"dragoman/app/document/libreoffice"
	"dragoman/app/guard/admission"
	"dragoman/app/jobs"
	"dragoman/app/text/wrap"
)

// Config is the configuration of a [Service].
type Config struct {
	Jobs       *jobs.Service
	MaxBytes   int64 // maximum size of a document
	MaxRecords int   // maximum number of different texts of a document
	MaxChars   int   // maximum number of characters of a text
	MaxTexts   int   // maximum number of texts of a document, including repetitions
	Log        *slog.Logger
	Old        *libreoffice.Converter // converts documents of old programs; nil: they are refused
}

// Service translates documents for all APIs. It is safe for concurrent use.
type Service struct {
	cfg    Config
	places *admission.Places // for passes through documents
}

// mostWalks is the maximum number of running and waiting passes through documents.
const mostWalks = 64

// New returns a service, and makes it the maker of the jobs' documents.
func New(cfg Config) *Service {
	s := &Service{cfg: cfg, places: admission.NewPlaces(mostWalks)}
	cfg.Jobs.MakeDocuments(s.Make)
	return s
}

// inTurn runs walk, a pass through a document of a caller, in turn with others; see [admission.Queue]. It fails with an
// [*admission.PlacesError] if too many wait.
func (s *Service) inTurn(ctx context.Context, caller string, walk func(ctx context.Context) error) (done int64, err error) {
	if err := s.places.Take(caller); err != nil {
		return 0, err
	}
	defer s.places.Leave(caller)
	return admission.Queue(ctx, caller, walk)
}

// Shared returns the document with an id, for any client that knows its secret. The error is as of [jobs.Service.Get].
func (s *Service) Shared(ctx context.Context, id, secret string) (jobs.Job, error) {
	return s.get(ctx, id, func(job jobs.Job) bool { return knows(job, secret) })
}

// Owned is Shared for an owner, who sees only own documents; "" is any owner.
func (s *Service) Owned(ctx context.Context, owner, id, secret string) (jobs.Job, error) {
	return s.get(ctx, id, func(job jobs.Job) bool { return (owner == "" || job.Owner == owner) && knows(job, secret) })
}

// get returns the document with an id, unless may refuses it.
func (s *Service) get(ctx context.Context, id string, may func(job jobs.Job) bool) (jobs.Job, error) {
	job, err := s.cfg.Jobs.Get(ctx, id)
	switch {
	case err != nil && !errors.Is(err, jobs.ErrVanished):
		return jobs.Job{}, err
	case job.Document == nil, !may(job):
		return jobs.Job{}, jobs.ErrUnknown
	}
	return job, err
}

// knows reports whether secret is the document's, if that has one.
func knows(job jobs.Job, secret string) bool {
	own := job.Document.Secret
	return own != "" && subtle.ConstantTimeCompare([]byte(own), []byte(secret)) == 1
}

// optionsOf returns the options for rewriting a job's document, which are the same in both passes.
func optionsOf(r jobs.Request, d *jobs.Document) document.Options {
	o := document.Options{From: r.From, To: r.To[0], Columns: d.Columns, Header: document.Header(d.Header), Also: d.Also, Wrapped: wrap.Mode(d.Wrapped)}
	if o.From == auto {
		o.From = ""
	}
	return o
}
