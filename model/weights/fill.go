package weights

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"

	"dragoman/model"
)

// Holds returns nil if the folder dir holds what [Preparer.Fill] would put there: the same source,
// revision and precision, undamaged. Unlike Prepare it asks the hub which commit a branch is at
// now; if the hub cannot be reached, any commit will do.
func (p *Preparer) Holds(ctx context.Context, dir string) error {
	s, err := p.origin()
	if err != nil {
		return err
	}
	if s.exported != "" {
		return p.isCopy(ctx, dir, s.exported)
	}
	if err := p.find(ctx, dir, s); err != nil || s.commit == nil {
		return err
	}
	commit, err := s.commit(ctx)
	if err != nil || commit == "" {
		return err
	}
	m, err := model.ReadManifest(dir)
	if err == nil && m.Revision != commit {
		return errNotExported
	}
	return err
}

// isCopy returns nil if dir is an undamaged copy of the exported folder from.
func (p *Preparer) isCopy(ctx context.Context, dir, from string) error {
	m, err := model.ReadManifest(dir)
	if err != nil {
		return err
	}
	given, err := model.ReadManifest(from)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(m, given) {
		return errNotExported
	}
	return model.CheckFiles(ctx, dir, m.Files, p.cfg.Verify)
}

// Fill makes dir, an empty folder, an export of the model: where MODEL_WEIGHTS names an exported
// folder, a copy of that.
func (p *Preparer) Fill(ctx context.Context, dir string) error {
	filler := *p
	filler.cfg.SaveWeights = dir
	from, err := filler.Prepare(ctx)
	if err != nil {
		return err
	}
	m, err := model.ReadManifest(from)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, model.ManifestFile)); err == nil {
		return nil
	}
	for name := range m.Files {
		if err := errors.Join(ctx.Err(), model.CopyFile(filepath.Join(from, name), filepath.Join(dir, name))); err != nil {
			return err
		}
	}
	if err := model.CheckFiles(ctx, dir, m.Files, model.VerifyAlways); err != nil {
		return err
	}
	return m.Write(dir)
}
