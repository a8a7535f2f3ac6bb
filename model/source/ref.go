package source

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"dragoman/model/bundled"
	"dragoman/model/ctranslate2"
	"dragoman/model/firefox"
)

// kind is the kind of a source.
type kind int

const (
	kindBundled kind = iota
	kindRepo
	kindURL
	kindFolder
	kindPair
)

// defaultRevision is the default branch of a repository.
const defaultRevision = "main"

// Ref names a model of a source. [ParseRef] makes it. The zero value is the bundled model.
type Ref struct {
	kind     kind
	repo     string   // kindRepo: owner/name; kindPair: the pair of languages
	revision string   // kindRepo: branch, tag or commit
	base     *url.URL // kindURL: the folder of the files
	path     string   // kindFolder: the folder; kindRepo: the folder in the repository, or "" for its root
	file     string   // kindRepo, kindURL: the file of one of Firefox's models, or ""
}

var (
	repoPattern     = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*/[A-Za-z0-9_][A-Za-z0-9._-]*$`)
	revisionPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./+-]*$`)
	pathPattern     = regexp.MustCompile(`^(/|~|\.\.?(/|$))`)
	folderPattern   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._+-]*(/[A-Za-z0-9_][A-Za-z0-9._+-]*)*$`)
	commitPattern   = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

// ServerPrefix begins the name of a language model behind a server, openai:http://127.0.0.1:8080/v1#model, which only a repository has.
const ServerPrefix = "openai:"

// ParseRef parses the name of a model:
//
//   - a folder, if it exists or the name begins like a path (/, ./, ../, ~), also the folder of a repository in the cache of Hugging
//     Face's libraries, or an Argos package (.argosmodel);
//   - an http(s) URL of a folder of files (the URL of a repository's page on the Hub is the repository);
//   - one of Firefox's models, firefox:en-de;
//   - a repository of the Hub, owner/name or owner/name@revision, or a folder in it, owner/name/folder.
//
// A URL or a folder in a repository may end with the name of a file of one of Firefox's models.
//
// revision is a branch, tag or commit and may be empty; folders and URLs have none.
func ParseRef(s, revision string) (Ref, error) {
	s, revision = strings.TrimSpace(s), strings.TrimSpace(revision)
	switch {
	case s == "":
		return Ref{}, fmt.Errorf("no model is named: use a repository (owner/name), an http(s) URL or a folder")
	case strings.HasPrefix(s, ServerPrefix):
		return Ref{}, fmt.Errorf("a language model behind a server is served from a repository: run `dragoman pull --repository DIR %sURL#MODEL`, "+
			"and set MODEL_REPOSITORY to DIR", ServerPrefix)
	case strings.Contains(s, "://"):
		return parseURL(s, revision)
	case strings.HasPrefix(s, pairPrefix):
		return parsePair(s, revision)
	case pathPattern.MatchString(s), isFolder(s), strings.HasSuffix(s, ctranslate2.PackageExt):
		return parseFolder(s, revision)
	}
	return parseRepo(s, revision)
}

func isFolder(s string) bool {
	info, err := os.Stat(s)
	return err == nil && info.IsDir()
}

func parseFolder(s, revision string) (Ref, error) {
	if revision != "" {
		return Ref{}, fmt.Errorf("model %q is a folder, which has no revision %q: leave the revision out", s, revision)
	}
	if strings.HasPrefix(s, "~") {
		home, err := os.UserHomeDir()
		if rest := s[1:]; err == nil && (rest == "" || rest[0] == '/') {
			s = filepath.Join(home, rest)
		} else {
			return Ref{}, fmt.Errorf("model %q: cannot tell whose home folder that is: write the whole path", s)
		}
	}
	s, err := cached(filepath.Clean(s))
	return Ref{kind: kindFolder, path: s}, err
}

func parseURL(s, revision string) (Ref, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return Ref{}, fmt.Errorf("model URL cannot be parsed: use one such as https://host/folder")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return Ref{}, fmt.Errorf("model %q: only http:// and https:// URLs are supported", redact(u))
	}
	if repo, rev, ok := hubPage(u); ok {
		return parseRepo(repo, cmp.Or(revision, rev))
	}
	if strings.HasSuffix(u.Path, ctranslate2.PackageExt) {
		return Ref{}, fmt.Errorf("model %q is an Argos package: download it and give the path of the file", redact(u))
	}
	if revision != "" {
		return Ref{}, fmt.Errorf("model %q is a URL, which has no revision %q: leave the revision out", redact(u), revision)
	}
	u.Fragment = ""
	if file := path.Base(u.Path); firefox.IsModel(file) {
		return Ref{kind: kindURL, base: u.JoinPath(".."), file: file}, nil
	}
	return Ref{kind: kindURL, base: u}, nil
}

// hubPage parses the URL of a repository's page, https://hub/owner/name or https://hub/owner/name/tree/revision/folder, or of a file of
// one of Firefox's models. The slashes of a revision are escaped, except in refs/pr/1.
func hubPage(u *url.URL) (repo, revision string, ok bool) {
	if host := u.Hostname(); host != "huggingface.co" && host != "hf.co" {
		return "", "", false
	}
	parts := strings.Split(strings.Trim(u.EscapedPath(), "/"), "/")
	for i, part := range parts {
		parts[i], _ = url.PathUnescape(part) // no error, because the part was parsed before
	}
	isFile := firefox.IsModel(path.Base(u.Path))
	switch {
	case len(parts) == 2:
		return strings.Join(parts, "/"), "", true
	case len(parts) > 3 && (parts[2] == "tree" || isFile && (parts[2] == "blob" || parts[2] == "resolve")):
		end := 4
		if parts[3] == "refs" {
			end = min(6, len(parts))
		}
		return strings.Join(append(parts[:2:2], parts[end:]...), "/"), strings.Join(parts[3:end], "/"), true
	}
	return "", "", false
}

func parseRepo(s, revision string) (Ref, error) {
	name, at, hasAt := strings.Cut(s, "@")
	repo, folder, file := splitRepo(name)
	if !repoPattern.MatchString(repo) || len(repo) > 96 || strings.Contains(repo, "..") || strings.Contains(repo, "--") {
		return Ref{}, fmt.Errorf("model %q is neither a folder that exists, nor an http(s) URL, nor a repository's name (owner/name): "+
			"check the spelling; write a folder's path with ./ or / in front", s)
	}
	if hasAt {
		if revision != "" && revision != at {
			return Ref{}, fmt.Errorf("model %q names revision %q and another setting names %q: use one of them", s, at, revision)
		}
		revision = at
	}
	if revision == "" && !hasAt {
		revision = defaultRevision
	}
	if !revisionPattern.MatchString(revision) || strings.Contains(revision, "..") {
		return Ref{}, fmt.Errorf("revision %q of model %q is not the name of a branch, tag or commit", revision, repo)
	}
	return Ref{kind: kindRepo, repo: repo, revision: revision, path: folder, file: file}, nil
}

// splitRepo splits owner/name/folder/file. An invalid folder remains in the repository's name, so that the name is invalid.
func splitRepo(name string) (repo, folder, file string) {
	parts := strings.SplitN(name, "/", 3)
	if len(parts) < 3 || len(parts[2]) > 512 || !folderPattern.MatchString(parts[2]) {
		return name, "", ""
	}
	repo, folder = parts[0]+"/"+parts[1], parts[2]
	if file = path.Base(folder); !firefox.IsModel(file) {
		return repo, folder, ""
	}
	return repo, strings.TrimPrefix(path.Dir(folder), "."), file
}

// Name returns the name of the model: the last part of the repository's name, of the URL's path or of the folder's. The name of one of
// Firefox's models has its languages.
func (r Ref) Name() string {
	if source, target := firefox.Pair(r.file); source != "" {
		return pairName + source + "-" + target
	}
	name := r.String()
	switch r.kind {
	case kindRepo:
		name = path.Join(r.repo, r.path)
	case kindURL:
		name = r.base.Path
	case kindPair:
		name = pairName + r.repo
	case kindFolder:
		if whole, err := filepath.Abs(name); err == nil {
			name = whole
		}
		if repo, ok := cacheName(name); ok {
			name = repo
		}
	}
	return strings.TrimSuffix(path.Base(filepath.ToSlash(name)), ctranslate2.PackageExt)
}

// String returns the repository's name, the URL without its password and query, or the folder's path. The result is safe for logs
// and manifests.
func (r Ref) String() string {
	switch r.kind {
	case kindBundled:
		return bundled.Source
	case kindURL:
		if r.file != "" {
			return redact(r.base.JoinPath(r.file))
		}
		return redact(r.base)
	case kindFolder:
		return r.path
	case kindPair:
		return pairPrefix + r.repo
	}
	return path.Join(r.repo, r.path, r.file)
}
