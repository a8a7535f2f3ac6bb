package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
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
	const count = 10_000
	return r.with(ctx, func(s *service) (string, error) {
		before, err := s.memory()
		if err != nil {
			return "", err
		}
		conns := make([]net.Conn, count)
		defer func() {
			for _, c := range conns {
				if c != nil {
					c.Close()
				}
			}
		}()
		group, gctx := errgroup.WithContext(ctx)
		group.SetLimit(100)
		for i := range conns {
			group.Go(func() (err error) {
				if conns[i], err = (&net.Dialer{}).DialContext(gctx, "tcp", s.address); err != nil {
					return err
				}
				_, err = get(conns[i], "/healthz")
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return "", err
		}
		begin := time.Now()
		status, _, err := s.post(ctx, s.client, body("It is raining."))
		took := time.Since(begin)
		if err != nil || status != http.StatusOK {
			return "", fmt.Errorf("a translation meanwhile: status %d, %v", status, err)
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
	return r.stall(ctx, 200, "POST /translation HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{", 30*time.Second)
}

// stall sends the beginning of a request and then a byte each second. The service must
// end each within limit and some, and translate for others meanwhile.
func (r *run) stall(ctx context.Context, clients int, begin string, limit time.Duration) (string, error) {
	return r.with(ctx, func(s *service) (string, error) {
		var longest atomic.Int64
		group, gctx := errgroup.WithContext(ctx)
		for range clients {
			group.Go(func() error {
				start := time.Now()
				c, err := (&net.Dialer{}).DialContext(gctx, "tcp", s.address)
				if err != nil {
					return err
				}
				defer c.Close()
				go drip(c, begin)
				_ = c.SetReadDeadline(start.Add(limit + 15*time.Second))
				if _, err := io.Copy(io.Discard, c); errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
					return fmt.Errorf("a connection is open after %s", limit+15*time.Second)
				}
				for took := int64(time.Since(start)); ; {
					if old := longest.Load(); took <= old || longest.CompareAndSwap(old, took) {
						return nil
					}
				}
			})
		}
		done := make(chan error, 1)
		go func() { done <- group.Wait() }()
		slowest, served := time.Duration(0), 0
		for {
			select {
			case err := <-done:
				return fmt.Sprintf("all were closed, after %.1f s at most; %d translations meanwhile took %d ms at most",
					time.Duration(longest.Load()).Seconds(), served, slowest.Milliseconds()), err
			default:
			}
			start := time.Now()
			if status, _, err := s.post(ctx, s.client, body("It is raining.")); err != nil || status != http.StatusOK {
				return "", fmt.Errorf("a translation meanwhile: status %d, %v", status, err)
			}
			served++
			slowest = max(slowest, time.Since(start))
		}
	})
}

// drip sends text and then a byte each second until the connection ends.
func drip(c net.Conn, text string) {
	for _, err := io.WriteString(c, text); err == nil; _, err = io.WriteString(c, "a") {
		time.Sleep(time.Second)
	}
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// slowReaders asks for streams and does not read them.
func slowReaders(ctx context.Context, r *run) (string, error) {
	const clients = 50
	return r.with(ctx, func(s *service) (string, error) {
		raw := body(strings.Split(strings.Repeat("I like to read books.\n", 1000), "\n")...)
		var conns []net.Conn
		for range clients {
			c, err := net.Dial("tcp", s.address)
			if err != nil {
				return "", err
			}
			defer c.Close()
			_ = c.(*net.TCPConn).SetReadBuffer(4096)
			fmt.Fprintf(c, "POST /translation/stream HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(raw), raw)
			conns = append(conns, c)
		}
		if err := s.wait(ctx, 2*time.Minute, s.idle); err != nil {
			return "", fmt.Errorf("the streams keep their rows: %w", err)
		}
		status, _, err := s.post(ctx, s.client, body("It is raining."))
		if err != nil || status != http.StatusOK {
			return "", fmt.Errorf("a translation afterwards: status %d, %v", status, err)
		}
		return fmt.Sprintf("%d streams took no rows any more once decoded; translations go on", len(conns)), nil
	}, "MAX_RECORDS=2000")
}

// cancel leaves in the middle of the work.
func cancel(ctx context.Context, r *run) (string, error) {
	const clients = 100
	return r.with(ctx, func(s *service) (string, error) {
		var texts []string
		for i := range 200 {
			texts = append(texts, fmt.Sprintf("I have read %d books about trains, and my sister has read more of them than I have.", i))
		}
		cctx, leave := context.WithCancel(ctx)
		defer leave()
		var group sync.WaitGroup
		for range clients {
			group.Go(func() { _, _, _ = s.post(cctx, s.client, body(texts...)) })
		}
		if err := s.wait(ctx, 10*time.Second, func() bool {
			rows, err := s.metric("dragoman_batch_rows")
			return err == nil && rows > 0
		}); err != nil {
			return "", fmt.Errorf("nothing is decoded: %w", err)
		}
		start := time.Now()
		leave()
		group.Wait()
		if err := s.wait(ctx, 10*time.Second, s.idle); err != nil {
			return "", fmt.Errorf("their rows are still taken: %w", err)
		}
		return fmt.Sprintf("no row was taken %d ms later", time.Since(start).Milliseconds()), nil
	}, "REQUEST_TIMEOUT=5m", "QUEUE_WAIT=0", "QUEUE_TOKENS=10000000")
}

// reset ends connections the hard way.
func reset(ctx context.Context, r *run) (string, error) {
	const clients = 100
	return r.with(ctx, func(s *service) (string, error) {
		raw := body("I have read many books about trains, and my sister has read more of them than I have.")
		var conns []*net.TCPConn
		for range clients {
			c, err := net.Dial("tcp", s.address)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(c, "POST /translation HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(raw), raw)
			conns = append(conns, c.(*net.TCPConn))
		}
		for _, c := range conns {
			_ = c.SetLinger(0) // RST instead of FIN, as when a process dies
			_ = c.Close()
		}
		start := time.Now()
		if err := s.wait(ctx, 10*time.Second, s.idle); err != nil {
			return "", fmt.Errorf("their rows are still taken: %w", err)
		}
		return fmt.Sprintf("no row was taken %d ms later", time.Since(start).Milliseconds()), nil
	})
}
