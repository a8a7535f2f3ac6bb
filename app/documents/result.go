package documents

import (
	"context"
	"fmt"

	"dragoman/app/budget"
	"dragoman/app/document"
	"dragoman/app/document/kinds"
	"dragoman/app/fault"
	"dragoman/app/guard/admission/cost"
	"dragoman/app/jobs"
	"dragoman/app/translate"
)

// Made returns the document of a finished job.
func (s *Service) Made(ctx context.Context, job jobs.Job) (mediaType string, made *jobs.Made, err error) {
	if err := finished(job); err != nil {
		return "", nil, err
	}
	kind := kinds.Named(job.Document.Kind)
	if kind == nil {
		return "", nil, fmt.Errorf("documents of kind %q are not known any more", job.Document.Kind)
	}
	if made, err = s.cfg.Jobs.Made(ctx, job); made == nil && err == nil {
		err = fmt.Errorf("the job %s has no document", job.ID)
	}
	return kind.MediaType, made, err
}

// finished fails if a job has no document.
func finished(job jobs.Job) error {
	switch job.State {
	case jobs.Done:
		return nil
	case jobs.Failed:
		return fault.New(fault.NotDone, "", "the document could not be translated: %s", job.Problem.Message)
	case jobs.Cancelled:
		return fault.New(fault.NotDone, "", "the translation of the document was cancelled")
	}
	return fault.New(fault.NotDone, "", "the document is not translated yet: ask for it when its job is done")
}

// Make writes the document of a job whose results are saved, in turn with others. It is a [jobs.Maker].
func (s *Service) Make(ctx context.Context, out *jobs.Made, job jobs.Job) error {
	kind, d := kinds.Named(job.Document.Kind), job.Document
	if kind == nil {
		return fmt.Errorf("documents of kind %q are not known", d.Kind)
	}
	if err := budget.Take(ctx, cost.DocumentByte*d.Bytes); err != nil {
		return err
	}
	_, err := s.inTurn(ctx, job.Request.Caller, func(ctx context.Context) (err error) {
		read := &results{ctx: ctx, service: s, job: job}
		out.Flagged, err = document.Put(ctx, out, kind, s.cfg.Jobs.File(ctx, job), d.Bytes, optionsOf(job.Request, d), read.next)
		return err
	})
	if err != nil {
		return fmt.Errorf("write a document again: %w", err)
	}
	if out.Flagged > 0 {
		s.cfg.Log.WarnContext(ctx, "texts of a document stay untranslated or lose a style, because their translations lost tags", "job", job.ID, "texts", out.Flagged)
	}
	return nil
}

// results are the translations of a job's texts, in order.
type results struct {
	ctx     context.Context
	service *Service
	job     jobs.Job
	chunk   int // number of the next chunk
	waiting []translate.Record
}

func (r *results) next(text string) (string, error) {
	for len(r.waiting) == 0 {
		if r.chunk == r.job.ResultChunks() {
			return "", fmt.Errorf("there is no translation for a text: the document has more than the %d that it had", r.job.Progress.Records)
		}
		texts, err := r.service.cfg.Jobs.Texts(r.ctx, r.job.ID, r.chunk)
		if err != nil {
			return "", err
		}
		r.chunk++
		r.waiting = texts
	}
	found := r.waiting[0]
	r.waiting = r.waiting[1:]
	if found.ID != fingerprint(text) {
		return "", fmt.Errorf("the translation of another text came: the service goes through documents of kind %s in another way than when it took this one in", r.job.Document.Kind)
	}
	return found.Text, budget.Take(r.ctx, int64(len(text)+len(found.Text)+cost.Record))
}
