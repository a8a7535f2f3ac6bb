package hubtest

import (
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
)

// Request is one request that the server has answered, or is answering.
type Request struct {
	Host          string // "hub" or "storage"
	Method        string
	File          string
	Path          string // escaped
	Authorization string
	Range         string
	Status        int
	Sent          int64 // bytes of the body that went out
}

// Requests returns the requests so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Sent returns the number of bytes of a file in all answers to GET.
func (s *Server) Sent(file string) int64 {
	var sum int64
	for _, r := range s.Requests() {
		if r.File == file && r.Method == http.MethodGet && r.Status < 300 {
			sum += r.Sent
		}
	}
	return sum
}

// Fault is a fault of the server. The first fault that matches a request is applied to it.
type Fault struct {
	// File is the file that the fault concerns, or "" for all files.
	File string
	// Method is the method of the requests that the fault concerns; "" is GET alone.
	Method string
	// Times is the number of faults: 0 is one, negative without limit.
	Times int

	// Do, if set, runs before the request is answered.
	Do func()
	// Status, if set, is the answer, with Header.
	Status int
	Header http.Header
	// CutAfter closes the connection after that many bytes of the body.
	CutAfter int64
	// StallAfter sends that many bytes of the body, then nothing more until the
	// client goes away.
	StallAfter int64
	// Corrupt flips a bit in the body's first byte.
	Corrupt bool
	// IgnoreRange sends the whole file for any range.
	IgnoreRange bool
}

// Fail adds faults of the host that sends a file's bytes. The fault of the Hub's redirect to the storage has the Method HEAD.
func (s *Server) Fail(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range faults {
		if f.Times == 0 {
			f.Times = 1
		}
		if f.Method == "" {
			f.Method = http.MethodGet
		}
		s.faults = append(s.faults, &f)
	}
}

// recorded wraps a host. It records requests and applies faults.
func (s *Server) recorded(host string, serve http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := s.begin(host, w, r)
		f := out.fault
		if f.Do != nil {
			f.Do()
		}
		if f.IgnoreRange {
			r.Header.Del("Range")
		}
		if f.Status == 0 {
			serve.ServeHTTP(out, r)
			return
		}
		maps.Copy(w.Header(), f.Header)
		out.WriteHeader(f.Status)
	})
}

// begin records a request, and returns and counts the fault for it.
func (s *Server) begin(host string, w http.ResponseWriter, r *http.Request) *writer {
	file := path.Base(r.URL.Path)
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &writer{ResponseWriter: w, server: s, request: r, index: len(s.requests), fault: &Fault{}}
	s.requests = append(s.requests, Request{
		Host: host, Method: r.Method, File: file, Path: r.URL.EscapedPath(),
		Authorization: r.Header.Get("Authorization"), Range: r.Header.Get("Range"), Status: http.StatusOK,
	})
	// The Hub's redirect of a GET has no bytes that a fault could change.
	if host == "hub" && r.Method == http.MethodGet && isLarge(file) && !strings.HasPrefix(r.URL.Path, s.prefix+"/plain/") {
		return out
	}
	for _, f := range s.faults {
		if f.Times != 0 && f.Method == r.Method && (f.File == "" || f.File == file) {
			f.Times--
			out.fault = f
			break
		}
	}
	return out
}

// writer counts the sent bytes and applies a fault to them.
type writer struct {
	http.ResponseWriter
	server  *Server
	request *http.Request
	index   int // of the request in server.requests
	fault   *Fault
	sent    int64
}

// WriteHeader implements [http.ResponseWriter].
func (w *writer) WriteHeader(status int) {
	w.server.mu.Lock()
	w.server.requests[w.index].Status = status
	w.server.mu.Unlock()
	w.ResponseWriter.WriteHeader(status)
}

// Write sends b as far as the fault lets it.
func (w *writer) Write(b []byte) (int, error) {
	if w.fault.Corrupt && w.sent == 0 && len(b) > 0 {
		b = append([]byte{b[0] ^ 1}, b[1:]...)
	}
	limit := max(w.fault.CutAfter, w.fault.StallAfter)
	if limit == 0 || w.sent+int64(len(b)) <= limit {
		return w.pass(b)
	}
	if _, err := w.pass(b[:limit-w.sent]); err != nil {
		return 0, err
	}
	if err := http.NewResponseController(w.ResponseWriter).Flush(); err != nil {
		return 0, err
	}
	if w.fault.StallAfter > 0 {
		<-w.request.Context().Done()
	}
	panic(http.ErrAbortHandler) // makes net/http close the connection
}

func (w *writer) pass(b []byte) (int, error) {
	// Counted first, so that a client that has read the bytes finds them counted.
	w.sent += int64(len(b))
	w.server.mu.Lock()
	w.server.requests[w.index].Sent = w.sent
	w.server.mu.Unlock()
	return w.ResponseWriter.Write(b)
}
