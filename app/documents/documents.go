// Package documents translates files: it makes a job of the texts of a document, which keeps the
// file, and writes the document again, once, when all of them are translated. Both ways through the
// document are the same code, see package document. They are long work, done in turns.
//
//	documents.go  the service, and who may see a document
//	submit.go     from a file to a job
//	result.go     from a job that is done to a file
//	name.go       what files are called
package documents

import (
	"context"
	"crypto/subtle"
	"errors"
	"log/slog"

	"dragoman/app/document"
	"dragoman/app/guard/admission"
	"dragoman/app/jobs"
	"dragoman/app/text/wrap"
)

// Config is what a [Service] works with.
type Config struct {
	Jobs       *jobs.Service
	MaxBytes   int64 // of a document
	MaxRecords int   // different texts of a document
	MaxChars   int   // of each of them
	MaxTexts   int   // of a document, those that come again included
	Log        *slog.Logger
}

// Service translates documents for all APIs. It is safe for concurrent use.
type Service struct {
	cfg    Config
	places *admission.Places // of those who go through documents
}

// mostWalks is how many may go through a document, or wait for their turn.
const mostWalks = 64

// New makes a service, which makes the documents of the jobs.
func New(cfg Config) *Service {
	s := &Service{cfg: cfg, places: admission.NewPlaces(mostWalks)}
	cfg.Jobs.MakeDocuments(s.Make)
	return s
}

// inTurn goes through a document of a caller, in turn with others; see [admission.Queue]. It fails with an
// [*admission.PlacesError] where too many wait.
func (s *Service) inTurn(ctx context.Context, caller string, walk func(ctx context.Context) error) (done int64, err error) {
	if err := s.places.Take(caller); err != nil {
		return 0, err
	}
	defer s.places.Leave(caller)
	return admission.Queue(ctx, caller, walk)
}

// Shared is the document of an id that whoever knows its secret may see. The error is as of
// [jobs.Service.Get].
func (s *Service) Shared(ctx context.Context, id, secret string) (jobs.Job, error) {
	return s.get(ctx, id, func(job jobs.Job) bool { return knows(job, secret) })
}

// Owned is Shared for an owner, who sees only their own; "" is whoever it is.
func (s *Service) Owned(ctx context.Context, owner, id, secret string) (jobs.Job, error) {
	return s.get(ctx, id, func(job jobs.Job) bool { return (owner == "" || job.Owner == owner) && knows(job, secret) })
}

// get is the document of an id, unless it may not be seen.
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

// knows says whether a secret is that of a document which has one.
func knows(job jobs.Job, secret string) bool {
	own := job.Document.Secret
	return own != "" && subtle.ConstantTimeCompare([]byte(own), []byte(secret)) == 1
}

// optionsOf are what a job's document is rewritten with, both times.
func optionsOf(r jobs.Request, d *jobs.Document) document.Options {
	o := document.Options{From: r.From, To: r.To[0], Columns: d.Columns, Header: document.Header(d.Header), Also: d.Also, Wrapped: wrap.Mode(d.Wrapped)}
	if o.From == auto {
		o.From = ""
	}
	return o
}
