package documents

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"dragoman/app/admission"
	"dragoman/app/document"
	"dragoman/app/failure"
	"dragoman/app/jobs"
)

const (
	// writeTimeout is how long a client may take to read what is in one write.
	writeTimeout = 30 * time.Second
	// together is how much is written at a time. Documents below it fail as a whole.
	together = 64 << 10
)

// Send answers with the document that a job has made. Where that fails after a part of the document was
// sent, it panics with [http.ErrAbortHandler]: the client must not take what it has for the whole.
func (s *Service) Send(c *gin.Context, job jobs.Job) error {
	if err := finished(job); err != nil {
		return err
	}
	kind := kindOf(job)
	if kind == nil {
		return fmt.Errorf("documents of kind %q are not known any more", job.Document.Kind)
	}
	out := &download{c: c, name: ResultName(job), mediaType: kind.MediaType()}
	if c.Request.Method == http.MethodHead {
		out.begin()
		return nil
	}
	err := s.write(c.Request.Context(), out, kind, job)
	if err == nil {
		out.begin() // of a document of no bytes
		return nil
	}
	if !out.begun {
		return err
	}
	_ = c.Error(err) // for the access log
	panic(http.ErrAbortHandler)
}

// finished fails where a job has made no document.
func finished(job jobs.Job) error {
	switch job.State {
	case jobs.Done:
		return nil
	case jobs.Failed:
		return failure.New(failure.NotDone, "", "the document could not be translated: %s", job.Problem.Message)
	case jobs.Cancelled:
		return failure.New(failure.NotDone, "", "the translation of the document was cancelled")
	}
	return failure.New(failure.NotDone, "", "the document is not translated yet: ask for it when its job is done")
}

// write writes the document of a job that is done.
func (s *Service) write(ctx context.Context, out io.Writer, kind document.Kind, job jobs.Job) error {
	if err := admission.Take(ctx, copies*job.Document.Bytes); err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(out, together)
	passes := 0
	kept, err := document.Put(ctx, buffered, kind, s.cfg.Jobs.File(ctx, job), job.Document.Bytes, optionsOf(job.Request, job.Document), func() document.Next {
		passes++
		return (&results{ctx: ctx, service: s, job: job, first: passes == 1}).next
	})
	if err != nil {
		return fmt.Errorf("write a document again: %w", err)
	}
	if kept > 0 {
		s.cfg.Log.WarnContext(ctx, "texts of a document stay as they are, for their translations lost tags", "job", job.ID, "texts", kept)
	}
	return buffered.Flush()
}

// results are the translations of a job's texts, in their order.
type results struct {
	ctx     context.Context
	service *Service
	job     jobs.Job
	chunk   int // that comes next
	waiting []result
	first   bool // what it takes is not counted yet
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
	if !r.first {
		return found.Text, nil
	}
	return found.Text, admission.Take(r.ctx, int64(len(text)+len(found.Text)+recordBytes))
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

// download is the answer with a document. Its headers are sent with the first bytes.
type download struct {
	c               *gin.Context
	name, mediaType string
	begun           bool
}

// Write implements [io.Writer].
func (d *download) Write(p []byte) (int, error) {
	d.begin()
	// Not every server under test has deadlines; the real one has.
	_ = http.NewResponseController(d.c.Writer).SetWriteDeadline(time.Now().Add(writeTimeout))
	return d.c.Writer.Write(p)
}

// begin writes the headers, once.
func (d *download) begin() {
	if d.begun {
		return
	}
	d.begun = true
	d.c.Header("Content-Type", d.mediaType)
	d.c.Header("Content-Disposition", disposition(d.name))
	// A document may be a page: no browser is to show it as one of the service's own.
	d.c.Header("X-Content-Type-Options", "nosniff")
	d.c.Header("Cache-Control", "private, no-store")
	d.c.Status(http.StatusOK)
}
