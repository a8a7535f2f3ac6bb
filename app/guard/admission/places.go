package admission

import (
	"fmt"
	"sync"

	"dragoman/app/fault"
)

// Places are a limited number of places for callers, such as open connections. No caller can take all: a caller has at most half
// of the places that others leave, and at least one while there are any. It is safe for concurrent use.
type Places struct {
	most int

	mu    sync.Mutex // guards the rest
	taken int
	by    map[string]int // by caller
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
func NewPlaces(most int) *Places { return &Places{most: most, by: make(map[string]int)} }

// Take takes a place for a caller, to be returned by [Places.Leave]. The error is a [*PlacesError].
func (p *Places) Take(caller string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.by[caller]
	switch {
	case p.taken >= p.most:
		return &PlacesError{Taken: p.taken}
	case own > 0 && own >= (p.most-(p.taken-own)+1)/2:
		return &PlacesError{Taken: own, Own: true}
	}
	p.taken++
	p.by[caller]++
	return nil
}

// Leave returns a place of a caller.
func (p *Places) Leave(caller string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	if p.by[caller]--; p.by[caller] == 0 {
		delete(p.by, caller)
	}
}
