package fleet

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/catalog"
	"dragoman/app/engine"
	"dragoman/model"
)

// Outcomes of sentences that were not decoded. The cause that ended the decoding counts more than the error.
func TestFailures(t *testing.T) {
	oops, busy := errors.New("oops"), &engine.BusyError{}
	ends := settled{outcome: returned, reply: &reply{Fault: again}}
	fails := func(c cause, reason string, pause bool) settled {
		return settled{outcome: failedOutcome, reply: &reply{Fault: c, Reason: reason}, pause: pause}
	}
	for name, test := range map[string]struct {
		cause, err error
		want       settled
	}{
		"cancelled":       {errCancelled, oops, settled{outcome: cancelled, left: true}},
		"cancelled, busy": {errCancelled, busy, settled{outcome: cancelled, left: true}},
		"expired":         {errExpired, oops, settled{outcome: expired}},
		"taken over":      {errTaken, model.ErrLost, settled{outcome: lostOutcome, left: true}},
		"worker ends":     {context.Canceled, model.ErrLost, ends},
		"engine closed":   {nil, fmt.Errorf("m: %w", engine.ErrClosed), ends},
		"catalog closed":  {nil, catalog.ErrClosed, ends},
		"busy":            {nil, busy, settled{outcome: returned, reply: &reply{Fault: again}, pause: true}},
		"loading":         {nil, &catalog.LoadingError{Model: "m:1"}, settled{outcome: returned, reply: &reply{Fault: again}, pause: true}},
		"invalid":         {nil, fmt.Errorf("%w 0: %w", engine.ErrInvalid, oops), fails(invalid, "oops", false)},
		"broken":          {nil, &catalog.BrokenError{Model: "m:1", Err: oops}, fails(broken, "m:1", true)},
		"no memory":       {nil, &catalog.MemoryError{Model: "m:1"}, fails(broken, "m:1", true)},
		"lost":            {nil, model.ErrLost, fails(lost, model.ErrLost.Error(), true)},
		"another":         {nil, oops, fails(failed, "oops", false)},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, failure(test.cause, test.err)) })
	}
}
