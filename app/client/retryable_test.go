package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/store/porttest"
)

func TestRetryable(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	read := func(err error) error { return &net.OpError{Op: "read", Net: "tcp", Err: err} }
	for _, test := range []struct {
		err  error // of the transport
		want bool
	}{
		{dial(syscall.ECONNREFUSED), true},
		{dial(syscall.EHOSTUNREACH), true},
		{dial(&timeoutError{}), true},
		{dial(&net.DNSError{IsTemporary: true}), true},
		{dial(&net.DNSError{IsTimeout: true}), true},
		{dial(&net.DNSError{IsNotFound: true}), false},
		{read(syscall.ECONNRESET), true},
		{read(syscall.ETIMEDOUT), true},
		{read(&timeoutError{}), false}, // Config.HTTPClient's own
		{read(syscall.EPIPE), true},
		{io.EOF, true},
		{io.ErrUnexpectedEOF, true},
		{errors.New("http: server closed idle connection"), true},
		{&tls.CertificateVerificationError{Err: io.EOF}, false},
		{tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, false},
		{&net.OpError{Op: "remote error", Err: tls.AlertError(40)}, false},
		{http.ErrSchemeMismatch, false},
	} {
		err := fmt.Errorf("wrapped: %w", &connectionError{&url.Error{Op: "Post", URL: "http://x", Err: test.err}})
		assert.Equal(t, test.want, retryable(err), "%v", test.err)
		assert.ErrorIs(t, err, test.err)
	}
	assert.False(t, retryable(io.EOF), "not of a connection")
	assert.False(t, retryable(context.Canceled))
	assert.False(t, retryable(invalid("x")))
}

type timeoutError struct{}

func (*timeoutError) Error() string { return "timeout" }

func (*timeoutError) Timeout() bool { return true }

func (*timeoutError) Temporary() bool { return true }

func TestRefusedConnections(t *testing.T) {
	c, err := New(Config{URL: "http://" + porttest.Hold(t), MaxBackoff: time.Millisecond})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Translate(t.Context(), hello)
	assert.ErrorIs(t, err, syscall.ECONNREFUSED)
	assert.ErrorContains(t, err, "after 4 tries")
}

// Untrusted certificates and mismatched protocols are permanent errors.
func TestTLSThatDoesNotFit(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.HandlerFunc(capitals))
	secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	secure.StartTLS()
	defer secure.Close()
	plain := httptest.NewServer(http.HandlerFunc(capitals))
	defer plain.Close()
	for _, test := range []struct{ url, want string }{
		{secure.URL, "certificate"}, {"https://" + plain.Listener.Addr().String(), "HTTP response to HTTPS client"},
	} {
		c, err := New(Config{URL: test.url})
		require.NoError(t, err)
		_, err = c.Translate(t.Context(), hello)
		assert.ErrorContains(t, err, test.want)
		assert.NotContains(t, err.Error(), "tries")
		c.Close()
	}
	// A client that trusts the certificate succeeds.
	c, err := New(Config{URL: secure.URL, HTTPClient: secure.Client()})
	require.NoError(t, err)
	defer c.Close()
	results, err := c.Translate(t.Context(), hello)
	require.NoError(t, err)
	assert.Equal(t, hellos, results)
}

func TestRetryAfterHeader(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	const later, sent = "Sat, 21 Nov 2026 12:00:30 GMT", "Sat, 21 Nov 2026 12:00:20 GMT"
	for _, test := range []struct {
		value, date string
		want        time.Duration
	}{
		{"", "", 0}, {"0", "", 0}, {"1", "", time.Second}, {"0120", "", 2 * time.Minute},
		{"9223372036", "", 9223372036 * time.Second}, {"9223372037", "", 9223372036 * time.Second},
		{"99999999999999999999", "", 9223372036 * time.Second},
		{"-1", "", 0}, {"+1", "", 0}, {"1.5", "", 0}, {"1s", "", 0}, {"soon", "", 0}, {"1, 2", "", 0}, {"0x10", "", 0}, {"1_0", "", 0},
		{later, "", 30 * time.Second}, {later, sent, 10 * time.Second}, {later, "yesterday", 30 * time.Second}, {sent, later, 0},
		{"Saturday, 21-Nov-26 12:00:30 GMT", "", 30 * time.Second}, {"Sat Nov 21 12:00:30 2026", "", 30 * time.Second},
		{"Sat, 21 Nov 2026 12:00:30 CET", "", 0}, {"Fri, 31 Dec 9999 23:59:59 GMT", "", 1<<63 - 1},
	} {
		h := http.Header{}
		h.Set("Retry-After", test.value)
		if test.date != "" {
			h.Set("Date", test.date)
		}
		assert.Equal(t, test.want, retryAfter(h, now), "%q at %q", test.value, test.date)
	}
}
