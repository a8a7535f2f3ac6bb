package documents

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"dragoman/app/budget"
	"dragoman/app/document"
	"dragoman/app/document/kinds"
	"dragoman/app/fault"
	"dragoman/app/guard/admission/cost"
	"dragoman/app/guard/bound"
	"dragoman/app/jobs"
	"dragoman/app/text/wrap"
	"dragoman/app/translate"
)

const auto = translate.Auto

// Order is a document as somebody sends it, and what is to become of it.
type Order struct {
	Name      string // of the file; "" where nobody has said
	MediaType string // of the file; "" likewise
	File      []byte
	Columns   []string // of a table
	Header    document.Header
	Also      document.Also
	Wrapped   wrap.Mode
	As        string // what becomes of a PDF, see [kinds.As]; "": a PDF
	// Glossaries are ids of stored ones whose terms are used; where several have one, the first wins.
	Glossaries []string
	Secret     string // see [Service.Shared]; "": there is none
	// Submission has Owner, Key, Fingerprint and Request, whose format and records are those of the
	// document. It has one target language.
	jobs.Submission
}

// Sender is who sends a document.
type Sender interface {
	// Bounded returns the context of the sender's request, which also ends when that has taken too long. It is to be cancelled.
	Bounded() (context.Context, context.CancelFunc, error)
	Select(model string) (translate.Selection, error) // of the models; "" is any
	// WithGlossaries makes a part for each target language, which uses the terms of stored glossaries.
	WithGlossaries(ids []string, req translate.Request) ([]translate.Request, error)
	CheckCharge(characters int) error // fails as Charge would
	Charge(req translate.Request, characters int) error
}

// fileField is the field of a request that has the document.
const fileField = "file"

// Submit makes a job of a document, whose sender is its owner, or returns the one that its key was used for: then
// created is false. The document is read as a whole before there is a job, so what is wrong with it is an error:
// a [*fault.Failure], or one of those of [jobs.Service.Check] and [jobs.Service.Submit].
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

// read makes a submission of a document, which is charged.
func (s *Service) read(ctx context.Context, from Sender, o Order) (sub jobs.Submission, err error) {
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
	// Rewriting takes memory for some copies of text; what packages unpack to is bounded by their kinds.
	if err := budget.Take(ctx, cost.DocumentByte*int64(len(o.File))); err != nil {
		return sub, err
	}
	w := walk{service: s, from: from, form: translate.FormatOf(kind.Form)}
	options := optionsOf(sub.Request, sub.Document)
	options.HeaderKept = func() { sub.Document.HeaderKept = true }
	if err := w.read(kind, o, options); err != nil {
		return sub, err
	}
	sub.Records, sub.Characters, sub.Document.Most = w.records, w.characters, w.most(kind, len(o.File))
	sub.Request.Format, sub.Request.Flagged = translate.FormatOf(kind.Form), true
	if err := detect(ctx, from, &sub); err != nil {
		return sub, err
	}
	if len(o.Glossaries) > 0 {
		parts, err := from.WithGlossaries(o.Glossaries, sub.Request.Request)
		if err != nil {
			return sub, Explain(err)
		}
		// What becomes of the glossary later is nothing to the job.
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

// find is the kind of a document that is not too large.
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

// fingerprint tells texts apart. It is the record's id, so that a translation is not put in the place of
// another text where a newer version of the service goes through the document in another way.
func fingerprint(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:8])
}

// detect finds out the language of a document, by more than a heading or a cell: where it is clear, its
// texts have the same.
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
		return nil // Check says so
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

// Explain has an error that names fields of POST /translation name those of requests about documents.
func Explain(err error) error {
	if f := fault.Explain(err, fault.Situation{}); strings.HasPrefix(f.Field, "payload.") {
		f.Field, f.Message = Field(f.Field), strings.TrimPrefix(f.Message, "payload.")
		return f
	}
	return err
}

// Field is the field of a request about a document that stands for one of POST /translation.
func Field(name string) string {
	if strings.HasPrefix(name, "payload.records") {
		return fileField
	}
	return strings.TrimPrefix(name, "payload.")
}
