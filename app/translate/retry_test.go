package translate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
)

// way names how a job is decoded.
func wayOf(job engine.Job) string {
	return fmt.Sprintf("%d tokens, %d-grams, × %g", job.Search.MaxLength, job.Search.NoRepeatNgramSize, job.Search.RepetitionPenalty)
}

const (
	plainWay  = "40 tokens, 0-grams, × 1"
	longerWay = "60 tokens, 0-grams, × 1"
	strictWay = "60 tokens, 3-grams, × 1.2"
)

// translateOne translates a text, flags allowed, and returns the strategies and texts of each round.
func translateOne(t *testing.T, text string, decode func(string, engine.Job) (string, bool)) (Result, []string) {
	eng := &upper{decode: decode}
	req := texts(text)
	req.Flagged = true
	got, err := service(t, runes{}, eng).Translate(t.Context(), req)
	require.NoError(t, err)
	var tried []string
	for _, r := range eng.requests {
		var parts []string
		for i, job := range r.Jobs {
			parts = append(parts, wayOf(job)+": "+sources(r)[i])
		}
		tried = append(tried, strings.Join(parts, " | "))
	}
	return got[0], tried
}

func TestTruncatedIsTriedWithMoreTokens(t *testing.T) {
	const text = "one two three"
	got, tried := translateOne(t, text, func(text string, job engine.Job) (string, bool) {
		return strings.ToUpper(text), job.Search.MaxLength < 60
	})
	assert.Equal(t, []string{plainWay + ": " + text, longerWay + ": " + text}, tried)
	assert.Equal(t, "ONE TWO THREE", got.Text)
	assert.Zero(t, got.Flags)

	// A translation much longer than its source has gone astray.
	got, tried = translateOne(t, "a", func(text string, job engine.Job) (string, bool) {
		return strings.ToUpper(text), job.Search.NoRepeatNgramSize == 0
	})
	assert.Equal(t, []string{plainWay + ": a", "41 tokens, 0-grams, × 1: a", "41 tokens, 3-grams, × 1.2: a"}, tried)
	assert.Equal(t, "A", got.Text)
}

// A word whose translation does not end costs little: its first try ends early, and the retry may be as long as any.
func TestFirstTryOfAFewTokensIsShort(t *testing.T) {
	const own = 200
	minimum := func(c *testConfig) { c.Search.MinLength = own }
	once := func(r *Request) { r.Once = true }
	for name, tt := range map[string]struct {
		text      string
		configure func(*testConfig)
		request   func(*Request)
		want      []string // for each try
	}{
		"a letter":          {"a", nil, nil, []string{"80 tokens, 0-grams, × 1", "200 tokens, 3-grams, × 1.2"}},
		"a sentence":        {"abcdefghijkl", nil, nil, []string{"200 tokens, 0-grams, × 1", "200 tokens, 3-grams, × 1.2"}},
		"at least as long":  {"a", minimum, nil, []string{"200 tokens, 0-grams, × 1", "200 tokens, 3-grams, × 1.2"}},
		"without any retry": {"a", nil, once, []string{"200 tokens, 0-grams, × 1"}},
		"a shorter limit":   {"a", nil, func(r *Request) { r.Options.MaxLength = 50 }, []string{"50 tokens, 0-grams, × 1", "50 tokens, 3-grams, × 1.2"}},
	} {
		t.Run(name, func(t *testing.T) {
			eng, req := &upper{decode: func(text string, _ engine.Job) (string, bool) { return "b", true }}, texts(tt.text)
			cfg := config(runes{}, eng)
			cfg.Search.MaxLength, cfg.Limits.MaxLength, cfg.Spec.MaxPositions = own, own, own
			if req.Flagged = true; tt.request != nil {
				tt.request(&req)
			}
			if tt.configure != nil {
				tt.configure(&cfg)
			}
			got, err := cfg.start(t).Translate(t.Context(), req)
			require.NoError(t, err)
			assert.True(t, got[0].Flags.Has(Truncated))
			var tried []string
			for _, r := range eng.requests {
				tried = append(tried, wayOf(r.Jobs[0]))
			}
			assert.Equal(t, tt.want, tried)
		})
	}
}

func TestLoopIsTriedWithoutRepetitions(t *testing.T) {
	got, tried := translateOne(t, "abc", func(text string, job engine.Job) (string, bool) {
		if job.Search.NoRepeatNgramSize == 0 {
			return strings.Repeat("HA ", 13), true
		}
		return strings.ToUpper(text), false
	})
	assert.Equal(t, []string{plainWay + ": abc", "40 tokens, 3-grams, × 1.2: abc"}, tried)
	assert.Equal(t, "ABC", got.Text)
	assert.Zero(t, got.Flags)
}

func TestEndlessIsTriedInParts(t *testing.T) {
	const text = "one two three, four five six"
	got, tried := translateOne(t, text, func(text string, _ engine.Job) (string, bool) {
		return strings.ToUpper(text), len(text) > 14
	})
	require.Len(t, tried, 4)
	assert.Equal(t, []string{plainWay + ": " + text, longerWay + ": " + text, strictWay + ": " + text}, tried[:3])
	assert.Equal(t, plainWay+": one two three, | "+plainWay+": four five six", tried[3])
	assert.Equal(t, "ONE TWO THREE, FOUR FIVE SIX", got.Text)
	assert.Zero(t, got.Flags)
	assert.Equal(t, []Segment{{Source: text, Text: got.Text}}, got.Segments, "it is one segment still")
}

func TestEndlessForEverIsFlagged(t *testing.T) {
	endless := func(text string, _ engine.Job) (string, bool) { return strings.ToUpper(text), true }
	got, tried := translateOne(t, "one two three, four five six. Seven?", endless)
	assert.Equal(t, Truncated, got.Flags)
	assert.LessOrEqual(t, len(tried), 10)
	assert.NotEmpty(t, got.Text)

	slice := texts("", "one two")
	slice.First = 256
	_, err := service(t, runes{}, &upper{decode: endless}).Translate(t.Context(), slice)
	var e *Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, &Error{CodeUnfinished, "records[257].text", `record "1": the translation reached the limit of 60 tokens ` +
		`before its end: send shorter sentences, or set detail in a request to /translation to get what there is`}, e)
}

// A sentence longer than the model's input is split as often as needed.
func TestLongSentencesAreSplit(t *testing.T) {
	text := strings.TrimSpace(strings.Repeat("some words, ", 40))
	got, tried := translateOne(t, text, nil)
	assert.Len(t, tried, 1)
	assert.Equal(t, strings.ToUpper(text), got.Text)
	assert.Zero(t, got.Flags)

	one := "e" + strings.Repeat("\u0301", 100) // a single character, as readers see it
	got, tried = translateOne(t, one, nil)
	assert.Empty(t, tried)
	assert.Equal(t, one, got.Text)
	assert.Equal(t, SourceEcho, got.Flags)
}

func TestMarkup(t *testing.T) {
	const text = "Hello {name}, see <b>this</b>."
	lose := func(text string, _ engine.Job) (string, bool) { return "NO MARKUP", false }
	got, tried := translateOne(t, text, nil)
	assert.Len(t, tried, 1)
	assert.NotContains(t, tried[0], "{name}", "it is masked")
	assert.Equal(t, "HELLO {name}, SEE <b>THIS</b>.", got.Text)
	assert.Zero(t, got.Flags)

	// If a model loses every marker, the texts between them are translated alone.
	got, tried = translateOne(t, text, func(text string, job engine.Job) (string, bool) {
		if strings.Contains(text, "see") && strings.Contains(text, "this") {
			return lose(text, job)
		}
		return strings.ToUpper(text), false
	})
	assert.Greater(t, len(tried), 2, "several styles of markers")
	assert.Equal(t, "HELLO {name}, SEE <b>THIS</b>.", got.Text)
	assert.Zero(t, got.Flags)
	assert.Equal(t, []Segment{{Source: text, Text: got.Text}}, got.Segments)

	// Numbers are left to the model at first.
	got, tried = translateOne(t, "It costs 1250 euros", func(text string, _ engine.Job) (string, bool) {
		return strings.ReplaceAll(strings.ToUpper(text), "1250", "1520"), false
	})
	assert.Contains(t, tried[0], "1250")
	assert.Greater(t, len(tried), 1)
	assert.Equal(t, "IT COSTS 1250 EUROS", got.Text)
	assert.Zero(t, got.Flags)
}

// A wrong number in words is retried if the source has digits, and flagged.
func TestNumbersInWords(t *testing.T) {
	got, tried := translateOne(t, "There are 0 errors", func(text string, _ engine.Job) (string, bool) {
		return strings.ReplaceAll(strings.ToUpper(text), " 0 ", " dix "), false
	})
	assert.Greater(t, len(tried), 1)
	assert.Equal(t, "THERE ARE 0 ERRORS", got.Text)
	assert.Zero(t, got.Flags)

	for translation, flags := range map[string]Flags{"Il y a dix erreurs": 0, "Il y a 10 erreurs": 0, "Il y a deux erreurs": MarkupLost, "Il y a 2 erreurs": MarkupLost} {
		got, tried = translateOne(t, "There are ten errors", func(string, engine.Job) (string, bool) { return translation, false })
		assert.Len(t, tried, 1+len(flags.Names()), "what is wrong is tried once more")
		assert.Equal(t, translation, got.Text, "it is of more use than the source")
		assert.Equal(t, flags.Names(), got.Flags.Names(), translation)
	}
}

func TestFlags(t *testing.T) {
	for _, test := range []struct {
		name, text, to, translation string
		flags                       Flags
		out                         string
	}{
		{"fine", "abc", "fr", "XYZ", 0, "XYZ"},
		{"nothing", "abc", "fr", " ", Empty, ""},
		{"echo", "This is an English sentence.", "fr", "This is an English sentence", SourceEcho, "This is an English sentence"},
		{"a name is no echo", "London", "fr", "London", 0, "London"},
		{"script", "This is an English sentence.", "ja", "Ceci est une phrase.", WrongScript, "Ceci est une phrase."},
		{"loop that stays", "abc", "fr", strings.Repeat("na ", 10), Loop, strings.TrimSpace(strings.Repeat("na ", 10))},
		{"loop in the source too", "na na na na na na na na!", "fr", strings.Repeat("NA ", 8) + "!", 0, strings.Repeat("NA ", 8) + "!"},
	} {
		t.Run(test.name, func(t *testing.T) {
			eng := &upper{decode: func(string, engine.Job) (string, bool) { return test.translation, false }}
			req := texts(test.text)
			req.To = []string{test.to}
			got, err := service(t, runes{}, eng).Translate(t.Context(), req)
			require.NoError(t, err)
			assert.Equal(t, test.flags.Names(), got[0].Flags.Names())
			assert.Equal(t, test.out, got[0].Text)
		})
	}
}

func TestRepeats(t *testing.T) {
	for _, test := range []struct {
		tokens        []int64
		times, length int
	}{
		{nil, 1, 0},
		{[]int64{1}, 1, 0},
		{[]int64{1, 2, 3}, 1, 0},
		{[]int64{1, 1}, 2, 2},
		{[]int64{5, 1, 2, 1, 2, 1, 2, 6}, 3, 6},
		{[]int64{1, 2, 1, 2, 1}, 2, 5},
		{[]int64{1, 1, 1, 1, 2, 2, 2}, 4, 4},
	} {
		times, length := repeats(test.tokens)
		assert.Equal(t, []int{test.times, test.length}, []int{times, length}, "%v", test.tokens)
	}
}

func TestFlagNames(t *testing.T) {
	assert.Equal(t, []string{}, Flags(0).Names())
	assert.Equal(t, []string{"truncated", "loop"}, (Loop | Truncated).Names())
	assert.Equal(t, []string{"too_short", "unsupported_source", "refused", "truncated", "markup_lost", "empty", "chatter", "loop", "wrong_language",
		"wrong_script", "glossary_missed", "source_echo"}, FlagNames())
}
