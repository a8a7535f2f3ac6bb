package jobstore

import (
	"sync"
	"time"
)

// clock shows a time that passes when it is told to. It is safe for concurrent use.
type clock struct {
	mu  sync.Mutex // guards now
	now time.Time
}

// newClock is a clock that begins now.
func newClock() *clock { return &clock{now: time.Now()} }

// Now is the time that it shows.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance lets time pass.
func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
