package jobstest

import (
	"sync"
	"time"
)

// Clock shows a time that passes when it is told to. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex // guards now
	now time.Time
}

// NewClock is a clock that begins now.
func NewClock() *Clock { return &Clock{now: time.Now()} }

// Now is the time that it shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance lets time pass.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
