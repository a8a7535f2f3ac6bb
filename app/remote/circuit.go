package remote

import (
	"errors"
	"sync"
	"time"

	"dragoman/app/engine"
)

// Pauses of an open circuit: the first, which doubles with each failure, the longest, and that after a fault that does not pass by
// itself, such as a wrong key. A request that tries the server after a pause has probeTime before another may.
const (
	firstPause   = time.Second
	longestPause = time.Minute
	probeTime    = 10 * time.Second
)

// errProbed means that another request tries the server.
var errProbed = errors.New("a request tries whether it is back")

// Circuit keeps requests from a server that fails: it is open for a while after a failure, then lets one request try, and closes
// after a success. It outlives the engines of the server. It is safe for concurrent use.
type Circuit struct {
	model string

	mu sync.Mutex // guards state
	state
}

// state is the state of a circuit, without a clock.
type state struct {
	failures int       // in a row
	until    time.Time // end of the pause
	probe    time.Time // end of the time of the request that tries; zero: none does
	cause    error     // the last failure
}

// NewCircuit returns a closed circuit. model is for errors.
func NewCircuit(model string) *Circuit { return &Circuit{model: model} }

// Err returns an [*engine.AwayError] while no request may be made.
func (c *Circuit) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err(time.Now())
}

func (c *Circuit) err(now time.Time) error {
	wait, cause := c.away(now)
	if cause == nil {
		return nil
	}
	return &engine.AwayError{Model: c.model, Wait: wait, Err: cause}
}

// enter is Err for a request that will use the server.
func (c *Circuit) enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	err := c.err(now)
	if err == nil && c.failures > 0 {
		c.probe = now.Add(probeTime)
	}
	return err
}

// failed opens the circuit, at least for wait. first reports whether it was closed.
func (c *Circuit) failed(cause error, wait time.Duration) (first bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first = c.failures == 0
	now := time.Now()
	c.fail(now, cause, wait)
	return first, c.err(now)
}

// succeeded closes the circuit, and reports whether it was open.
func (c *Circuit) succeeded() (back bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	back = c.failures > 0
	c.state = state{}
	return back
}

// away returns why no request may be made, and for how long; nil: one may.
func (s *state) away(now time.Time) (wait time.Duration, cause error) {
	switch {
	case now.Before(s.until):
		return s.until.Sub(now), s.cause
	case now.Before(s.probe):
		return firstPause, errProbed
	}
	return 0, nil
}

// fail begins a pause, unless one lasts: the failures of calls that were made together count once.
func (s *state) fail(now time.Time, cause error, wait time.Duration) {
	s.cause, s.probe = cause, time.Time{}
	if !now.Before(s.until) {
		s.failures++
		wait = max(wait, min(longestPause, firstPause<<min(s.failures-1, 6)))
	}
	if end := now.Add(wait); end.After(s.until) {
		s.until = end
	}
}
