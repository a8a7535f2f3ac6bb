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

// ErrGone means that an acquired model is no longer decoded by any worker. [Models] may have a replacement by now.
var ErrGone error = gone()

func gone() *fault.Failure {
	const takeover = 5 // seconds after which workers of another export may be available
	f := fault.New(fault.NotReady, "", "the workers that had the model have left, and no others could take the request over: try again in %d s", takeover)
	f.Wait = takeover
	return f
}

// firstPause is the first pause of a request that must begin again and cannot yet. Pauses double up to longestPause and last some
// seconds in all, in which a replacement model may be loaded.
const firstPause, longestPause = 50 * time.Millisecond, 4 * time.Second

// retryGone calls [Service.once], and again from the beginning if a model is gone, with the models then available, so that an
// answer never mixes two models. fresh reports whether nothing has been answered yet. Obstacles to the next try are not the
// request's fault.
func (s *Service) retryGone(ctx context.Context, req Request, yield func(i int, r Result) error, fresh func() bool) error {
	begun := false                // whether a try has failed because its model was gone
	away := make(map[string]bool) // models whose servers are away
	for pause := firstPause; ; pause *= 2 {
		err := s.once(ctx, req, yield)
		lost, isAway := errors.AsType[*engine.AwayError](err)
		switch {
		case isAway && fresh() && !away[lost.Model]: // another model may be selected now
			away[lost.Model] = true
			continue
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

// passes reports whether an error is one that the request meets only because it begins again.
func passes(err error) bool {
	var (
		refused *Error
		large   *engine.TooLargeError
	)
	return errors.Is(err, engine.ErrBusy) || errors.Is(err, budget.ErrFull) || errors.As(err, &large) || errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &refused) && refused.Code == CodeUnknownModel
}
