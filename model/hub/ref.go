package hub

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"dragoman/model/ctranslate2"
)

// kind is where the checkpoint of a Ref is.
type kind int

const (
	kindRepo kind = iota
	kindURL
	kindFolder
	kindFirefox
)

// defaultRevision is the branch that a repository is fetched from.
const defaultRevision = "main"

// Ref names a checkpoint. [ParseRef] makes it; the zero value names nothing.
type Ref struct {
	kind     kind
	repo     string   // kindRepo: owner/name; kindFirefox: the pair of languages
	revision string   // kindRepo: branch, tag or commit
	base     *url.URL // kindURL: the folder of the files
	path     string   // kindFolder
}

var (
	repoPattern     = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*/[A-Za-z0-9_][A-Za-z0-9._-]*$`)
	revisionPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./+-]*$`)
	pathPattern     = regexp.MustCompile(`^(/|~|\.\.?(/|$))`)
	commitPattern   = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

// ParseRef reads the name of a checkpoint:
//
//   - a folder, if one is there or the name begins like a path (/, ./, ../, ~), or an Argos package
//     (.argosmodel), which counts as one;
//   - an http(s) URL whose files are beside each other (a repository's own page
//     on the Hub counts as the repository);
//   - one of Firefox's models, firefox:en-de;
//   - a repository of the Hub, owner/name or owner/name@revision.
//
// revision is a branch, tag or commit and may be empty; folders and URLs have none.
func ParseRef(s, revision string) (Ref, error) {
	s, revision = strings.TrimSpace(s), strings.TrimSpace(revision)
	switch {
	case s == "":
		return Ref{}, fmt.Errorf("no model is named: use a repository (owner/name), an http(s) URL or a folder")
	case strings.HasPrefix(s, "http://"), strings.HasPrefix(s, "https://"):
		return parseURL(s, revision)
	case strings.HasPrefix(s, firefoxPrefix):
		return parseFirefox(s, revision)
	case strings.Contains(s, "://"):
		return Ref{}, fmt.Errorf("model %q: only http:// and https:// URLs are supported", s)
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
	return Ref{kind: kindFolder, path: filepath.Clean(s)}, nil
}

func parseURL(s, revision string) (Ref, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return Ref{}, fmt.Errorf("model URL cannot be parsed: use one such as https://host/folder")
	}
	if repo, rev, ok := hubPage(u); ok {
		if revision == "" {
			revision = rev
		}
		return parseRepo(repo, revision)
	}
	if strings.HasSuffix(u.Path, ctranslate2.PackageExt) {
		return Ref{}, fmt.Errorf("model %q is an Argos package: download it and give the path of the file", redact(u))
	}
	if revision != "" {
		return Ref{}, fmt.Errorf("model %q is a URL, which has no revision %q: leave the revision out", redact(u), revision)
	}
	u.Fragment = ""
	return Ref{kind: kindURL, base: u}, nil
}

// hubPage recognizes the address of a repository's page, as one copies it from
// the browser: https://hub/owner/name or https://hub/owner/name/tree/revision.
func hubPage(u *url.URL) (repo, revision string, ok bool) {
	if host := u.Hostname(); host != "huggingface.co" && host != "hf.co" {
		return "", "", false
	}
	parts := strings.SplitN(strings.Trim(u.Path, "/"), "/", 4)
	switch {
	case len(parts) == 2:
		return parts[0] + "/" + parts[1], "", true
	case len(parts) == 4 && parts[2] == "tree":
		return parts[0] + "/" + parts[1], parts[3], true
	}
	return "", "", false
}

func parseRepo(s, revision string) (Ref, error) {
	repo, at, hasAt := strings.Cut(s, "@")
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
	return Ref{kind: kindRepo, repo: repo, revision: revision}, nil
}

// IsFolder reports whether the checkpoint is a folder of this machine, which
// Pull uses as it is.
func (r Ref) IsFolder() bool { return r.kind == kindFolder }

// Revision is the branch, tag or commit asked for, "" where the source has none.
func (r Ref) Revision() string { return r.revision }

// Name is what a model from there is called: the last part of the repository's name, of the URL's
// path or of the folder's.
func (r Ref) Name() string {
	name := r.String()
	switch r.kind {
	case kindURL:
		name = r.base.Path
	case kindFirefox:
		name = "firefox-" + r.repo
	case kindFolder:
		if whole, err := filepath.Abs(name); err == nil {
			name = whole
		}
	}
	return strings.TrimSuffix(path.Base(filepath.ToSlash(name)), ctranslate2.PackageExt)
}

// String is the repository's name, the URL without its password and query, or
// the folder's path: fit for logs and manifests.
func (r Ref) String() string {
	switch r.kind {
	case kindURL:
		return redact(r.base)
	case kindFolder:
		return r.path
	case kindFirefox:
		return firefoxPrefix + r.repo
	}
	return r.repo
}
