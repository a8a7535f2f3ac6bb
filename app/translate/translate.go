// Package translate is the use case: records in one language become records in
// another. A [Service] reads top-down as validate, look up, encode, decode on the
// engine, turn into text; it knows neither HTTP nor the model's runtime.
package translate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"dragoman/app/cache"
	"dragoman/app/engine"
	"dragoman/model"
	"dragoman/model/search"
)

// Tokenizer turns text into token ids and back. It is safe for concurrent use.
type Tokenizer interface {
	// Encode returns [language token, pieces, </s>].
	Encode(lang, text string) ([]int64, error)
	// Decode returns the text of ids without the special ones.
	Decode(ids []int64) string
	// LanguageID returns a language's token.
	LanguageID(code string) (id int64, ok bool)
}

// Engine decodes sentences; results come in the order of the jobs. It is safe
// for concurrent use.
type Engine interface {
	Translate(ctx context.Context, req engine.Request) ([]engine.Result, error)
}

// Config is what a [Service] works with.
type Config struct {
	Tokenizer Tokenizer
	Engine    Engine
	Spec      model.Spec
	// Search are the settings that every sentence is decoded with.
	Search search.Options
	// Cache has the translations that were made before; nil is none.
	Cache *cache.Cache
	// Model tells this model's translations from others' in Cache: whatever changes
	// a translation (weights, precision, tokenizer) changes it, as the checksum of
	// the manifest does. It is needed with a cache only.
	Model string
	// Languages are the codes of the languages that are offered.
	Languages []string
	// MaxRecords is the number of records that a request may have.
	MaxRecords int
}

// Service translates. It is safe for concurrent use.
type Service struct {
	cfg       Config
	languages []string // sorted
	options   string   // the settings of the search, for the cache's keys
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
				"vocab.json does not belong to this model", code, id, cfg.Spec.VocabSize-1)
		}
	}
	if len(cfg.Languages) == 0 {
		return nil, errors.New("the model has no languages")
	}
	if err := cfg.Search.Validate(); err != nil {
		return nil, err
	}
	if limit := cfg.Spec.MaxPositions; cfg.Search.MaxLength > limit {
		return nil, fmt.Errorf("max length is %d, but the model has %d positions: use at most that", cfg.Search.MaxLength, limit)
	}
	if cfg.Cache.On() && cfg.Model == "" {
		return nil, errors.New("a cache needs the model's identity: its translations must not be taken for another model's")
	}
	return &Service{
		cfg: cfg, languages: slices.Sorted(slices.Values(cfg.Languages)),
		// Field by field, so that a setting that is added later is in it.
		options: fmt.Sprintf("%+v", cfg.Search),
	}, nil
}

// Languages returns the codes of the languages that the model translates
// between, sorted.
func (s *Service) Languages() []string { return slices.Clone(s.languages) }

// Record is a text and the name that its sender gave it.
type Record struct {
	ID   string
	Text string
}

// Request is a list of records to translate between two languages.
type Request struct {
	From, To string // codes of languages
	Records  []Record
	Priority engine.Priority // of its sentences against those of other requests
}

// Result is a record with its translation as the text. Neither mark is set where
// the text is the record's own.
type Result struct {
	Record
	Cached  bool // made before: taken from the cache
	Decoded bool // made now, by the engine
}

// Translate returns the translations of all records, in their order and with
// their ids, which may repeat.
//
// A text that has nothing to translate (nothing in it but white space and
// characters that the tokenizer drops) comes back untouched, and so does every
// text where both languages are the same: the models are not trained to repeat
// their input and would change it.
//
// It fails as a whole: with an [*Error] on a request that cannot be translated,
// and with the engine's error otherwise. Translations that were finished all the
// same stay in the cache, for when the request comes again without what failed.
func (s *Service) Translate(ctx context.Context, req Request) ([]Result, error) {
	target, err := s.validate(req)
	if err != nil {
		return nil, err
	}
	results := make([]Result, len(req.Records))
	for i, r := range req.Records {
		results[i].Record = r
	}
	if req.From == req.To {
		return results, nil
	}
	todo := s.lookUp(req, results)
	jobs, todo, err := s.encode(ctx, req, target, todo)
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return results, nil
	}
	decoded, err := s.cfg.Engine.Translate(ctx, engine.Request{Jobs: jobs, Priority: req.Priority})
	if err != nil {
		return nil, err
	}
	if err := s.collect(req, decoded, todo, results); err != nil {
		return nil, err
	}
	return results, nil
}

// WarmUp translates a short text, so that what is set up on first use is set up
// and a model that cannot run shows. The cache has no part in it.
func (s *Service) WarmUp(ctx context.Context) error {
	from, to := s.languages[0], s.languages[len(s.languages)-1]
	target, _ := s.cfg.Tokenizer.LanguageID(to)
	ids, err := s.cfg.Tokenizer.Encode(from, "1")
	if err != nil {
		return fmt.Errorf("warm-up: %w", err)
	}
	// Whether the translation is a good one, or ends, does not matter here.
	if _, err := s.cfg.Engine.Translate(ctx, engine.Request{Jobs: []engine.Job{s.job(ids, target)}}); err != nil {
		return fmt.Errorf("warm-up: %w", err)
	}
	return nil
}
