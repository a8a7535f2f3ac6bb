package jobs

import (
	"errors"

	"dragoman/app/failure"
)

// Explain makes a [*failure.Failure] of an error of a [Service], and returns other errors as they are.
func Explain(err error) error {
	var (
		limit       *LimitError
		unavailable *UnavailableError
	)
	switch {
	case errors.Is(err, ErrVanished):
		return failure.New(failure.JobLost, "", "%s", ErrVanished)
	case errors.Is(err, ErrUnknown):
		return failure.New(failure.UnknownJob, "", "there is no such job: its id is wrong, it is another key's, or it has expired")
	case errors.Is(err, ErrMismatch):
		return failure.New(failure.IdempotencyMismatch, "", "%s was used for another request: send another key, or the same request", "Idempotency-Key")
	case errors.As(err, &limit) && limit.Jobs > 0:
		return failure.New(failure.TooManyJobs, "", "%s: delete some, or wait until they expire", limit)
	case errors.As(err, &limit):
		return failure.New(failure.NoJobs, "", "%s: try again when others have ended and expired, or raise JOB_STORAGE", limit)
	case errors.As(err, &unavailable):
		return failure.New(failure.NoJobs, "", "%s", unavailable.Reason)
	}
	return err
}
