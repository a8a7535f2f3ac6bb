package jobstore

import (
	"sync"
	"time"
)

// clock is a clock that only Advance moves. It is safe for concurrent use.
type clock struct {
	mu  sync.Mutex // guards now
	now time.Time
}

// newClock returns a clock that starts at the current time.
func newClock() *clock { return &clock{now: time.Now()} }

// Now returns the clock's time.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock.
func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
