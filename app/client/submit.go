package client

import (
	"container/list"
	"context"
	"fmt"
	"runtime/debug"
)

// Future is the result of a request, as soon as it is there. It is safe for concurrent
// use. All who ask get the same slice of results: it must not be changed.
type Future struct {
	client *Client
	ctx    context.Context // of the request
	job    *job

	// Guarded by Client.mu.
	place   *list.Element // in Client.queue; nil while it does not wait there
	unwatch func() bool   // stops what would take it out when ctx is done

	over    context.Context // done when results and err are there
	end     context.CancelFunc
	results []Result
	err     error
}

// Submit translates r as [Client.Translate] does, in the background. It never blocks:
// Config.MaxInFlight requests are on their way at once, and others wait for their turn,
// first come first served. ctx bounds the request, its wait included; cancel it to give
// the request up. What r refers to may be changed once Submit has returned.
//
// The future fails with [ErrQueueFull] where Config.MaxQueued requests wait already, and
// with [ErrClosed] once the client is closed.
func (c *Client) Submit(ctx context.Context, r Request) *Future {
	f := &Future{client: c, ctx: ctx}
	f.over, f.end = context.WithCancel(context.Background())
	var err error
	if f.job, err = newJob(translationPath, jsonType, r); err == nil {
		err = c.admit(f)
	}
	if err != nil {
		f.complete(nil, err)
	}
	return f
}

// admit begins a request, or lets it wait for its turn. With an error it does neither.
func (c *Client) admit(f *Future) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return ErrClosed
	case c.workers < c.cfg.MaxInFlight:
		c.workers++
		c.running++
		go c.work(f)
	case c.queue.Len() >= c.cfg.MaxQueued:
		return fmt.Errorf("%w: %d, and %d are on their way", ErrQueueFull, c.queue.Len(), c.workers)
	default:
		f.place = c.queue.PushBack(f)
		f.unwatch = context.AfterFunc(f.ctx, func() { c.drop(f) })
	}
	return nil
}

// work sends a request, and then those that wait, until there is none.
func (c *Client) work(f *Future) {
	defer c.leave()
	for f != nil {
		f.complete(c.run(f.ctx, f.job))
		c.mu.Lock()
		if f = c.pop(); f == nil {
			c.workers--
		}
		c.mu.Unlock()
	}
}

// run translates for Submit: Close ends it.
func (c *Client) run(ctx context.Context, j *job) ([]Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.closing, func() { cancel(ErrClosed) })()
	return c.translate(ctx, j)
}

// pop takes the request whose turn it is; nil where none waits. The caller holds c.mu.
func (c *Client) pop() *Future {
	first := c.queue.Front()
	if first == nil {
		return nil
	}
	f := first.Value.(*Future)
	c.remove(f)
	return f
}

// remove takes a request out of the queue. The caller holds c.mu.
func (c *Client) remove(f *Future) {
	c.queue.Remove(f.place)
	f.unwatch()
	f.place, f.unwatch = nil, nil
}

// drop ends a request whose context is done before its turn.
func (c *Client) drop(f *Future) {
	c.mu.Lock()
	if f.place == nil { // its turn has come at the same moment
		c.mu.Unlock()
		return
	}
	c.remove(f)
	c.running++
	c.mu.Unlock()
	defer c.leave()
	f.complete(nil, ended(f.ctx))
}

// leave is called at the end of what counts in c.running.
func (c *Client) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running--; c.running == 0 {
		c.idle.Broadcast()
	}
}

// complete sets the result, which is done once, by whoever took the request out of the
// queue.
func (f *Future) complete(results []Result, err error) {
	f.results, f.err = results, err
	f.job = nil // its texts are not needed any more
	f.end()
}

// Done is closed when the result is there.
func (f *Future) Done() <-chan struct{} { return f.over.Done() }

// Wait returns what Translate would have, as soon as it is there. Where ctx is done
// before that, it returns the error of ctx, and the request goes on.
func (f *Future) Wait(ctx context.Context) ([]Result, error) {
	select {
	case <-f.over.Done():
	case <-ctx.Done():
		if f.over.Err() == nil {
			return nil, ended(ctx)
		}
	}
	return f.results, f.err
}

// OnDone lets callback be called, once, on a goroutine of its own, as soon as the result
// is there, or now if it is. Several are called side by side. A callback may call Submit
// and wait; it must not call [Client.Close], which waits for it. A panic of it goes to
// Config.Log, and no further.
func (f *Future) OnDone(callback func([]Result, error)) {
	c := f.client
	c.mu.Lock()
	c.running++ // Close waits for it: it completes all futures
	c.mu.Unlock()
	context.AfterFunc(f.over, func() {
		defer c.leave()
		defer func() {
			if caught := recover(); caught != nil {
				c.cfg.Log.Error("panic in a callback of Future.OnDone", "panic", caught, "stack", string(debug.Stack()))
			}
		}()
		callback(f.results, f.err)
	})
}
