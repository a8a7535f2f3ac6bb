package documents

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"dragoman/app/api/dialect"
	"dragoman/app/document"
	"dragoman/app/document/kinds"
	"dragoman/app/fault"
	"dragoman/app/guard/admission"
	"dragoman/app/guard/admission/cost"
	"dragoman/app/jobs"
)

// Send answers with the document that a job has made. Where that fails after a part of the document was
// sent, it panics with [http.ErrAbortHandler]: the client must not take what it has for the whole.
func (s *Service) Send(c *gin.Context, job jobs.Job) error {
	if err := finished(job); err != nil {
		return err
	}
	kind := kinds.Named(job.Document.Kind)
	if kind == nil {
		return fmt.Errorf("documents of kind %q are not known any more", job.Document.Kind)
	}
	made, err := s.made(c.Request.Context(), job)
	if err != nil {
		return err
	}
	c.Header("Content-Type", kind.MediaType)
	c.Header("Content-Disposition", disposition(ResultName(job)))
	// A document may be a page: no browser is to show it as one of the service's own.
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

// made is the document that a job which is done has made. One that was done by an older version, which makes
// documents when they are asked for, is made now.
func (s *Service) made(ctx context.Context, job jobs.Job) (*jobs.Made, error) {
	made, err := s.cfg.Jobs.Made(ctx, job)
	if made != nil || err != nil {
		return made, err
	}
	made = jobs.NewMade(ctx, job)
	return made, s.Make(ctx, made, job)
}

// finished fails where a job has made no document.
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
	if err := admission.Take(ctx, cost.DocumentByte*d.Bytes); err != nil {
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
		s.cfg.Log.WarnContext(ctx, "texts of a document stay as they are, for their translations lost tags, or have lost a style", "job", job.ID, "texts", out.Flagged)
	}
	return nil
}

// results are the translations of a job's texts, in their order.
type results struct {
	ctx     context.Context
	service *Service
	job     jobs.Job
	chunk   int // that comes next
	waiting []result
}

// result is what is read of a result; see httpapi.JobRenderer.
type result struct{ ID, Text string }

// next returns the translation of the next text.
func (r *results) next(text string) (string, error) {
	for len(r.waiting) == 0 {
		if r.chunk == r.job.Steps() {
			return "", fmt.Errorf("there is no translation for a text: the document has more than the %d that it had", r.job.Progress.Records)
		}
		if err := r.load(); err != nil {
			return "", err
		}
	}
	found := r.waiting[0]
	r.waiting = r.waiting[1:]
	if found.ID != fingerprint(text) {
		return "", fmt.Errorf("the translation of another text came: the service goes through documents of kind %s in another way than when it took this one in", r.job.Document.Kind)
	}
	return found.Text, admission.Take(r.ctx, int64(len(text)+len(found.Text)+cost.Record))
}

// load reads the next chunk.
func (r *results) load() error {
	chunk, err := r.service.cfg.Jobs.Result(r.ctx, r.job.ID, r.chunk)
	if err != nil {
		return err
	}
	r.chunk++
	in := io.MultiReader(strings.NewReader("["), bytes.NewReader(chunk), strings.NewReader("]"))
	if err := json.NewDecoder(in).Decode(&r.waiting); err != nil {
		return fmt.Errorf("the results of a job cannot be read: %w", err)
	}
	return nil
}
