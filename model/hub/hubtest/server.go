// Package hubtest is a Hugging Face Hub for tests: it speaks as much of the
// Hub's protocol as fetching needs, on two hosts of this machine, and misbehaves
// on request.
//
// The first host is the Hub itself: the API that lists a repository's files at a
// commit, and resolve URLs. Small files it sends itself, named by their git blob
// id; files of the large file storage (.safetensors, .bin, .model) it redirects
// to the second host, the storage, with a signature in the query, as the real
// one does. Under [Server.Base] the same files lie beside each other as on any
// plain web server. Every request is recorded.
package hubtest

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is a running fake Hub with one repository. It is safe for concurrent use.
type Server struct {
	// Endpoint is what HF_ENDPOINT has to be.
	Endpoint string
	// Base is a URL under which the files lie on a plain web server.
	Base string
	// StorageHost is the host:port that large files are redirected to.
	StorageHost string

	repo string
	opts options

	mu       sync.Mutex // guards what follows
	commits  map[string]map[string][]byte
	branches map[string]string // name to commit
	faults   []*Fault
	requests []Request
}

// Request is one request that the server has answered, or is answering.
type Request struct {
	Host          string // "hub" or "storage"
	Method        string
	File          string // "" for the API
	Path          string // escaped
	Authorization string
	Range         string
	Status        int
	Sent          int64 // bytes of the body that went out
}

// New starts a Hub that holds files, by name, in the branch main of repo
// (owner/name). It is closed at the end of the test.
func New(t testing.TB, repo string, files map[string][]byte, opts ...Option) *Server {
	t.Helper()
	s := &Server{
		repo:     repo,
		opts:     options{withAPI: true},
		commits:  map[string]map[string][]byte{},
		branches: map[string]string{},
	}
	for _, opt := range opts {
		opt(&s.opts)
	}
	s.Push("main", files)
	hub := httptest.NewServer(s.recorded("hub", s.serveHub))
	t.Cleanup(hub.Close)
	storage := httptest.NewServer(s.recorded("storage", s.serveStorage))
	t.Cleanup(storage.Close)
	s.Endpoint = hub.URL + s.opts.prefix
	s.Base = hub.URL + s.opts.prefix + "/plain"
	s.StorageHost = strings.TrimPrefix(storage.URL, "http://")
	return s
}

// Push makes files the content of a branch and returns the new commit. Older
// commits stay.
func (s *Server) Push(branch string, files map[string][]byte) string {
	h := sha1.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%s %x\n", name, sha256.Sum256(files[name]))
	}
	commit := hex.EncodeToString(h.Sum(nil))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commits[commit] = maps.Clone(files)
	s.branches[branch] = commit
	return commit
}

// Requests returns what has been asked so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Sent is how many bytes of a file have gone out in all answers to GET.
func (s *Server) Sent(file string) int64 {
	var sum int64
	for _, r := range s.Requests() {
		if r.File == file && r.Method == http.MethodGet && r.Status < 300 {
			sum += r.Sent
		}
	}
	return sum
}

// commit finds a commit by its hash or by a branch's name.
func (s *Server) commit(revision string) (string, map[string][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if commit, ok := s.branches[revision]; ok {
		revision = commit
	}
	return revision, s.commits[revision]
}

// serveHub routes {prefix}/api/models/{repo}/revision/{rev},
// {prefix}/{repo}/resolve/{rev}/{file} and {prefix}/plain/{file}.
func (s *Server) serveHub(w http.ResponseWriter, r *http.Request) {
	rest, ok := strings.CutPrefix(r.URL.Path, s.opts.prefix+"/")
	if !ok {
		http.NotFound(w, r)
		return
	}
	if name, ok := strings.CutPrefix(rest, "plain/"); ok {
		s.servePlain(w, r, name)
		return
	}
	rest, isAPI := strings.CutPrefix(rest, "api/models/")
	if isAPI && !s.opts.withAPI {
		http.NotFound(w, r)
		return
	}
	owner, rest, _ := strings.Cut(rest, "/")
	name, rest, _ := strings.Cut(rest, "/")
	action, rest, _ := strings.Cut(rest, "/")
	known, authorized := owner+"/"+name == s.repo, s.authorized(r)
	switch {
	case !authorized && r.Header.Get("Authorization") != "":
		fail(w, http.StatusUnauthorized, "", "Invalid credentials in Authorization header")
	case (!known || !authorized) && r.Header.Get("Authorization") == "":
		fail(w, http.StatusUnauthorized, "RepoNotFound", "Repository not found")
	case !known:
		fail(w, http.StatusNotFound, "RepoNotFound", "Repository not found")
	case isAPI && action == "revision":
		s.serveAPI(w, rest)
	case !isAPI && action == "resolve":
		s.serveResolve(w, r, rest)
	default:
		http.NotFound(w, r)
	}
}

// authorized reports whether the request may see the repository.
func (s *Server) authorized(r *http.Request) bool {
	return s.opts.token == "" || r.Header.Get("Authorization") == "Bearer "+s.opts.token
}

func (s *Server) serveAPI(w http.ResponseWriter, revision string) {
	commit, files := s.commit(revision)
	if files == nil {
		fail(w, http.StatusNotFound, "RevisionNotFound", "Invalid rev id: "+revision)
		return
	}
	type sibling struct {
		Name string `json:"rfilename"`
	}
	answer := struct {
		ID       string    `json:"id"`
		SHA      string    `json:"sha"`
		Siblings []sibling `json:"siblings"`
	}{ID: s.repo, SHA: commit}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		answer.Siblings = append(answer.Siblings, sibling{name})
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(answer) // a client that went away is its own affair
}

// serveResolve answers for one file: itself, or with a redirect that describes it.
func (s *Server) serveResolve(w http.ResponseWriter, r *http.Request, rest string) {
	// A revision may have slashes, a file here has none.
	revision, name := path.Dir(rest), path.Base(rest)
	commit, files := s.commit(revision)
	if files == nil {
		fail(w, http.StatusNotFound, "RevisionNotFound", "Invalid rev id: "+revision)
		return
	}
	if s.opts.gated {
		fail(w, http.StatusForbidden, "GatedRepo", "Access to model "+s.repo+" is restricted")
		return
	}
	content, ok := files[name]
	if !ok {
		fail(w, http.StatusNotFound, "EntryNotFound", "Entry not found")
		return
	}
	w.Header().Set("X-Repo-Commit", commit)
	if !isLarge(name) {
		w.Header().Set("ETag", `"`+GitBlobID(content)+`"`)
		serveContent(w, r, content)
		return
	}
	w.Header().Set("X-Linked-Etag", `"`+SHA256(content)+`"`)
	w.Header().Set("X-Linked-Size", fmt.Sprint(len(content)))
	w.Header().Set("ETag", `"`+SHA256(content)+`"`)
	w.Header().Set("Location", fmt.Sprintf("http://%s/%s/%s?signature=secret-of-the-url", s.StorageHost, commit, name))
	w.WriteHeader(http.StatusFound)
}

// serveStorage sends a large file to whoever has a signed URL. As on the real
// storage hosts the ETag is another one than the Hub's, and whoever brings a
// token besides the signature is turned away.
func (s *Server) serveStorage(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "" || r.URL.Query().Get("signature") == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	_, files := s.commit(strings.Trim(path.Dir(r.URL.Path), "/"))
	content, ok := files[path.Base(r.URL.Path)]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("ETag", `"storage-`+SHA256(content)[:16]+`"`)
	serveContent(w, r, content)
}

// servePlain sends a file of the branch main with an ETag that is no checksum.
func (s *Server) servePlain(w http.ResponseWriter, r *http.Request, name string) {
	_, files := s.commit("main")
	content, ok := files[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("ETag", `"plain-`+SHA256(content)[:16]+`"`)
	serveContent(w, r, content)
}

// serveContent sends a file or the range asked for; ETag and If-Range included.
func serveContent(w http.ResponseWriter, r *http.Request, content []byte) {
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// fail answers as the Hub does where something is wrong.
func fail(w http.ResponseWriter, status int, code, message string) {
	if code != "" {
		w.Header().Set("X-Error-Code", code)
	}
	w.Header().Set("X-Error-Message", message)
	w.WriteHeader(status)
}

// isLarge reports whether the Hub keeps a file in its large file storage.
func isLarge(name string) bool {
	return slices.Contains([]string{".safetensors", ".bin", ".model"}, path.Ext(name))
}

// SHA256 is the checksum of content in hex.
func SHA256(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// GitBlobID is git's id of content, the ETag of a small file.
func GitBlobID(content []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}
