package translate

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/cache"
	"dragoman/app/engine"
	"dragoman/model"
	"dragoman/model/search"
)

// runes is a tokenizer that makes one token of each character but U+200B.
type runes struct{ err error }

const firstRune = 1000

var languageIDs = map[string]int64{"en": 100, "fr": 101, "ja": 102}

func (r runes) Encode(lang, text string) ([]int64, error) {
	ids := []int64{languageIDs[lang]}
	for _, c := range strings.ReplaceAll(text, "\u200b", "") {
		ids = append(ids, firstRune+int64(c))
	}
	return append(ids, 2), r.err
}

func (runes) Decode(ids []int64) string {
	var text strings.Builder
	for _, id := range ids {
		if id >= firstRune {
			text.WriteRune(rune(id - firstRune))
		}
	}
	return text.String()
}

func (runes) LanguageID(code string) (int64, bool) {
	id, ok := languageIDs[code]
	return id, ok
}

// upper is an engine that turns each letter of the sources into its capital.
type upper struct {
	request   engine.Request // the last one
	calls     int
	err       error
	truncated int // the number, from 1, of a result that has no end
}

func (u *upper) Translate(_ context.Context, req engine.Request) ([]engine.Result, error) {
	u.request, u.calls = req, u.calls+1
	var results []engine.Result
	for i, job := range req.Jobs {
		var tokens []int64
		for _, id := range job.Source[1:] {
			if id >= firstRune+'a' && id <= firstRune+'z' {
				id -= 'a' - 'A'
			}
			tokens = append(tokens, id)
		}
		results = append(results, engine.Result{Result: search.Result{Tokens: tokens, Truncated: i+1 == u.truncated}})
	}
	return results, u.err
}

// config is a whole configuration, without a cache.
func config(tok Tokenizer, eng Engine) Config {
	return Config{
		Tokenizer: tok, Engine: eng, Spec: model.Spec{VocabSize: 103, MaxPositions: 12, DecoderStart: 7},
		Search:    search.Options{Beams: 1, MaxLength: 12, EarlyStopping: search.StopEarly, RepetitionPenalty: 1},
		Languages: []string{"ja", "en", "fr"}, MaxRecords: 4,
	}
}

func service(t *testing.T, tok Tokenizer, eng Engine) *Service {
	s, err := New(config(tok, eng))
	require.NoError(t, err)
	return s
}

// records are what results say, without their marks.
func records(results []Result) []Record {
	var list []Record
	for _, r := range results {
		list = append(list, r.Record)
	}
	return list
}

func TestTranslate(t *testing.T) {
	for _, test := range []struct {
		name     string
		from, to string
		in, want []Record
		calls    int
	}{
		{"order, ids and repeated ids are kept", "en", "fr",
			[]Record{{"b", "one"}, {"a", "two"}, {"b", "three"}, {"", "one"}},
			[]Record{{"b", "ONE"}, {"a", "TWO"}, {"b", "THREE"}, {"", "ONE"}}, 1},
		{"blank texts are untouched", "en", "ja",
			[]Record{{"1", ""}, {"2", "x"}, {"3", " \t\n\u3000"}, {"4", " \u200b "}},
			[]Record{{"1", ""}, {"2", "X"}, {"3", " \t\n\u3000"}, {"4", "  "}}, 1},
		{"what the tokenizer drops is untouched", "en", "ja",
			[]Record{{"1", "\u200b\u200b"}}, []Record{{"1", "\u200b\u200b"}}, 0},
		{"nothing but blank texts", "en", "ja", []Record{{"1", " "}}, []Record{{"1", " "}}, 0},
		{"no records", "en", "ja", nil, nil, 0},
		{"the same language", "en", "en", []Record{{"1", "as it is"}}, []Record{{"1", "as it is"}}, 0},
		{"the longest text that fits", "en", "ja", []Record{{"1", "abcdefghij"}}, []Record{{"1", "ABCDEFGHIJ"}}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			eng := &upper{}
			in := append([]Record(nil), test.in...)
			got, err := service(t, runes{}, eng).Translate(t.Context(), Request{From: test.from, To: test.to, Records: in})
			require.NoError(t, err)
			assert.Equal(t, test.want, records(got))
			assert.Equal(t, test.calls, eng.calls)
			assert.Equal(t, test.in, in, "the request was changed")
		})
	}
}

func TestTranslateGivesTheEngineWhatTheModelNeeds(t *testing.T) {
	eng := &upper{}
	s := service(t, runes{}, eng)
	_, err := s.Translate(t.Context(), Request{From: "en", To: "ja", Records: []Record{{"1", "a"}}, Priority: engine.High})
	require.NoError(t, err)
	assert.Equal(t, engine.Request{
		Jobs: []engine.Job{{
			Source: []int64{100, firstRune + 'a', 2}, // __en__ a </s>
			Prefix: []int64{7, 102},                  // decoder start, __ja__
			Search: s.cfg.Search,
		}},
		Priority: engine.High,
	}, eng.request)
}

func TestTranslateMarksWhatWasDecoded(t *testing.T) {
	got, err := service(t, runes{}, &upper{}).Translate(t.Context(),
		Request{From: "en", To: "ja", Records: []Record{{"1", "a"}, {"2", " "}, {"3", "\u200b"}}})
	require.NoError(t, err)
	assert.Equal(t, []Result{
		{Record: Record{"1", "A"}, Decoded: true}, {Record: Record{"2", " "}}, {Record: Record{"3", "\u200b"}},
	}, got)
}

func TestTranslateRefuses(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, test := range []struct {
		name    string
		req     Request
		code    Code
		field   string
		message string
	}{
		{"source language", Request{From: "de", To: "en", Records: nil}, CodeUnknownLanguage, "fromLang", `"de" is not a language of this model`},
		{"target language", Request{From: "en", To: "", Records: nil}, CodeUnknownLanguage, "toLang", `"" is not a language of this model`},
		{"case of a language", Request{From: "EN", To: "fr", Records: nil}, CodeUnknownLanguage, "fromLang", `"EN" is not a language of this model`},
		{"both the same and unknown", Request{From: "xx", To: "xx", Records: nil}, CodeUnknownLanguage, "fromLang", `"xx" is not a language of this model`},
		{"long language", Request{From: long, To: "en", Records: nil}, CodeUnknownLanguage, "fromLang", `"` + long[:64] + `"… is not a language of this model`},
		{"too many records", Request{From: "en", To: "fr", Records: make([]Record, 5)}, CodeTooManyRecords, "records",
			"5 records, at most 4 are allowed: send several requests"},
		{"not UTF-8", Request{From: "en", To: "fr", Records: []Record{{"1", "a"}, {"2", "a\xff"}}}, CodeInvalidText, "records[1].text",
			`record "2": the text is not UTF-8`},
		{"text too long", Request{From: "en", To: "fr", Records: []Record{{"a", ""}, {"b", "abcdefghijk"}}}, CodeTextTooLong, "records[1].text",
			`record "b": the text has 13 tokens, the model takes at most 12: split it into shorter ones`},
		{"no end", Request{From: "en", To: "fr", Records: []Record{{"a", ""}, {"b", "xyz"}}}, CodeUnfinished, "records[1].text",
			`record "b": the translation reached the limit of tokens before its end (4 generated): send shorter texts, or raise MAX_LENGTH`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := service(t, runes{}, &upper{truncated: 1}).Translate(t.Context(), test.req)
			assert.Nil(t, got, "a partial result")
			var e *Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, &Error{test.code, test.field, test.message}, e)
			assert.EqualError(t, err, test.field+": "+test.message)
		})
	}
}

func TestTranslatePassesErrorsOn(t *testing.T) {
	boom := errors.New("boom")
	req := Request{From: "en", To: "fr", Records: []Record{{"1", "a"}}}

	_, err := service(t, runes{}, &upper{err: boom}).Translate(t.Context(), req)
	assert.ErrorIs(t, err, boom)
	_, err = service(t, runes{err: boom}, &upper{}).Translate(t.Context(), req)
	assert.ErrorIs(t, err, boom)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	eng := &upper{}
	_, err = service(t, runes{}, eng).Translate(ctx, req)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, eng.calls)
}

func TestWarmUp(t *testing.T) {
	eng := &upper{truncated: 1}
	require.NoError(t, service(t, runes{}, eng).WarmUp(t.Context()))
	assert.Equal(t, 1, eng.calls)

	boom := errors.New("boom")
	assert.ErrorIs(t, service(t, runes{}, &upper{err: boom}).WarmUp(t.Context()), boom)
	assert.ErrorIs(t, service(t, runes{err: boom}, &upper{}).WarmUp(t.Context()), boom)
}

func TestLanguages(t *testing.T) {
	s := service(t, runes{}, &upper{})
	list := s.Languages()
	assert.Equal(t, []string{"en", "fr", "ja"}, list)
	list[0] = "xx"
	assert.Equal(t, []string{"en", "fr", "ja"}, s.Languages(), "shares memory")
}

func TestNewRefuses(t *testing.T) {
	on, err := cache.New(cache.Config{Bytes: 1 << 20})
	require.NoError(t, err)
	off, err := cache.New(cache.Config{})
	require.NoError(t, err)
	for _, test := range []struct {
		name   string
		change func(*Config)
		want   string // "" where it is fine
	}{
		{"nothing wrong", func(*Config) {}, ""},
		{"language without a token", func(c *Config) { c.Languages = []string{"en", "xx"} },
			`the model's language "xx" is none of the tokenizer's`},
		{"token outside of the vocabulary", func(c *Config) { c.Spec.VocabSize = 102 },
			`language "ja" the id 102, but the model's vocabulary ends at 101`},
		{"no languages", func(c *Config) { c.Languages = nil }, "no languages"},
		{"search", func(c *Config) { c.Search.Beams = 0 }, "beams is 0"},
		{"longest", func(c *Config) { c.Search.MaxLength = 13 }, "max length is 13, but the model has 12 positions"},
		{"cache without identity", func(c *Config) { c.Cache = on }, "a cache needs the model's identity"},
		{"no cache without identity", func(c *Config) { c.Cache = off }, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := config(runes{}, &upper{})
			test.change(&cfg)
			_, err := New(cfg)
			if test.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, test.want)
		})
	}
}
