package mcp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
)

// local serves the requests of tools in the process, on behalf of the tool's caller.
type local struct{ routes http.Handler }

type callerKey struct{}

// sentBy returns a context for the requests of tools, on behalf of r's sender.
func sentBy(r *http.Request) context.Context { return context.WithValue(r.Context(), callerKey{}, r) }

// passed are the headers copied from the sender: keys, deadlines and the client behind a proxy.
var passed = []string{"Authorization", "X-Api-Key", "Request-Timeout", "X-Forwarded-For", "Forwarded", "X-Real-Ip", "Traceparent"}

// RoundTrip implements [http.RoundTripper].
func (l *local) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	sender, ok := r.Context().Value(callerKey{}).(*http.Request)
	if !ok {
		return nil, fmt.Errorf("%s %s has no sender", r.Method, r.URL.Path)
	}
	in := r.Clone(r.Context())
	in.RequestURI, in.Host, in.RemoteAddr, in.TLS = r.URL.RequestURI(), sender.Host, sender.RemoteAddr, sender.TLS
	for _, name := range passed {
		if values := sender.Header.Values(name); len(values) > 0 {
			in.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	out := &answer{header: http.Header{}}
	defer func() {
		if caught := recover(); caught != nil { // the answer was cut off
			resp, err = nil, fmt.Errorf("%s %s: %v", r.Method, r.URL.Path, caught)
		}
	}()
	l.routes.ServeHTTP(out, in)
	if out.status == 0 {
		out.status = http.StatusOK
	}
	return &http.Response{
		Status: http.StatusText(out.status), StatusCode: out.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: out.header,
		Body: io.NopCloser(&out.body), ContentLength: int64(out.body.Len()), Request: r,
	}, nil
}

// answer is a handler's answer.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// Flush implements [http.Flusher]: job events are sent at once.
func (a *answer) Flush() {}
