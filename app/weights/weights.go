// Package weights turns what MODEL_WEIGHTS names into an exported folder that
// the service can load: the bundled checkpoint, a folder that is exported already,
// a checkpoint's folder, a Hugging Face repository or a URL.
//
// [Preparer.Prepare] does nothing when the folder holds what is asked for. Two
// processes may prepare the same folder at once: one works, the other waits.
package weights

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"dragoman/model"
	"dragoman/model/export"
	"dragoman/model/hub"
)

// Config says what to prepare and with what.
type Config struct {
	Weights     string // MODEL_WEIGHTS; "" is the bundled checkpoint
	Revision    string // of a repository; "" is its main branch
	SaveWeights string // folder for the export; "" is one of its own below Cache
	Cache       string // folder for exports that have no folder named
	// Precision of the export; "" lets the model's size decide.
	Precision model.Precision
	// KeepCheckpoint keeps what was downloaded after the export, so that another
	// precision needs no second download.
	KeepCheckpoint bool

	Hub Puller
	// Export is export.Export in all but tests.
	Export func(ctx context.Context, checkpoint, out string, opts export.Options) (*model.Manifest, error)
	Log    *slog.Logger
}

// Puller fetches checkpoints; *hub.Client is one.
type Puller interface {
	Pull(ctx context.Context, ref hub.Ref, dir string) (hub.Result, error)
}

// Preparer prepares one exported folder.
type Preparer struct {
	cfg Config
}

// New makes a preparer.
func New(cfg Config) *Preparer { return &Preparer{cfg: cfg} }

// Prepare returns an exported folder of the model, made now if need be. It says
// in its error what to do where the source is not to be had or is no M2M100 model.
func (p *Preparer) Prepare(ctx context.Context) (dir string, err error) {
	s, err := p.source()
	if err != nil {
		return "", err
	}
	if s.exported != "" {
		return s.exported, nil
	}
	out, err := p.folder(s)
	if err != nil {
		return "", err
	}
	if p.holds(out, s) { // no lock, so that a read-only folder will do
		return out, nil
	}
	unlock, err := p.lock(ctx, out)
	if err != nil {
		return "", err
	}
	defer unlock()
	if p.holds(out, s) {
		return out, nil // another process was faster
	}
	return out, p.export(ctx, s, out)
}

// folder is where the export of a source belongs.
func (p *Preparer) folder(s source) (string, error) {
	if p.cfg.SaveWeights != "" {
		return filepath.Abs(p.cfg.SaveWeights)
	}
	if p.cfg.Cache == "" {
		return "", fmt.Errorf("there is no cache folder for the exported model: set SAVE_WEIGHTS")
	}
	precision := string(p.cfg.Precision)
	if precision == "" {
		precision = "auto"
	}
	return filepath.Abs(filepath.Join(p.cfg.Cache, s.slug()+"-"+precision))
}

// holds says that out is a complete export of the source in the precision asked for.
func (p *Preparer) holds(out string, s source) bool {
	m, err := model.ReadManifest(out)
	if err != nil || m.Source != s.name || s.version != "" && m.Revision != s.version {
		return false
	}
	return m.Precision == p.cfg.Precision || p.cfg.Precision == "" && m.Precision == auto(m.Spec)
}

// lock makes the folder and waits until no other process works in it.
func (p *Preparer) lock(ctx context.Context, out string) (unlock func(), err error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder for the exported model: %w: set SAVE_WEIGHTS to a folder that can be written", err)
	}
	lock := flock.New(filepath.Join(out, ".dragoman.lock"))
	free, err := lock.TryLock()
	if err == nil && !free {
		p.cfg.Log.Info("waiting for another process that prepares this model", "folder", out)
		_, err = lock.TryLockContext(ctx, 200*time.Millisecond)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", out, err)
	}
	return func() { lock.Unlock() }, nil //nolint:errcheck // the process's end unlocks too
}

// export brings the checkpoint to this machine and exports it into out.
func (p *Preparer) export(ctx context.Context, s source, out string) error {
	checkpoint, version, done, err := s.fetch(ctx, out)
	if err != nil {
		return err
	}
	languages, precision, err := p.inspect(checkpoint, s)
	if err != nil {
		return err
	}
	start := time.Now()
	p.cfg.Log.Info("exporting the model", "source", s.name, "precision", precision, "folder", out)
	m, err := p.cfg.Export(ctx, checkpoint, out, export.Options{
		Precision: precision, Source: s.name, Revision: version, Languages: languages,
	})
	if err != nil {
		return err
	}
	p.cfg.Log.Info("exported the model", "bytes", m.Files[model.WeightsFile].Size, "took", time.Since(start).Round(time.Millisecond))
	return done()
}
