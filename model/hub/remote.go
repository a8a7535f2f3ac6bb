package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Headers of the Hub. The Linked ones describe the file behind a redirect to
// the storage host.
const (
	headerCommit     = "X-Repo-Commit"
	headerLinkedETag = "X-Linked-Etag"
	headerLinkedSize = "X-Linked-Size"
)

// remote is where the files of a Ref are, and what is known of them.
type remote struct {
	ref      Ref
	endpoint *url.URL
	commit   string             // of a repository, once known; files are then fetched from it
	listed   map[string]bool    // the repository's files; nil where they are not listed
	versions map[string]version // answers of head
	missing  map[string]error   // likewise, for files that are not there
}

// locate asks the Hub for the commit behind the revision and for its list of
// files. A mirror may lack this API; then each file is asked for by itself, and
// the first answer tells the commit.
func (c *Client) locate(ctx context.Context, ref Ref) (*remote, error) {
	r := &remote{ref: ref, endpoint: c.endpoint, versions: map[string]version{}, missing: map[string]error{}}
	if ref.kind != kindRepo {
		return r, nil
	}
	target := r.hubURL("api/models", ref.repo, "revision", url.PathEscape(ref.revision))
	var info struct {
		SHA      string `json:"sha"`
		Siblings []struct {
			Name string `json:"rfilename"`
		} `json:"siblings"`
	}
	err := c.retry(ctx, "list of files", func() (bool, error) { return false, c.getJSON(ctx, target, &info) })
	if status, ok := errors.AsType[*StatusError](err); errors.Is(err, errNotJSON) ||
		ok && status.Code == "" && (status.Status == http.StatusNotFound || status.Status == http.StatusMethodNotAllowed) {
		c.cfg.Log.Debug("no list of files, asking for each one", "source", ref.String(), "reason", err.Error())
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	if commitPattern.MatchString(info.SHA) {
		r.commit = info.SHA
	}
	if len(info.Siblings) > 0 {
		r.listed = make(map[string]bool, len(info.Siblings))
		for _, file := range info.Siblings {
			r.listed[file.Name] = true
		}
	}
	return r, nil
}

// errNotJSON: something answered that is not the Hub's API.
var errNotJSON = errors.New("not a JSON document")

// getJSON fetches and decodes a document of at most maxSmall bytes.
func (c *Client) getJSON(ctx context.Context, target *url.URL, into any) error {
	resp, err := c.send(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "application/json" {
		return fmt.Errorf("%s: %w but %q", redact(target), errNotJSON, kind)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxSmall))
	if err != nil {
		return transientError{fmt.Errorf("%s: %w", redact(target), err)}
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s: %w: %w", redact(target), errNotJSON, err)
	}
	return nil
}

// hubURL joins escaped parts to the endpoint.
func (r *remote) hubURL(parts ...string) *url.URL { return r.endpoint.JoinPath(parts...) }

// fileURL is where a file is fetched from: pinned to the commit once it is
// known, so that a push in the middle of a pull cannot mix two checkpoints.
func (r *remote) fileURL(name string) *url.URL {
	if r.ref.kind == kindURL {
		return r.ref.base.JoinPath(url.PathEscape(name))
	}
	revision := r.ref.revision
	if r.commit != "" {
		revision = r.commit
	}
	return r.hubURL(r.ref.repo, "resolve", url.PathEscape(revision), url.PathEscape(name))
}

// forget drops what is known of a file.
func (r *remote) forget(name string) { delete(r.versions, name) }

// has reports whether the source has a file.
func (c *Client) has(ctx context.Context, r *remote, name string) (bool, error) {
	if r.listed != nil {
		return r.listed[name], nil
	}
	_, err := c.head(ctx, r, name)
	if r.isMissing(err) {
		return false, nil
	}
	return err == nil, err
}

// isMissing reports whether an error says that the file is not there. Storage
// services such as S3 say 403 for it where listing is not allowed.
func (r *remote) isMissing(err error) bool {
	status, ok := errors.AsType[*StatusError](err)
	return errors.Is(err, ErrFileNotFound) || ok && r.ref.kind == kindURL && status.Status == http.StatusForbidden
}

// head asks which version of a file the source has. Answers are remembered.
func (c *Client) head(ctx context.Context, r *remote, name string) (version, error) {
	if v, ok := r.versions[name]; ok {
		return v, nil
	}
	if err := r.missing[name]; err != nil {
		return version{}, err
	}
	var v version
	err := c.retry(ctx, name, func() (bool, error) {
		resp, err := c.headOrGet(ctx, r.fileURL(name))
		if err != nil {
			return false, err
		}
		defer resp.Body.Close()
		v = readVersion(resp)
		if commit := resp.Header.Get(headerCommit); r.commit == "" && r.ref.kind == kindRepo && commitPattern.MatchString(commit) {
			r.commit = commit
		}
		return false, nil
	})
	if err != nil {
		if r.isMissing(err) {
			r.missing[name] = err
		}
		return version{}, err
	}
	r.versions[name] = v
	return v, nil
}

// headOrGet sends HEAD, or GET without reading the body to a server that does
// not allow HEAD (a URL that is signed for GET, say). The caller closes the body.
func (c *Client) headOrGet(ctx context.Context, target *url.URL) (*http.Response, error) {
	resp, err := c.send(ctx, http.MethodHead, target, nil)
	status, ok := errors.AsType[*StatusError](err)
	if !ok || status.Code != "" {
		return resp, err
	}
	switch status.Status {
	case http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return c.send(ctx, http.MethodGet, target, nil)
	}
	return resp, err
}

// readVersion reads which file an answer to HEAD describes. The Hub names a file
// in large file storage by its SHA-256, a small one by its git blob id; the ETag
// of any other server is opaque.
func readVersion(resp *http.Response) version {
	v := version{Size: -1, ETag: resp.Header.Get("ETag"), Modified: resp.Header.Get("Last-Modified")}
	if size, err := strconv.ParseInt(resp.Header.Get(headerLinkedSize), 10, 64); err == nil && size >= 0 {
		v.Size = size
	} else if resp.StatusCode == http.StatusOK {
		v.Size = resp.ContentLength
	}
	linked := resp.Header.Get(headerLinkedETag)
	if linked != "" {
		v.ETag = linked
	}
	if linked == "" && resp.Header.Get(headerCommit) == "" {
		return v // not the Hub
	}
	switch sum := strings.Trim(strings.TrimPrefix(v.ETag, "W/"), `"`); {
	case sha256Pattern.MatchString(sum):
		v.Sum = sumSHA256 + sum
	case linked == "" && commitPattern.MatchString(sum):
		v.Sum = sumGit + sum
	}
	return v
}
