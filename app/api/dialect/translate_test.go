package dialect

import (
	"context"
	"fmt"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/translate"
)

// rolling is a translator whose export is another one after some calls, and after as many more the next.
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

// The parts of an answer are of one export of each model: where another takes over between them, all are made
// again, and a stream, which cannot take back what it has sent, fails.
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
		err = s.StreamAll(c, parts, func(r translate.Result) error {
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
