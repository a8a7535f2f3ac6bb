package admission

import (
	"fmt"
	"sync"

	"dragoman/app/fault"
	"dragoman/app/schedule"
)

// Places are a limited number of places for callers, such as open connections. No caller can take all: a caller has at most half
// of the places that others leave, and at least one while there are any. Places are safe for concurrent use.
type Places struct {
	mu      sync.Mutex // guards account
	account schedule.Account
}

// PlacesError means that a caller gets no further place.
type PlacesError struct {
	Taken int  // by the caller, or by all
	Own   bool // the caller has its share
}

func (e *PlacesError) Error() string {
	if e.Own {
		return fmt.Sprintf("you have %d, which is your share", e.Taken)
	}
	return fmt.Sprintf("all %d are taken", e.Taken)
}

// Explain returns the failure for the sender of a request that is done in turn with others.
func (e *PlacesError) Explain(fault.Situation) *fault.Failure {
	return fault.New(fault.Busy, "", "of what is done in turn %s: try again in a moment", e)
}

// NewPlaces returns some free places.
func NewPlaces(most int) *Places {
	return &Places{account: schedule.Account{Limit: int64(most), Part: schedule.HalfOfPlaces}}
}

// Take takes a place for a caller, to be returned by [Places.Leave]. The error is a [*PlacesError].
func (p *Places) Take(caller string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.account.Room(caller, 1) {
	case schedule.Full:
		return &PlacesError{Taken: int(p.account.Held)}
	case schedule.CallerFull:
		return &PlacesError{Taken: int(p.account.By(caller)), Own: true}
	}
	p.account.Hold(caller, 1)
	return nil
}

// Leave returns a place of a caller.
func (p *Places) Leave(caller string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.account.Hold(caller, -1)
}
