package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/go-json-experiment/json"
)

// Stream returns the translations of all records, each as soon as it arrives, in any order. A result is identified by its ID and
// To; records with equal ids cannot be distinguished.
//
//	for result, err := range c.Stream(ctx, request) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(result.ID, result.Text)
//	}
//
// The request is sent when the loop begins, and again for each loop over the same sequence. An error comes at most once, as the
// last element, with a zero Result; without an error the loop has seen all results. A stream that is cut off is an error that
// wraps [io.ErrUnexpectedEOF]. Leaving the loop cancels the request, and the service drops its remaining work. Tries are as for
// [Client.Translate], up to the first result.
//
// The service waits half a minute for a client that does not read, and then disconnects. A loop that takes longer for a result
// should process results in another goroutine.
func (c *Client) Stream(ctx context.Context, r Request) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		q, err := newQuery(streamPath, ndjsonType, r, "")
		if err == nil {
			err = c.retry(ctx, q.call, func() error { return c.stream(ctx, q, yield) })
		}
		if err != nil && err != errLeft {
			yield(Result{}, err)
		}
	}
}

// errLeft ends a stream whose reader has left.
var errLeft = errors.New("the reader has left")

// stream makes one try. After the first result, an error of stream is permanent.
func (t *transport) stream(ctx context.Context, q *query, yield func(Result, error) bool) error {
	resp, err := t.send(ctx, q.call)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	in := newReader(q, resp.Body, t.cfg.MaxResponseBytes)
	for {
		r, err := in.next()
		switch {
		case err == io.EOF:
			drain(resp.Body)
			return nil
		case err != nil && ctx.Err() != nil:
			err = contextError(ctx)
		case err == nil && !yield(r, nil):
			err = errLeft
		}
		if err != nil && in.got > 0 {
			return backoff.Permanent(err)
		}
		if err != nil {
			return err
		}
	}
}

// reader reads the results of a stream and checks that they belong to the request.
type reader struct {
	query *query
	left  map[slot]int // missing results
	got   int
	lines *bufio.Scanner
	most  int // maximum bytes of a line
}

func newReader(q *query, in io.Reader, most int64) *reader {
	s := &reader{query: q, left: q.expected(), lines: bufio.NewScanner(in), most: int(min(most, math.MaxInt))}
	s.lines.Buffer(nil, s.most)
	s.lines.Split(wholeLines)
	return s
}

// event is a line of a stream. Exactly one of its fields is set, or no field for an unknown kind of event.
type event struct {
	Result *resultInput `json:"result"`
	Done   *struct {
		Results int `json:"results"`
	} `json:"done"`
	Error *Error `json:"error"`
}

// next returns the next result; io.EOF after the last one, if all results have arrived.
func (s *reader) next() (Result, error) {
	for s.lines.Scan() {
		line := s.lines.Bytes()
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var e event
		if err := json.Unmarshal(line, &e, milliseconds); err != nil {
			return Result{}, invalid("line of %d bytes after %d results: %w", len(line), s.got, err)
		}
		switch {
		case e.Error != nil:
			e.Error.RequestID = s.query.id
			return Result{}, e.Error
		case e.Done != nil:
			return Result{}, s.finish(e.Done.Results)
		case e.Result != nil:
			return s.take(*e.Result)
		}
	}
	return Result{}, s.cutOff(s.lines.Err())
}

// wholeLines splits a stream into lines. A line without an end was cut off.
func wholeLines(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return 0, nil, nil // read on
}

// cutOff returns the error of a stream that cannot be read any more.
func (s *reader) cutOff(err error) error {
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return invalid("a line of the stream has more than %d bytes: send shorter records, or raise MaxResponseBytes", s.most)
	case !errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err)
	}
	return &connectionError{fmt.Errorf("the stream was cut off after %d of %d results: %w", s.got, s.query.count(), err)}
}

// take returns a result after a check that the result is expected and has not come yet.
func (s *reader) take(in resultInput) (Result, error) {
	r, err := s.query.result(in)
	if err != nil {
		return Result{}, err
	}
	k := slot{r.ID, r.To}
	if s.left[k] == 0 {
		return Result{}, invalid("there is a result too much for record %.100q in %q", r.ID, r.To)
	}
	s.left[k]--
	s.got++
	return r, nil
}

// finish returns io.EOF if all results have arrived.
func (s *reader) finish(sent int) error {
	if want := s.query.count(); s.got != want || sent != want {
		return invalid("the stream ended after %d results, and says that it had %d, of %d", s.got, sent, want)
	}
	return io.EOF
}

// drain reads the end of a body that should be empty: only then the connection can be reused. It waits only for a short time,
// after which a new connection is cheaper.
func drain(body io.ReadCloser) {
	const patience = 100 * time.Millisecond
	timer := time.AfterFunc(patience, func() { _ = body.Close() })
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, body, 4<<10)
}
