package translate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"dragoman/app/cache"
	"dragoman/app/engine"
)

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

// missing is a record whose translation is to be made.
type missing struct {
	number int // of the record in the request
	key    cache.Key
}

// lookUp puts the translations that are in the cache into results and returns the
// other records, those left out that are blank.
func (s *Service) lookUp(req Request, results []Result) []missing {
	var todo []missing
	for i, r := range req.Records {
		if strings.TrimSpace(r.Text) == "" {
			continue
		}
		key := cache.Key{Model: s.cfg.Model, From: req.From, To: req.To, Options: s.options, Text: r.Text}
		if v, ok := s.cfg.Cache.Get(key); ok {
			results[i].Text, results[i].Cached = v.Text, true
			continue
		}
		todo = append(todo, missing{i, key})
	}
	return todo
}

// encode makes the jobs of the records that are missing, and returns those of the
// records that have one, in the same order: texts without any piece have none.
func (s *Service) encode(ctx context.Context, req Request, target int64, todo []missing) ([]engine.Job, []missing, error) {
	const framing = 2 // the language token and </s>
	jobs, with := make([]engine.Job, 0, len(todo)), make([]missing, 0, len(todo))
	for _, m := range todo {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		r := req.Records[m.number]
		ids, err := s.cfg.Tokenizer.Encode(req.From, r.Text)
		if err != nil {
			return nil, nil, fmt.Errorf("encode records[%d]: %w", m.number, err)
		}
		if len(ids) <= framing {
			continue
		}
		if limit := s.cfg.Spec.MaxPositions; len(ids) > limit {
			return nil, nil, recordError(CodeTextTooLong, m.number, r,
				"the text has %d tokens, the model takes at most %d: split it into shorter ones", len(ids), limit)
		}
		jobs, with = append(jobs, s.job(ids, target)), append(with, m)
	}
	return jobs, with, nil
}

// job is a source with the forced tokens that start its translation.
func (s *Service) job(ids []int64, target int64) engine.Job {
	return engine.Job{Source: ids, Prefix: []int64{s.cfg.Spec.DecoderStart, target}, Search: s.cfg.Search}
}

// collect turns what the engine decoded into texts, for results and for the cache.
// It fails with the first translation that has no end, after all others are in the
// cache.
func (s *Service) collect(req Request, decoded []engine.Result, todo []missing, results []Result) error {
	var unfinished error
	for j, d := range decoded {
		m := todo[j]
		if d.Truncated {
			if unfinished == nil {
				unfinished = recordError(CodeUnfinished, m.number, req.Records[m.number],
					"the translation reached the limit of tokens before its end (%d generated): send shorter texts, or raise MAX_LENGTH",
					len(d.Tokens))
			}
			continue
		}
		text := s.cfg.Tokenizer.Decode(d.Tokens)
		s.cfg.Cache.Put(m.key, cache.Value{Text: text})
		results[m.number].Text, results[m.number].Decoded = text, true
	}
	return unfinished
}
