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

	"dragoman/model/family"
)

// locate asks the Hub for the commit behind the revision and for its list of
// files. A mirror may lack this API; then each file is asked for by itself, and
// the first answer tells the commit.
func (p *pull) locate(ctx context.Context) error {
	if p.ref.kind != kindRepo {
		return nil
	}
	target := p.endpoint.JoinPath("api/models", p.ref.repo, "revision", url.PathEscape(p.ref.revision))
	var info struct {
		SHA      string `json:"sha"`
		Siblings []struct {
			Name string `json:"rfilename"`
		} `json:"siblings"`
	}
	err := p.retry(ctx, "list of files", func() (bool, error) { return false, p.getJSON(ctx, target, &info) })
	if status, ok := errors.AsType[*statusError](err); errors.Is(err, errNotJSON) ||
		ok && status.code == "" && (status.status == http.StatusNotFound || status.status == http.StatusMethodNotAllowed) {
		p.cfg.Log.Debug("no list of files, asking for each one", "source", p.ref.String(), "reason", err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	p.pin(info.SHA)
	if len(info.Siblings) > 0 {
		p.listed = make(map[string]bool, len(info.Siblings))
	}
	for _, file := range info.Siblings {
		p.listed[file.Name] = true
	}
	return nil
}

// pin makes the first commit that the Hub names the one that files are fetched from.
func (p *pull) pin(commit string) {
	if p.commit == "" && p.ref.kind == kindRepo && commitPattern.MatchString(commit) {
		p.commit = commit
	}
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

// fileURL is where a file is fetched from: pinned to the commit once it is
// known, so that a push during a pull cannot mix two checkpoints.
func (p *pull) fileURL(name string) *url.URL {
	if p.ref.kind == kindURL {
		return p.ref.base.JoinPath(url.PathEscape(name))
	}
	revision := p.ref.revision
	if p.commit != "" {
		revision = p.commit
	}
	return p.endpoint.JoinPath(p.ref.repo, "resolve", url.PathEscape(revision), url.PathEscape(name))
}

// head asks which version of a file the source has. Answers are remembered.
func (p *pull) head(ctx context.Context, name string) (version, error) {
	if v, ok := p.versions[name]; ok {
		return v, nil
	}
	if err := p.missing[name]; err != nil {
		return version{}, err
	}
	err := p.retry(ctx, name, func() (bool, error) {
		resp, err := p.headOrGet(ctx, p.fileURL(name))
		if err != nil {
			return false, err
		}
		defer resp.Body.Close()
		p.versions[name] = readVersion(resp)
		p.pin(hubHeader(resp, headerCommit))
		return false, nil
	})
	if p.isMissing(err) {
		p.missing[name] = err
	}
	return p.versions[name], err
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

// remoteFiles are the files of the source. Those that are read are fetched.
type remoteFiles struct {
	ctx context.Context
	*pull
}

// Has implements [family.Files].
func (f remoteFiles) Has(name string) (bool, error) {
	if f.listed != nil {
		return f.listed[name], nil
	}
	_, err := f.head(f.ctx, name)
	if f.isMissing(err) {
		return false, nil
	}
	return err == nil, err
}

// Read implements [family.Files].
func (f remoteFiles) Read(name string) ([]byte, error) {
	if err := f.fetch(f.ctx, name); err != nil {
		return nil, err
	}
	return family.Folder(f.dir).Read(name)
}
