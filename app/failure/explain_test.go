package failure_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"dragoman/app/access"
	"dragoman/app/admission"
	"dragoman/app/body"
	"dragoman/app/catalog"
	"dragoman/app/document"
	"dragoman/app/engine"
	"dragoman/app/failure"
	"dragoman/app/fleet"
	"dragoman/app/translate"
	"dragoman/model"
)

// Each error has one row, whatever it is wrapped in.
func TestExplain(t *testing.T) {
	limit := func(what string, per, wait time.Duration) error {
		return &access.LimitError{Limit: what, Rate: access.Rate{N: 9, Per: per}, Wait: wait}
	}
	busy := &engine.BusyError{Wait: 2100 * time.Millisecond}
	loading := &catalog.LoadingError{Model: "m", Wait: 2100 * time.Millisecond}
	endless := &engine.TooLargeError{Needs: time.Hour, Left: time.Second}
	for _, test := range []struct {
		name    string
		err     error
		request failure.Request
		kind    failure.Kind
		field   string
		message string
		wait    int
	}{
		{"a failure", failure.New(failure.NotFound, "x", "no %s", "q"), failure.Request{}, failure.NotFound, "x", "no q", 0},
		{"no key", access.ErrNoKey, failure.Request{}, failure.NoKey, "", "an API key is needed: send Authorization: Bearer KEY, or X-API-Key: KEY", 0},
		{"wrong key", access.ErrBadKey, failure.Request{}, failure.WrongKey, "", "the API key is not valid", 0},
		{"no admin", access.ErrNotAdmin, failure.Request{}, failure.NotAdmin, "", access.ErrNotAdmin.Error(), 0},
		{"requests", limit("requests", time.Hour, time.Second), failure.Request{}, failure.RateLimited, "", "the limit of 9 requests per hour is used up: try again in 1 s", 1},
		{"characters", limit("characters", time.Minute, time.Second), failure.Request{}, failure.RateLimited, "", "the limit of 9 characters per minute is used up: try again in 1 s", 1},
		{"quota", limit("characters", 24*time.Hour, time.Minute), failure.Request{}, failure.OverQuota, "", "the limit of 9 characters per day is used up: try again in 60 s", 60},
		{"characters at once", access.TooManyCharacters(2, 1), failure.Request{}, failure.TooManyCharacters, "payload.records",
			"the request has 2 characters and your limit allows 1 at once: send several requests", 0},
		{"header", access.InvalidHeader("Request-Timeout", "soon", "seconds"), failure.Request{}, failure.InvalidHeader, "", `Request-Timeout is "soon": send seconds`, 0},
		{"large body", &http.MaxBytesError{Limit: 10}, failure.Request{}, failure.BodyTooLarge, "", "the body is larger than 10 bytes: send several requests", 0},
		{"slow body", os.ErrDeadlineExceeded, failure.Request{}, failure.BodyTimeout, "", "the body did not arrive in time: send it at once after the headers", 0},
		{"broken body", body.ErrBroken, failure.Request{}, failure.InvalidJSON, "", "the body could not be read: it ends too early or is framed wrongly", 0},
		{"memory of others", &admission.FullError{Wanted: 2, Limit: 3}, failure.Request{}, failure.Busy, "", "the memory for requests is in use: try again in a moment", 1},
		{"memory", &admission.FullError{Wanted: 4, Limit: 3, Alone: true}, failure.Request{}, failure.TooLarge, "",
			(&admission.FullError{Wanted: 4, Limit: 3, Alone: true}).Error() + ": send several requests", 0},
		{"broken document", &document.Error{Reason: "no zip file"}, failure.Request{}, failure.BrokenDocument, "file", "no zip file", 0},
		{"use case", &translate.Error{Code: translate.CodeTextTooLong, Field: "records[0].text", Message: "too long"}, failure.Request{}, failure.TextTooLong, "payload.records[0].text", "too long", 0},
		{"new code of the use case", &translate.Error{Code: "new", Message: "no"}, failure.Request{}, failure.InvalidValue, "", "no", 0},
		{"busy", busy, failure.Request{}, failure.Busy, "", "too many requests are waiting: try again in 3 s", 3},
		{"busy for a deadline", busy, failure.Request{Deadline: true}, failure.NoTime, "", "too many requests are waiting: try again in 3 s", 3},
		{"too much for its time", endless, failure.Request{}, failure.TooLarge, "", endless.Error() + ": send several requests", 0},
		{"too much for a deadline", endless, failure.Request{Deadline: true}, failure.Timeout, "", endless.Error() + ": give it more time, or send several requests", 0},
		{"end", engine.ErrClosed, failure.Request{}, failure.ShuttingDown, "", "the service is shutting down: try again in a moment", 1},
		{"end of what had begun", engine.ErrClosed, failure.Request{Begun: true}, failure.Interrupted, "", "the service is shutting down: try again in a moment", 1},
		{"end of the models", catalog.ErrClosed, failure.Request{}, failure.ShuttingDown, "", "the service is shutting down: try again in a moment", 1},
		{"end of models that were used", catalog.ErrClosed, failure.Request{Begun: true}, failure.Interrupted, "", "the service is shutting down: try again in a moment", 1},
		{"loading", loading, failure.Request{}, failure.Loading, "", "the model m is loading, which takes longer than the request has: try again in 3 s", 3},
		{"loading for a deadline", loading, failure.Request{Deadline: true}, failure.NoTime, "",
			"the model m is loading, which takes longer than the request has: try again in 3 s", 3},
		{"loading for many", &catalog.LoadingError{Model: "m", Waiting: 9}, failure.Request{Deadline: true}, failure.Loading, "",
			"the model m is loading, and 9 requests wait for it: try again in 1 s", 1},
		{"broken model", &catalog.BrokenError{Model: "m:2", Err: errors.New("/srv/secret/weights.bin: no such file")}, failure.Request{}, failure.ModelBroken, "",
			"the model m:2 cannot be loaded, and the service's log says why: use another one until it is repaired", 30},
		{"no memory for a model", &catalog.MemoryError{Model: "m", Needs: 3 << 30, Limit: 2 << 30}, failure.Request{}, failure.NoRoom, "",
			"the model m needs 3.0 GiB of memory, but MODEL_MEMORY is 2.0 GiB: raise it, or lower KV_MEMORY", 0},
		{"no model", &catalog.NoModelsError{Hint: "add one"}, failure.Request{}, failure.NotReady, "", "there is no model: add one", 1},
		{"unknown model", &translate.Error{Code: translate.CodeUnknownModel, Field: "model", Message: "there is no model x"}, failure.Request{}, failure.UnknownModel,
			"payload.model", "there is no model x", 0},
		{"broker that is away", &fleet.UnavailableError{Err: errors.New("dial tcp 10.0.0.1:6379")}, failure.Request{}, failure.NoBroker, "",
			"the workers cannot be reached at the moment: try again in a moment", 2},
		{"model without workers", translate.ErrGone, failure.Request{Begun: true}, failure.NotReady, "",
			"the workers that had the model have left, and no others could take the request over: try again in 5 s", 5},
		{"text that ends workers", &fleet.DeadError{Reason: "3 workers"}, failure.Request{}, failure.Crashed, "",
			"the model ended its process, again and again, with one of the texts, which is set aside: send the texts one by one to find it, and leave it out", 0},
		{"changed files", fmt.Errorf("%w: %w: weights.bin", model.ErrLost, model.ErrDamaged), failure.Request{}, failure.ModelBroken, "",
			"the files of the model have changed while it was in use: try again, when it is loaded from what is there now", 30},
		{"lost model", model.ErrLost, failure.Request{}, failure.Stuck, "",
			"the model does not work any more, and is started again where something watches /healthz: try again in a moment", 1},
		{"timeout", context.DeadlineExceeded, failure.Request{Timeout: time.Minute}, failure.Timeout, "",
			"the translation took longer than the client's deadline, or than 1m0s: send fewer or shorter texts", 0},
		{"client that left", context.Canceled, failure.Request{Gone: true}, failure.ClientGone, "", "the client has left", 0},
		{"cancelled, but the client is there", context.Canceled, failure.Request{ID: "id-77"}, failure.Internal, "", "internal error, request id id-77", 0},
		{"fault", errors.New("secret"), failure.Request{ID: "id-77"}, failure.Internal, "", "internal error, request id id-77", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := fmt.Errorf("worker 1: %w", test.err)
			assert.Equal(t, &failure.Failure{Kind: test.kind, Field: test.field, Message: test.message, Wait: test.wait}, failure.Explain(err, test.request))
		})
	}
}

// What package translate refuses has a row of its own.
func TestCodesOfTranslations(t *testing.T) {
	for _, code := range []translate.Code{
		translate.CodeUnknownModel, translate.CodeUnknownLanguage, translate.CodeUnsupportedSource, translate.CodeTooManyRecords, translate.CodeInvalidText,
		translate.CodeInvalidOption, translate.CodeTextTooLong, translate.CodeTooManySentences, translate.CodeTooManyTokens, translate.CodeUnfinished,
	} {
		assert.Equal(t, string(code), failure.Explain(&translate.Error{Code: code}, failure.Request{}).Code())
	}
}

// What somebody adds to a failure changes no error.
func TestErrorsAreNotChanged(t *testing.T) {
	f := failure.Explain(body.ErrBroken, failure.Request{})
	f.Field = "file"
	assert.Empty(t, failure.Explain(body.ErrBroken, failure.Request{}).Field)
}
