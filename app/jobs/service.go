package jobs

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"dragoman/app/fault"
	"dragoman/app/guard/admission"
	"dragoman/app/guard/admission/cost"
	"dragoman/app/guard/bound"
	"dragoman/app/translate"
)

// Translator is the translation service, with limits for jobs. It is safe for concurrent use.
type Translator interface {
	Translate(ctx context.Context, req translate.Request) ([]translate.Result, error)
	Check(ctx context.Context, req translate.Request) error
}

// Renderer renders the API's answers. It is safe for concurrent use.
type Renderer interface {
	// Results returns the elements of a JSON array, with commas between, for a job without a document.
	Results(r Request, results []translate.Result) ([]byte, error)
	// Job returns a job as JSON.
	Job(j Job) ([]byte, error)
}

// Notifier sends messages to webhooks. It is safe for concurrent use.
type Notifier interface {
	// Check returns an error for a URL that may not be called, in words for its sender.
	Check(url string) error
	// Send sends a message with an id. Another try may help unless the error is [ErrWebhookGone].
	Send(ctx context.Context, url, id string, body []byte) error
}

// ErrWebhookGone means that the owner of a webhook does not want any more messages.
var ErrWebhookGone = errors.New("the webhook is gone")

// Config configures a [Service].
type Config struct {
	Store Store // nil: none
	// Missing is the reason why there is no store, in words for clients.
	Missing     error
	TTL         time.Duration     // time for which a job without progress is tried
	Concurrency int               // number of jobs that run at a time
	Memory      *admission.Memory // memory of all requests, in which slices share; nil: no limit
	Render      Renderer
	Webhooks    Notifier // nil: none
	Log         *slog.Logger
	Registry    prometheus.Registerer // nil for none
}

// Service submits, reads and runs jobs for the API. It is safe for concurrent use. [Service.Run] runs jobs.
type Service struct {
	cfg        Config
	store      *storage
	translator atomic.Pointer[Translator] // nil until Ready
	permits    permits
	maker      atomic.Pointer[Maker] // nil: no documents are made
	stop       context.CancelFunc    // ends the service
}

// New returns a service that does not run jobs yet.
func New(cfg Config) *Service {
	ending, stop := context.WithCancel(context.Background())
	return &Service{cfg: cfg, stop: stop, store: newStorage(cfg, ending), permits: newPermits(cfg.Concurrency)}
}

// Ready sets the translator, from which on jobs are accepted.
func (s *Service) Ready(t Translator) { s.translator.Store(&t) }

// Available returns an [*fault.Unavailable] if the service has no store. Then only Ready and Run may be called.
func (s *Service) Available() error {
	if s.cfg.Store == nil {
		return &fault.Unavailable{Kind: fault.NoJobs, Reason: s.cfg.Missing, Err: errNoStore}
	}
	return nil
}

// errNoStore is the store's error if there is none.
var errNoStore = errors.New("there is no store of jobs")

// Submission is a job as submitted.
type Submission struct {
	Owner            string
	Key, Fingerprint string // see [Draft]
	Request          Request
	Records          []translate.Record
	Characters       int // as charged
	// Terms are the terms of stored glossaries for each target language; nil: the request's own terms apply to all of them.
	Terms [][]translate.Term
	// Document is the document whose texts are the records, without Bytes and Parts, and File is its file, which must not be
	// modified. nil: there is none.
	Document *Document
	File     []byte
}

// Find returns the job for which a key was used. The error is of [Store.Find], or an [*fault.Unavailable].
func (s *Service) Find(ctx context.Context, owner, key, fingerprint string) (Job, error) {
	job, err := s.store.Find(ctx, owner, key, fingerprint)
	return job, s.store.note(err)
}

var errNotReady = fault.New(fault.NotReady, "", "the model is loading: try again in a moment")

// checkTimeout is the time for models to load before a job is accepted without a check of its options.
const checkTimeout = 5 * time.Second

// Check returns the error with which the translation of a job would fail. Temporary errors do not count.
func (s *Service) Check(ctx context.Context, sub Submission) error {
	if err := s.Available(); err != nil {
		return err
	}
	t := s.translator.Load()
	if t == nil {
		return errNotReady
	}
	if err := checkWebhook(s.cfg.Webhooks, sub.Request.Webhook); err != nil {
		return err
	}
	most := int64(0) // no limit
	if s.cfg.Memory != nil {
		most = s.cfg.Memory.Most()
	}
	for i, r := range sub.Records {
		if most > 0 && cost.Texts(int64(len(r.Text)), 1)+cost.Alternatives(int64(len(r.Text)), sub.Request.Alternatives) > most {
			return fault.New(fault.TooLarge, fault.TextField(i), "the text takes more memory than requests may have: split it into several records")
		}
	}
	request := sub.Request.Request
	request.Records = sub.Records
	limited, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	err := (*t).Check(limited, request)
	if err == nil || limited.Err() != nil && ctx.Err() == nil {
		return nil
	}
	if f := fault.Explain(err, fault.Situation{}); f.Kind == fault.Busy || f.Kind == fault.Loading || f.Kind == fault.NoTime {
		return nil
	}
	return err
}

// leastBytes is the minimum that a job reserves in the store.
const leastBytes = 64 << 10

// Submit creates a job, or returns the job for which the submission's key was used before: then created is false. The error is of
// [Store.Create], or an [*fault.Unavailable].
func (s *Service) Submit(ctx context.Context, sub Submission) (job Job, created bool, err error) {
	return s.create(ctx, sub, 0)
}

// create is Submit for a job that its maker runs for the time of a lease; with lease 0, any runner runs the job.
func (s *Service) create(ctx context.Context, sub Submission, lease time.Duration) (job Job, created bool, err error) {
	input, err := slicesOf(sub.Records)
	if err != nil {
		return job, false, err
	}
	if own := sub.Request.Terms; len(sub.Terms) == 0 && len(own) > 0 {
		sub.Terms, sub.Request.Terms = [][]translate.Term{own}, nil // apart, so that readers of the job do not read them
	}
	options, err := optionBytes(sub)
	if err != nil {
		return job, false, err
	}
	if sub.Request.Glossary = len(sub.Terms) > 0; sub.Request.Glossary {
		terms, err := marshal(sub.Terms)
		if err != nil {
			return job, false, err
		}
		input = append(input, terms)
	}
	bytes, languages := options, int64(len(sub.Request.To))
	for _, slice := range input {
		bytes += int64(len(slice))
	}
	// A translation may be longer than its source, and details have both.
	perLanguage := 2 * bytes
	if sub.Request.Detail {
		perLanguage *= 3
	}
	perLanguage *= int64(1 + sub.Request.Alternatives)
	draft := Draft{
		ID: rand.Text(), Owner: sub.Owner, Key: sub.Key, Fingerprint: sub.Fingerprint, Request: sub.Request,
		Progress: Progress{Records: len(sub.Records) * len(sub.Request.To), Characters: sub.Characters},
		Lease:    lease, Input: input, Bytes: max(leastBytes, bytes+languages*perLanguage+int64(len(sub.File))),
	}
	if sub.Document != nil {
		document := *sub.Document
		draft.File = slices.Collect(slices.Chunk(sub.File, partBytes)) // the chunks share the file's memory
		document.Bytes, document.Parts = int64(len(sub.File)), len(draft.File)
		draft.Bytes += document.Most
		draft.Document = &document
	}
	job, created, err = s.store.Create(ctx, draft)
	if created {
		s.store.remembered.remember(job)
		s.cfg.Log.Info("job submitted", "job", job.ID, "owner", job.Owner, "records", job.Progress.Records, "characters", job.Progress.Characters)
	}
	return job, created, s.store.note(err)
}

// optionBytes returns the bytes of a job's options, without texts, terms and file. It fails if the options have more than
// [bound.JobOptions].
func optionBytes(sub Submission) (int64, error) {
	raw, err := marshal(Job{Request: sub.Request, Document: sub.Document})
	if most := bound.JobOptions; err == nil && len(raw) > most {
		err = fault.New(fault.TooLarge, "", "the options of the job have %d bytes, at most %d are allowed: name fewer languages, columns or elements", len(raw), most)
	}
	return int64(len(raw)), err
}

// Room returns a [*fault.Failure] if an owner has no room for another job, unless the key belongs to an existing job. The other
// errors are of [Store.Create].
func (s *Service) Room(ctx context.Context, owner, key string) error {
	if err := s.Available(); err != nil {
		return err
	}
	return s.store.note(s.store.Room(ctx, Draft{Owner: owner, Key: key, Bytes: leastBytes}))
}

// Get returns a job. The error is ErrUnknown, ErrVanished with the remembered state of the job, or an [*fault.Unavailable].
func (s *Service) Get(ctx context.Context, id string) (Job, error) { return s.store.get(ctx, id) }

// List returns the jobs of an owner, the newest first, at most most of them.
func (s *Service) List(ctx context.Context, owner string, most int) ([]Job, error) {
	list, err := s.store.List(ctx, owner, most)
	return list, s.store.note(err)
}

// Results returns a chunk of the results of a job that is done, from 0 to [Job.ResultChunks], as rendered by [Renderer.Results].
func (s *Service) Results(ctx context.Context, id string, chunk int) ([]byte, error) {
	return s.store.result(ctx, id, chunk)
}

// Watch is [Store.Watch].
func (s *Service) Watch(ctx context.Context, id string) <-chan struct{} {
	return s.store.Watch(ctx, id)
}

// Delete cancels a job that has not ended, and removes a job that has ended: then removed is true.
func (s *Service) Delete(ctx context.Context, id string) (job Job, removed bool, err error) {
	job, err = s.store.Cancel(ctx, id)
	switch {
	case errors.Is(err, ErrEnded):
		return job, true, s.store.note(s.store.Remove(ctx, id))
	case err == nil:
		s.store.ended(job)
	}
	return job, false, s.store.note(err)
}
