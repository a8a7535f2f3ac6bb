package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClose(t *testing.T) {
	s := &slow{}
	inBubble(t, Config{MaxInFlight: 2}, s.serve, func(t *testing.T, c *Client) {
		start := time.Now()
		var futures []*Future
		var called, finished atomic.Int32
		for i := range 5 {
			f := c.Submit(t.Context(), the(fmt.Sprint(i)))
			f.OnDone(func([]Result, error) {
				called.Add(1)
				time.Sleep(time.Minute)
				finished.Add(1)
			})
			futures = append(futures, f)
		}
		time.Sleep(500 * time.Millisecond)
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				c.Close()
				assert.EqualValues(t, 5, finished.Load(), "Close waits for callbacks")
				assert.Equal(t, time.Minute+500*time.Millisecond, time.Since(start))
			})
		}
		for _, f := range futures {
			_, err := f.Wait(t.Context())
			assert.ErrorIs(t, err, ErrClosed)
		}
		assert.Equal(t, 500*time.Millisecond, time.Since(start), "what was submitted ends at once")
		both.Wait()
		assert.EqualValues(t, 5, called.Load())

		late := c.Submit(t.Context(), the("late"))
		_, err := late.Wait(t.Context())
		assert.ErrorIs(t, err, ErrClosed)
		late.OnDone(func([]Result, error) { called.Add(1) })
		c.Close() // waits for the callback
		assert.EqualValues(t, 6, called.Load())

		_, err = c.Translate(t.Context(), the("other methods go on"))
		assert.NoError(t, err)
	})
	assert.Equal(t, 2, s.left)
	assert.Len(t, s.texts, 3)
}

// Close ends pauses, too.
func TestCloseDuringAPause(t *testing.T) {
	inBubble(t, Config{}, problem(503, "busy", "Retry-After", "20"), func(t *testing.T, c *Client) {
		start := time.Now()
		f := c.Submit(t.Context(), hello)
		time.Sleep(time.Second)
		c.Close()
		_, err := f.Wait(t.Context())
		assert.ErrorIs(t, err, ErrClosed)
		assert.True(t, IsCode(err, CodeBusy), "why it was not done before")
		assert.Equal(t, time.Second, time.Since(start))
	})
}

// Many goroutines at once use all that a client has.
func TestConcurrentUse(t *testing.T) {
	var requests atomic.Int32
	flaky := func(w http.ResponseWriter, r *http.Request) {
		switch n := requests.Add(1); {
		case n%5 == 0:
			_, _ = io.Copy(io.Discard, r.Body)
			problem(503, "busy")(w, r)
		case r.URL.Path == streamPath:
			_, _ = io.WriteString(w, `{"result":{"id":"1","text":"HELLO"}}`+"\n"+`{"done":{"results":1}}`+"\n")
		default:
			capitals(w, r)
		}
	}
	inBubble(t, Config{MaxInFlight: 4, Retries: 20}, flaky, func(t *testing.T, c *Client) {
		var all sync.WaitGroup
		var called atomic.Int32
		check := func(results []Result, err error) {
			assert.NoError(t, err)
			assert.Equal(t, hellos, results)
			called.Add(1)
		}
		for range 20 {
			all.Go(func() { check(c.Translate(t.Context(), hello)) })
			all.Go(func() { check(collect(t.Context(), c, hello)) })
			all.Go(func() {
				f := c.Submit(t.Context(), hello)
				f.OnDone(check)
				check(f.Wait(t.Context()))
				f.OnDone(check)
			})
		}
		all.Wait()
		c.Close()
		assert.EqualValues(t, 100, called.Load())
	})
}

// A request that is given up at the moment at which its turn comes ends once.
func TestCancelledAtItsTurn(t *testing.T) {
	c, err := New(Config{URL: "http://service", MaxInFlight: 1, HTTPClient: &http.Client{Transport: atOnce{}}})
	require.NoError(t, err)
	defer c.Close()
	for range 2000 {
		ctx, cancel := context.WithCancel(t.Context())
		first := c.Submit(t.Context(), benchRequest)
		second := c.Submit(ctx, benchRequest)
		go func() {
			<-first.Done()
			cancel()
		}()
		_, err := second.Wait(t.Context())
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
		<-ctx.Done()
	}
}
