package compat

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"

	"dragoman/app/access"
	"dragoman/app/engine"
	"dragoman/app/translate"
	"dragoman/model"
)

func TestLanguages(t *testing.T) {
	model := Languages{"en", "fr", "no", "pt", "zh", "x-Own"}
	for _, test := range []struct{ code, source, target string }{
		{"en", "en", "en"},
		{"EN-us", "en", "en"},
		{"en_GB", "en", "en"},
		{"pt-BR", "pt", "pt"},
		{"PB", "pt", "pt"},
		{"nb", "no", "no"},
		{"ZH-HANS", "zh", "zh"},
		{"zh", "zh", "zh"},
		{"zh-Hant", "zh", ""},
		{"ZH_TW", "zh", ""},
		{"zh-Hant-TW", "zh", ""},
		{"zh-Hant-SG", "zh", ""},
		{"zh_HK.UTF-8", "zh", ""},
		{"cmn-Hant", "zh", ""},
		{"zho-TW", "zh", ""},
		{"zh-CN", "zh", "zh"},
		{"zh-Hans-TW", "zh", "zh"},
		{"cmn", "zh", "zh"},
		{"X-OWN", "x-Own", "x-Own"},
		{"ja", "", ""}, // a language that this model does not have
		{"auto", "", ""},
		{"english", "", ""},
		{"", "", ""},
		{"e\xffn", "", ""},
	} {
		source, ok := model.Source(test.code)
		assert.Equal(t, test.source != "", ok, test.code)
		if ok {
			assert.Equal(t, test.source, source)
		}
		target, ok := model.Target(test.code)
		assert.Equal(t, test.target != "", ok, test.code)
		if ok {
			assert.Equal(t, test.target, target)
		}
	}
	assert.Equal(t, "Norwegian", NameOf("no").English)
	assert.Equal(t, "x-Own", NameOf("x-Own").English)
}

func TestSourceOf(t *testing.T) {
	for from, want := range map[string]string{"fr": "fr", "": "en", "auto": "en"} {
		assert.Equal(t, want, SourceOf(translate.Result{From: from}))
	}
}

func TestCharacters(t *testing.T) {
	for _, test := range []struct {
		text       string
		format     translate.Format
		characters int
	}{
		{"", translate.Text, 0},
		{"é日\n ", translate.Text, 4},
		{"<b>hi</b>", translate.Text, 9},
		{"<b>hi</b>", translate.HTML, 2},
		{"a < b <i x='>'>c", translate.HTML, 7},
		{"< the house is big >", translate.HTML, 20},
		{"<\n" + strings.Repeat("the house ", 10) + ">", translate.HTML, 103},
		{"the house <", translate.HTML, 11},
		{"<a <b> house", translate.HTML, 6},
		{"<p>Good<p>morning", translate.HTML, 11},
		{"fish &amp; chips", translate.HTML, 12},
		{"a <!-- secret --> b", translate.HTML, 4},
		{"see <code>x = 1</code>", translate.HTML, 4},
		{"<script>x()</script><p>hi", translate.HTML, 2},
	} {
		assert.Equal(t, test.characters, Characters(test.text, test.format), test.text)
	}
}

// Each error has one class, whatever it is wrapped in.
func TestExplain(t *testing.T) {
	perDay := &access.LimitError{Limit: "characters", Rate: access.Rate{N: 9, Per: 24 * time.Hour}, Wait: time.Minute}
	perMinute := &access.LimitError{Limit: "characters", Rate: access.Rate{N: 9, Per: time.Minute}, Wait: time.Second}
	requests := &access.LimitError{Limit: "requests", Rate: access.Rate{N: 9, Per: time.Hour}, Wait: time.Second}
	for _, test := range []struct {
		err     error
		class   Class
		message string
		wait    int
		status  Statuses
	}{
		{Refuse("no %s", "q"), Invalid, "no q", 0, Statuses{400, 400}},
		{&RequestError{Class: NotFound, Message: "no"}, NotFound, "no", 0, Statuses{404, 404}},
		{&RequestError{Class: NotOffered, Message: "no"}, NotOffered, "no", 0, Statuses{403, 400}},
		{&translate.Error{Code: translate.CodeTextTooLong, Message: `record "0": too long`}, Invalid, `Record "0": too long.`, 0, Statuses{400, 400}},
		{&translate.Error{Code: "new", Message: `"x" is new`}, Invalid, `"x" is new.`, 0, Statuses{400, 400}},
		{&translate.Error{Code: "empty"}, Invalid, "", 0, Statuses{400, 400}},
		{&translate.Error{Code: translate.CodeTooManyRecords, Message: "2 of 1"}, TooMuch, "2 of 1.", 0, Statuses{400, 413}},
		{&access.TooLargeError{Characters: 2, Most: 1}, TooMuch,
			"The request has 2 characters and your limit allows 1 at once: send several requests.", 0, Statuses{400, 413}},
		{&http.MaxBytesError{Limit: 10}, TooLarge, "The body is larger than 10 bytes: send several requests.", 0, Statuses{413, 413}},
		{os.ErrDeadlineExceeded, TooSlow, "The body did not arrive in time.", 0, Statuses{408, 408}},
		{access.ErrNoKey, NoKey, "An API key is needed.", 0, Statuses{400, 403}},
		{access.ErrBadKey, WrongKey, "Invalid API key", 0, Statuses{403, 403}},
		{requests, Limited, "The limit of 9 requests per hour is used up: try again in 1 s.", 1, Statuses{429, 429}},
		{perMinute, Limited, "The limit of 9 characters per minute is used up: try again in 1 s.", 1, Statuses{429, 429}},
		{perDay, OverQuota, "The limit of 9 characters per day is used up: try again in 60 s.", 60, Statuses{429, 456}},
		{&engine.BusyError{Wait: 2100 * time.Millisecond}, Busy, "Too many requests are waiting: try again in 3 s.", 3, Statuses{503, 529}},
		{&engine.BusyError{}, Busy, "Too many requests are waiting: try again in 1 s.", 1, Statuses{503, 529}},
		{engine.ErrBusy, Busy, "Too many requests are waiting: try again in a moment.", 1, Statuses{503, 529}},
		{engine.ErrClosed, NotReady, "The service is shutting down: try again in a moment.", 1, Statuses{503, 503}},
		{ErrNotReady, NotReady, "The model is loading: try again in a moment.", 1, Statuses{503, 503}},
		{model.ErrLost, NotReady, "The model does not work any more: try again in a moment.", 1, Statuses{503, 503}},
		{context.DeadlineExceeded, Timeout, "The translation took too long: send fewer or shorter texts.", 0, Statuses{504, 504}},
		{context.Canceled, Internal, "Internal error, request id id-77", 0, Statuses{500, 500}}, // the client is still there
		{errors.New("secret"), Internal, "Internal error, request id id-77", 0, Statuses{500, 500}},
	} {
		t.Run(test.err.Error(), func(t *testing.T) {
			w := httptest.NewRecorder()
			w.Header().Set("X-Request-Id", "id-77")
			c, _ := gin.CreateTestContext(w)
			c.Request = httptest.NewRequest("POST", "/", nil)
			err := fmt.Errorf("worker 1: %w", test.err)
			assert.Equal(t, Failure{Class: test.class, Message: test.message, Wait: test.wait, Err: err}, Explain(c, err))
			assert.Equal(t, test.status, test.class.Statuses())
		})
	}
}

func TestSend(t *testing.T) {
	for _, test := range []struct {
		err               error
		wait              string
		status            int
		clientGone, empty bool
	}{
		{Refuse("no"), "", 400, false, false},
		{engine.ErrClosed, "1", 503, false, false},
		{&http.MaxBytesError{Limit: 1}, "", 413, false, false},
		{os.ErrDeadlineExceeded, "", 408, false, false},
		{context.Canceled, "", 499, true, true},
	} {
		w := httptest.NewRecorder()
		c, _ := gin.CreateTestContext(w)
		ctx, cancel := context.WithCancel(t.Context())
		c.Request = httptest.NewRequestWithContext(ctx, "POST", "/", nil)
		if test.clientGone {
			cancel()
		}
		f := Explain(c, test.err)
		f.Send(c, f.Class.Statuses().DeepL, gin.H{"message": f.Message})
		cancel()
		assert.Equal(t, test.status, w.Code)
		assert.Equal(t, test.wait, w.Header().Get("Retry-After"))
		assert.Equal(t, test.empty, w.Body.Len() == 0)
		assert.True(t, c.IsAborted())
		assert.ErrorIs(t, c.Errors.Last(), test.err)
	}
}

// brokenTranslator loses results.
type brokenTranslator struct{}

func (brokenTranslator) Translate(context.Context, translate.Request) ([]translate.Result, error) {
	return nil, nil
}

func TestTranslateCountsResults(t *testing.T) {
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequest("POST", "/", nil)
	_, err := Config{}.Translate(Call{Context: c, Backend: &Backend{Translator: brokenTranslator{}}}, Job{To: "fr", Texts: []string{"x"}})
	assert.EqualError(t, err, "0 results for 1 texts")
}

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	os.Exit(m.Run())
}
