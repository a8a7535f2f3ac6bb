package dialect

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/text/lineartest"
	"dragoman/app/translate"
)

// rolling is a translator whose export changes after every so many calls.
type rolling struct {
	Translator
	every int64
	calls atomic.Int64
}

func (r *rolling) Translate(_ context.Context, req translate.Request) ([]translate.Result, error) {
	export := fmt.Sprint((r.calls.Add(1) - 1) / r.every)
	return []translate.Result{{Record: translate.Record{Text: export}, Exports: map[string]string{"m:1": export}}}, nil
}

func (r *rolling) Stream(ctx context.Context, req translate.Request, yield func(int, translate.Result) error) error {
	results, _ := r.Translate(ctx, req)
	return yield(0, results[0])
}

// Texts that are too long are refused before their markup is parsed, which would take a hundred times their bytes.
func TestLongTextsAreNotReadAsMarkup(t *testing.T) {
	const most = 1000
	s := New(Config{RequestTimeout: time.Minute, MaxChars: most})
	s.Ready(&rolling{every: 1})
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
	for _, format := range []translate.Format{translate.HTML, translate.XML} {
		text := strings.Repeat("<b>a", most)
		allocations := testing.AllocsPerRun(1, func() {
			n, err := sum(t.Context(), c, &translate.Request{To: []string{"fr"}, Records: []translate.Record{{Text: text}}, Format: format}, most)
			require.NoError(t, err)
			assert.Equal(t, len(text), n)
			assert.Error(t, s.ChargeDetection(t.Context(), c, []string{text}, format))
		})
		assert.Less(t, allocations, 100.)
	}
	n, err := sum(t.Context(), c, &translate.Request{To: []string{"fr"}, Records: []translate.Record{{Text: "<b>one</b>"}}, Format: translate.HTML}, most)
	require.NoError(t, err)
	assert.Equal(t, 3, n)
}

func TestCharactersAreLinear(t *testing.T) {
	counted := lineartest.New(t)
	for _, format := range []translate.Format{translate.HTML, translate.XML} {
		for _, unit := range []string{"<", "<b>", "</b>", "<p>a", "<b ", "&", "&x;", "<!--", "<![CDATA[", "<![CDATA[a]]>", "<?", `<x translate="no">`, `<a b="`} {
			part := strings.Repeat(unit, 1<<12/len(unit))
			counted.Assert(fmt.Sprintf("%q as %s", unit, format), part, strings.Repeat(part, 8), func(text string) {
				_, err := format.Characters(t.Context(), text)
				require.NoError(t, err)
			})
		}
	}
}

// All parts of an answer come from one export of each model. If an export changes between parts, all parts are translated again;
// a stream, which cannot take back its parts, fails.
func TestPartsOfOneExport(t *testing.T) {
	s := New(Config{RequestTimeout: time.Minute})
	for every, want := range map[int64]string{1000: "0", 30: "1", 15: ""} { // of 20 parts
		parts := make([]translate.Request, 20)
		for i := range parts {
			parts[i] = translate.Request{To: []string{"fr"}, Records: make([]translate.Record, 1)}
		}
		ask := func() (*gin.Context, *rolling) {
			r := &rolling{every: every}
			if every < 1000 {
				r.calls.Store(every - 10)
			}
			s.Ready(r)
			c, _ := gin.CreateTestContext(httptest.NewRecorder())
			c.Request = httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
			return c, r
		}
		c, r := ask()
		results, err := s.TranslateAll(c, parts)
		if want == "" {
			require.ErrorIs(t, err, translate.ErrGone)
			assert.EqualValues(t, every-10+20*mostTries, r.calls.Load(), "nobody tries for ever")
		} else {
			require.NoError(t, err)
		}
		for _, part := range results {
			assert.Equal(t, want, part[0].Text)
		}

		c, _ = ask()
		sent := make(map[string]int)
		err = s.StreamAll(c, parts, func(_ int, r translate.Result) error {
			sent[r.Text]++
			return nil
		})
		assert.Len(t, sent, 1, "of one export")
		if every == 1000 {
			require.NoError(t, err)
			assert.Equal(t, 20, sent["0"])
		} else {
			require.ErrorIs(t, err, translate.ErrGone)
		}
	}
}

// lastFirst is a translator that finishes the last text first.
type lastFirst struct{ Translator }

func (lastFirst) Stream(_ context.Context, req translate.Request, yield func(int, translate.Result) error) error {
	for i, r := range slices.Backward(req.Records) {
		if err := yield(i, translate.Result{Record: r}); err != nil {
			return err
		}
	}
	return nil
}

func TestStreamIsInTheOrderOfTheTexts(t *testing.T) {
	s := New(Config{RequestTimeout: time.Minute})
	s.Ready(lastFirst{})
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
	call := &Call{Context: c, Server: s}
	var texts []string
	require.NoError(t, call.Stream(Request{From: "en", To: "fr", Texts: []string{"a", "b", "c"}}, func(r translate.Result) error {
		texts = append(texts, r.Text)
		return nil
	}))
	assert.Equal(t, []string{"a", "b", "c"}, texts)
}

func TestTimeIsLinear(t *testing.T) {
	timed := lineartest.NewTimed(t)
	for what, text := range lineartest.Texts("<p>a", "<![CDATA[a]]>", "<b ", `<x translate="no">`, "&x;") {
		for _, format := range []translate.Format{translate.HTML, translate.XML} {
			timed.Assert(fmt.Sprintf("%s as %s", what, format), text, func(text string) { _, err := format.Characters(t.Context(), text); require.NoError(t, err) })
		}
	}
}
