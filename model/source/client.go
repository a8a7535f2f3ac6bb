// Package source fetches the files of models: from the Hub or a mirror by the name of a repository, from any web server that has the
// files in one folder, and from Mozilla's index of Firefox's models. A model is a Hugging Face checkpoint, or a model of CTranslate2
// or Firefox.
//
// [Client.Pull] determines the commit of the revision from the answer for the first file, chooses the files that a model of the
// family needs, compares them with the files of the folder, and downloads the rest one by one. A download goes to name.partial, is
// compared with the checksum of the source and renamed: a file with its final name is complete. An interrupted download is resumed,
// by the same call or a later one.
package source

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"dragoman/model"
)

const defaultEndpoint = "https://huggingface.co"

// Config configures a [Client]. The zero value is usable.
type Config struct {
	// Endpoint is the base URL of the Hub or of a mirror, which may have a path (HF_ENDPOINT). Default: the Hub.
	Endpoint string
	// Token is an access token for the Hub (HF_TOKEN). It is sent only to Endpoint's scheme, host and port.
	Token string
	// Offline forbids every request (HF_HUB_OFFLINE): Pull then succeeds only if the folder is complete.
	Offline bool
	// Family is the name of the model's family (MODEL_FAMILY). Default: recognized by the files.
	Family string
	// Index is the URL of an index of Firefox's models (FIREFOX_MODELS); its relative places are relative to the URL. Default:
	// Mozilla's.
	Index string
	// Accept, if set, is called with the contents of config.json and generation_config.json, nil for a missing file, before any
	// large download, and returns the maximum size of the model's weights in bytes. Its error ends the pull. Default: any model.
	Accept func(config, generation []byte) (weights int64, err error)
	// Check, if set, is called with the other files of a checkpoint, and the last name of its repository or folder, before its
	// weights are downloaded. Its error ends the pull.
	Check func(files model.Files, name string) error

	Log      *slog.Logger // default: none
	Progress Progress     // default: lines to Log
}

// Client fetches checkpoints. It is safe for concurrent use.
type Client struct {
	cfg      Config
	endpoint *url.URL
	http     *http.Client

	// Tests replace these.
	wait         func(ctx context.Context, d time.Duration) error // between two tries
	stallTimeout time.Duration                                    // maximum time without a byte
	freeSpace    func(dir string) (bytes uint64, err error)
}

// New makes a client. It fails if the endpoint is not an http(s) URL or the token is not valid in a header.
func New(cfg Config) (*Client, error) {
	cfg.Endpoint = cmp.Or(cfg.Endpoint, defaultEndpoint)
	endpoint, err := url.Parse(strings.TrimRight(cfg.Endpoint, "/"))
	if err != nil || endpoint.Host == "" || (endpoint.Scheme != "http" && endpoint.Scheme != "https") {
		return nil, fmt.Errorf("HF_ENDPOINT is not an http(s) URL: use one such as %s", defaultEndpoint)
	}
	cfg.Token = strings.TrimSpace(cfg.Token)
	if strings.ContainsFunc(cfg.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("HF_TOKEN has a space, control or non-ASCII character in its %d bytes: copy it again", len(cfg.Token))
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.Progress == nil {
		cfg.Progress = lines(cfg.Log)
	}
	if cfg.Accept == nil {
		cfg.Accept = func(_, _ []byte) (int64, error) { return 1 << 44, nil } // 16 TiB
	}
	c := &Client{cfg: cfg, endpoint: endpoint, wait: wait, stallTimeout: 30 * time.Second, freeSpace: model.FreeSpace}
	c.http = c.newHTTP()
	return c, nil
}

// Result is a complete checkpoint on disk.
type Result struct {
	Dir      string // its folder
	Revision string // as returned by Commit
}

// Commit returns the current commit of the ref's revision, or for a URL a fingerprint of its files. It returns "" if the source has
// neither, in offline mode, and if the source cannot be reached, which is logged.
func (c *Client) Commit(ctx context.Context, ref Ref) (commit string, err error) {
	if ref.kind == kindFolder || c.cfg.Offline {
		return "", nil
	}
	if commitPattern.MatchString(ref.revision) {
		return ref.revision, nil
	}
	r := c.remote(ctx, ref)
	if ref.kind == kindURL {
		commit, err = r.fingerprint(r)
	} else {
		_, err = r.find(r)
		commit = r.commit
	}
	if err != nil {
		if !retriable(err) || ctx.Err() != nil {
			return "", c.explain(ref, err)
		}
		c.cfg.Log.Warn("the source cannot be reached: it may have a newer revision", "source", ref.String(), "reason", err.Error())
	}
	return commit, nil
}

// Pull makes the folder dir hold the checkpoint of ref, and creates it if needed. It does not download files that the folder has in
// the right version. A ref of a folder is the result itself.
//
// If ctx ends, Pull returns its error and leaves name.partial files, which the next Pull resumes. The caller must hold a lock of dir
// or of a folder around it. If the source cannot be reached, the complete checkpoint of an earlier pull is the result. Errors match
// the Err variables of this package.
func (c *Client) Pull(ctx context.Context, ref Ref, dir string) (Result, error) {
	switch {
	case ref.kind == kindFolder:
		return Result{Dir: ref.path}, nil
	case c.cfg.Offline:
		return offlineResult(ref, dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Result{}, fmt.Errorf("cannot make the folder for %s: %w", ref, err)
	}
	p := &pull{remote: c.remote(ctx, ref), folder: openFolder(dir, c.cfg.Log)}
	if err := p.run(); err != nil {
		if !retriable(err) || ctx.Err() != nil || p.folder.check(ref) != nil {
			return Result{}, c.explain(ref, err)
		}
		c.cfg.Log.Warn("the source cannot be reached, using the checkpoint of an earlier pull",
			"dir", dir, "revision", p.folder.Commit, "reason", err.Error())
	}
	return p.folder.result(), nil
}
