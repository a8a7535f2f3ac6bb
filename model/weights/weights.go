// Package weights turns what MODEL_WEIGHTS names into an exported folder that
// the service can load: the bundled checkpoint, an exported folder, a checkpoint's folder, a Hugging Face repository or a URL.
//
// [Preparer.Prepare] does nothing when the folder already holds that model, undamaged.
// Two processes may prepare the same folder at once: one works, the other waits.
package weights

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"dragoman/model"
	"dragoman/model/convert"
	"dragoman/model/export"
	"dragoman/model/family"
	"dragoman/model/source"
)

// Config says what to prepare and with what.
type Config struct {
	Weights     string // MODEL_WEIGHTS; "" is the bundled checkpoint
	Revision    string // of a repository; "" is its main branch
	SaveWeights string // folder for the export; "" is one of its own below Cache
	Cache       string // folder for exports that have no folder named
	// Downloads is the folder for checkpoints on their way, which stay there where a pull is
	// interrupted; "" is that of the export. Only one process may use it at a time.
	Downloads string
	// Precision of the export; "" lets the model's size decide.
	Precision model.Precision
	Family    string // MODEL_FAMILY; "" lets the checkpoint tell
	Languages string // MODEL_LANGUAGES; "" lets the checkpoint tell
	// KeepCheckpoint keeps what was downloaded after the export, so that another
	// precision needs no second download.
	KeepCheckpoint bool

	// Verify says when an exported folder's checksums are compared.
	Verify model.Verify

	Hub Puller
	// Export is export.Export in all but tests.
	Export func(ctx context.Context, checkpoint, out string, opts export.Options) (*model.Manifest, error)
	Log    *slog.Logger
}

// Puller fetches checkpoints; *source.Client is one.
type Puller interface {
	Pull(ctx context.Context, ref source.Ref, dir string) (source.Result, error)
	Commit(ctx context.Context, ref source.Ref) (string, error)
}

// Preparer prepares one exported folder.
type Preparer struct {
	cfg Config
}

// New makes a preparer.
func New(cfg Config) *Preparer { return &Preparer{cfg: cfg} }

// Prepare returns an exported folder of the model. It exports the model first where the
// folder does not hold it or a file is damaged. Where the source is missing, or cannot be
// exported, the error says what to do. A folder that MODEL_WEIGHTS names is only read.
func (p *Preparer) Prepare(ctx context.Context) (dir string, err error) {
	s, err := p.origin()
	if err != nil {
		return "", err
	}
	if s.exported != "" {
		return s.exported, p.checkGiven(ctx, s.exported)
	}
	out, err := p.folder(s)
	if err != nil {
		return "", err
	}
	found := p.find(ctx, out, s) // without a lock, which a read-only folder cannot have
	switch {
	case found == nil:
		p.sweepIfFree(out)
		return out, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	err = p.make(ctx, out, s)
	if err != nil && errors.Is(found, model.ErrDamaged) {
		err = fmt.Errorf("%w; it cannot be exported again: %w", found, err)
	}
	return out, err
}

// checkGiven checks an exported folder that is the user's.
func (p *Preparer) checkGiven(ctx context.Context, dir string) error {
	m, err := model.ReadManifest(dir)
	if err != nil {
		return err
	}
	if err := model.CheckFiles(ctx, dir, m.Files, p.cfg.Verify); err != nil {
		return fmt.Errorf("%w: MODEL_WEIGHTS names %s, so it is left as it is: delete it and export again", err, dir)
	}
	return nil
}

// folder is where the export of a source belongs.
func (p *Preparer) folder(s origin) (string, error) {
	if p.cfg.SaveWeights != "" {
		return filepath.Abs(p.cfg.SaveWeights)
	}
	if p.cfg.Cache == "" {
		return "", fmt.Errorf("there is no cache folder for the exported model: set SAVE_WEIGHTS")
	}
	return filepath.Abs(filepath.Join(p.cfg.Cache, s.slug()+"-"+cmp.Or(string(p.cfg.Precision), "auto")))
}

// errNotExported means that a folder holds another export than the wanted one.
var errNotExported = errors.New("not exported")

// find returns nil if out is a complete export of the source in the wanted precision, and
// otherwise why not: model.ErrDamaged if only a file is damaged.
func (p *Preparer) find(ctx context.Context, out string, s origin) error {
	m, err := model.ReadManifest(out)
	if err != nil {
		return err
	}
	if m.Source != s.name || s.version != "" && m.Revision != s.version {
		return errNotExported
	}
	if m.Precision != p.cfg.Precision && (p.cfg.Precision != "" || m.Precision != auto(m.Spec)) {
		return errNotExported
	}
	set, err := family.ParseDirections(p.cfg.Languages)
	if err != nil {
		return err
	}
	if len(set.Sources) > 0 && !slices.Equal(set.Sources, m.Sources) || len(set.Targets) > 0 && !slices.Equal(set.Targets, m.Targets) {
		return errNotExported
	}
	return model.CheckFiles(ctx, out, m.Files, p.cfg.Verify)
}

// make exports the source into out, unless another process has just done so.
func (p *Preparer) make(ctx context.Context, out string, s origin) error {
	unlock, err := p.lock(ctx, out)
	if err != nil {
		return err
	}
	defer unlock()
	found := p.find(ctx, out, s)
	if found == nil || ctx.Err() != nil {
		return found
	}
	if err := model.Sweep(out, unfinished...); err != nil {
		return err
	}
	if errors.Is(found, model.ErrDamaged) {
		p.cfg.Log.Warn("exporting the damaged model again", "folder", out, "reason", found)
		// What damaged this folder may have damaged a checkpoint in it, too.
		if err := source.RemoveDamaged(ctx, p.download(out)); err != nil {
			return err
		}
	}
	return p.export(ctx, s, out)
}

// export fetches the checkpoint and exports it into out. The caller holds the lock.
func (p *Preparer) export(ctx context.Context, s origin, out string) error {
	work, err := os.MkdirTemp(out, export.WorkPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	fetched, version, err := s.fetch(ctx, out, work)
	if err != nil {
		return err
	}
	if err := p.exportFrom(ctx, s, fetched, version, work, out); err != nil {
		return withPointers(err, fetched)
	}
	return os.RemoveAll(filepath.Join(cmp.Or(p.cfg.Downloads, out), downloadFolder))
}

// exportFrom exports what was fetched into the folder fetched.
func (p *Preparer) exportFrom(ctx context.Context, s origin, fetched, version, work, out string) error {
	checkpoint, err := convert.Checkpoint(fetched, work)
	if err != nil {
		return err
	}
	opts, err := p.inspect(checkpoint, s)
	if err != nil {
		return err
	}
	opts.Revision = version
	start := time.Now()
	p.cfg.Log.Info("exporting the model", "source", s.name, "family", opts.Family, "precision", opts.Precision, "folder", out)
	m, err := p.cfg.Export(ctx, checkpoint, out, opts)
	if err != nil {
		return err
	}
	p.cfg.Log.Info("exported the model", "bytes", m.Files[model.WeightsFile].Size, "took", time.Since(start).Round(time.Millisecond))
	return nil
}
