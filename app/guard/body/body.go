// Package body limits the bodies of requests: the bytes and the time of each, and the memory of all requests in flight together.
// The package also ensures that a client learns why its body was not read, see [Refuse].
//
// Bytes count as they arrive, whatever length a client has announced: for the buffer that holds them, and for the copies that
// parsing makes. They are taken from the request's [admission.Lease]. [Bounds.Serve] opens the lease, and closes it when the
// request is answered, because the texts of the request are kept for as long. A body that does not fit is refused at once with an
// [*admission.FullError]; no body waits.
package body

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"dragoman/app/budget"
	"dragoman/app/fault"
	"dragoman/app/guard/admission"
	"dragoman/app/guard/admission/cost"
)

// Config configures [Bounds].
type Config struct {
	Most    int64             // bytes of a body
	Memory  *admission.Memory // memory that all requests share
	Timeout time.Duration     // time limit for the whole body to arrive
	Silence time.Duration     // time limit for the first bytes, and for all of a small body; 0: as Timeout
}

// parsing is the time to parse a byte of a body, and to write the byte of the answer for it; receiving is the time to receive a
// byte, and passing the time to receive and use one that is not kept. A caller receives stretch bytes in one turn.
const (
	parsing   = 20 * time.Nanosecond
	receiving = 4 * time.Nanosecond
	passing   = 120 * time.Nanosecond
	stretch   = 256 << 10
)

// small is the size of bodies that arrive at once, or not at all.
const small = 64 << 10

// Bounds are the limits of a server. They are safe for concurrent use.
type Bounds struct {
	cfg    Config
	linger chan struct{} // has a place for each lingering connection
}

// New returns the limits of a server.
func New(cfg Config) *Bounds {
	return &Bounds{cfg: cfg, linger: make(chan struct{}, maxLingering)}
}

// Serve returns a handler that limits the bodies of requests. Reading a body fails with *http.MaxBytesError,
// os.ErrDeadlineExceeded or [*admission.FullError]. The context of a request has its lease.
func (b *Bounds) Serve(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lease := b.cfg.Memory.Lease("")
		defer lease.Close()
		ctx := admission.With(r.Context(), lease)
		if r.ContentLength == 0 {
			next.ServeHTTP(w, r.WithContext(ctx))
			return
		}
		body := &boundedBody{connection: r.Body, ctx: ctx, announced: r.ContentLength, lease: lease, most: b.cfg.Most, begun: time.Now(), control: http.NewResponseController(w)}
		body.bound(b.cfg.Timeout, b.cfg.Silence, r.ContentLength)
		r = r.WithContext(context.WithValue(ctx, bodyKey{}, body))
		r.Body = body
		next.ServeHTTP(w, r)
		lease.Close()                          // lingering takes no memory
		if body.refused && r.ProtoMajor == 1 { // a stream of HTTP/2 ends with its handler, and its connection stays open
			b.lingerOn(w, r, body)
		}
	})
}

// Account charges the memory of a request to its caller, which is determined when the first bytes of the body arrive. Before
// that, permit decides whether the bytes are read; [Read] fails with the error of permit.
func Account(r *http.Request, caller func() string, permit func() error) {
	if b := of(r); b != nil {
		b.caller, b.permit = caller, permit
	}
}

// Widen replaces the limits of a request's body. It does nothing after bytes of the body have arrived.
func Widen(r *http.Request, most int64, timeout time.Duration) {
	b := of(r)
	if b == nil || b.read > 0 {
		return
	}
	b.most, b.begun = most, time.Now()
	b.bound(timeout, b.silence, r.ContentLength)
}

// Pass makes the bytes of a request's body take no memory: they are parsed as they arrive, and not kept. [Stream] reads the body.
func Pass(r *http.Request) {
	if b := of(r); b != nil {
		b.passes = true
	}
}

// Stream returns a reader of a request's body, whose errors are those of [Read].
func Stream(w http.ResponseWriter, r *http.Request) io.Reader { return &stream{w, r} }

type stream struct {
	w http.ResponseWriter
	r *http.Request
}

// Read implements [io.Reader].
func (s *stream) Read(p []byte) (int, error) {
	b := of(s.r)
	if b != nil && b.permit != nil && b.read == 0 {
		if err := b.permit(); err != nil {
			return 0, err
		}
	}
	n, err := s.r.Body.Read(p)
	if err == io.EOF {
		_ = http.NewResponseController(s.w).SetReadDeadline(time.Time{}) // it must not end the work that follows
		return n, err
	}
	if err != nil {
		err = explain(err)
	}
	return n, err
}

// ErrBroken is the error of a body that cannot be read for reasons other than its limits.
var ErrBroken error = fault.New(fault.InvalidJSON, "", "the body could not be read: it ends too early or is framed wrongly")

// Read reads the body of a request. It fails with an error of the limits, see [Bounds.Serve], with the error of [Account]'s
// permit, or with [ErrBroken]. On success it also removes the deadline on reading, which must not end the work that follows. A
// large body waits for its caller's turn repeatedly while it is received, and once more to be parsed ([admission.Spend]).
func Read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	b := of(r)
	if b != nil && b.permit != nil && b.read == 0 {
		if err := b.permit(); err != nil {
			return nil, err
		}
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, explain(err)
	}
	// Not every server under test has deadlines; the real one has.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	if b != nil && b.caller != nil {
		if err := b.spend(time.Duration(len(raw)) * parsing); err != nil {
			return nil, err
		}
	}
	return raw, nil
}

// explain converts an error of reading a body.
func explain(err error) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, budget.ErrFull):
		return fmt.Errorf("read the body: %w", err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded): // while the body waited for a turn
		return err
	}
	return fmt.Errorf("%w: %w", ErrBroken, err)
}

// bodyKey is the context key of a request's body.
type bodyKey struct{}

// of returns the body of a request, nil if the request has no body or has not passed Serve.
func of(r *http.Request) *boundedBody {
	b, _ := r.Context().Value(bodyKey{}).(*boundedBody)
	return b
}

// boundedBody is the body of a request. It is used by one goroutine.
type boundedBody struct {
	connection io.ReadCloser   // body as the server gives it
	ctx        context.Context // of the request
	announced  int64           // bytes; -1: unknown
	unpaid     int64           // bytes received since the last turn
	lease      *admission.Lease
	caller     func() string // nil: one caller for all requests without a caller
	permit     func() error  // nil: all may send the body

	control    *http.ResponseController
	begun      time.Time
	timeout    time.Duration // time limit for the whole body, from begun on
	silence    time.Duration // time limit for the first bytes; 0: no separate limit
	most, read int64
	err        error // first error of reading, which all later reads return
	passes     bool  // see Pass
	refused    bool  // answered by Refuse, and not read to its end
}

// bound limits the time of the body, of which length bytes are announced, or -1.
func (b *boundedBody) bound(timeout, silence time.Duration, length int64) {
	b.timeout, b.silence = timeout, silence
	if silence > 0 && length >= 0 && length <= small {
		b.timeout = min(timeout, silence)
	}
	if silence == 0 {
		silence = timeout
	}
	b.within(min(b.timeout, silence))
}

// within sets the deadline of the next read. Not every server under test has deadlines; the real one has.
func (b *boundedBody) within(d time.Duration) { _ = b.control.SetReadDeadline(b.begun.Add(d)) }

// Read reads the rest of the body, within its limits.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if left := b.most - b.read; int64(len(p)) > left {
		p = p[:left+1] // one more byte detects a body that is too large
	}
	n, err := b.receive(p)
	isFirst := n > 0 && b.read == 0
	if isFirst {
		b.within(b.timeout)
		if b.caller != nil {
			b.lease.Charge(b.caller())
		}
	}
	if b.read += int64(n); b.read > b.most {
		n, err = 0, &http.MaxBytesError{Limit: b.most}
	} else if full := b.admit(int64(n), isFirst); full != nil {
		n, err = 0, full
	}
	b.err = err
	return n, err
}

// admit takes memory for n received bytes. With the first bytes, admit fails if the rest would not fit, so that the rest is not
// received in vain.
func (b *boundedBody) admit(n int64, isFirst bool) error {
	if b.passes {
		return nil
	}
	err := b.lease.Take(n * cost.BodyByte)
	if rest := min(b.announced, b.most) - n; err == nil && isFirst && rest > 0 {
		err = b.lease.Room(rest * cost.BodyByte)
	}
	return err
}

// receive reads from the connection, a stretch in each turn of the caller: copying a body, even a refused one, takes cores from
// decoding.
func (b *boundedBody) receive(p []byte) (int, error) {
	n, err := b.connection.Read(p)
	if b.unpaid += int64(n); b.unpaid < stretch {
		return n, err
	}
	each := receiving
	if b.passes {
		each = passing
	}
	spent := b.spend(time.Duration(b.unpaid) * each)
	b.unpaid = 0
	return n, cmp.Or(spent, err)
}

// spend waits for the caller's turn for work of an expected duration; see [admission.Spend].
func (b *boundedBody) spend(expected time.Duration) error {
	caller := ""
	if b.caller != nil {
		caller = b.caller()
	}
	return admission.Spend(b.ctx, caller, expected)
}

// received is the data that a client sends after the answer, limited only in time.
type received struct{ *boundedBody }

// Read implements [io.Reader].
func (r received) Read(p []byte) (int, error) { return r.receive(p) }

// Close implements [io.Closer].
func (b *boundedBody) Close() error { return b.connection.Close() }

func (b *boundedBody) whole() bool { return b.err == io.EOF }

// alive reports whether more of the body may come.
func (b *boundedBody) alive() bool {
	var tooLarge *http.MaxBytesError
	return b.err == nil || errors.As(b.err, &tooLarge) || errors.Is(b.err, budget.ErrFull)
}
