package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/export"
	"dragoman/model/family"
)

// Preparer makes exported folders of the model that MODEL_WEIGHTS names.
type Preparer struct{ *Client }

// NewPreparer makes a preparer. It fails like New.
func NewPreparer(cfg Config) (*Preparer, error) {
	c, err := New(cfg)
	return &Preparer{c}, err
}

// Prepare returns an exported folder of the model. It exports the model first unless the folder holds it undamaged. A folder that
// MODEL_WEIGHTS names is only read. If two processes prepare one folder, one works and the other waits.
func (p *Preparer) Prepare(ctx context.Context) (dir string, err error) {
	o, err := p.origin()
	if err != nil {
		return "", err
	}
	if o.exported {
		_, err := p.given(ctx, o)
		return o.name, err
	}
	out, err := p.folder(o)
	if err != nil {
		return "", err
	}
	_, found := p.find(ctx, out, o) // without a lock, because a lock is impossible in a read-only folder
	switch {
	case found == nil:
		p.sweepIfFree(out)
		return out, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	err = p.replace(ctx, out, o)
	if err != nil && errors.Is(found, model.ErrDamaged) {
		err = fmt.Errorf("%w; it cannot be exported again: %w", found, err)
	}
	return out, err
}

// Holds returns nil if the folder dir holds the model, undamaged. Unlike Prepare it asks the source for the commit of a branch;
// if the source cannot be reached, an export of any commit counts as the model.
func (p *Preparer) Holds(ctx context.Context, dir string) error {
	o, err := p.origin()
	if err != nil {
		return err
	}
	m, err := p.find(ctx, dir, o)
	if err != nil || o.isLocal() {
		return err
	}
	commit, err := p.Commit(ctx, o.ref)
	if err == nil && commit != "" && commit != m.Revision {
		err = errNotExported
	}
	return err
}

// Fill makes dir, an empty folder, an export of the model, or a copy of an exported folder. The caller must hold the lock of a
// folder that contains dir.
func (p *Preparer) Fill(ctx context.Context, dir string) error {
	o, err := p.origin()
	if err != nil {
		return err
	}
	if !o.exported {
		return p.export(ctx, o, dir)
	}
	m, err := p.given(ctx, o)
	if err != nil {
		return err
	}
	for name := range m.Files {
		if err := errors.Join(ctx.Err(), model.CopyFile(filepath.Join(o.name, name), filepath.Join(dir, name))); err != nil {
			return err
		}
	}
	if err := model.CheckFiles(ctx, dir, m.Files, model.VerifyAlways); err != nil {
		return err
	}
	return m.Write(dir)
}

// given reads and checks the exported folder that MODEL_WEIGHTS names.
func (p *Preparer) given(ctx context.Context, o origin) (*model.Manifest, error) {
	m, err := model.ReadManifest(o.name)
	if err != nil {
		return nil, err
	}
	if err := model.CheckFiles(ctx, o.name, m.Files, p.cfg.Verify); err != nil {
		return nil, fmt.Errorf("%w: MODEL_WEIGHTS names %s, so it is left as it is: delete it and export again", err, o.name)
	}
	return m, nil
}

// folder returns the folder for an export.
func (p *Preparer) folder(o origin) (string, error) {
	if p.cfg.SaveWeights != "" {
		return filepath.Abs(p.cfg.SaveWeights)
	}
	if p.cfg.Cache == "" {
		return "", fmt.Errorf("there is no cache folder for the exported model: set SAVE_WEIGHTS")
	}
	return filepath.Abs(filepath.Join(p.cfg.Cache, o.slug()+"-"+cmp.Or(string(p.cfg.Precision), "auto")))
}

// errNotExported means that a folder holds another export.
var errNotExported = errors.New("not exported")

// find returns the manifest of out if out is a complete export of the origin in the wanted precision. The error is
// model.ErrDamaged if only a file is damaged.
func (p *Preparer) find(ctx context.Context, out string, o origin) (*model.Manifest, error) {
	m, err := model.ReadManifest(out)
	if err != nil {
		return nil, err
	}
	same := m.Source == o.name && (o.version == "" || m.Revision == o.version) &&
		(m.Precision == p.cfg.Precision || p.cfg.Precision == "" && m.Precision == auto(m.Spec))
	if o.exported {
		original, err := model.ReadManifest(o.name)
		if err != nil {
			return nil, err
		}
		same = reflect.DeepEqual(m, original)
	} else if same {
		set, err := family.ParseDirections(p.cfg.Languages)
		if err != nil {
			return nil, err
		}
		same = (len(set.Sources) == 0 || slices.Equal(set.Sources, m.Sources)) && (len(set.Targets) == 0 || slices.Equal(set.Targets, m.Targets))
	}
	if !same {
		return nil, errNotExported
	}
	return m, model.CheckFiles(ctx, out, m.Files, p.cfg.Verify)
}

// Remains of killed processes in an exported folder: of an export, and of a download next to a complete export.
var (
	unfinished = []string{export.WorkPrefix + "*", ".dragoman.checked.*"}
	unneeded   = append(unfinished[:len(unfinished):len(unfinished)], downloadFolder)
)

// replace exports the model into out, under its lock, unless another process has done so meanwhile.
func (p *Preparer) replace(ctx context.Context, out string, o origin) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("make the folder for the exported model: %w: set SAVE_WEIGHTS to a folder that can be written", err)
	}
	unlock, err := model.Lock(ctx, out, func() {
		p.cfg.Log.Info("waiting for another process that prepares this model", "folder", out)
	})
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("lock %s: %w: set SAVE_WEIGHTS to a folder that can be written, on a volume with file locks", out, err)
	}
	if err != nil {
		return err
	}
	defer unlock()
	_, found := p.find(ctx, out, o)
	if found == nil || ctx.Err() != nil {
		return found
	}
	if err := model.Sweep(out, unfinished...); err != nil {
		return err
	}
	if errors.Is(found, model.ErrDamaged) {
		p.cfg.Log.Warn("exporting the damaged model again", "folder", out, "reason", found)
		if err := removeDamaged(ctx, p.downloads(out)); err != nil { // the cause of the damage may have damaged a checkpoint there too
			return err
		}
	}
	return p.export(ctx, o, out)
}

// sweepIfFree removes the remains of killed processes from a complete folder that no process has locked. It does nothing in a
// read-only folder.
func (p *Preparer) sweepIfFree(out string) {
	if len(model.Leftovers(out, unneeded...)) == 0 {
		return
	}
	unlock, ok := model.TryLock(out)
	if !ok {
		return
	}
	defer unlock()
	if err := model.Sweep(out, unneeded...); err != nil {
		p.cfg.Log.Warn("cannot remove what a killed process left", "folder", out, "error", err)
	}
}

// export fetches the checkpoint and exports it into out. The caller must hold the lock. A failed export leaves the download.
func (p *Preparer) export(ctx context.Context, o origin, out string) (err error) {
	work, err := os.MkdirTemp(out, export.WorkPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	fetched, version, err := p.fetch(ctx, o, out, work)
	if err != nil {
		return err
	}
	defer func() { err = withPointers(err, fetched) }()
	dir, name, err := p.withBase(ctx, o, fetched, out, work)
	if err != nil {
		return err
	}
	if dir, err = checkpoint.Convert(dir, work); err != nil {
		return err
	}
	opts, err := p.inspect(dir, name, o)
	if err != nil {
		return err
	}
	opts.Revision = version
	start := time.Now()
	p.cfg.Log.Info("exporting the model", "source", o.name, "family", opts.Family, "precision", opts.Precision, "folder", out)
	m, err := p.cfg.Export(ctx, dir, out, opts)
	if err != nil {
		return err
	}
	p.cfg.Log.Info("exported the model", "bytes", m.Files[model.WeightsFile].Size, "took", time.Since(start).Round(time.Millisecond))
	return os.RemoveAll(filepath.Join(cmp.Or(p.cfg.Downloads, out), downloadFolder))
}
