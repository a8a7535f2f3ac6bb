package translate

import (
	"context"
	"errors"
	"time"

	"dragoman/app/budget"
	"dragoman/app/engine"
	"dragoman/app/fault"
	"dragoman/app/wait"
)

// ErrGone means that nobody decodes any more with a model that was acquired, and that [Models] may have
// another in its place by now.
var ErrGone error = gone()

func gone() *fault.Failure {
	const takeover = 5 // about how many seconds later workers of another export may be there
	f := fault.New(fault.NotReady, "", "the workers that had the model have left, and no others could take the request over: try again in %d s", takeover)
	f.Wait = takeover
	return f
}

// firstPause is how long a request waits that has to begin again and cannot yet, and doubles until the
// pauses together have been some seconds: so long the model that is next may take to be loaded.
const firstPause, longestPause = 50 * time.Millisecond, 4 * time.Second

// retryGone is [Service.once], tried again where a model is gone: from the beginning and with what is
// there then, so that an answer never mixes two. fresh says whether nothing was answered yet. What stands
// in the way of the next try is not the request's fault.
func (s *Service) retryGone(ctx context.Context, req Request, yield func(i int, r Result) error, fresh func() bool) error {
	begun := false // before, by a model that is gone
	for pause := firstPause; ; pause *= 2 {
		err := s.once(ctx, req, yield)
		switch {
		case errors.Is(err, ErrGone):
			begun = true
		case !begun || !passes(err):
			return err
		}
		if !fresh() || pause > longestPause {
			return ErrGone
		}
		if !wait.For(ctx, pause) {
			if cause := context.Cause(ctx); !errors.Is(cause, context.DeadlineExceeded) {
				return cause
			}
			return ErrGone
		}
	}
}

// passes says whether an error is of a kind that a request would not have met, had it not to begin again.
func passes(err error) bool {
	var (
		refused *Error
		large   *engine.TooLargeError
	)
	return errors.Is(err, engine.ErrBusy) || errors.Is(err, budget.ErrFull) || errors.As(err, &large) || errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &refused) && refused.Code == CodeUnknownModel
}
