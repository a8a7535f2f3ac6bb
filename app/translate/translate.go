// Package translate is the use case: texts in one language become texts in others.
// A [Service] knows neither HTTP nor the model's runtime. A request goes through it
// like this:
//
//	validate   languages, options and limits                          (validate.go)
//	plan       each record becomes blocks, and these sentences        (plan.go)
//	recall     sentences that were translated before                  (cached.go)
//	count      the tokens of all others, for the engine to admit      (encode.go)
//	encode     protect markup, tokenize, when the engine has room     (encode.go)
//	decode     all sentences of all records, a window at a time       (work.go)
//	check      what came back: whole, no loop, markup in place?       (check.go)
//	retry      those that failed, in another way, together            (retry.go)
//	join       sentences to records, with all that stands between     (join.go)
package translate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"dragoman/app/cache"
	"dragoman/app/engine"
	"dragoman/model"
	"dragoman/model/search"
)

// Tokenizer turns text into token ids and back. It is safe for concurrent use.
type Tokenizer interface {
	// Encode returns the source of a translation from one language into another, with
	// the tokens that stand around the text.
	Encode(from, to, text string) ([]int64, error)
	// Forced returns the tokens that such a translation begins with.
	Forced(from, to string) []int64
	// Decode returns the text of ids without the special ones.
	Decode(ids []int64) string
	// LanguageID returns a language's token.
	LanguageID(code string) (id int64, ok bool)
}

// Engine decodes sentences. It takes the jobs from next, and calls each with the result
// of every job as soon as it is there, one call at a time; see [engine.Engine.Stream]. It
// is safe for concurrent use.
type Engine interface {
	Stream(ctx context.Context, req engine.Request,
		next func() (job engine.Job, ok bool, err error), each func(job int, r engine.Result) error) error
	// WarmUp decodes a job on whatever the engine works with, so that it is ready.
	WarmUp(ctx context.Context, job engine.Job) error
	// InRound is how long the model has been at work without a break.
	InRound() time.Duration
	// Err is why nothing can be decoded any more; nil while something can.
	Err() error
}

// Detector tells in which of the model's languages a text is. ok is false for texts
// without letters. It is safe for concurrent use.
type Detector interface {
	Detect(text string) (code string, confidence float64, ok bool)
}

// Config is what a [Service] works with.
type Config struct {
	Tokenizer Tokenizer
	Engine    Engine
	Detector  Detector // nil: no source language can be Auto
	Spec      model.Spec
	// Search are the settings that every sentence is decoded with.
	Search search.Options
	Limits Limits // of a request's options; Search is within them
	// Cache has the translations that were made before; nil is none.
	Cache *cache.Cache
	// Model tells this model's translations from others' in Cache: whatever changes
	// a translation (weights, precision, tokenizer) changes it, as the checksum of
	// the manifest does. It is needed with a cache only.
	Model string
	// Languages are the codes of the languages that are offered.
	Languages []string
	// MaxRecords is the number of translations that a request may ask for: records
	// × target languages.
	MaxRecords int
	// MaxChars is the number of characters that a record may have; see [Characters].
	MaxChars int
	// MaxSentences and MaxTokens are how many sentences and source tokens a request may
	// have, each counted once for every target language.
	MaxSentences, MaxTokens int
	Metrics                 *Metrics // nil: nobody asks for them
}

// Service translates. It is safe for concurrent use.
type Service struct {
	cfg       Config
	languages []string // sorted
	styles    []int    // of markers that the tokenizer can write, best first
	framing   int      // tokens of a source that stand around its text
	prefix    int      // tokens that a translation begins with
}

// New makes a service. It fails where the tokenizer or the search does not fit the
// model.
func New(cfg Config) (*Service, error) {
	for _, code := range cfg.Languages {
		id, ok := cfg.Tokenizer.LanguageID(code)
		switch {
		case !ok:
			return nil, fmt.Errorf("the model's language %q is none of the tokenizer's", code)
		case id >= int64(cfg.Spec.VocabSize):
			return nil, fmt.Errorf("the tokenizer gives language %q the id %d, but the model's vocabulary ends at %d: "+
				"the tokenizer's files do not belong to this model", code, id, cfg.Spec.VocabSize-1)
		}
	}
	if len(cfg.Languages) == 0 {
		return nil, errors.New("the model has no languages")
	}
	if err := cfg.Search.Validate(); err != nil {
		return nil, err
	}
	cfg.Limits.Beams = max(cfg.Limits.Beams, cfg.Search.Beams)
	cfg.Limits.MaxLength = max(cfg.Limits.MaxLength, cfg.Search.MaxLength)
	if limit := cfg.Spec.MaxPositions; cfg.Limits.MaxLength > limit {
		return nil, fmt.Errorf("max length is %d, but the model has %d positions: use at most that", cfg.Limits.MaxLength, limit)
	}
	if cfg.Cache.On() && cfg.Model == "" {
		return nil, errors.New("a cache needs the model's identity: its translations must not be taken for another model's")
	}
	if cfg.Metrics == nil {
		cfg.Metrics = NewMetrics(nil)
	}
	cfg.Metrics.know(cfg.Languages)
	s := &Service{cfg: cfg, languages: slices.Sorted(slices.Values(cfg.Languages))}
	from, to := s.languages[0], s.languages[len(s.languages)-1]
	empty, err := cfg.Tokenizer.Encode(from, to, "")
	if err != nil {
		return nil, err
	}
	s.framing, s.prefix = len(empty), len(s.prefixOf(from, to))
	s.findStyles()
	return s, nil
}

// prefixOf returns the tokens that the decoder is given at first.
func (s *Service) prefixOf(from, to string) []int64 {
	return append([]int64{s.cfg.Spec.DecoderStart}, s.cfg.Tokenizer.Forced(from, to)...)
}

// Languages returns the codes of the languages that the model translates
// between, sorted.
func (s *Service) Languages() []string { return slices.Clone(s.languages) }

// Detects says whether the source language of a request may be [Auto].
func (s *Service) Detects() bool { return s.cfg.Detector != nil }

// stuckAfter is far more than a round takes, of the largest model on the smallest
// machine.
const stuckAfter = time.Minute

// Healthy fails where translations do not go on.
func (s *Service) Healthy() error {
	if err := s.cfg.Engine.Err(); err != nil {
		return fmt.Errorf("the model is lost: %w", err)
	}
	if d := s.cfg.Engine.InRound(); d > stuckAfter {
		return fmt.Errorf("the model has not finished a step for %s", d.Round(time.Second))
	}
	return nil
}

// Detect tells in which language a text is, where the service detects languages; see
// [Detector].
func (s *Service) Detect(text string) (code string, confidence float64, ok bool) {
	if s.cfg.Detector == nil {
		return "", 0, false
	}
	return s.cfg.Detector.Detect(text)
}

// Translate returns the translations of all records into all languages: those into
// the first language, in the order of the records, then those into the second, and so
// on. Otherwise it is like [Service.Stream].
func (s *Service) Translate(ctx context.Context, req Request) ([]Result, error) {
	results := make([]Result, len(req.Records)*len(req.To))
	err := s.Stream(ctx, req, func(i int, r Result) error {
		results[i] = r
		return nil
	})
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
// it.
//
// It fails as a whole: with an [*Error] on a request that cannot be translated, with
// the engine's error, and with yield's. Sentences that were finished all the same stay
// in the cache, for when the request comes again.
func (s *Service) Stream(ctx context.Context, req Request, yield func(i int, r Result) error) error {
	from, to, err := s.languagesOf(req)
	if err != nil {
		return err
	}
	options, err := s.validate(req)
	if err != nil {
		return err
	}
	w := &work{service: s, req: req, from: from, to: to, search: options, yield: yield,
		known: make(map[question]*sentence), decoding: make(map[int]*sentence)}
	w.options = fmt.Sprintf("%+v", w.settings())
	if err := w.plan(ctx); err != nil {
		return err
	}
	return w.run(ctx)
}

// WarmUp translates a short text, so that what is set up on first use is set up
// and a model that cannot run shows. The cache has no part in it.
func (s *Service) WarmUp(ctx context.Context) error {
	from, to := s.languages[0], s.languages[len(s.languages)-1]
	ids, err := s.cfg.Tokenizer.Encode(from, to, "1")
	if err != nil {
		return fmt.Errorf("warm-up: %w", err)
	}
	job := engine.Job{Source: ids, Prefix: s.prefixOf(from, to), Search: s.cfg.Search}
	// Whether the translation is a good one, or ends, does not matter here.
	if err := s.cfg.Engine.WarmUp(ctx, job); err != nil {
		return fmt.Errorf("warm-up: %w", err)
	}
	return nil
}
