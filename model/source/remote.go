package source

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/ctranslate2"
)

// fileURL is where a file is fetched from: pinned to the commit once it is
// known, so that a push during a pull cannot mix two checkpoints.
func (p *pull) fileURL(name string) *url.URL {
	if where, ok := p.urls[name]; ok {
		return where
	}
	if p.ref.kind == kindURL {
		return p.ref.base.JoinPath(url.PathEscape(name))
	}
	return p.endpoint.JoinPath(p.ref.repo, "resolve", url.PathEscape(p.revision()), p.ref.path, url.PathEscape(name))
}

// revision is what files are fetched from: the commit, once it is known.
func (p *pull) revision() string { return cmp.Or(p.commit, p.ref.revision) }

// head asks which version of a file the source has. Answers are remembered. The first
// one of the Hub names the commit behind the revision.
func (p *pull) head(ctx context.Context, name string) (version, error) {
	if a, ok := p.answers[name]; ok {
		return a.version, a.err
	}
	var v version
	err := p.retry(ctx, name, func() (bool, error) {
		resp, err := p.headOrGet(ctx, p.fileURL(name))
		if err != nil {
			return false, err
		}
		defer resp.Body.Close()
		if err := p.refusePage(ctx, resp); err != nil {
			return false, err
		}
		v = readVersion(resp)
		if commit := hubHeader(resp, headerCommit); p.commit == "" && p.ref.kind == kindRepo && commitPattern.MatchString(commit) {
			p.commit = commit
		}
		return false, nil
	})
	if err == nil || p.isMissing(err) {
		p.answers[name] = answer{v, err}
	}
	return v, err
}

// isMissing reports whether an error says that the source does not have a file. Storage
// services such as S3 answer 403 where listing is not allowed.
func (p *pull) isMissing(err error) bool {
	status, ok := errors.AsType[*statusError](err)
	return errors.Is(err, ErrFileNotFound) || ok && p.ref.kind == kindURL && status.status == http.StatusForbidden
}

// headOrGet sends HEAD, or GET without reading the body to a server that does
// not allow HEAD (a URL that is signed for GET, say). The caller closes the body.
func (c *Client) headOrGet(ctx context.Context, target *url.URL) (*http.Response, error) {
	resp, err := c.send(ctx, http.MethodHead, target, nil)
	if status, ok := errors.AsType[*statusError](err); ok && status.code == "" {
		switch status.status {
		case http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented:
			return c.send(ctx, http.MethodGet, target, nil)
		}
	}
	return resp, err
}

// fingerprint changes with the weights and the configuration at a URL, or with the files of Firefox's model there; "" for what
// is no URL, and where the server does not tell one file from another.
func (p *pull) fingerprint(ctx context.Context) (string, error) {
	if p.ref.kind != kindURL {
		return "", nil
	}
	names, err := p.identifying(sourceFiles{ctx, p})
	if err != nil || len(names) == 0 {
		return "", err
	}
	sum := sha256.New()
	for _, name := range names {
		v, err := p.head(ctx, name)
		if err != nil || !v.same(v) {
			return "", err
		}
		fmt.Fprintln(sum, name, cmp.Or(strings.TrimPrefix(v.ETag, "W/"), v.Modified))
	}
	return fmt.Sprintf("files-%.6x", sum.Sum(nil)), nil
}

// identifying are the files at a URL by which one model is told from another; none: there is no model.
func (p *pull) identifying(files sourceFiles) ([]string, error) {
	if p.ref.file == "" {
		weights, err := model.First(files, slices.Concat(checkpoint.WeightFiles, []string{ctranslate2.ModelFile})...)
		if err != nil {
			return nil, err
		}
		if weights != "" {
			config, err := model.Present(files, model.ConfigFile)
			return append(config, weights), err
		}
	}
	return p.findStudent(files)
}

// errPage: what is there is not the file.
var errPage = errors.New("a web page is there in place of the file: the server wants somebody to sign in, or has a page for what it lacks")

// refusePage fails where an answer describes a web page. The type alone does not tell: some servers call any file HTML.
func (c *Client) refusePage(ctx context.Context, resp *http.Response) error {
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		return nil
	}
	page, err := c.send(ctx, http.MethodGet, resp.Request.URL, nil)
	if err != nil {
		return err
	}
	defer page.Body.Close()
	start, err := io.ReadAll(io.LimitReader(body{page.Body}, 512))
	if err == nil && strings.HasPrefix(http.DetectContentType(start), "text/html") {
		err = fmt.Errorf("%s: %w", redact(page.Request.URL), errPage)
	}
	return err
}

// sourceFiles are the files of the source. Those that are read are fetched.
type sourceFiles struct {
	ctx context.Context
	*pull
}

// Has implements [model.Files].
func (f sourceFiles) Has(name string) (bool, error) {
	_, err := f.head(f.ctx, name)
	if f.isMissing(err) {
		return false, nil
	}
	return err == nil, err
}

// Read implements [model.Files].
func (f sourceFiles) Read(name string) (raw []byte, err error) {
	if f.dir == "" { // nothing is kept
		err = f.getJSON(f.ctx, f.fileURL(name), (*json.RawMessage)(&raw))
		return raw, err
	}
	if err := f.fetch(f.ctx, name); err != nil {
		return nil, err
	}
	return model.Folder(f.dir).Read(name)
}
