// Package hub fetches a Hugging Face checkpoint into a folder: from the Hub or a mirror
// of it by the repository's name, from any web server that has the files beside each
// other, or from a folder that is there already.
//
// A [Client.Pull] reads top-down as: lock the folder, ask the Hub for the commit
// behind the revision, choose the files ([configFiles], [weightFiles]), compare
// what the folder already has, then fetch the rest one after the other. A file
// is written to name.partial, verified against the Hub's checksum and renamed,
// so whatever carries its final name is whole. A cut connection is resumed where
// it broke off, within a call and in later calls.
package hub

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// DefaultEndpoint is the Hub that repositories are fetched from unless
// [Config.Endpoint] names a mirror.
const DefaultEndpoint = "https://huggingface.co"

// Config says how a [Client] reaches the Hub. The zero value is of use.
type Config struct {
	// Endpoint is the base URL of the Hub or of a mirror, which may have a path
	// (HF_ENDPOINT). Default: DefaultEndpoint.
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
	// Accept, where set, is given the content of config.json before anything
	// big is fetched, and returns the most bytes that the weights of such a model
	// take. Its error ends the pull. Without it the source
	// must say how many bytes they have.
	Accept func(config []byte) (weights int64, err error)

	HTTP     *http.Client // default: a client with the environment's proxy settings
	Log      *slog.Logger // default: none
	Progress Progress     // default: lines to Log

	// Tries is how often in a row a request may fail without a new byte before
	// Pull gives up. Default: 6.
	Tries int
	// BackOff makes the waits between tries. Default: exponential with jitter,
	// about a minute over all tries.
	BackOff func() backoff.BackOff
	// MaxWait bounds the wait that a server may ask for with Retry-After.
	// Default: 5 minutes.
	MaxWait time.Duration
	// StallTimeout is how long a connection may be silent before it is cut and
	// the file resumed. Default: 30 s.
	StallTimeout time.Duration
	// Clock is the time to wait in. Default: the real one.
	Clock Clock
	// FreeSpace tells the bytes that may be written to a folder's disk.
	// Default: the file system's answer.
	FreeSpace func(dir string) (uint64, error)
}

// Client fetches checkpoints. It is safe for concurrent use, also by pulls into
// the same folder.
type Client struct {
	cfg      Config
	endpoint *url.URL
	http     *http.Client
}

// New makes a client. It fails where the endpoint is not an http(s) URL or the
// token cannot stand in a header.
func New(cfg Config) (*Client, error) {
	if cfg.Endpoint == "" {
		cfg.Endpoint = DefaultEndpoint
	}
	endpoint, err := url.Parse(strings.TrimRight(cfg.Endpoint, "/"))
	if err != nil || endpoint.Host == "" || (endpoint.Scheme != "http" && endpoint.Scheme != "https") {
		return nil, fmt.Errorf("HF_ENDPOINT %q is not a URL: give one such as %s", cfg.Endpoint, DefaultEndpoint)
	}
	cfg.Token = strings.TrimSpace(cfg.Token)
	if strings.ContainsFunc(cfg.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("HF_TOKEN has a space, control or non-ASCII character in its %d bytes: copy it again", len(cfg.Token))
	}
	cfg.setDefaults()

	// Redirects are followed by Client.follow: net/http decides by host name
	// alone whether it passes a token on, and a HEAD must stop at the redirect.
	client := *cfg.HTTP
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{cfg: cfg, endpoint: endpoint, http: &client}, nil
}

// setDefaults fills the fields that the caller left out.
func (c *Config) setDefaults() {
	if c.HTTP == nil {
		c.HTTP = &http.Client{}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Clock == nil {
		c.Clock = realClock{}
	}
	if c.Progress == nil {
		c.Progress = Lines(c.Log, c.Clock)
	}
	if c.Tries <= 0 {
		c.Tries = 6
	}
	if c.BackOff == nil {
		c.BackOff = func() backoff.BackOff {
			delays := backoff.NewExponentialBackOff() // from 0.5 s
			delays.Multiplier = 3
			return delays
		}
	}
	if c.MaxWait <= 0 {
		c.MaxWait = 5 * time.Minute
	}
	if c.StallTimeout <= 0 {
		c.StallTimeout = 30 * time.Second
	}
	if c.FreeSpace == nil {
		c.FreeSpace = freeSpace
	}
}

// Result is a complete checkpoint on disk.
type Result struct {
	Dir string // the folder that holds it
	// Revision is the commit of the repository, "" where the source has none.
	Revision string
	Files    []FileInfo // config and tokenizer first, weights last
}

// FileInfo is one file of a checkpoint.
type FileInfo struct {
	Name   string
	Size   int64  // bytes
	SHA256 string // hex; "" for a file that Pull did not fetch
	ETag   string // as the server names this version of the file; "" likewise
}

// Pull makes sure that a folder holds the checkpoint that ref names and says
// which files make it up. A local ref is only looked at, and Result.Dir is its
// own folder; for any other the files are fetched into dir, which is made if it
// is not there. What dir already has in the right version is not fetched again.
//
// When ctx is done Pull returns its error and leaves name.partial files, from
// which the next Pull goes on. Other pulls into dir, in this process or another,
// wait for this one. What an earlier pull left complete is used where the source cannot
// be reached. Errors say what to do and match the Err variables of this package.
func (c *Client) Pull(ctx context.Context, ref Ref, dir string) (Result, error) {
	switch {
	case ref.kind == kindFolder:
		files, err := folderFiles(ref.path, c.cfg.Family)
		if err != nil {
			return Result{}, err
		}
		return Result{Dir: ref.path, Files: files}, nil
	case c.cfg.Offline:
		return offlineResult(ref, dir, c.cfg.Family)
	}

	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Result{}, fmt.Errorf("cannot make the folder for %s: %w", ref, err)
	}
	unlock, err := c.lock(ctx, dir)
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	p := &pull{Client: c, ref: ref, dir: dir, state: readState(dir, c.cfg.Log)}
	result, err := p.run(ctx)
	switch {
	case err == nil:
		return result, nil
	case retriable(err) && ctx.Err() == nil && p.state.check(ref, dir) == nil:
		c.cfg.Log.Warn("using the checkpoint that an earlier pull left", "dir", dir, "revision", p.state.Commit, "reason", err.Error())
		return p.state.result(dir), nil
	}
	return Result{}, c.explain(ref, err)
}
