package translate

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/translate/cache"
	"dragoman/model"
	"dragoman/model/search"
)

// runes is a tokenizer with a token for each character except U+200B.
type runes struct{ err error }

const firstRune = 1000

var languageIDs = map[string]int64{"en": 100, "fr": 101, "ja": 102, "de": 103, "zh": 104}

func (r runes) Encode(from, _, text string) ([]int64, error) {
	ids := []int64{languageIDs[from]}
	for _, c := range strings.ReplaceAll(text, "\u200b", "") {
		ids = append(ids, firstRune+int64(c))
	}
	if text == "" {
		return append(ids, 2), nil
	}
	return append(ids, 2), r.err
}

// EncodeTarget returns the text's tokens without the special tokens around them.
func (r runes) EncodeTarget(text string) ([]int64, error) {
	ids, err := r.Encode("", "", text)
	return ids[1 : len(ids)-1], err
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

func (runes) Forced(_, to string) []int64 { return []int64{languageIDs[to]} }

func (runes) LanguageID(code string) (int64, bool) {
	id, ok := languageIDs[code]
	return id, ok
}

// upper is an engine that translates letters into capitals, unless decode says otherwise.
type upper struct {
	requests []round
	err      error // of all requests
	lost     error
	// decode, unless it is nil, translates a source text.
	decode func(text string, job engine.Job) (translation string, truncated bool)
	// others, unless it is nil, returns the next best translations of a source text. Each scores 0.25 less than the one before.
	others func(text string, job engine.Job) []string
	score  map[string]float32 // scores of source texts; -0.5 for others
}

// round has the jobs that the engine held at a time.
type round struct {
	engine.Request
	Jobs []engine.Job
}

func (u *upper) Stream(_ context.Context, req engine.Request,
	next func() (engine.Job, bool, error), each func(int, engine.Result) error) error {
	if u.err != nil {
		u.requests = append(u.requests, round{Request: req})
		return u.err
	}
	for count := 0; ; {
		var jobs []engine.Job
		for {
			job, ok, err := next()
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			jobs = append(jobs, job)
		}
		if len(jobs) == 0 {
			return nil
		}
		u.requests = append(u.requests, round{req, jobs})
		for i, job := range slices.Backward(jobs) { // in another order than the jobs
			if err := each(count+i, u.translate(job)); err != nil {
				return err
			}
		}
		count += len(jobs)
	}
}

func (u *upper) translate(job engine.Job) engine.Result {
	text := runes{}.Decode(job.Source)
	translation, truncated := strings.ToUpper(text), false
	if u.decode != nil {
		translation, truncated = u.decode(text, job)
	}
	result := engine.Result{
		Result: search.Result{Tokens: tokensOf(translation), Score: -0.5, Truncated: truncated},
		Queued: time.Millisecond, Computed: 2 * time.Millisecond,
	}
	if score, ok := u.score[text]; ok {
		result.Score = score
	}
	if u.others == nil || job.Search.Hypotheses < 2 {
		return result
	}
	others := u.others(text, job)
	for i, other := range others[:min(len(others), job.Search.Hypotheses-1)] {
		result.Others = append(result.Others, search.Result{
			Tokens: tokensOf(strings.TrimSuffix(other, "…")), Score: result.Score - float32(i+1)/4, Truncated: strings.HasSuffix(other, "…"),
		})
	}
	return result
}

// tokensOf returns the tokens of a translation.
func tokensOf(text string) []int64 {
	tokens, _ := runes{}.Encode("en", "fr", text)
	return tokens[1 : len(tokens)-1]
}

func (u *upper) Err() error { return u.lost }

// last returns the last request.
func (u *upper) last() round { return u.requests[len(u.requests)-1] }

// sources returns the texts of a request.
func sources(req round) []string {
	var list []string
	for _, job := range req.Jobs {
		list = append(list, runes{}.Decode(job.Source))
	}
	return list
}

// testConfig is the configuration of a model and of a service with only that model and no cache.
type testConfig struct {
	ModelConfig
	Config
	Detector Detector
}

// config is a whole configuration, without a cache.
func config(tok Tokenizer, eng Engine) testConfig {
	return testConfig{
		ModelConfig: ModelConfig{
			Name: "m", Version: "1", Identity: "model",
			Tokenizer: tok, Engine: eng, Spec: model.Spec{VocabSize: 103, MaxPositions: 60, DecoderStart: 7},
			Search:    search.Options{Beams: 1, MaxLength: 40, EarlyStopping: search.StopEarly, RepetitionPenalty: 1},
			Limits:    Limits{Beams: 4, MaxLength: 60},
			Languages: []string{"ja", "en", "fr"},
		},
		Config: Config{MaxRecords: 6, MaxChars: 1000, MaxSentences: 1000, MaxTokens: 10_000},
	}
}

// start makes the service.
func (c testConfig) start(t testing.TB) *Service {
	m, err := NewModel(c.ModelConfig)
	require.NoError(t, err)
	c.Models = Only(m, c.Detector)
	return New(c.Config)
}

// all returns the models of a service.
func all(t *testing.T, s *Service) Selection {
	models, err := s.Select("")
	require.NoError(t, err)
	return models
}

func service(t *testing.T, tok Tokenizer, eng Engine) *Service { return config(tok, eng).start(t) }

// texts returns a request from en to fr.
func texts(list ...string) Request {
	req := Request{From: "en", To: []string{"fr"}}
	for i, text := range list {
		req.Records = append(req.Records, Record{strconv.Itoa(i), text})
	}
	return req
}

// textsOf returns the texts of results.
func textsOf(results []Result) []string {
	var list []string
	for _, r := range results {
		list = append(list, r.Text)
	}
	return list
}

func TestTranslate(t *testing.T) {
	for _, test := range []struct {
		name     string
		from, to string
		in, want []Record
		requests int
	}{
		{"order, ids and repeated ids are kept", "en", "fr",
			[]Record{{"b", "one"}, {"a", "two"}, {"b", "three"}, {"", "one"}},
			[]Record{{"b", "ONE"}, {"a", "TWO"}, {"b", "THREE"}, {"", "ONE"}}, 1},
		{"what stands around sentences stays", "en", "fr",
			[]Record{{"1", "  One two.  Three!\n\n- four\t\r\n"}},
			[]Record{{"1", "  ONE TWO.  THREE!\n\n- FOUR\t\r\n"}}, 1},
		{"blank texts are untouched", "en", "fr",
			[]Record{{"1", ""}, {"2", "yes"}, {"3", " \t\n\u3000"}},
			[]Record{{"1", ""}, {"2", "YES"}, {"3", " \t\n\u3000"}}, 1},
		{"texts without letters are untouched", "en", "fr",
			[]Record{{"1", "12:30 --- 100 %"}, {"2", "🙂🙂"}, {"3", "***"}},
			[]Record{{"1", "12:30 --- 100 %"}, {"2", "🙂🙂"}, {"3", "***"}}, 0},
		{"nothing but what is kept", "en", "fr",
			[]Record{{"1", "https://example.com/path?a=b"}}, []Record{{"1", "https://example.com/path?a=b"}}, 0},
		{"no records", "en", "ja", nil, nil, 0},
		{"the same language", "en", "en", []Record{{"1", "as it is"}}, []Record{{"1", "as it is"}}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			eng := &upper{}
			in := slices.Clone(test.in)
			got, err := service(t, runes{}, eng).Translate(t.Context(), Request{From: test.from, To: []string{test.to}, Records: in})
			require.NoError(t, err)
			var records []Record
			for _, r := range got {
				records = append(records, r.Record)
			}
			assert.Equal(t, test.want, records)
			assert.Len(t, eng.requests, test.requests)
			assert.Equal(t, test.in, in, "the request was changed")
		})
	}
}

func TestTranslateGivesTheEngineWhatTheModelNeeds(t *testing.T) {
	eng := &upper{}
	s := service(t, runes{}, eng)
	req := texts("a")
	req.To, req.Priority, req.Caller = []string{"ja"}, High, "alice"
	_, err := s.Translate(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, []round{{
		Request: engine.Request{Caller: "alice", Priority: High, Tokens: 3, Beams: 1},
		Jobs: []engine.Job{{
			Source: []int64{100, firstRune + 'a', 2}, // __en__ a </s>
			Prefix: []int64{7, 102},                  // decoder start, __ja__
			Search: config(nil, nil).Search,
		}},
	}}, eng.requests)
}

// All sentences of all records and languages are decoded together.
func TestTranslateAsksOnce(t *testing.T) {
	eng := &upper{}
	req := texts("One. Two.", "Three.")
	req.To = []string{"fr", "ja"}
	got, err := service(t, runes{}, eng).Translate(t.Context(), req)
	require.NoError(t, err)
	require.Len(t, eng.requests, 1)
	assert.Equal(t, []string{"One.", "Two.", "One.", "Two.", "Three.", "Three."}, sources(eng.last()))
	var to []string
	for _, r := range got {
		to = append(to, r.ID+r.To)
	}
	assert.Equal(t, []string{"0fr", "1fr", "0ja", "1ja"}, to)
}

func TestResult(t *testing.T) {
	got, err := service(t, runes{}, &upper{}).Translate(t.Context(), texts("Ab. Cde.", "7"))
	require.NoError(t, err)
	assert.Equal(t, []Result{
		{
			Record: Record{"0", "AB. CDE."}, From: "en", To: "fr", Model: "m", Version: "1", Exports: map[string]string{"m:1": "model"},
			Segments:     []Segment{{Source: "Ab.", Text: "AB."}, {Source: "Cde.", Text: "CDE."}},
			SourceTokens: 11, TargetTokens: 7, Score: -0.5, Decoded: true,
			Queued: time.Millisecond, Computed: 2 * time.Millisecond,
		},
		{Record: Record{"1", "7"}, From: "en", To: "fr", Model: "m", Version: "1", Exports: map[string]string{"m:1": "model"}},
	}, got)
}

// asYouLike detects French by its first letter, and no language in digits.
type asYouLike struct{}

func (asYouLike) Detect(text string) (string, float64, bool) {
	switch {
	case strings.HasPrefix(text, "é"):
		return "fr", 1, true
	case strings.HasPrefix(text, "я"):
		return "ru", 1, true
	case strings.ContainsAny(text, "abc"):
		return "en", 0.5, true
	}
	return "", 0, false
}

func TestDetection(t *testing.T) {
	cfg := config(runes{}, &upper{})
	cfg.Detector = asYouLike{}
	s := cfg.start(t)
	assert.NotNil(t, all(t, s).Detector())
	req := texts("été", "abc", "123")
	req.From, req.To = Auto, []string{"fr", "ja"}
	got, err := s.Translate(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, []string{"été", "ABC", "123", "ÉTÉ", "ABC", "123"}, textsOf(got))
	var from []string
	for _, r := range got {
		from = append(from, r.From)
		assert.True(t, r.Detected)
	}
	assert.Equal(t, []string{"fr", "en", "", "fr", "en", ""}, from)

	assert.Nil(t, all(t, service(t, runes{}, &upper{})).Detector())
}

// A text in a language without a model is flagged among others, and is an error alone.
func TestUnsupportedSource(t *testing.T) {
	cfg := config(runes{}, &upper{})
	cfg.Detector = asYouLike{}
	s := cfg.start(t)
	for _, test := range []struct {
		name  string
		texts []string
		set   func(*Request)
		fails bool
	}{
		{"alone", []string{"яблоко"}, nil, true},
		{"with what has no language", []string{"1", "яблоко"}, nil, true},
		{"among others", []string{"яблоко", "abc"}, nil, false},
		{"with what is in the target language", []string{"яблоко", "été"}, nil, false},
		{"with details", []string{"яблоко"}, func(r *Request) { r.Flagged = true }, false},
		{"in a slice", []string{"яблоко"}, func(r *Request) { r.Sliced = true }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			req := texts(test.texts...)
			if req.From, req.To = Auto, []string{"fr"}; test.set != nil {
				test.set(&req)
			}
			got, err := s.Translate(t.Context(), req)
			if test.fails {
				var refused *Error
				require.ErrorAs(t, err, &refused)
				assert.Equal(t, CodeUnsupportedSource, refused.Code)
				assert.Contains(t, refused.Message, "Russian (ru)")
				assert.ErrorAs(t, s.Check(t.Context(), req), &refused)
				return
			}
			require.NoError(t, err)
			require.NoError(t, s.Check(t.Context(), req))
			for _, r := range got {
				if strings.HasPrefix(r.Text, "я") {
					assert.Equal(t, UnsupportedSource, r.Flags)
					assert.Equal(t, "ru", r.From)
				} else {
					assert.Zero(t, r.Flags)
				}
			}
		})
	}
	req := texts("яблоко")
	req.From, req.To = Auto, []string{"fr"}
	cut, err := s.Cut(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, "ru", cut.From)
	require.NotNil(t, cut.Unsupported)
	assert.Equal(t, "яблоко", cut.Parts[0].Text)
	assert.False(t, cut.Parts[0].Translated)
}

func TestStream(t *testing.T) {
	s := service(t, runes{}, &upper{})
	var order []int
	require.NoError(t, s.Stream(t.Context(), texts("one", "2", "three"), func(i int, r Result) error {
		order = append(order, i)
		return nil
	}))
	assert.Equal(t, []int{1, 2, 0}, order, "as they are done: the fake engine goes backward")

	gone := errors.New("gone")
	assert.ErrorIs(t, s.Stream(t.Context(), texts("one", "2"), func(int, Result) error { return gone }), gone)
	assert.ErrorIs(t, s.Stream(t.Context(), texts("one"), func(int, Result) error { return gone }), gone)
}

func TestHTML(t *testing.T) {
	req := texts(`<p class="one">One &amp; two. <b>Three</b></p><script>no()</script><!-- no -->`)
	req.Format = HTML
	got, err := service(t, runes{}, &upper{}).Translate(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, `<p class="one">ONE &amp; TWO. <b>THREE</b></p><script>no()</script><!-- no -->`, got[0].Text)
}

func TestWrapped(t *testing.T) {
	eng := &upper{}
	req := texts("One\ntwo. Three.\nFour")
	req.Wrapped = true
	got, err := service(t, runes{}, eng).Translate(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, []string{"One\ntwo.", "Three.", "Four"}, sources(eng.last()))
	assert.Equal(t, []string{"ONE\nTWO. THREE.\nFOUR"}, textsOf(got))
}

func TestWhole(t *testing.T) {
	eng := &upper{}
	req := texts(" One. Two.\n")
	req.Whole = true
	got, err := service(t, runes{}, eng).Translate(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, []string{"One. Two."}, sources(eng.last()))
	assert.Equal(t, []string{" ONE. TWO.\n"}, textsOf(got))
}

func TestOptions(t *testing.T) {
	eng := &upper{}
	req := texts("a")
	penalty, ngram, repetition := 0.5, 2, 1.5
	req.Options = Options{Beams: 3, MaxLength: 20, LengthPenalty: &penalty, NoRepeatNgramSize: &ngram, RepetitionPenalty: &repetition}
	_, err := service(t, runes{}, eng).Translate(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, search.Options{
		Beams: 3, MaxLength: 20, LengthPenalty: 0.5, NoRepeatNgramSize: 2, RepetitionPenalty: 1.5, EarlyStopping: search.StopEarly,
	}, eng.last().Jobs[0].Search)
}

// A higher MaxLength of a request counts only up to the possible length of a sentence, so that a few letters do not cost as much
// as the longest translation.
func TestLongerThanASentenceIsWorth(t *testing.T) {
	for text, want := range map[string]int{"a": 3*4 + 32, strings.Repeat("x", 30): 60} {
		eng := &upper{}
		req := texts(text)
		req.Options = Options{MaxLength: 60}
		_, err := service(t, runes{}, eng).Translate(t.Context(), req)
		require.NoError(t, err)
		job := eng.last().Jobs[0]
		assert.Equal(t, min(want, 3*len(job.Source)+32), job.Search.MaxLength)
		assert.Equal(t, want == 60, job.Search.MaxLength == 60)
	}
}

func TestTranslateRefuses(t *testing.T) {
	long, negative := strings.Repeat("x", 101), -1
	from := func(from, to string) Request { return Request{From: from, To: []string{to}} }
	with := func(o Options) Request { return Request{From: "en", To: []string{"fr"}, Options: o} }
	slice := texts("a", "a\xff")
	slice.First = 256
	for _, test := range []struct {
		name    string
		req     Request
		code    Code
		field   string
		message string
	}{
		{"source language", from("de", "en"), CodeUnknownLanguage, "fromLang", `"de" is not a language of this model`},
		{"target language", from("en", ""), CodeUnknownLanguage, "toLang", `"" is not a language of this model`},
		{"name of a language", from("English", "fr"), CodeUnknownLanguage, "fromLang", `"English" is not a language of this model, en is`},
		{"both the same and unknown", from("xx", "xx"), CodeUnknownLanguage, "fromLang", `"xx" is not a language of this model`},
		{"long language", from(long, "en"), CodeUnknownLanguage, "fromLang", `"` + long[:100] + `…" is not a language of this model`},
		{"auto without a detector", from("auto", "en"), CodeUnknownLanguage, "fromLang", "this service does not detect languages: name one"},
		{"auto as a target", from("en", "auto"), CodeUnknownLanguage, "toLang", `"auto" is not a language of this model`},
		{"no target", Request{From: "en"}, CodeUnknownLanguage, "toLang", "no language to translate into: name one"},
		{"one of several", Request{From: "en", To: []string{"fr", "xx"}}, CodeUnknownLanguage, "toLangs[1]", `"xx" is not a language of this model`},
		{"a target twice", Request{From: "en", To: []string{"fr", "ja", "fr"}}, CodeInvalidOption, "toLangs[2]", `"fr" is there twice`},
		{"too many translations", Request{From: "en", To: []string{"fr", "ja"}, Records: make([]Record, 4)}, CodeTooManyRecords, "records",
			"4 records × 2 languages, at most 6 translations are allowed: send several requests"},
		{"not UTF-8", texts("a", "a\xff"), CodeInvalidText, "records[1].text", `record "1": the text is not UTF-8`},
		{"not UTF-8 in a slice", slice, CodeInvalidText, "records[257].text", `record "1": the text is not UTF-8`},
		{"text too long", texts("", strings.Repeat("é", 1001)), CodeTextTooLong, "records[1].text",
			`record "1": the text has 1001 characters, at most 1000 are allowed: split it into several records`},
		{"format", Request{From: "en", To: []string{"fr"}, Format: "pdf"}, CodeInvalidOption, "format", `the format is "pdf": use text, html or xml`},
		{"beams", with(Options{Beams: 5}), CodeInvalidOption, "options.beams", "beams is 5: use 1 to 4"},
		{"negative beams", with(Options{Beams: -1}), CodeInvalidOption, "options.beams", "beams is -1: use 1 to 4"},
		{"length", with(Options{MaxLength: 61}), CodeInvalidOption, "options.maxLength", "maxLength is 61: use 3 to 60"},
		{"no room after the prefix", with(Options{MaxLength: 2}), CodeInvalidOption, "options.maxLength", "maxLength is 2: use 3 to 60"},
		{"search", with(Options{NoRepeatNgramSize: &negative}), CodeInvalidOption, "options", "no-repeat n-gram size is -1: use 0 for off or more"},
	} {
		t.Run(test.name, func(t *testing.T) {
			eng := &upper{}
			got, err := service(t, runes{}, eng).Translate(t.Context(), test.req)
			assert.Nil(t, got, "a partial result")
			var e *Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, &Error{test.code, test.field, test.message}, e)
			assert.EqualError(t, err, test.field+": "+test.message)
			assert.Equal(t, err, service(t, runes{}, eng).Check(t.Context(), test.req), "without translating")
			assert.Empty(t, eng.requests)
		})
	}
}

// Check accepts a valid request, and translates nothing.
func TestCheck(t *testing.T) {
	eng := &upper{}
	cfg := config(runes{}, eng)
	cfg.Detector = asYouLike{}
	for _, from := range []string{"en", Auto} {
		assert.NoError(t, cfg.start(t).Check(t.Context(), Request{From: from, To: []string{"fr"}, Records: texts("en a", "", "12").Records}))
	}
	wrong := Request{From: Auto, To: []string{"fr"}, Records: texts("en a").Records, Options: Options{Beams: 5}}
	var refused *Error
	require.ErrorAs(t, cfg.start(t).Check(t.Context(), wrong), &refused)
	assert.Equal(t, CodeInvalidOption, refused.Code, "the options of what is detected")
	assert.Empty(t, eng.requests)
}

// Languages may be written in other forms than the model's. The answer has the request's forms of target languages, and the
// model's form of the source.
func TestTranslateKnowsLanguages(t *testing.T) {
	eng := &upper{}
	results, err := service(t, runes{}, eng).Translate(t.Context(), Request{
		From: "eng_Latn", To: []string{"fr-CA", "JA"}, Records: []Record{{"1", "a"}},
	})
	require.NoError(t, err)
	for i, to := range []string{"fr-CA", "JA"} {
		assert.Equal(t, "en", results[i].From)
		assert.Equal(t, to, results[i].To)
		assert.Equal(t, []int64{100, 'a' + firstRune, 2}, eng.last().Jobs[i].Source)
		assert.Equal(t, []int64{7, int64(101 + i)}, eng.last().Jobs[i].Prefix)
	}
	_, err = service(t, runes{}, eng).Translate(t.Context(), Request{From: "en", To: []string{"fr", "fr-CA"}, Records: []Record{{"1", "a"}}})
	assert.ErrorContains(t, err, `"fr-CA" is there twice`)
}

// targetFirst frames sources by the target language, and forces no token.
type targetFirst struct{ runes }

func (r targetFirst) Encode(_, to, text string) ([]int64, error) { return r.runes.Encode(to, "", text) }

func (targetFirst) Forced(string, string) []int64 { return nil }

// If the framing of a source depends on the target language, equal texts into two languages are two sentences, for the engine
// and for the cache.
func TestSourceThatDependsOnTheTarget(t *testing.T) {
	kept, err := cache.New(cache.Config{Bytes: 1 << 20})
	require.NoError(t, err)
	cfg := config(targetFirst{}, nil)
	cfg.Cache = kept
	for range 2 { // the second time from the cache
		eng := &upper{}
		cfg.Engine = eng
		s := cfg.start(t)
		results, err := s.Translate(t.Context(), Request{From: "en", To: []string{"fr", "ja"}, Records: []Record{{"1", "a"}, {"2", "a"}},
			Options: Options{MaxLength: 2}})
		require.NoError(t, err)
		assert.Len(t, results, 4)
		if results[0].Cached {
			assert.Empty(t, eng.requests)
			continue
		}
		require.Len(t, eng.last().Jobs, 2)
		for i, job := range eng.last().Jobs {
			assert.Equal(t, []int64{int64(101 + i), 'a' + firstRune, 2}, job.Source)
			assert.Equal(t, []int64{7}, job.Prefix)
		}
	}
}

func TestTranslatePassesErrorsOn(t *testing.T) {
	boom := errors.New("boom")
	_, err := service(t, runes{}, &upper{err: boom}).Translate(t.Context(), texts("a"))
	assert.ErrorIs(t, err, boom)
	_, err = service(t, runes{err: boom}, &upper{}).Translate(t.Context(), texts("a"))
	assert.ErrorIs(t, err, boom)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	eng := &upper{}
	_, err = service(t, runes{}, eng).Translate(ctx, texts("a"))
	assert.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, eng.requests)
}

func TestProbe(t *testing.T) {
	probe := func(tok Tokenizer) (engine.Job, error) {
		m, err := NewModel(config(tok, &upper{}).ModelConfig)
		require.NoError(t, err)
		return m.Probe()
	}
	job, err := probe(runes{})
	require.NoError(t, err)
	assert.Equal(t, "1", runes{}.Decode(job.Source))
	require.NoError(t, job.Search.Validate())

	boom := errors.New("boom")
	_, err = probe(runes{err: boom})
	assert.ErrorIs(t, err, boom)
}

func TestHealthy(t *testing.T) {
	eng := &upper{}
	s := service(t, runes{}, eng)
	assert.NoError(t, s.Healthy())
	eng.lost = errors.New("the GPU is gone")
	assert.ErrorIs(t, s.Healthy(), eng.lost)
}

func TestSelect(t *testing.T) {
	s := service(t, runes{}, &upper{})
	for _, name := range []string{"", "m", "m:1"} {
		models, err := s.Select(name)
		require.NoError(t, err)
		assert.Equal(t, []string{"en", "fr", "ja"}, models.Languages())
	}
	for _, name := range []string{"n", "m:2", ":1"} {
		req := texts("a")
		req.Model = name
		_, err := s.Translate(t.Context(), req)
		var refused *Error
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, &Error{CodeUnknownModel, "model", "there is no model " + strconv.Quote(name) + ": leave it out, or use m"}, refused)
	}
}

func TestNewModelRefuses(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*testConfig)
		want   string // "": valid
	}{
		{"nothing wrong", func(*testConfig) {}, ""},
		{"language without a token", func(c *testConfig) { c.Languages = []string{"en", "xx"} },
			`the model's language "xx" is none of the tokenizer's`},
		{"token outside of the vocabulary", func(c *testConfig) { c.Spec.VocabSize = 102 },
			`language "ja" the id 102, but the model's vocabulary ends at 101`},
		{"no languages", func(c *testConfig) { c.Languages = nil }, "no languages"},
		{"search", func(c *testConfig) { c.Search.Beams = 0 }, "beams is 0"},
		{"longest", func(c *testConfig) { c.Search.MaxLength = 61 }, "max length is 61, but the model has 60 positions"},
		{"longest of a request", func(c *testConfig) { c.Limits.MaxLength = 61 }, "max length is 61, but the model has 60 positions"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := config(runes{}, &upper{})
			test.change(&cfg)
			_, err := NewModel(cfg.ModelConfig)
			if test.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, test.want)
		})
	}
}
