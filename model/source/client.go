// Package source makes exported folders of the models that MODEL_WEIGHTS names: the bundled model, a folder or an Argos package of
// this machine, or a model that it downloads from the Hub or a mirror by the name of a repository, from any web server that has the
// files in one folder, or from Mozilla's index of Firefox's models. A model is a Hugging Face checkpoint, or a model of CTranslate2,
// Firefox or Marian.
//
// [Preparer.Prepare] does nothing if its folder holds the model undamaged.
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
	"dragoman/model/export"
)

const defaultEndpoint = "https://huggingface.co"

// Config configures a [Client] and a [Preparer]. The zero value is usable.
type Config struct {
	// Endpoint is the base URL of the Hub or of a mirror, which may have a path (HF_ENDPOINT). Default: the Hub.
	Endpoint string
	// Token is an access token for the Hub (HF_TOKEN). The token is sent only to Endpoint's scheme, host and port.
	Token string
	// Offline forbids every request (HF_HUB_OFFLINE): Pull then succeeds only if the folder is complete.
	Offline bool
	// Index is the URL of an index of Firefox's models (FIREFOX_MODELS); its relative places are relative to the URL. Default:
	// Mozilla's.
	Index string
	// Patient also tries again if the address of a name is not known for the moment, as for a service that starts together with its
	// network or its mirror. A command would only be slow to say so.
	Patient bool
	// Family (MODEL_FAMILY) and Languages (MODEL_LANGUAGES) of the model. Default: as told by the model's files.
	Family, Languages string
	// Accept returns an error for an unwanted network, before any large download. Default: every network is wanted.
	Accept func(model.Spec) error

	Log      *slog.Logger // default: none
	Progress Progress     // default: lines to Log

	// The fields below configure a preparer.

	Weights     string // MODEL_WEIGHTS; "" is the bundled model
	Revision    string // of a repository; "" is its main branch
	SaveWeights string // folder for the export; "" is a folder in Cache
	Cache       string
	// Downloads is the folder for downloads, which keeps the files of an interrupted pull; "" is the folder of the export. Only
	// one process may use it at a time.
	Downloads string
	// Precision of the export; "" depends on the size of the model.
	Precision model.Precision
	// KeepCheckpoint keeps the download after the export, so that another precision needs no second one.
	KeepCheckpoint bool
	// Verify selects when the checksums of an exported folder are compared.
	Verify model.Verify
	// Export exports a checkpoint. Default: export.Export.
	Export func(ctx context.Context, checkpoint, out string, opts export.Options) (*model.Manifest, error)
}

// Client fetches checkpoints. It is safe for concurrent use.
type Client struct {
	cfg      Config
	endpoint *url.URL
	http     *http.Client

	// Tests replace these.
	wait         func(ctx context.Context, d time.Duration) error // between two tries
	lookup       func(ctx context.Context, address string) error  // see Lookup
	stallTimeout time.Duration                                    // maximum time without a byte
	freeSpace    func(dir string) (bytes uint64, err error)
	accept       func(config, generation []byte) (weights int64, err error)
	check        func(files model.Files, name string) error
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
		cfg.Accept = func(model.Spec) error { return nil }
	}
	if cfg.Export == nil {
		cfg.Export = export.Export
	}
	c := &Client{cfg: cfg, endpoint: endpoint, wait: wait, lookup: Lookup, stallTimeout: 30 * time.Second, freeSpace: model.FreeSpace}
	c.http = c.newHTTP()
	c.accept, c.check = c.acceptConfig, c.checkLanguages
	return c, nil
}

// Commit returns the current commit of the ref's revision, or for a URL a fingerprint of its files. It returns "" if the source
// has neither, in offline mode, and if the source cannot be reached; the last is logged.
func (c *Client) Commit(ctx context.Context, ref Ref) (commit string, err error) {
	if c.cfg.Offline {
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

// Pull makes the folder dir hold the checkpoint of ref, and creates the folder if needed. It returns the revision, like Commit.
// It does not download files that the folder has in the right version. The ref must not name a folder of this machine.
//
// If ctx ends, Pull returns ctx's error and leaves name.partial files, which the next Pull resumes. The caller must hold a lock
// of dir or of a folder around it. If the source cannot be reached, the complete checkpoint of an earlier pull is the result.
// Errors match the Err variables of this package.
func (c *Client) Pull(ctx context.Context, ref Ref, dir string) (revision string, err error) {
	if c.cfg.Offline {
		f := openFolder(dir, slog.New(slog.DiscardHandler))
		if err := f.check(ref); err != nil {
			return "", fmt.Errorf("%w: %w: unset HF_HUB_OFFLINE to fetch it, or name a folder that holds the checkpoint", ErrOffline, err)
		}
		return f.version(), nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("cannot make the folder for %s: %w", ref, err)
	}
	p := &pull{remote: c.remote(ctx, ref), folder: openFolder(dir, c.cfg.Log)}
	if err := p.run(); err != nil {
		if !retriable(err) || ctx.Err() != nil || p.folder.check(ref) != nil {
			return "", c.explain(ref, err)
		}
		c.cfg.Log.Warn("the source cannot be reached, using the checkpoint of an earlier pull",
			"dir", dir, "revision", p.folder.Commit, "reason", err.Error())
	}
	return p.folder.version(), nil
}
