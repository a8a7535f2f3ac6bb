package translate

import (
	"context"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/budget"
	"dragoman/app/engine"
	"dragoman/app/guard/admission"
	"dragoman/app/text/lineartest"
)

// bounded makes a service with some bounds.
func bounded(t *testing.T, eng Engine, change func(*testConfig)) *Service {
	cfg := config(runes{}, eng)
	cfg.MaxRecords, cfg.MaxChars = 1000, 1<<20
	change(&cfg)
	s := cfg.start(t)
	return s
}

func TestBoundsOfARequest(t *testing.T) {
	s := bounded(t, &upper{}, func(c *testConfig) { c.MaxSentences, c.MaxTokens, c.MaxChars = 6, 40, 60 })
	two := []string{"fr", "ja"}
	for _, test := range []struct {
		name string
		req  Request
		want Code
	}{
		{"sentences", Request{From: "en", To: []string{"fr"}, Records: texts("a.\nb.\nc.\nd.\ne.\nf.").Records}, ""},
		{"too many sentences", Request{From: "en", To: []string{"fr"}, Records: texts("a.\nb.\nc.\nd.\ne.", "f.\ng.").Records}, CodeTooManySentences},
		{"with languages", Request{From: "en", To: two, Records: texts("a.\nb.\nc.").Records}, ""},
		{"too many with languages", Request{From: "en", To: two, Records: texts("a.\nb.", "c.\nd.").Records}, CodeTooManySentences},
		{"equal ones are in the answer too", Request{From: "en", To: []string{"fr"}, Records: texts(strings.Repeat("a.\n", 7)).Records}, CodeTooManySentences},
		{"tokens", Request{From: "en", To: []string{"fr"}, Records: texts(strings.Repeat("a", 38)).Records}, ""},
		{"too many tokens", Request{From: "en", To: []string{"fr"}, Records: texts(strings.Repeat("a", 39)).Records}, CodeTooManyTokens},
		{"too many tokens with languages", Request{From: "en", To: two, Records: texts(strings.Repeat("a", 19)).Records}, CodeTooManyTokens},
		{"equal ones are decoded once", Request{From: "en", To: []string{"fr"}, Records: texts(strings.Repeat("a", 25), strings.Repeat("a", 25)).Records}, ""},
		{"characters", Request{From: "en", To: []string{"fr"}, Records: texts("\ufdfa\ufdfa\ufdfa").Records}, ""},
		{"characters that stand for many", Request{From: "en", To: []string{"fr"}, Records: texts("\ufdfa\ufdfa\ufdfa\ufdfa").Records}, CodeTextTooLong},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := s.Translate(t.Context(), test.req)
			if test.want == "" {
				assert.NoError(t, err)
				return
			}
			var refused *Error
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, test.want, refused.Code, "%s", refused)
		})
	}
}

func TestCharacters(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "Überprüfung": 11, "日本語": 3, "e\u0301": 1, "ﬁ": 2, "\ufdfa": 18, "㍿": 4, "a\ufdfab": 20, "\xff": 1,
	} {
		assert.Equal(t, want, Characters(text), "%q", text)
	}
}

// Equal sentences of a request, in the same languages, are decoded once and delivered to all places.
func TestEqualSentencesAreOne(t *testing.T) {
	eng := &upper{}
	req := texts("Yes. No. Yes.", "No.\nYes.", "Yes.")
	req.To = []string{"fr", "ja"}
	got, err := bounded(t, eng, same).Translate(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, []string{"Yes.", "No.", "Yes.", "No."}, sources(eng.last()))
	assert.Equal(t, []string{"YES. NO. YES.", "NO.\nYES.", "YES."}, textsOf(got[:3]))
	assert.Len(t, got[0].Segments, 3)
}

// The retries of a sentence, including its parts, have a bound of tokens.
func TestRetriesAreBounded(t *testing.T) {
	const sentences = 60
	var lines []string
	for i := range sentences {
		lines = append(lines, fmt.Sprintf("%s number %c%c.", strings.Repeat("word ", 7), 'a'+i%26, 'a'+i/26))
	}
	tokens, first := 0, 0
	eng := &upper{decode: func(text string, job engine.Job) (string, bool) {
		tokens += len(job.Source)
		return strings.ToUpper(text), true // each is retried again and again
	}}
	req := texts(strings.Join(lines, "\n"))
	req.Flagged = true
	got, err := bounded(t, eng, same).Translate(t.Context(), req)
	require.NoError(t, err)
	for _, line := range lines {
		ids, _ := runes{}.Encode("en", "fr", line)
		first += len(ids)
	}
	assert.Greater(t, tokens, 2*first, "they are tried again")
	assert.LessOrEqual(t, tokens, (1+retryFactor)*first+retryTokens*sentences)
	assert.Equal(t, Truncated, got[0].Flags)
	assert.Len(t, got[0].Segments, sentences, "and nothing is lost")
}

// shuffled is an engine that takes and finishes jobs in a random order.
type shuffled struct {
	upper
	order *rand.Rand
}

func (s *shuffled) Stream(_ context.Context, _ engine.Request, next func() (engine.Job, bool, error), each func(int, engine.Result) error) error {
	var jobs []engine.Job
	var open []int
	for ended := false; ; {
		if !ended && (len(open) == 0 || s.order.IntN(3) > 0) {
			job, ok, err := next()
			if err != nil {
				return err
			}
			if ended = !ok; ok {
				open = append(open, len(jobs))
				jobs = append(jobs, job)
			}
			continue
		}
		if len(open) == 0 {
			return nil
		}
		i := s.order.IntN(len(open))
		job := open[i]
		open = slices.Delete(open, i, i+1)
		if err := each(job, s.translate(jobs[job])); err != nil {
			return err
		}
		ended = false // the result may cause another job
	}
}

// A translation, or its error, depends neither on the order of results nor on other sentences of the request, even if most
// sentences are flawed and use up their budgets of retries.
func TestTranslationsDependOnNoOrder(t *testing.T) {
	var lines []string
	for i := range 80 {
		lines = append(lines, fmt.Sprintf("%s<b>number</b> %d and {name}, %s end %d.", strings.Repeat("word ", i%9), i, strings.Repeat("part, ", i%5), i*7))
	}
	translate := func(seed uint64, lines ...string) (answers []string) {
		eng := &shuffled{order: rand.New(rand.NewPCG(seed, 0)), upper: upper{decode: func(text string, job engine.Job) (string, bool) {
			sum := crc32.ChecksumIEEE([]byte(text))
			if sum%4 == 0 { // a loop, lost parts, or a missing end
				return strings.Repeat("na ", 40), false
			}
			return strings.ToUpper(text)[:len(text)-int(sum>>8%3)*len(text)/4], sum>>4%3 == 0
		}}}
		req := texts(lines...)
		req.Format, req.Flagged = HTML, true
		results, err := bounded(t, eng, same).Translate(t.Context(), req)
		require.NoError(t, err)
		req.Flagged = false
		_, err = bounded(t, eng, same).Translate(t.Context(), req)
		answers = append(answers, fmt.Sprint(err))
		for _, r := range results {
			answers = append(answers, fmt.Sprintf("%s %v", r.Text, r.Flags))
		}
		return answers
	}
	want := translate(0, lines...)
	for seed := range uint64(20) {
		require.Equal(t, want, translate(seed, lines...), seed)
	}
	for i, line := range lines {
		require.Equal(t, want[i+1], translate(1, line)[1], line)
	}
}

// A longer retry that the request's own options forbid is skipped.
func TestLongerTriesKeepWithinTheOptions(t *testing.T) {
	eng := &upper{decode: func(text string, job engine.Job) (string, bool) {
		return strings.ToUpper(text), job.Search.Validate() != nil || job.Search.MaxLength < 60
	}}
	penalty := 39.0
	req := texts("one two three")
	req.Flagged, req.Options = true, Options{MaxLength: 4, LengthPenalty: &penalty}
	got, err := service(t, runes{}, eng).Translate(t.Context(), req)
	require.NoError(t, err)
	assert.True(t, got[0].Flags.Has(Truncated))
	for _, r := range eng.requests {
		for _, job := range r.Jobs {
			assert.NoError(t, job.Search.Validate())
		}
	}
}

// Memory is taken before anything of its size is allocated. A request that does not fit is refused without decoding.
func TestMemoryIsTakenFirst(t *testing.T) {
	for name, text := range map[string]string{
		"a text":    strings.Repeat("a", 100_000),
		"sentences": strings.Repeat("a.\n", 900),
	} {
		t.Run(name, func(t *testing.T) {
			eng := &upper{}
			m := admission.New(800_000)
			lease := m.Lease("a")
			_, err := bounded(t, eng, same).Translate(admission.With(t.Context(), lease), texts(text))
			assert.ErrorIs(t, err, budget.ErrFull)
			assert.Empty(t, eng.requests)
			lease.Close()
			assert.Zero(t, m.InUse())
		})
	}
}

// A request's memory counts as its caller's, even if the key was in the body and so the body counted as nobody's.
func TestMemoryIsTheCallers(t *testing.T) {
	m := admission.New(1_000_000)
	lease := m.Lease("")
	require.NoError(t, lease.Take(500_000))
	req := texts("one")
	req.Caller = "alice"
	_, err := bounded(t, &upper{}, same).Translate(admission.With(t.Context(), lease), req)
	require.NoError(t, err)
	assert.NoError(t, m.Lease("").Take(300_000), "the next one without a key yet")
	assert.ErrorIs(t, m.Lease("alice").Take(100_000), budget.ErrFull)
}

// windowed is an engine that holds a few jobs at a time, and calls look now and then.
type windowed struct {
	upper
	look func()
}

func (w *windowed) Stream(ctx context.Context, req engine.Request,
	next func() (engine.Job, bool, error), each func(int, engine.Result) error) error {
	const window, looks = 100, 3000
	taken, all := 0, 0
	return w.upper.Stream(ctx, req, func() (job engine.Job, ok bool, err error) {
		if all%looks == 0 {
			w.requests = nil // memory of the test itself
			w.look()
		}
		if taken == window {
			taken = 0
			return job, false, nil
		}
		taken++
		all++
		return next()
	}, each)
}

// A request uses no more memory than it has taken.
func TestMemoryOfARequest(t *testing.T) {
	distinct := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%c%c%c.\n", 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26)
		}
		return b.String()
	}
	size := 100_000
	if testing.Short() {
		size /= 4
	}
	for name, test := range map[string]struct {
		text string
		to   []string
	}{
		"equal sentences":     {strings.Repeat("a\n", size/2), []string{"fr", "ja"}},
		"different ones":      {distinct(size / 6), []string{"fr", "ja"}},
		"marks":               {strings.Repeat("**a** b. ", size/10), []string{"fr", "ja"}},
		"one that never ends": {strings.Repeat("a", size), []string{"fr"}},
		"no sentence":         {strings.Repeat("1\n", size/2), []string{"fr", "ja"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := admission.New(1 << 40)
			lease := m.Lease("")
			var before, most uint64
			use := func() uint64 {
				runtime.GC()
				var stats runtime.MemStats
				runtime.ReadMemStats(&stats)
				return stats.HeapAlloc
			}
			eng := &windowed{look: func() { most = max(most, use()) }}
			s := bounded(t, eng, func(c *testConfig) { c.MaxSentences, c.MaxTokens = 1<<20, 1<<20 })
			req := texts(test.text)
			req.To = test.to
			before = use()
			got, err := s.Translate(admission.With(t.Context(), lease), req)
			most = max(most, use())
			require.NoError(t, err)
			took := int64(most) - int64(before)
			t.Logf("%d bytes, %d taken", took, m.InUse())
			assert.Less(t, took, m.InUse())
			runtime.KeepAlive(got)
		})
	}
}

// The time of a request is linear in its text, including retries.
func TestTimeIsLinear(t *testing.T) {
	timed := lineartest.NewTimed(t)
	s := bounded(t, &upper{}, func(c *testConfig) {
		c.MaxSentences, c.MaxTokens, c.MaxChars = 1<<20, 1<<24, 1<<24
	})
	formats, i := []Format{Text, HTML, Text, XML}, 0
	terms := []Term{{"a", "b"}, {"«", "»"}, {"5", "6"}}
	for what, text := range lineartest.Texts("{a,plural,other{b}}", "1 ", "a. ", "a\n", "a ", "<p>a</p>", "<ruby>a<rt>b</ruby>") {
		format := formats[i%len(formats)]
		timed.Assert(fmt.Sprintf("%s as %s", what, format), text, func(text string) {
			req := Request{From: "en", To: []string{"fr"}, Records: []Record{{Text: strings.ToValidUTF8(text, "?")}}, Format: format, Terms: terms, Flagged: true}
			_, err := s.Translate(context.Background(), req)
			require.NoError(t, err)
		})
		i++
	}
}
