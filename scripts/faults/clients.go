package main

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
	"time"
)

// with runs a fault on a service of its own, which must end well afterwards.
func (r *run) with(ctx context.Context, use func(s *service) (string, error), environ ...string) (string, error) {
	s, err := r.start(ctx, environ...)
	if err != nil {
		return "", err
	}
	seen, err := use(s)
	if stopped := s.stop(); err == nil && stopped != nil {
		err = fmt.Errorf("it did not end well: %w", stopped)
	}
	return seen, err
}

// connections keeps many connections open.
func connections(ctx context.Context, r *run) (string, error) {
	const count, dialers = 10_000, 100
	return r.with(ctx, func(s *service) (string, error) {
		before, err := s.memory()
		if err != nil {
			return "", err
		}
		conns := make([]net.Conn, count)
		err = parallel(ctx, dialers, func(ctx context.Context, d int) (err error) {
			for i := d; i < count; i += dialers {
				if conns[i], err = s.begin(ctx, ""); err != nil {
					return err
				}
				if _, err := get(conns[i], "/healthz"); err != nil {
					return err
				}
			}
			return nil
		})
		defer func() {
			for _, c := range conns {
				if c != nil {
					c.Close()
				}
			}
		}()
		if err != nil {
			return "", err
		}
		took, err := s.translates(ctx)
		if err != nil {
			return "", err
		}
		for _, c := range conns { // they are all still there
			if _, err := get(c, "/healthz"); err != nil {
				return "", err
			}
		}
		after, err := s.memory()
		return fmt.Sprintf("all answered twice; a translation meanwhile took %d ms; %.0f MB more memory", took.Milliseconds(), after-before), err
	})
}

// get sends a request on a connection and reads the answer.
func get(c net.Conn, path string) (status int, err error) {
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return 0, err
	}
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return 0, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// slowHeaders sends headers byte by byte.
func slowHeaders(ctx context.Context, r *run) (string, error) {
	return r.stall(ctx, 500, "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ", 10*time.Second)
}

// slowBodies sends bodies byte by byte.
func slowBodies(ctx context.Context, r *run) (string, error) {
	return r.stall(ctx, 200, head("/translation", 100_000)+"{", 30*time.Second)
}

// stall sends the beginning of a request and then a byte each second. The service must
// end each within limit and some, and translate for others meanwhile.
func (r *run) stall(ctx context.Context, clients int, begin string, limit time.Duration) (string, error) {
	return r.with(ctx, func(s *service) (string, error) {
		open := make([]time.Duration, clients)
		done := make(chan error, 1)
		go func() {
			done <- parallel(ctx, clients, func(ctx context.Context, i int) error {
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
		slowest, served := time.Duration(0), 0
		for {
			select {
			case err := <-done:
				return fmt.Sprintf("all were closed, after %.1f s at most; %d translations meanwhile took %d ms at most",
					slices.Max(open).Seconds(), served, slowest.Milliseconds()), err
			default:
			}
			took, err := s.translates(ctx)
			if err != nil {
				return "", err
			}
			served++
			slowest = max(slowest, took)
		}
	})
}

// drip sends a byte each second until the connection ends.
func drip(c net.Conn) {
	for _, err := io.WriteString(c, "a"); err == nil; _, err = io.WriteString(c, "a") {
		time.Sleep(time.Second)
	}
}

// slowReaders asks for streams and does not read them.
func slowReaders(ctx context.Context, r *run) (string, error) {
	const clients = 50
	return r.with(ctx, func(s *service) (string, error) {
		raw := body(strings.Split(strings.Repeat("I like to read books.\n", 1000), "\n")...)
		for range clients {
			c, err := s.begin(ctx, "")
			if err != nil {
				return "", err
			}
			defer c.Close()
			_ = c.(*net.TCPConn).SetReadBuffer(4096)
			fmt.Fprintf(c, "%s%s", head("/translation/stream", len(raw)), raw)
		}
		if _, err := s.freed(ctx, 2*time.Minute); err != nil {
			return "", err
		}
		_, err := s.translates(ctx)
		return fmt.Sprintf("%d streams took no rows any more once decoded; translations go on", clients), err
	}, "MAX_RECORDS=2000")
}

// cancel leaves in the middle of the work.
func cancel(ctx context.Context, r *run) (string, error) {
	return r.with(ctx, func(s *service) (string, error) {
		var texts []string
		for i := range 200 {
			texts = append(texts, fmt.Sprintf("I have read %d books about trains, and my sister has read more of them than I have.", i))
		}
		return s.left(ctx, 100, body(texts...))
	}, "REQUEST_TIMEOUT=5m", "QUEUE_WAIT=0", "QUEUE_TOKENS=10000000")
}

// sharedCancel has many clients send the same large text, and leave.
func sharedCancel(ctx context.Context, r *run) (string, error) {
	return r.with(ctx, func(s *service) (string, error) {
		return s.left(ctx, 40, body(chunks(strings.Repeat("It is raining.\n", 20_000), 99_000)...))
	})
}

// left lets clients send a body, and leave once it is worked on.
func (s *service) left(ctx context.Context, clients int, body []byte) (string, error) {
	cctx, leave := context.WithCancel(ctx)
	defer leave()
	gone := make(chan error, 1)
	go func() {
		gone <- parallel(cctx, clients, func(ctx context.Context, _ int) error {
			_, _, _ = s.post(ctx, s.client, "/translation", body)
			return nil
		})
	}()
	if err := s.wait(ctx, 30*time.Second, func() bool { return !s.idle() }); err != nil {
		return "", fmt.Errorf("nothing is decoded: %w", err)
	}
	leave()
	if err := <-gone; err != nil {
		return "", err
	}
	return s.freed(ctx, 30*time.Second)
}

// reset ends connections the hard way.
func reset(ctx context.Context, r *run) (string, error) {
	const clients = 100
	return r.with(ctx, func(s *service) (string, error) {
		raw := body("I have read many books about trains, and my sister has read more of them than I have.")
		var conns []net.Conn
		for range clients {
			c, err := s.begin(ctx, head("/translation", len(raw))+string(raw))
			if err != nil {
				return "", err
			}
			conns = append(conns, c)
		}
		for _, c := range conns {
			_ = c.(*net.TCPConn).SetLinger(0) // RST instead of FIN, as when a process dies
			_ = c.Close()
		}
		return s.freed(ctx, 10*time.Second)
	})
}

// oversized sends bodies beyond the limit; who sends all before it reads gets the answer,
// too.
func oversized(ctx context.Context, r *run) (string, error) {
	const clients, size = 20, 16 << 20
	return r.with(ctx, func(s *service) (string, error) {
		err := parallel(ctx, clients, func(ctx context.Context, _ int) error {
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
		})
		return fmt.Sprintf("%d clients that write before they read saw the 413", clients), err
	})
}
