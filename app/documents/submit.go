package documents

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"dragoman/app/budget"
	"dragoman/app/document"
	"dragoman/app/document/kinds"
	"dragoman/app/document/libreoffice"
	"dragoman/app/fault"
	"dragoman/app/guard/admission/cost"
	"dragoman/app/guard/bound"
	"dragoman/app/jobs"
	"dragoman/app/text/wrap"
	"dragoman/app/translate"
)

const auto = translate.Auto

// Order is a document with the options of its translation.
type Order struct {
	Name      string // of the file; "" if unknown
	MediaType string // of the file; "" if unknown
	File      []byte
	Columns   []string // of a table
	Header    document.Header
	Also      document.Also
	Wrapped   wrap.Mode
	As        string // target format of a PDF, see [kinds.As]; "" for PDF
	// Glossaries are ids of stored glossaries to use; for a term in several, the first one wins.
	Glossaries []string
	Secret     string // see [Service.Shared]; "" for none
	// Submission has Owner, Key, Fingerprint and Request, with a single target language. The request's format and records come
	// from the document.
	jobs.Submission
}

// Sender is the sender of a document.
type Sender interface {
	// Bounded returns the context of the sender's request with its time limit. The caller must cancel it.
	Bounded() (context.Context, context.CancelFunc, error)
	Select(model string) (translate.Selection, error) // returns the models; "" for any
	// WithGlossaries returns a request for each target language, with the terms of stored glossaries.
	WithGlossaries(ids []string, req translate.Request) ([]translate.Request, error)
	CheckCharge(characters int) error // fails as Charge would
	Charge(req translate.Request, characters int) error
}

// fileField is the field of a request with the document.
const fileField = "file"

// Submit creates a job for a document, whose sender is its owner, or returns the job for which its key was used: then created is
// false. It reads the whole document first, so a faulty document is an error: a [*fault.Failure], or an error of
// [jobs.Service.Check] or [jobs.Service.Submit].
func (s *Service) Submit(ctx context.Context, from Sender, o Order) (job jobs.Job, created bool, err error) {
	sub, err := s.read(ctx, from, o)
	if err != nil {
		return job, false, err
	}
	return s.cfg.Jobs.Submit(ctx, sub)
}

// Translate is Submit for a request that waits: it calls use when the job is done. See [jobs.Service.Await].
func (s *Service) Translate(ctx context.Context, from Sender, o Order, use func(job jobs.Job) (keep bool, err error)) error {
	sub, err := s.read(ctx, from, o)
	if err != nil {
		return err
	}
	return s.cfg.Jobs.Await(ctx, sub, use)
}

// read returns the submission of a document, and charges for it.
func (s *Service) read(ctx context.Context, from Sender, o Order) (sub jobs.Submission, err error) {
	if o, err = s.modern(from, o); err != nil {
		return sub, err
	}
	kind, err := s.find(o)
	if err != nil {
		return sub, err
	}
	sub = o.Submission
	sub.File = o.File
	sub.Document = &jobs.Document{
		Name: nameAs(safeName(o.Name, kind), o.As), Kind: kind.Name, Columns: o.Columns, Header: string(o.Header), Also: o.Also, Wrapped: string(o.Wrapped),
		Secret: o.Secret,
	}
	// Rewriting takes memory for some copies of text; the kinds limit the unpacked size of packages.
	if err := budget.Take(ctx, cost.DocumentByte*int64(len(o.File))); err != nil {
		return sub, err
	}
	w := walk{service: s, from: from, form: translate.FormatOf(kind.Form)}
	options := optionsOf(sub.Request, sub.Document)
	options.HeaderKept = func() { sub.Document.HeaderKept = true }
	options.Kept = func() { sub.Document.Kept++ }
	options.Left = func(page, texts int, reason string) {
		sub.Document.Left = document.AddLeft(sub.Document.Left, page, texts, reason)
	}
	if err := w.read(kind, o, options); err != nil {
		return sub, err
	}
	sub.Records, sub.Characters, sub.Document.Most = w.records, w.characters, w.most(kind, len(o.File))
	sub.Request.Format, sub.Request.Flagged, sub.Request.Connected = translate.FormatOf(kind.Form), true, true
	if err := detect(ctx, from, &sub); err != nil {
		return sub, err
	}
	if len(o.Glossaries) > 0 {
		parts, err := from.WithGlossaries(o.Glossaries, sub.Request.Request)
		if err != nil {
			return sub, Explain(err)
		}
		// Later changes of the glossary do not affect the job.
		sub.Terms, sub.Request.Terms = [][]translate.Term{parts[0].Terms}, nil
	}
	if err := s.cfg.Jobs.Check(ctx, sub); err != nil {
		return sub, Explain(err)
	}
	request := sub.Request.Request
	request.Records = sub.Records
	if err := from.Charge(request, sub.Characters); err != nil {
		return sub, Explain(err)
	}
	sub.Request.Caller = o.Owner
	return sub, nil
}

// modern converts a document of an old program, in turn with other work.
func (s *Service) modern(from Sender, o Order) (Order, error) {
	if s.cfg.Old == nil || libreoffice.Becomes(o.Name, o.MediaType, o.File) == "" || int64(len(o.File)) > s.cfg.MaxBytes {
		return o, nil
	}
	ctx, cancel, err := from.Bounded()
	if err != nil {
		return o, err
	}
	defer cancel()
	_, err = s.inTurn(ctx, o.Owner, func(ctx context.Context) error {
		o.Name, o.File, err = s.cfg.Old.Convert(ctx, o.Name, o.MediaType, o.File, s.cfg.MaxBytes)
		return err
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return o, fault.New(fault.NoTime, fileField, "the document could not be converted in time: save it as docx, xlsx or pptx")
	}
	return o, err
}

// find returns the kind of a document, unless the document is too large.
func (s *Service) find(o Order) (*document.Kind, error) {
	if err := bound.Text("filename", len(o.Name)); err != nil {
		return nil, err
	}
	switch size := int64(len(o.File)); {
	case size == 0:
		return nil, fault.New(fault.BrokenDocument, fileField, "the document is empty")
	case size > s.cfg.MaxBytes:
		return nil, fault.New(fault.BodyTooLarge, fileField, "the document has %d bytes, at most %d are allowed: divide it", size, s.cfg.MaxBytes)
	}
	kind, err := kinds.Find(o.Name, o.MediaType, o.File[:min(len(o.File), kinds.Head)])
	if err != nil {
		return nil, fault.New(fault.UnknownDocument, fileField, "%s", err)
	}
	if kind, err = kinds.As(kind, o.As); err != nil {
		return nil, fault.New(fault.InvalidValue, "as", "%s", err)
	}
	return kind, nil
}

// fingerprint identifies a text. It is the record's id, so that a translation is not put in place of another text if a newer
// version of the service divides the document differently.
func fingerprint(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:8])
}

// detect detects the language of a document by more than a heading or a cell. If it is clear, it applies to all texts.
func detect(ctx context.Context, from Sender, sub *jobs.Submission) error {
	if sub.Request.From != auto {
		return nil
	}
	models, err := from.Select(sub.Request.Model)
	if err != nil {
		return Explain(err)
	}
	detector := models.Detector()
	if detector == nil {
		return nil // Check reports it
	}
	texts := func(yield func(string) bool) {
		for _, r := range sub.Records {
			if !yield(r.Text) {
				return
			}
		}
	}
	code, ok, err := translate.Detect(ctx, detector, texts, sub.Request.Format)
	switch {
	case err != nil:
		return err
	case ok && !slices.Contains(models.Languages(), code):
		return Explain(translate.Unsupported(code, sub.Request.To))
	case ok:
		sub.Request.From = code
	}
	return nil
}

// Explain renames the fields of POST /translation in an error to fields of document requests.
func Explain(err error) error {
	if f := fault.Explain(err, fault.Situation{}); strings.HasPrefix(f.Field, "payload.") {
		f.Field, f.Message = Field(f.Field), strings.TrimPrefix(f.Message, "payload.")
		return f
	}
	return err
}

// Field returns the field of document requests for a field of POST /translation.
func Field(name string) string {
	if strings.HasPrefix(name, "payload.records") {
		return fileField
	}
	return strings.TrimPrefix(name, "payload.")
}
