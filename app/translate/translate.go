// Package translate is the use case: records in one language become records in
// another. A [Service] reads top-down as validate, encode, decode on the engine,
// turn into text; it knows neither HTTP nor the model's runtime.
package translate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

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
	Translate(ctx context.Context, jobs []engine.Job) ([]search.Result, error)
}

// Config is what a [Service] works with.
type Config struct {
	Tokenizer Tokenizer
	Engine    Engine
	Spec      model.Spec
	// Languages are the codes of the languages that are offered.
	Languages []string
	// MaxRecords is the number of records that a request may have.
	MaxRecords int
}

// Service translates. It is safe for concurrent use.
type Service struct {
	cfg       Config
	languages []string // sorted
}

// New makes a service. It fails where the tokenizer does not fit the model.
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
	return &Service{cfg: cfg, languages: slices.Sorted(slices.Values(cfg.Languages))}, nil
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
// and with the engine's error otherwise.
func (s *Service) Translate(ctx context.Context, req Request) ([]Record, error) {
	target, err := s.validate(req)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(req.Records)
	if req.From == req.To {
		return out, nil
	}
	jobs, numbers, err := s.encode(ctx, req, target)
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return out, nil
	}
	results, err := s.cfg.Engine.Translate(ctx, jobs)
	if err != nil {
		return nil, err
	}
	for j, result := range results {
		i := numbers[j]
		if result.Truncated {
			return nil, recordError(CodeUnfinished, i, req.Records[i],
				"the translation reached the limit of tokens before its end (%d generated): send shorter texts, or raise MAX_LENGTH",
				len(result.Tokens))
		}
		out[i].Text = s.cfg.Tokenizer.Decode(result.Tokens)
	}
	return out, nil
}

// WarmUp translates a short text, so that what is set up on first use is set up
// and a model that cannot run shows.
func (s *Service) WarmUp(ctx context.Context) error {
	from, to := s.languages[0], s.languages[len(s.languages)-1]
	target, _ := s.cfg.Tokenizer.LanguageID(to)
	ids, err := s.cfg.Tokenizer.Encode(from, "1")
	if err != nil {
		return fmt.Errorf("warm-up: %w", err)
	}
	// Whether the translation is a good one, or ends, does not matter here.
	if _, err := s.cfg.Engine.Translate(ctx, []engine.Job{s.job(ids, target)}); err != nil {
		return fmt.Errorf("warm-up: %w", err)
	}
	return nil
}

// validate checks all of a request that can be checked without the tokenizer and
// returns the token of the target language.
func (s *Service) validate(req Request) (target int64, err error) {
	for _, lang := range []struct{ field, code string }{{"fromLang", req.From}, {"toLang", req.To}} {
		if !slices.Contains(s.languages, lang.code) {
			return 0, &Error{Code: CodeUnknownLanguage, Field: lang.field,
				Message: fmt.Sprintf("%s is not a language of this model", quoteID(lang.code))}
		}
	}
	if n := len(req.Records); n > s.cfg.MaxRecords {
		return 0, &Error{Code: CodeTooManyRecords, Field: "records",
			Message: fmt.Sprintf("%d records, at most %d are allowed: send several requests", n, s.cfg.MaxRecords)}
	}
	for i, r := range req.Records {
		if !utf8.ValidString(r.Text) {
			return 0, recordError(CodeInvalidText, i, r, "the text is not UTF-8")
		}
	}
	target, _ = s.cfg.Tokenizer.LanguageID(req.To)
	return target, nil
}

// encode makes the jobs of a request and the numbers of the records they are for.
func (s *Service) encode(ctx context.Context, req Request, target int64) (jobs []engine.Job, numbers []int, err error) {
	const framing = 2 // the language token and </s>
	for i, r := range req.Records {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if strings.TrimSpace(r.Text) == "" {
			continue
		}
		ids, err := s.cfg.Tokenizer.Encode(req.From, r.Text)
		if err != nil {
			return nil, nil, fmt.Errorf("encode records[%d]: %w", i, err)
		}
		if len(ids) <= framing {
			continue
		}
		if limit := s.cfg.Spec.MaxPositions; len(ids) > limit {
			return nil, nil, recordError(CodeTextTooLong, i, r,
				"the text has %d tokens, the model takes at most %d: split it into shorter ones", len(ids), limit)
		}
		jobs, numbers = append(jobs, s.job(ids, target)), append(numbers, i)
	}
	return jobs, numbers, nil
}

// job is a source with the forced tokens that start its translation.
func (s *Service) job(ids []int64, target int64) engine.Job {
	return engine.Job{Source: model.Source{IDs: ids, Prefix: []int64{s.cfg.Spec.DecoderStart, target}}}
}
