// Package translate is the use case: it translates texts from one language into others. A [Service] knows neither HTTP nor the
// model's runtime. A request passes through it in these stages:
//
//	validate   languages, options and limits                            (validate.go)
//	plan       records into units, and units into sentences             (plan.go, units.go)
//	remember   sentences that a translation memory has                  (memory.go)
//	count      the tokens of sentences that are not cached              (decode.go, cached.go)
//	decode     one loop: jobs for the engines, and their results        (decode.go, stream.go)
//	examine    a result: is it complete, without loops, with its spans? (examine.go)
//	judge      a flaw: which other strategy may help?                   (retry.go, placing.go, echo.go)
//	settle     the outcome of a sentence, of its parent, of the next step, of its records
//	join       sentences into records, with the text between them       (sentence.go, units.go)
//
// The plan is data. Faults of a translation, and the next steps after them, are functions of the result and of a table ([judge]).
// The state of a request belongs to its goroutine.
package translate

import (
	"context"
	"errors"
	"time"

	"dragoman/app/budget"
	"dragoman/app/translate/cache"
)

// Config is the configuration of a [Service].
type Config struct {
	Models Models
	// Cache holds earlier translations; nil disables it.
	Cache *cache.Cache
	// MaxRecords is the maximum number of translations per request: records × target languages.
	MaxRecords int
	// MaxChars is the maximum number of characters per record; see [Characters].
	MaxChars int
	// MaxSentences and MaxTokens are the maximum numbers of sentences and source tokens per request, each counted once for every
	// target language.
	MaxSentences, MaxTokens int
	Memories                Memories // nil if there are no translation memories
	Metrics                 *Metrics // nil disables them
	Ceiling                 Ceiling  // nil means no limit
}

// Ceiling limits the tokens decoded for a caller per time. It is safe for concurrent use.
type Ceiling interface {
	// Decode takes the expected tokens × beams from the caller's allowance, or fails if the allowance is used up. end corrects
	// the charge to the tokens × beams that were decoded; it must be called once unless Decode failed.
	Decode(caller string, expected int) (end func(decoded int), err error)
}

// unbounded is a [Ceiling] without a limit.
type unbounded struct{}

func (unbounded) Decode(string, int) (func(int), error) { return func(int) {}, nil }

// Service translates. It is safe for concurrent use.
type Service struct{ cfg Config }

// New returns a service.
func New(cfg Config) *Service {
	if cfg.Metrics == nil {
		cfg.Metrics = NewMetrics(nil)
	}
	if cfg.Ceiling == nil {
		cfg.Ceiling = unbounded{}
	}
	return &Service{cfg}
}

// Select returns the models that a request may use that names model, or none with ""; see [Models].
func (s *Service) Select(model string) (Selection, error) { return s.cfg.Models.Select(model) }

// Healthy fails if translations have stopped.
func (s *Service) Healthy() error { return s.cfg.Models.Healthy() }

// Translate returns the translations of all records into all languages: those into the first language in the order of the
// records, then those into the second, and so on. Otherwise it is like [Service.Stream].
func (s *Service) Translate(ctx context.Context, req Request) ([]Result, error) {
	results := make([]Result, len(req.Records)*len(req.To))
	err := s.retryGone(ctx, req, func(i int, r Result) error {
		results[i] = r
		return nil
	}, func() bool { return true })
	if err != nil {
		return nil, err
	}
	return results, nil
}

// Stream calls yield with each translation as soon as it is available, one call at a time. i is its index in the result of
// Translate.
//
// A text is translated sentence by sentence. The text between sentences is unchanged, as are the spans of a sentence: see package
// markup. Texts without letters are unchanged, and so are texts that are already in the target language: the models are not
// trained to repeat their input and would change it. Texts in a detected language without a model are unchanged, with the flag
// [UnsupportedSource]; if all texts are such, the request fails.
//
// Stream fails as a whole: with an [*Error] on a request that cannot be translated, and with the error of the ceiling, the engine
// or yield. Finished sentences stay in the cache for a repetition of the request. If a model is gone, Stream begins again as long
// as no translation by a model was handed out, and otherwise fails with [ErrGone].
func (s *Service) Stream(ctx context.Context, req Request, yield func(i int, r Result) error) error {
	fresh, untouched := true, make(map[int]bool)
	return s.retryGone(ctx, req, func(i int, r Result) error {
		if untouched[i] {
			return nil
		}
		if !r.Cached && !r.Decoded { // because any model would leave the text as it is
			untouched[i] = true
		} else {
			fresh = false
		}
		return yield(i, r)
	}, func() bool { return fresh })
}

// once is Stream without repetition.
func (s *Service) once(ctx context.Context, req Request, yield func(i int, r Result) error) error {
	r, err := s.begin(ctx, req)
	if err != nil {
		return err
	}
	defer func() { r.release() }()
	w := &work{codec: codec{ctx, r}, yield: yield}
	start := time.Now()
	if err = w.run(ctx); err != nil {
		budget.Give(ctx, w.taken)
		if errors.Is(err, ctx.Err()) {
			err = context.Cause(ctx)
		}
	}
	s.cfg.Metrics.spend(r.statistics(start, err))
	return err
}

// detectedToCheck is the number of records whose language [Service.Check] detects.
const detectedToCheck = 16

// Check fails as [Service.Translate] would, as far as that is known without translating: it validates the request, and loads the
// models of its first records. It may therefore wait, and fail for temporary reasons.
func (s *Service) Check(ctx context.Context, req Request) error {
	r, err := s.begin(ctx, req)
	if err != nil {
		return err
	}
	defer func() { r.release() }()
	r.req.Records = req.Records[:min(len(req.Records), detectedToCheck)]
	from, err := r.sources(ctx)
	if err != nil {
		return err
	}
	if err := r.findRoutes(ctx, from); err != nil || len(req.Records) > detectedToCheck {
		return err
	}
	return r.unsupported(from)
}
