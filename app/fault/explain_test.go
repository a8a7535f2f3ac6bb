package fault_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"dragoman/app/catalog"
	"dragoman/app/document"
	"dragoman/app/engine"
	"dragoman/app/fault"
	"dragoman/app/fleet"
	"dragoman/app/guard/access"
	"dragoman/app/guard/admission"
	"dragoman/app/guard/body"
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
		request fault.Situation
		kind    fault.Kind
		field   string
		message string
		wait    int
	}{
		{"a failure", fault.New(fault.NotFound, "x", "no %s", "q"), fault.Situation{}, fault.NotFound, "x", "no q", 0},
		{"no key", access.ErrNoKey, fault.Situation{}, fault.NoKey, "", "an API key is needed: send Authorization: Bearer KEY, or X-API-Key: KEY", 0},
		{"wrong key", access.ErrBadKey, fault.Situation{}, fault.WrongKey, "", "the API key is not valid", 0},
		{"no admin", access.ErrNotAdmin, fault.Situation{}, fault.NotAdmin, "", access.ErrNotAdmin.Error(), 0},
		{"requests", limit("requests", time.Hour, time.Second), fault.Situation{}, fault.RateLimited, "", "the limit of 9 requests per hour is used up: try again in 1 s", 1},
		{"characters", limit("characters", time.Minute, time.Second), fault.Situation{}, fault.RateLimited, "", "the limit of 9 characters per minute is used up: try again in 1 s", 1},
		{"quota", limit("characters", 24*time.Hour, time.Minute), fault.Situation{}, fault.OverQuota, "", "the limit of 9 characters per day is used up: try again in 60 s", 60},
		{"characters at once", access.TooManyCharacters(2, 1), fault.Situation{}, fault.TooManyCharacters, "payload.records",
			"the request has 2 characters and your limit allows 1 at once: send several requests", 0},
		{"header", access.InvalidHeader("Request-Timeout", "soon", "seconds"), fault.Situation{}, fault.InvalidHeader, "", `Request-Timeout is "soon": send seconds`, 0},
		{"large body", &http.MaxBytesError{Limit: 10}, fault.Situation{}, fault.BodyTooLarge, "", "the body is larger than 10 bytes: send several requests", 0},
		{"slow body", os.ErrDeadlineExceeded, fault.Situation{}, fault.BodyTimeout, "", "the body did not arrive in time: send it at once after the headers", 0},
		{"broken body", body.ErrBroken, fault.Situation{}, fault.InvalidJSON, "", "the body could not be read: it ends too early or is framed wrongly", 0},
		{"memory of others", &admission.FullError{Wanted: 2, Limit: 3}, fault.Situation{}, fault.Busy, "", "the memory for requests is in use: try again in a moment", 1},
		{"memory", &admission.FullError{Wanted: 4, Limit: 3, Alone: true}, fault.Situation{}, fault.TooLarge, "",
			(&admission.FullError{Wanted: 4, Limit: 3, Alone: true}).Error() + ": send several requests", 0},
		{"broken document", &document.Error{Reason: "no zip file"}, fault.Situation{}, fault.BrokenDocument, "file", "no zip file", 0},
		{"use case", &translate.Error{Code: translate.CodeTextTooLong, Field: "records[0].text", Message: "too long"}, fault.Situation{}, fault.TextTooLong, "payload.records[0].text", "too long", 0},
		{"new code of the use case", &translate.Error{Code: "new", Message: "no"}, fault.Situation{}, fault.InvalidValue, "", "no", 0},
		{"busy", busy, fault.Situation{}, fault.Busy, "", "too many requests are waiting: try again in 3 s", 3},
		{"busy for a deadline", busy, fault.Situation{Deadline: true}, fault.NoTime, "", "too many requests are waiting: try again in 3 s", 3},
		{"too much for its time", endless, fault.Situation{}, fault.TooLarge, "", endless.Error() + ": send several requests", 0},
		{"too much for a deadline", endless, fault.Situation{Deadline: true}, fault.Timeout, "", endless.Error() + ": give it more time, or send several requests", 0},
		{"end", engine.ErrClosed, fault.Situation{}, fault.ShuttingDown, "", "the service is shutting down: try again in a moment", 1},
		{"end of what had begun", engine.ErrClosed, fault.Situation{Begun: true}, fault.Interrupted, "", "the service is shutting down: try again in a moment", 1},
		{"end of the models", catalog.ErrClosed, fault.Situation{}, fault.ShuttingDown, "", "the service is shutting down: try again in a moment", 1},
		{"end of models that were used", catalog.ErrClosed, fault.Situation{Begun: true}, fault.Interrupted, "", "the service is shutting down: try again in a moment", 1},
		{"loading", loading, fault.Situation{}, fault.Loading, "", "the model m is loading, which takes longer than the request has: try again in 3 s", 3},
		{"loading for a deadline", loading, fault.Situation{Deadline: true}, fault.NoTime, "",
			"the model m is loading, which takes longer than the request has: try again in 3 s", 3},
		{"loading for many", &catalog.LoadingError{Model: "m", Waiting: 9}, fault.Situation{Deadline: true}, fault.Loading, "",
			"the model m is loading, and 9 requests wait for it: try again in 1 s", 1},
		{"broken model", &catalog.BrokenError{Model: "m:2", Err: errors.New("/srv/secret/weights.bin: no such file")}, fault.Situation{}, fault.ModelBroken, "",
			"the model m:2 cannot be loaded, and the service's log says why: use another one until it is repaired", 30},
		{"no memory for a model", &catalog.MemoryError{Model: "m", Needs: 3 << 30, Limit: 2 << 30}, fault.Situation{}, fault.NoRoom, "",
			"the model m needs 3.0 GiB of memory, but MODEL_MEMORY is 2.0 GiB: raise it, or lower KV_MEMORY", 0},
		{"unknown model", &translate.Error{Code: translate.CodeUnknownModel, Field: "model", Message: "there is no model x"}, fault.Situation{}, fault.UnknownModel,
			"payload.model", "there is no model x", 0},
		{"broker that is away", &fleet.UnavailableError{Err: errors.New("dial tcp 10.0.0.1:6379")}, fault.Situation{}, fault.NoBroker, "",
			"the workers cannot be reached at the moment: try again in a moment", 2},
		{"model without workers", translate.ErrGone, fault.Situation{Begun: true}, fault.NotReady, "",
			"the workers that had the model have left, and no others could take the request over: try again in 5 s", 5},
		{"text that ends workers", &fleet.DeadError{Reason: "3 workers"}, fault.Situation{}, fault.Crashed, "",
			"the model ended its process, again and again, with one of the texts, which is set aside: send the texts one by one to find it, and leave it out", 0},
		{"changed files", fmt.Errorf("%w: %w: weights.bin", model.ErrLost, model.ErrDamaged), fault.Situation{}, fault.ModelBroken, "",
			"the files of the model have changed while it was in use: try again, when it is loaded from what is there now", 30},
		{"lost model", model.ErrLost, fault.Situation{}, fault.Stuck, "",
			"the model does not work any more, and is started again where something watches /healthz: try again in a moment", 1},
		{"timeout", context.DeadlineExceeded, fault.Situation{Timeout: time.Minute}, fault.Timeout, "",
			"the translation took longer than the client's deadline, or than 1m0s: send fewer or shorter texts", 0},
		{"client that left", context.Canceled, fault.Situation{Gone: true}, fault.ClientGone, "", "the client has left", 0},
		{"cancelled, but the client is there", context.Canceled, fault.Situation{ID: "id-77"}, fault.Internal, "", "internal error, request id id-77", 0},
		{"fault", errors.New("secret"), fault.Situation{ID: "id-77"}, fault.Internal, "", "internal error, request id id-77", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := fmt.Errorf("worker 1: %w", test.err)
			assert.Equal(t, &fault.Failure{Kind: test.kind, Field: test.field, Message: test.message, Wait: test.wait}, fault.Explain(err, test.request))
		})
	}
}

// The errors of package translate have rows of their own.
func TestCodesOfTranslations(t *testing.T) {
	for _, code := range []translate.Code{
		translate.CodeUnknownModel, translate.CodeUnknownLanguage, translate.CodeUnsupportedSource, translate.CodeTooManyRecords, translate.CodeInvalidText,
		translate.CodeInvalidOption, translate.CodeTextTooLong, translate.CodeTooManySentences, translate.CodeTooManyTokens, translate.CodeUnfinished,
	} {
		assert.Equal(t, string(code), fault.Explain(&translate.Error{Code: code}, fault.Situation{}).Code())
	}
}

// Added details do not change a failure's error.
func TestErrorsAreNotChanged(t *testing.T) {
	f := fault.Explain(body.ErrBroken, fault.Situation{})
	f.Field = "file"
	assert.Empty(t, fault.Explain(body.ErrBroken, fault.Situation{}).Field)
}
