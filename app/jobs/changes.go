package jobs

import (
	"context"
	"sync"
	"time"
)

// Changes tells those who watch jobs and queues that they have changed, by their ids and names. It
// is for stores. The zero value is ready. It is safe for concurrent use.
type Changes struct {
	mu       sync.Mutex // guards the rest
	watchers map[string]map[chan struct{}]bool
}

// Watch watches a job or a queue until ctx is done; see [Store.Watch].
func (c *Changes) Watch(ctx context.Context, what string) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	watch := make(chan struct{}, 1)
	if c.watchers == nil {
		c.watchers = make(map[string]map[chan struct{}]bool)
	}
	if c.watchers[what] == nil {
		c.watchers[what] = make(map[chan struct{}]bool)
	}
	c.watchers[what][watch] = true
	context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if delete(c.watchers[what], watch); len(c.watchers[what]) == 0 {
			delete(c.watchers, what)
		}
	})
	return watch
}

// Tell tells that jobs or queues have changed.
func (c *Changes) Tell(list ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, what := range list {
		tell(c.watchers[what])
	}
}

// TellAll tells that everything may have changed.
func (c *Changes) TellAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, watchers := range c.watchers {
		tell(watchers)
	}
}

func tell(watchers map[chan struct{}]bool) {
	for watch := range watchers {
		select {
		case watch <- struct{}{}:
		default: // it has one already
		}
	}
}

// Claim tries to claim a job of a queue until that succeeds, as a token says, or fails, or ctx is
// done. It tries again after the time that a try returns, or as soon as the queue has changed.
func (c *Changes) Claim(ctx context.Context, from Queue, try func() (claim Claim, wait time.Duration, err error)) (Claim, error) {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	changed := c.Watch(watching, string(from))
	for {
		claim, wait, err := try()
		switch {
		case err != nil && ctx.Err() != nil:
			return Claim{}, ctx.Err()
		case err != nil || claim.Token > 0:
			return claim, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return Claim{}, ctx.Err()
		}
		timer.Stop()
	}
}
