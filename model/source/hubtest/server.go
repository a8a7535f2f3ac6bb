// Package hubtest is a Hugging Face Hub for tests. It implements the part of the Hub's protocol that downloads need, on two hosts of
// this machine, with faults on request.
//
// The first host is the Hub. It sends small files, with their git blob ids, and redirects requests for files in the large file storage
// (.safetensors, .bin, .model) to the second host, the storage, with a signature in the query, like the real Hub. [Server.Base] has the
// same files in one folder, like a plain web server. The server records every request.
package hubtest

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"sync"
	"testing"
	"time"
)

// Server is a running fake Hub with one repository. It is safe for concurrent use.
type Server struct {
	// Endpoint is the value for HF_ENDPOINT.
	Endpoint string
	// Base is a URL under which the files are on a plain web server.
	Base string

	repo, prefix, token string
	gated               bool
	storage             string // URL of the storage

	mu       sync.Mutex // guards the fields below
	commits  map[string]map[string][]byte
	branches map[string]string // name to commit
	faults   []*Fault
	requests []Request
}

// Option changes a Server.
type Option func(*Server)

// WithPrefix puts the Hub under a path, as some mirrors do.
func WithPrefix(prefix string) Option { return func(s *Server) { s.prefix = prefix } }

// WithToken makes the repository private: without this token it is not found.
func WithToken(token string) Option { return func(s *Server) { s.token = token } }

// Gated makes the repository's files readable only after its licence has been
// accepted, which no account has.
func Gated() Option { return func(s *Server) { s.gated = true } }

// New starts a Hub that holds files, by name, with folders or without, in the branch main of repo (owner/name). The Hub is closed
// at the end of the test.
func New(t testing.TB, repo string, files map[string][]byte, opts ...Option) *Server {
	t.Helper()
	s := &Server{repo: repo, commits: map[string]map[string][]byte{}, branches: map[string]string{}}
	for _, opt := range opts {
		opt(s)
	}
	s.Push("main", files)
	mux := http.NewServeMux()
	mux.HandleFunc("/plain/{file}", s.servePlain)
	mux.HandleFunc("/{owner}/{name}/resolve/{revision}/{file...}", s.serveResolve)
	api := http.NewServeMux()
	api.HandleFunc("/{owner}/{name}/revision/{revision}", s.serveList)
	root := http.NewServeMux()
	root.Handle("/", mux)
	root.Handle("/api/models/", http.StripPrefix("/api/models", api))
	large := http.NewServeMux()
	large.HandleFunc("/{commit}/{file...}", s.serveStorage)
	storage := httptest.NewServer(s.recorded("storage", large))
	t.Cleanup(storage.Close)
	s.storage = storage.URL // set before the first request, which may come from another process
	hub := httptest.NewServer(s.recorded("hub", http.StripPrefix(s.prefix, root)))
	t.Cleanup(hub.Close)
	s.Endpoint, s.Base = hub.URL+s.prefix, hub.URL+s.prefix+"/plain"
	return s
}

// Push makes files the content of a branch and returns the new commit. Older
// commits stay.
func (s *Server) Push(branch string, files map[string][]byte) string {
	h := sha1.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%s %s\n", name, SHA256(files[name]))
	}
	commit := fmt.Sprintf("%x", h.Sum(nil))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commits[commit] = maps.Clone(files)
	s.branches[branch] = commit
	return commit
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

// serveResolve answers for one file: with the file itself, or with a redirect that describes the file.
func (s *Server) serveResolve(w http.ResponseWriter, r *http.Request) {
	known, token := r.PathValue("owner")+"/"+r.PathValue("name") == s.repo, r.Header.Get("Authorization")
	authorized := s.token == "" || token == "Bearer "+s.token
	commit, files := s.commit(r.PathValue("revision"))
	name := r.PathValue("file")
	content, exists := files[name]
	switch {
	case !authorized && token != "":
		fail(w, http.StatusUnauthorized, "", "Invalid credentials in Authorization header")
	case (!known || !authorized) && token == "":
		fail(w, http.StatusUnauthorized, "RepoNotFound", "Repository not found")
	case !known:
		fail(w, http.StatusNotFound, "RepoNotFound", "Repository not found")
	case files == nil:
		fail(w, http.StatusNotFound, "RevisionNotFound", "Invalid rev id: "+commit)
	case s.gated:
		fail(w, http.StatusForbidden, "GatedRepo", "Access to model "+s.repo+" is restricted")
	case !exists:
		fail(w, http.StatusNotFound, "EntryNotFound", "Entry not found")
	case isLarge(name):
		w.Header().Set("X-Repo-Commit", commit)
		w.Header().Set("X-Linked-Etag", `"`+SHA256(content)+`"`)
		w.Header().Set("X-Linked-Size", fmt.Sprint(len(content)))
		http.Redirect(w, r, fmt.Sprintf("%s/%s/%s?signature=secret-of-the-url", s.storage, commit, name), http.StatusFound)
	default:
		w.Header().Set("X-Repo-Commit", commit)
		serveContent(w, r, GitBlobID(content), content)
	}
}

// serveStorage sends a large file for a signed URL. As on the real storage hosts, the ETag is not the Hub's, and a request with a
// token in addition to the signature is refused.
func (s *Server) serveStorage(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "" || r.URL.Query().Get("signature") == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	_, files := s.commit(r.PathValue("commit"))
	content := files[r.PathValue("file")]
	serveContent(w, r, "storage-"+SHA256(content)[:16], content)
}

// servePlain sends a file of the branch main with an ETag that is not a checksum.
func (s *Server) servePlain(w http.ResponseWriter, r *http.Request) {
	_, files := s.commit("main")
	content, ok := files[r.PathValue("file")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	serveContent(w, r, "plain-"+SHA256(content)[:16], content)
}

// serveContent sends a file or the requested range, with ETag and If-Range.
func serveContent(w http.ResponseWriter, r *http.Request, etag string, content []byte) {
	w.Header().Set("ETag", `"`+etag+`"`)
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// fail sends the Hub's answer for an error.
func fail(w http.ResponseWriter, status int, code, message string) {
	if code != "" {
		w.Header().Set("X-Error-Code", code)
	}
	w.Header().Set("X-Error-Message", message)
	w.WriteHeader(status)
}

// serveList sends the names of a commit's files, like the Hub's API.
func (s *Server) serveList(w http.ResponseWriter, r *http.Request) {
	commit, files := s.commit(r.PathValue("revision"))
	if files == nil || r.PathValue("owner")+"/"+r.PathValue("name") != s.repo {
		fail(w, http.StatusNotFound, "RepoNotFound", "Repository not found")
		return
	}
	siblings := []map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		siblings = append(siblings, map[string]string{"rfilename": name})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"sha": commit, "siblings": siblings})
}

// isLarge reports whether the Hub keeps a file in its large file storage.
func isLarge(name string) bool {
	return slices.Contains([]string{".safetensors", ".bin", ".model"}, path.Ext(name))
}

// SHA256 returns the checksum of content in hex.
func SHA256(content []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(content))
}

// GitBlobID returns git's id of content, the ETag of a small file.
func GitBlobID(content []byte) string {
	return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content)))
}
