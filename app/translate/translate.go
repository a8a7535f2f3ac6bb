// Package translate is the use case: texts in one language become texts in others.
// A [Service] knows neither HTTP nor the model's runtime. A request goes through it
// like this:
//
//	validate   languages, options and limits                            (validate.go)
//	plan       each record becomes units, and these sentences           (plan.go, units.go)
//	count      the tokens of those that the cache does not know         (decode.go, cached.go)
//	decode     one loop: what the engines ask for and answer            (decode.go, stream.go)
//	examine    what came back: whole, no loop, markup in place?         (examine.go)
//	judge      a flaw: which other strategy may help?                   (retry.go, placing.go, echo.go)
//	settle     the outcome of a sentence, of the one that it is a part of, of the next step, of records
//	join       sentences to records, with all that stands between       (sentence.go, units.go)
//
// The plan is data. What is wrong with a translation, and what is done about it, are functions of
// what came back and of a table ([judge]). A request's state is its goroutine's.
package translate

import (
	"context"
	"errors"
	"time"

	"dragoman/app/budget"
	"dragoman/app/translate/cache"
)

// Config is what a [Service] works with.
type Config struct {
	Models Models
	// Cache has the translations that were made before; nil is none.
	Cache *cache.Cache
	// MaxRecords is the number of translations that a request may ask for: records
	// × target languages.
	MaxRecords int
	// MaxChars is the number of characters that a record may have; see [Characters].
	MaxChars int
	// MaxSentences and MaxTokens are how many sentences and source tokens a request may
	// have, each counted once for every target language.
	MaxSentences, MaxTokens int
	Metrics                 *Metrics // nil: nobody asks for them
	Ceiling                 Ceiling  // nil: there is none
}

// Ceiling bounds what is decoded for a caller in a time. It is safe for concurrent use.
type Ceiling interface {
	// Decode takes the tokens × beams that are expected from what a caller may have, or fails where nothing of
	// it is left. end corrects that to what was decoded; it is called once, where there is no error.
	Decode(caller string, expected int) (end func(decoded int), err error)
}

// unbounded is a [Ceiling] that bounds nothing.
type unbounded struct{}

func (unbounded) Decode(string, int) (func(int), error) { return func(int) {}, nil }

// Service translates. It is safe for concurrent use.
type Service struct{ cfg Config }

// New makes a service.
func New(cfg Config) *Service {
	if cfg.Metrics == nil {
		cfg.Metrics = NewMetrics(nil)
	}
	if cfg.Ceiling == nil {
		cfg.Ceiling = unbounded{}
	}
	return &Service{cfg}
}

// Select returns the models that a request may use which names one, or with "" none; see
// [Models].
func (s *Service) Select(model string) (Selection, error) { return s.cfg.Models.Select(model) }

// Healthy fails where translations do not go on.
func (s *Service) Healthy() error { return s.cfg.Models.Healthy() }

// Translate returns the translations of all records into all languages: those into
// the first language, in the order of the records, then those into the second, and so
// on. Otherwise it is like [Service.Stream].
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

// Stream calls yield with each translation as soon as it is there, one call at a
// time. i is its place in what Translate returns.
//
// A text is translated sentence by sentence; everything between sentences comes back
// as it was, and so does what a sentence has that is no language: see package markup.
// Texts without letters come back untouched, and so do those that are in the target
// language already: the models are not trained to repeat their input and would change
// it. So do, with [UnsupportedSource], texts whose language was detected and is none that a model
// translates; where all are such, that is an error.
//
// It fails as a whole: with an [*Error] on a request that cannot be translated, with
// the error of the ceiling or the engine, and with yield's. Sentences that were finished all the same stay
// in the cache, for when the request comes again. It begins again where a model is gone, as long as
// nothing that it translated was handed out, and fails with [ErrGone] after that.
func (s *Service) Stream(ctx context.Context, req Request, yield func(i int, r Result) error) error {
	fresh, untouched := true, make(map[int]bool)
	return s.retryGone(ctx, req, func(i int, r Result) error {
		if untouched[i] {
			return nil
		}
		if !r.Cached && !r.Decoded { // any model would leave it as it is
			untouched[i] = true
		} else {
			fresh = false
		}
		return yield(i, r)
	}, func() bool { return fresh })
}

// once is Stream without another try.
func (s *Service) once(ctx context.Context, req Request, yield func(i int, r Result) error) error {
	w, err := s.begin(ctx, req)
	if err != nil {
		return err
	}
	w.yield = yield
	defer func() { w.release() }()
	start := time.Now()
	if err = w.run(ctx); err != nil {
		budget.Give(ctx, w.taken)
		if errors.Is(err, ctx.Err()) {
			err = context.Cause(ctx)
		}
	}
	s.cfg.Metrics.spend(w.statistics(start, err))
	return err
}

// detectedToCheck is of how many records [Service.Check] detects the language.
const detectedToCheck = 16

// Check fails as [Service.Translate] would, as far as that can be told without translating:
// the request is validated, and the models are loaded that its first records need. So it may
// wait, and fail for reasons that pass.
func (s *Service) Check(ctx context.Context, req Request) error {
	w, err := s.begin(ctx, req)
	if err != nil {
		return err
	}
	defer func() { w.release() }()
	w.req.Records = req.Records[:min(len(req.Records), detectedToCheck)]
	from, err := w.sources(ctx)
	if err != nil {
		return err
	}
	if err := w.findRoutes(ctx, from); err != nil || len(req.Records) > detectedToCheck {
		return err
	}
	return w.unsupported(from)
}
