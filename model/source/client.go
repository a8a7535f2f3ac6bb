// Package hub fetches a model into a folder: from the Hub or a mirror
// of it by the repository's name, or from any web server that has the files beside each
// other. It is a Hugging Face checkpoint, a model in CTranslate2's form or one of Firefox's, which also come from
// Mozilla's index.
//
// A [Client.Pull] reads top-down as: learn the commit behind the
// revision from the first file, or where names cannot be known from the list of all, choose the files that a model of the
// family needs, compare what the folder already has, then fetch the rest one after the other. A file
// is written to name.partial, compared with the Hub's checksum and renamed, so a file
// with its final name is complete. A download that breaks off is resumed, in the same
// call and in later ones.
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

// Config says how a [Client] reaches the Hub. The zero value is usable.
type Config struct {
	// Endpoint is the base URL of the Hub or of a mirror, which may have a path
	// (HF_ENDPOINT). Default: the Hub itself.
	Endpoint string
	// Token is a Hub access token (HF_TOKEN). It is sent to Endpoint's scheme,
	// host and port only, never to a host that it redirects to.
	Token string
	// Offline forbids every request (HF_HUB_OFFLINE): Pull then succeeds only
	// with what the folder already holds.
	Offline bool
	// Family is the name of the model's family (MODEL_FAMILY). Default: the
	// checkpoint's files tell.
	Family string
	// Index is the URL of an index of Firefox's models (FIREFOX_MODELS), beside which the files lie that it names by
	// relative places. Default: Mozilla's.
	Index string
	// Accept, where set, is given the contents of config.json and generation_config.json, nil where there is none,
	// before anything large is fetched, and returns the maximum size of such a model's weights in bytes.
	// Its error ends the pull. Default: any model.
	Accept func(config, generation []byte) (weights int64, err error)
	// Check, where set, is given the other files of a checkpoint, with the last name of its repository or folder, before its weights are
	// fetched. Its error ends the pull.
	Check func(files model.Files, name string) error

	Log      *slog.Logger // default: none
	Progress Progress     // default: lines to Log
}

// Client fetches checkpoints. It is safe for concurrent use.
type Client struct {
	cfg      Config
	endpoint *url.URL
	http     *http.Client

	// What tests replace.
	wait         func(ctx context.Context, d time.Duration) error // between two tries
	stallTimeout time.Duration                                    // how long a connection may be silent
	freeSpace    func(dir string) (bytes uint64, err error)
}

// New makes a client. It fails where the endpoint is not an http(s) URL or the
// token cannot stand in a header.
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
	Dir      string // the folder that holds it
	Revision string // as Commit has it
}

// Commit is the commit that the revision of a ref is at now, of a URL what changes with its files. It is "" where the source has
// none, is not to be asked (Config.Offline) or cannot be reached, which is logged.
func (c *Client) Commit(ctx context.Context, ref Ref) (string, error) {
	if ref.kind == kindFolder || c.cfg.Offline {
		return "", nil
	}
	if commitPattern.MatchString(ref.revision) {
		return ref.revision, nil
	}
	p := &pull{Client: c, ref: ref, answers: map[string]answer{}}
	var commit string
	var err error
	if ref.kind == kindURL {
		commit, err = p.fingerprint(ctx)
	} else {
		_, err = p.find(ctx)
		commit = p.commit
	}
	if err != nil {
		if !retriable(err) || ctx.Err() != nil {
			return "", c.explain(ref, err)
		}
		c.cfg.Log.Warn("the source cannot be reached: it may have a newer revision", "source", ref.String(), "reason", err.Error())
	}
	return commit, nil
}

// Pull makes sure that the folder dir, which is made if need be, holds the checkpoint
// that ref names. What dir already has in the right version is not fetched again. A ref
// that is a folder needs no fetching: it is the result.
//
// When ctx is done Pull returns its error and leaves name.partial files, which the next
// Pull resumes. No other pull may be using dir: the caller holds a lock of it, or of a folder
// around it. A complete checkpoint of an earlier pull is used where the source cannot be reached.
// Errors say what to do and match the Err variables of this package.
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
	p := &pull{Client: c, ref: ref, dir: dir, state: readState(dir, c.cfg.Log), answers: map[string]answer{}}
	if err := p.run(ctx); err != nil {
		if !retriable(err) || ctx.Err() != nil || p.state.check(ref, dir) != nil {
			return Result{}, c.explain(ref, err)
		}
		c.cfg.Log.Warn("the source cannot be reached, using the checkpoint of an earlier pull",
			"dir", dir, "revision", p.state.Commit, "reason", err.Error())
	}
	return Result{Dir: dir, Revision: cmp.Or(p.state.Commit, p.state.Fingerprint)}, nil
}
