package faults

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// connections holds many connections open.
func connections(t *testing.T) {
	const count, dialers = 10_000, 100
	s := serve(t)
	before := s.memory(t, "VmRSS")
	conns := make([]net.Conn, count)
	defer func() {
		for _, c := range conns {
			if c != nil {
				c.Close()
			}
		}
	}()
	require.NoError(t, parallel(t.Context(), dialers, func(ctx context.Context, d int) (err error) {
		for i := d; i < count; i += dialers {
			if conns[i], err = s.begin(ctx, ""); err != nil {
				return err
			}
			if err := get(conns[i], "/healthz"); err != nil {
				return err
			}
		}
		return nil
	}))
	took := s.translates(t)
	for _, c := range conns { // all connections are still open
		require.NoError(t, get(c, "/healthz"))
	}
	t.Logf("all answered twice; a translation meanwhile took %d ms; %.0f MB more memory", took.Milliseconds(), s.memory(t, "VmRSS")-before)
}

// get sends a request on a connection and reads the answer.
func get(c net.Conn, path string) error {
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return err
	}
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return err
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// slowHeaders sends headers byte by byte.
func slowHeaders(t *testing.T) {
	stall(t, 500, "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ", 10*time.Second)
}

// slowBodies sends bodies byte by byte.
func slowBodies(t *testing.T) {
	stall(t, 200, head("/translation", 100_000)+"{", 30*time.Second)
}

// stall sends the beginning of a request and then a byte per second. The service must end each request soon after limit, and
// translate for others meanwhile.
func stall(t *testing.T, clients int, begin string, limit time.Duration) {
	s := serve(t)
	open := make([]time.Duration, clients)
	done := make(chan error, 1)
	go func() {
		done <- parallel(t.Context(), clients, func(ctx context.Context, i int) error {
			start := time.Now()
			c, err := s.begin(ctx, begin)
			if err != nil {
				return err
			}
			defer c.Close()
			go drip(c)
			_ = c.SetReadDeadline(start.Add(limit + 15*time.Second))
			if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
				return fmt.Errorf("a connection is open after %s", limit+15*time.Second)
			}
			open[i] = time.Since(start)
			return nil
		})
	}()
	for slowest, served := time.Duration(0), 0; ; served++ {
		select {
		case err := <-done:
			require.NoError(t, err)
			t.Logf("all were closed, after %.1f s at most; %d translations meanwhile took %d ms at most",
				slices.Max(open).Seconds(), served, slowest.Milliseconds())
			return
		default:
			slowest = max(slowest, s.translates(t))
		}
	}
}

// drip sends a byte per second until the connection ends.
func drip(c net.Conn) {
	for _, err := io.WriteString(c, "a"); err == nil; _, err = io.WriteString(c, "a") {
		time.Sleep(time.Second)
	}
}

// slowReaders requests streams and does not read them.
func slowReaders(t *testing.T) {
	s := serve(t, "MAX_RECORDS=2000")
	raw := body(strings.Split(strings.Repeat("I like to read books.\n", 1000), "\n")...)
	for range 50 {
		c, err := s.begin(t.Context(), "")
		require.NoError(t, err)
		defer c.Close()
		_ = c.(*net.TCPConn).SetReadBuffer(4096)
		_, err = fmt.Fprintf(c, "%s%s", head("/translation/stream", len(raw)), raw)
		require.NoError(t, err)
	}
	s.freed(t, 2*time.Minute)
	s.translates(t)
}

// cancel leaves during the work.
func cancel(t *testing.T) { slow(t).left(t, 100, body(books(200)...)) }

// sharedCancel sends the same large text from many clients, which leave.
func sharedCancel(t *testing.T) {
	slow(t).left(t, 40, body(chunks(strings.Join(books(3600), "\n"), 99_000)...))
}

// slow starts a service with slow requests.
func slow(t *testing.T) *service {
	return serve(t, "REQUEST_TIMEOUT=5m", "QUEUE_WAIT=0", "QUEUE_TOKENS=10000000")
}

// books returns n different sentences.
func books(n int) (texts []string) {
	for i := range n {
		texts = append(texts, fmt.Sprintf("I have read %d books about trains, and my sister has read more of them than I have.", i))
	}
	return texts
}

// left sends a body from several clients, which leave once work on it has begun.
func (s *service) left(t *testing.T, clients int, body []byte) {
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	gone := make(chan error, 1)
	go func() {
		gone <- parallel(ctx, clients, func(ctx context.Context, _ int) error {
			_, _, _ = s.post(ctx, s.client, "/translation", body)
			return nil
		})
	}()
	eventually(t, 30*time.Second, "something is decoded", func() bool { return !s.idle(t) })
	leave()
	require.NoError(t, <-gone)
	s.freed(t, 30*time.Second)
}

// reset ends connections by RST.
func reset(t *testing.T) {
	s := serve(t)
	raw := body("I have read many books about trains, and my sister has read more of them than I have.")
	var conns []net.Conn
	for range 100 {
		c, err := s.begin(t.Context(), head("/translation", len(raw))+string(raw))
		require.NoError(t, err)
		conns = append(conns, c)
	}
	for _, c := range conns {
		_ = c.(*net.TCPConn).SetLinger(0) // RST instead of FIN, as when a process dies
		_ = c.Close()
	}
	s.freed(t, 10*time.Second)
}

// oversized sends bodies beyond the limit. A client that sends all before it reads must get the answer, too.
func oversized(t *testing.T) {
	const size = 16 << 20
	s := serve(t)
	require.NoError(t, parallel(t.Context(), 20, func(ctx context.Context, _ int) error {
		c, err := s.begin(ctx, head("/translation", size))
		if err != nil {
			return err
		}
		defer c.Close()
		if _, err := c.Write(make([]byte, size)); err != nil {
			return err
		}
		answer, err := io.ReadAll(c)
		if err == nil && !bytes.HasPrefix(answer, []byte("HTTP/1.1 413 ")) {
			return fmt.Errorf("the answer is %.40q", answer)
		}
		return err
	}))
}
