package client

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slow is a service that takes a second for each request. It notes the texts in the
// order in which they come, and how many requests were there at once.
type slow struct {
	mu        sync.Mutex
	texts     []string
	now, most int
	left      int // clients that did not wait
}

func (s *slow) serve(w http.ResponseWriter, r *http.Request) {
	asked := read(r)
	s.enter(asked.Records[0].Text)
	defer s.leave()
	select {
	case <-time.After(time.Second):
		_, _ = fmt.Fprintf(w, `{"result":[{"id":%q,"text":"done"}]}`, asked.Records[0].ID)
	case <-r.Context().Done():
		s.mu.Lock()
		s.left++
		s.mu.Unlock()
	}
}

func (s *slow) enter(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts = append(s.texts, text)
	s.now++
	s.most = max(s.most, s.now)
}

func (s *slow) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now--
}

func TestSubmit(t *testing.T) {
	inBubble(t, Config{}, capitals, func(t *testing.T, c *Client) {
		records := []Record{{"1", "hello"}}
		f := c.Submit(t.Context(), Request{To: "fr", Records: records})
		records[0] = Record{"2", "something else"} // which is the caller's again
		results, err := f.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, hellos, results)
		<-f.Done()
		again, err := f.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, hellos, again)
	})
	inBubble(t, Config{}, problem(400, "unknown_language"), func(t *testing.T, c *Client) {
		results, err := c.Submit(t.Context(), hello).Wait(t.Context())
		assert.Nil(t, results)
		assert.True(t, IsCode(err, CodeUnknownLanguage))
	})
}

// So many requests are on their way at once, and the others follow in their order.
func TestSubmitInOrder(t *testing.T) {
	for _, inFlight := range []int{1, 3} {
		s := &slow{}
		inBubble(t, Config{MaxInFlight: inFlight}, s.serve, func(t *testing.T, c *Client) {
			start := time.Now()
			var futures []*Future
			for i := range 9 {
				futures = append(futures, c.Submit(t.Context(), the(fmt.Sprint(i))))
				synctest.Wait() // until the request is with the service, or waits
			}
			assert.Zero(t, time.Since(start), "Submit does not block")
			for i, f := range futures {
				_, err := f.Wait(t.Context())
				require.NoError(t, err)
				assert.Equal(t, time.Duration(1+i/inFlight)*time.Second, time.Since(start))
			}
		})
		assert.Equal(t, inFlight, s.most)
		assert.Len(t, s.texts, 9)
		if inFlight == 1 {
			assert.Equal(t, []string{"0", "1", "2", "3", "4", "5", "6", "7", "8"}, s.texts)
		}
	}
}

func TestQueueIsBounded(t *testing.T) {
	s := &slow{}
	inBubble(t, Config{MaxInFlight: 2, MaxQueued: 3}, s.serve, func(t *testing.T, c *Client) {
		var failed int
		for i := range 10 {
			f := c.Submit(t.Context(), the(fmt.Sprint(i)))
			select {
			case <-f.Done():
				_, err := f.Wait(t.Context())
				assert.ErrorIs(t, err, ErrQueueFull)
				assert.ErrorContains(t, err, "3, and 2 are on their way")
				failed++
			default:
			}
		}
		assert.Equal(t, 5, failed)
		time.Sleep(time.Minute)
		_, err := c.Submit(t.Context(), the("later")).Wait(t.Context())
		assert.NoError(t, err)
	})
	assert.Len(t, s.texts, 6)
}

// A request that is given up is not sent, and one that is on its way is cancelled.
func TestSubmittedContexts(t *testing.T) {
	s := &slow{}
	inBubble(t, Config{MaxInFlight: 1, MaxQueued: 2}, s.serve, func(t *testing.T, c *Client) {
		first, cancelFirst := context.WithCancel(t.Context())
		defer cancelFirst()
		second, cancelSecond := context.WithCancel(t.Context())
		defer cancelSecond()
		third, cancelThird := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancelThird()
		f1 := c.Submit(first, the("1"))
		f2 := c.Submit(second, the("2"))
		f3 := c.Submit(third, the("3"))
		synctest.Wait()

		start := time.Now()
		cancelSecond()
		_, err := f2.Wait(t.Context())
		assert.ErrorIs(t, err, context.Canceled)
		_, err = f3.Wait(t.Context())
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 300*time.Millisecond, time.Since(start), "before its turn")

		f4, f5 := c.Submit(t.Context(), the("4")), c.Submit(t.Context(), the("5")) // there is room again
		cancelFirst()
		_, err = f1.Wait(t.Context())
		assert.ErrorIs(t, err, context.Canceled)
		for _, f := range []*Future{f4, f5} {
			_, err = f.Wait(t.Context())
			assert.NoError(t, err)
		}
		_, err = c.Submit(first, the("6")).Wait(t.Context())
		assert.ErrorIs(t, err, context.Canceled, "over before it begins")
	})
	assert.Equal(t, []string{"1", "4", "5"}, s.texts)
	assert.Equal(t, 1, s.left)
}

func TestWaitWithAContext(t *testing.T) {
	s := &slow{}
	inBubble(t, Config{}, s.serve, func(t *testing.T, c *Client) {
		f := c.Submit(t.Context(), the("1"))
		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		results, err := f.Wait(short)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Nil(t, results)
		_, err = f.Wait(t.Context())
		assert.NoError(t, err, "the request goes on")
		results, err = f.Wait(short)
		assert.NoError(t, err, "a result that is there is given to all")
		assert.Len(t, results, 1)
	})
}

func TestCallbacks(t *testing.T) {
	s := &slow{}
	inBubble(t, Config{MaxInFlight: 1}, s.serve, func(t *testing.T, c *Client) {
		var calls atomic.Int32
		count := func(results []Result, err error) {
			assert.NoError(t, err)
			assert.Equal(t, []Result{{Text: "done", To: "fr"}}, results)
			calls.Add(1)
		}
		f := c.Submit(t.Context(), the("1"))
		f.OnDone(count)
		f.OnDone(count)
		synctest.Wait()
		assert.Zero(t, calls.Load())
		<-f.Done()
		synctest.Wait()
		assert.EqualValues(t, 2, calls.Load())
		f.OnDone(count) // now
		synctest.Wait()
		assert.EqualValues(t, 3, calls.Load())
	})
}

// A callback may go on with another request, even where only one may be on its way.
func TestCallbacksMaySubmit(t *testing.T) {
	s := &slow{}
	inBubble(t, Config{MaxInFlight: 1}, s.serve, func(t *testing.T, c *Client) {
		start, done := time.Now(), make(chan error)
		c.Submit(t.Context(), the("1")).OnDone(func([]Result, error) {
			_, err := c.Submit(t.Context(), the("2")).Wait(t.Context())
			done <- err
		})
		c.Submit(t.Context(), the("3"))
		assert.NoError(t, <-done)
		assert.Equal(t, 3*time.Second, time.Since(start))
	})
	assert.Equal(t, []string{"1", "3", "2"}, s.texts)
}

func TestPanicsOfCallbacks(t *testing.T) {
	var log lockedBuffer
	cfg := Config{MaxInFlight: 1, Log: slog.New(slog.NewTextHandler(&log, nil))}
	inBubble(t, cfg, capitals, func(t *testing.T, c *Client) {
		f := c.Submit(t.Context(), hello)
		for _, callback := range []func([]Result, error){func([]Result, error) { panic("oops") }, nil} {
			f.OnDone(callback)
		}
		_, err := f.Wait(t.Context())
		require.NoError(t, err)
		f.OnDone(func([]Result, error) { panic("later") })
		_, err = c.Submit(t.Context(), hello).Wait(t.Context())
		assert.NoError(t, err, "all goes on")
	})
	for _, want := range []string{"level=ERROR", "panic=oops", "nil pointer", "panic=later", "submit_test.go"} {
		assert.Contains(t, log.String(), want)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
