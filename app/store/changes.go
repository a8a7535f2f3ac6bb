package store

import (
	"context"
	"maps"
	"slices"
	"sync"

	"dragoman/app/wait"
)

// changes notifies watchers of names. The zero value is ready. It is safe for concurrent use.
type changes struct {
	mu       sync.Mutex // guards watchers
	watchers map[string]map[wait.Signal]bool
}

// watch watches a name until ctx is done; see [Store.Watch].
func (c *changes) watch(ctx context.Context, name string) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	watch := wait.NewSignal()
	if c.watchers == nil {
		c.watchers = make(map[string]map[wait.Signal]bool)
	}
	if c.watchers[name] == nil {
		c.watchers[name] = make(map[wait.Signal]bool)
	}
	c.watchers[name][watch] = true
	context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if delete(c.watchers[name], watch); len(c.watchers[name]) == 0 {
			delete(c.watchers, name)
		}
	})
	return watch
}

// notify notifies the watchers of a name.
func (c *changes) notify(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for watch := range c.watchers[name] {
		watch.Give()
	}
}

// notifyAll notifies all watchers.
func (c *changes) notifyAll() {
	c.mu.Lock()
	names := slices.Collect(maps.Keys(c.watchers))
	c.mu.Unlock()
	for _, name := range names {
		c.notify(name)
	}
}
