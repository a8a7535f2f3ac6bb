package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
)

const (
	jsonType   = "application/json"
	ndjsonType = "application/x-ndjson"

	requestIDHeader   = "X-Request-Id"
	timeoutHeader     = "Request-Timeout"
	retryAfterHeader  = "Retry-After"
	idempotencyHeader = "Idempotency-Key"

	// Limits of the service for timeoutHeader.
	minTimeout = time.Millisecond
	maxTimeout = 24 * time.Hour
)

// connectionError is the error of a try without an answer, or with a part of one.
type connectionError struct{ error }

func (e *connectionError) Unwrap() error { return e.error }

// send makes one try. The caller must close the body of the answer, and first read the body to its end, because only then the
// connection can be reused. An answer with an error status is returned as an *Error. If the context is done, the error contains
// the context's.
func (t *transport) send(ctx context.Context, call call) (*http.Response, error) {
	req, err := t.request(ctx, call)
	if err != nil {
		return nil, err
	}
	resp, err := t.http.Do(req)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, contextError(ctx)
	case err != nil:
		return nil, &connectionError{err}
	case resp.StatusCode != http.StatusOK && resp.StatusCode != call.also:
		defer resp.Body.Close()
		return nil, errorOf(resp, call.id)
	}
	return resp, nil
}

// request returns the HTTP request of a try.
func (t *transport) request(ctx context.Context, call call) (*http.Request, error) {
	var body io.Reader
	if call.body != nil {
		body = bytes.NewReader(call.body)
	}
	req, err := http.NewRequestWithContext(ctx, call.method, t.base+call.path, body)
	if err != nil {
		return nil, err
	}
	h := req.Header
	h.Set("Accept", call.accept)
	h.Set("User-Agent", t.cfg.UserAgent)
	h.Set(requestIDHeader, call.id)
	if body != nil {
		h.Set("Content-Type", cmp.Or(call.media, jsonType))
	}
	if t.cfg.Key != "" {
		h.Set("Authorization", "Bearer "+t.cfg.Key)
	}
	switch {
	case call.key != "":
		h.Set(idempotencyHeader, call.key)
	case t.cfg.Retries > 0 && !call.once:
		// Lets the transport send the request again at once if a kept connection turns out to be dead. A header without a value
		// is not sent, see http.Transport.
		h[idempotencyHeader] = []string{}
	}
	timeout, err := timeoutOf(ctx)
	if timeout != "" {
		h.Set(timeoutHeader, timeout)
	}
	return req, err
}

// timeoutOf returns the rest of the context's time, in seconds with three decimals, for timeoutHeader; "" if the time is more
// than the service accepts, or has no limit. timeoutOf fails if the context is done, or will be done before the request could be
// sent.
func timeoutOf(ctx context.Context) (string, error) {
	if ctx.Err() != nil {
		return "", contextError(ctx)
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		return "", nil
	}
	left := time.Until(deadline)
	switch {
	case left < minTimeout:
		return "", context.DeadlineExceeded
	case left > maxTimeout:
		return "", nil
	}
	return strconv.FormatFloat(left.Truncate(time.Millisecond).Seconds(), 'f', 3, 64), nil
}

// ask makes tries until there is a valid answer.
func ask[T any](ctx context.Context, t *transport, call call, read func([]byte) (T, error)) (answer T, err error) {
	err = t.retry(ctx, call, func() error {
		answer, err = try(ctx, t, call, read)
		return err
	})
	return answer, err
}

// askOn is ask with as many tries as ctx allows.
func askOn[T any](ctx context.Context, t *transport, call call, read func([]byte) (T, error)) (answer T, err error) {
	err = t.persist(ctx, call.id, func() (bool, error) {
		answer, err = try(ctx, t, call, read)
		return false, err
	})
	return answer, err
}

// get returns the JSON at a path.
func get[T any](ctx context.Context, t *transport, path string) (T, error) {
	return ask(ctx, t, newCall(path), decode[T])
}

// remove deletes the resource at a path. From the second try on, an error with the code unknown, for a missing resource, counts
// as success: the previous try deleted the resource, and the answer was lost.
func (t *transport) remove(ctx context.Context, path, unknown string) error {
	call, tries := newCall(path), 0
	call.method, call.also = "DELETE", http.StatusNoContent
	return t.retry(ctx, call, func() error {
		tries++
		_, err := t.fetch(ctx, call)
		if tries > 1 && IsCode(err, unknown) {
			return nil
		}
		return err
	})
}

func try[T any](ctx context.Context, t *transport, call call, read func([]byte) (T, error)) (answer T, err error) {
	raw, err := t.fetch(ctx, call)
	if err != nil {
		return answer, err
	}
	return read(raw)
}

// decode parses an answer in JSON.
func decode[T any](raw []byte) (answer T, err error) {
	if err := json.Unmarshal(raw, &answer, milliseconds); err != nil {
		return *new(T), invalid("%d bytes: %w", len(raw), err)
	}
	return answer, nil
}

// unparsed returns an answer that is a text or a file.
func unparsed(raw []byte) ([]byte, error) { return raw, nil }

// fetch makes one try and returns the answer's body.
func (t *transport) fetch(ctx context.Context, call call) ([]byte, error) {
	resp, err := t.send(ctx, call)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(http.MaxBytesReader(nil, resp.Body, t.cfg.MaxResponseBytes))
	switch {
	case err == nil:
		return raw, nil
	case ctx.Err() != nil:
		return nil, contextError(ctx)
	}
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, invalid("it has more than %d bytes: send fewer records, or raise MaxResponseBytes", large.Limit)
	}
	return nil, &connectionError{fmt.Errorf("the answer was cut off after %d bytes: %w", len(raw), err)}
}
