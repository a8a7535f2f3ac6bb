package body

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/budget"
	"dragoman/app/guard/admission"
	"dragoman/app/guard/admission/cost"
)

const most = 128 << 10

// bounds are those of a server that has room for four bodies.
func bounds() *Bounds {
	return New(Config{Most: most, Memory: admission.New(4 * cost.BodyByte * most), Timeout: time.Minute})
}

// zeros is a body without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// post is a request of a caller with a body of some size, which may be unknown.
func post(caller string, size int64, known bool) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", io.LimitReader(zeros{}, size))
	if known {
		r.ContentLength = size
	}
	r.Header.Set("Caller", caller)
	return r
}

// reading is a handler that reads the body as its caller's and then calls next with
// what came of it.
func reading(next func(n int, err error)) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		Account(r, func() string { return r.Header.Get("Caller") }, nil)
		content, err := io.ReadAll(r.Body)
		next(len(content), err)
	})
}

func TestSizes(t *testing.T) {
	b := bounds()
	for _, known := range []bool{true, false} {
		for size, fits := range map[int64]bool{0: true, 1: true, most - 1: true, most: true, most + 1: false, 10 * most: false} {
			b.Serve(reading(func(n int, err error) {
				if fits {
					require.NoError(t, err)
					assert.EqualValues(t, size, n)
					return
				}
				var tooLarge *http.MaxBytesError
				require.ErrorAs(t, err, &tooLarge)
				assert.EqualValues(t, most, tooLarge.Limit)
				assert.LessOrEqual(t, n, most)
			})).ServeHTTP(httptest.NewRecorder(), post("", size, known))
		}
	}
	assert.Zero(t, b.cfg.Memory.InUse(), "all is given back")
}

// However many large bodies come at once, from however many callers, what is read of
// them stays within the memory, and a few callers leave some for one more.
func TestMemoryIsShared(t *testing.T) {
	for _, callers := range []int{1, 2, 3, 100} {
		b := bounds()
		held, refused := int64(0), 0
		var admit func(i int)
		admit = func(i int) {
			if i == 8*callers {
				assert.LessOrEqual(t, held*cost.BodyByte, int64(4*cost.BodyByte*most))
				if callers < 10 {
					b.Serve(reading(func(_ int, err error) {
						assert.NoError(t, err, "a small body beside those of %d", callers)
					})).ServeHTTP(httptest.NewRecorder(), post("another", 1000, false))
				}
				return
			}
			b.Serve(reading(func(n int, err error) {
				held += int64(n)
				if err != nil {
					require.ErrorIs(t, err, budget.ErrFull)
					refused++
				}
				admit(i + 1) // with this body still there
			})).ServeHTTP(httptest.NewRecorder(), post(fmt.Sprint(i%callers), most, i%2 == 0))
		}
		admit(0)
		assert.GreaterOrEqual(t, refused, 8*callers-4, "of %d callers", callers)
		assert.Less(t, refused, 8*callers, "of %d callers", callers)
		assert.Zero(t, b.cfg.Memory.InUse(), "all is given back")
	}
}

// counted is a body that counts the bytes that were taken of it.
type counted struct {
	io.Reader
	read atomic.Int64
}

// Read implements [io.Reader].
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read.Add(int64(n))
	return n, err
}

// A body whose announced length has no room is refused with its first bytes.
func TestAnnouncedBodiesWithoutRoomAreNotReceived(t *testing.T) {
	b := bounds()
	sent := &counted{Reader: io.LimitReader(zeros{}, most)}
	r := httptest.NewRequest(http.MethodPost, "/", sent)
	r.ContentLength = most
	b.Serve(reading(func(_ int, err error) { assert.NoError(t, err) })).ServeHTTP(httptest.NewRecorder(), r)
	assert.EqualValues(t, most, sent.read.Swap(0))
	for _, other := range []string{"a", "b"} {
		require.NoError(t, b.cfg.Memory.Lease(other).Take(3*cost.BodyByte*most/2))
	}
	sent.Reader = io.LimitReader(zeros{}, most)
	b.Serve(reading(func(_ int, err error) { assert.ErrorIs(t, err, budget.ErrFull) })).ServeHTTP(httptest.NewRecorder(), r)
	assert.Less(t, sent.read.Load(), int64(most/4))
}

// To receive is work in turns, of a body that is refused as well: while another caller has the turn, one that has received
// much gets no further than a stretch.
func TestBodiesAreReceivedInTurns(t *testing.T) {
	for name, most := range map[string]int64{"read": 64 * stretch, "refused": stretch / 2} {
		synctest.Test(t, func(t *testing.T) {
			b := New(Config{Most: most, Memory: admission.New(1 << 40), Timeout: time.Hour})
			lease := b.cfg.Memory.Lease("another")
			ctx := admission.With(t.Context(), lease)
			for _, caller := range []string{"", "another"} {
				for range 2 { // neither works aside now
					require.NoError(t, admission.Spend(ctx, caller, time.Second/2))
				}
			}
			var all sync.WaitGroup
			release := make(chan struct{})
			for range runtime.GOMAXPROCS(0) { // at least as many as there are turns
				all.Go(func() {
					_, err := admission.Do(ctx, "another", func(context.Context) error { <-release; return nil })
					assert.NoError(t, err)
				})
			}
			time.Sleep(3 * time.Second)
			sent := &counted{Reader: io.LimitReader(zeros{}, 16*stretch)}
			r := httptest.NewRequest(http.MethodPost, "/", sent)
			r.ContentLength = -1
			all.Go(func() {
				b.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if _, err := Read(w, r); err != nil {
						assert.NoError(t, Refuse(w, r, http.StatusRequestEntityTooLarge, name))
					}
				})).ServeHTTP(&deadlines{ResponseRecorder: *httptest.NewRecorder()}, r)
			})
			synctest.Wait()
			assert.LessOrEqual(t, sent.read.Load(), int64(3*stretch), name)
			close(release)
			all.Wait()
			assert.EqualValues(t, 16*stretch, sent.read.Load(), name)
			time.Sleep(time.Minute) // the last rest
		})
	}
}

// A body that is only announced takes nothing.
func TestAnnouncedBodiesTakeNothing(t *testing.T) {
	b := bounds()
	b.Serve(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		Account(r, func() string { return "" }, nil)
		one := make([]byte, 1)
		_, err := r.Body.Read(one)
		require.NoError(t, err)
		assert.EqualValues(t, cost.BodyByte, b.cfg.Memory.InUse())
	})).ServeHTTP(httptest.NewRecorder(), post("", most, true))
}

func TestRefuseClosesWhatIsUnread(t *testing.T) {
	broken := errors.New("connection reset")
	for _, test := range []struct {
		name   string
		body   io.Reader
		size   int64
		read   bool
		closes bool
	}{
		{"no body", nil, 0, false, false},
		{"read", zeros{}, most, true, false},
		{"small, which the server reads", zeros{}, smallBody, false, false},
		{"large", zeros{}, smallBody + 1, false, true},
		{"too large", zeros{}, most + 1, true, true},
		{"of unknown size", zeros{}, -1, false, true},
		{"broken", io.MultiReader(strings.NewReader("x"), errorReader{broken}), 10, true, true},
		{"too slow", errorReader{os.ErrDeadlineExceeded}, 10, true, true},
	} {
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if test.read {
				_, _ = io.ReadAll(r.Body)
			}
			assert.NoError(t, Refuse(w, r, http.StatusTeapot, map[string]string{"error": "a < b"}))
		})
		body := test.body
		if test.size > 0 {
			body = io.LimitReader(body, test.size)
		}
		r := httptest.NewRequest(http.MethodPost, "/", body)
		r.ContentLength = test.size
		w := httptest.NewRecorder()
		bounds().Serve(h).ServeHTTP(w, r)
		assert.Equal(t, http.StatusTeapot, w.Code, test.name)
		assert.Equal(t, `{"error":"a < b"}`+"\n", w.Body.String(), test.name)
		assert.Equal(t, fmt.Sprint(w.Body.Len()), w.Header().Get("Content-Length"), test.name)
		assert.Equal(t, test.closes, w.Header().Get("Connection") == "close", test.name)
	}
}

// Where a body is refused unread, a connection of HTTP/1 is read on, so that a client that writes first sees the answer. A
// client of HTTP/2 (Go's net/http, 1.26) sends no more once it has been refused, and waits for the end of the answer: what
// lingered there kept it waiting for as long as the server lingers.
func TestLingersOnHTTP1Only(t *testing.T) {
	for version, lingers := range map[int]bool{1: true, 2: false} {
		rest := &counted{Reader: io.LimitReader(zeros{}, most)}
		r := httptest.NewRequest(http.MethodPost, "/", rest)
		r.ProtoMajor, r.ContentLength = version, most
		bounds().Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			assert.NoError(t, Refuse(w, r, http.StatusTeapot, ""))
		})).ServeHTTP(&deadlines{ResponseRecorder: *httptest.NewRecorder()}, r)
		assert.Equal(t, lingers, rest.read.Load() > 0, version)
	}
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

// listen serves requests, all of which it refuses unread.
func listen(t *testing.T, b *Bounds) string {
	server := httptest.NewServer(b.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = Refuse(w, r, http.StatusTeapot, map[string]string{"error": "no"})
	})))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// A client that sends all of its request before it looks for an answer gets the
// answer, and the end of the connection after it.
func TestClientsThatWriteFirst(t *testing.T) {
	const size = 16 << 20 // more than the buffers of both ends hold
	address := listen(t, bounds())
	for name, head := range map[string]string{
		"announced": fmt.Sprintf("Content-Length: %d\r\n\r\n", size),
		"chunked":   fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n", size),
	} {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer conn.Close()
		_, err = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\n"+head)
		require.NoError(t, err, name)
		_, err = io.CopyN(conn, zeros{}, size)
		require.NoError(t, err, name)
		if name == "chunked" {
			_, err = io.WriteString(conn, "\r\n0\r\n\r\n")
			require.NoError(t, err)
		}
		answer, err := io.ReadAll(conn)
		require.NoError(t, err, name)
		assert.True(t, strings.HasPrefix(string(answer), "HTTP/1.1 418 "), name)
		assert.True(t, strings.HasSuffix(string(answer), "\r\n\r\n{\"error\":\"no\"}\n"), name)
	}
}

// The answer is there before the body, for clients that look for it.
func TestClientsThatReadFirst(t *testing.T) {
	conn, err := net.Dial("tcp", listen(t, bounds()))
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
	require.NoError(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, `{"error":"no"}`+"\n", string(answer))
}

// Few connections linger, and those that asked whether to send do not.
func TestLingeringIsBounded(t *testing.T) {
	b := bounds()
	for range maxLingering {
		b.linger <- struct{}{}
	}
	address := listen(t, b)
	for _, header := range []string{"", "Expect: 100-continue\r\n"} {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer conn.Close()
		_, err = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\n"+header+"Content-Length: 1000000\r\n\r\n")
		require.NoError(t, err)
		answer, err := io.ReadAll(conn) // ends although the body never comes
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(string(answer), "HTTP/1.1 418 "))
		<-b.linger // room for the second
	}
}

// deadlines is a writer that remembers the deadlines that reading gets.
type deadlines struct {
	httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.set = append(d.set, at)
	return nil
}

// Until the first bytes come, and for all of a small body, there is less time than for others.
func TestTimes(t *testing.T) {
	const timeout, silence = time.Hour, time.Minute
	for _, test := range []struct {
		size  int64
		known bool
		after time.Duration // how much later the second deadline is, when bytes have come
	}{{1, true, 0}, {small, true, 0}, {small + 1, true, timeout - silence}, {1, false, timeout - silence}} {
		b := New(Config{Most: most, Memory: admission.New(4 * cost.BodyByte * most), Timeout: timeout, Silence: silence})
		r := post("", test.size, test.known)
		if !test.known {
			r.ContentLength = -1
		}
		w := &deadlines{}
		b.Serve(reading(func(_ int, err error) { assert.NoError(t, err) })).ServeHTTP(w, r)
		require.Len(t, w.set, 2)
		assert.Equal(t, test.after, w.set[1].Sub(w.set[0]), test.size)
	}
}
