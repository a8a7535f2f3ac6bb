package hubtest

import (
	"net/http"
	"path"
	"strings"
)

// API as a Fault's File means the list of files.
const API = "api"

// Fault is one way to misbehave. The first of the server's faults that fits a
// request is applied to it.
type Fault struct {
	// File is the file it concerns, or API, or "" for everything.
	File string
	// Method is the request's, "" for GET alone.
	Method string
	// Times is how often the fault strikes: 0 once, negative always.
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
	// IgnoreRange sends the whole file whatever part of it is asked for.
	IgnoreRange bool
}

// Fail adds faults. They concern the host that sends a file's bytes; to fail
// the Hub's redirect to the storage is to fail Method HEAD.
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

// strike returns the fault for a request and uses it up, nil if there is none.
func (s *Server) strike(method, file string) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if f.Times == 0 || f.Method != method || (f.File != "" && f.File != file) {
			continue
		}
		f.Times--
		return f
	}
	return nil
}

// recorded wraps a host: requests are noted and faults applied.
func (s *Server) recorded(host string, serve http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file := path.Base(r.URL.Path)
		isAPI := strings.Contains(r.URL.Path, "/api/models/")
		if isAPI {
			file = API
		}
		out := &writer{ResponseWriter: w, server: s, request: r, fault: &Fault{}}
		out.index = s.note(host, r, file, isAPI)
		// The Hub's redirect of a GET carries no bytes to spoil.
		redirects := host == "hub" && r.Method == http.MethodGet && isLarge(file) && !strings.Contains(r.URL.Path, "/plain/")
		if !redirects {
			if f := s.strike(r.Method, file); f != nil {
				out.fault = f
			}
		}
		out.apply(serve)
	})
}

// note records a request and returns its index.
func (s *Server) note(host string, r *http.Request, file string, isAPI bool) int {
	request := Request{
		Host: host, Method: r.Method, File: file, Path: r.URL.EscapedPath(),
		Authorization: r.Header.Get("Authorization"), Range: r.Header.Get("Range"), Status: http.StatusOK,
	}
	if isAPI {
		request.File = ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, request)
	return len(s.requests) - 1
}

// writer counts what goes out and applies a fault to it.
type writer struct {
	http.ResponseWriter
	server  *Server
	request *http.Request
	index   int // of the request in server.requests
	fault   *Fault
	sent    int64
}

func (w *writer) apply(serve http.HandlerFunc) {
	if w.fault.Do != nil {
		w.fault.Do()
	}
	if w.fault.IgnoreRange {
		w.request.Header.Del("Range")
	}
	if w.fault.Status == 0 {
		serve(w, w.request)
		return
	}
	for key, values := range w.fault.Header {
		w.Header()[key] = values
	}
	w.WriteHeader(w.fault.Status)
}

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
	if flusher, ok := w.ResponseWriter.(http.Flusher); ok {
		flusher.Flush()
	}
	if w.fault.StallAfter > 0 {
		<-w.request.Context().Done()
	}
	panic(http.ErrAbortHandler) // makes net/http close the connection
}

func (w *writer) pass(b []byte) (int, error) {
	// Counted before it goes out: a client that has read it finds it counted.
	w.sent += int64(len(b))
	w.server.mu.Lock()
	w.server.requests[w.index].Sent = w.sent
	w.server.mu.Unlock()
	return w.ResponseWriter.Write(b)
}
