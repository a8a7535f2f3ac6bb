package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"dragoman/app/cli"
	"dragoman/model"
	"dragoman/model/repository"
	"dragoman/model/source"
)

// addition is a model to be added as the next version of a name in a repository.
type addition struct {
	*loader
	precision model.Precision // for GPUs if PRECISION is not set; "" for CPUs
	name      string

	dir      string // of the repository
	preparer *source.Preparer
	wanted   model.Precision // the precision set in the model's config.yaml; "" for any
	newest   int             // newest version
	before   *model.Manifest // manifest of the newest version; nil: it has no readable manifest
}

// errPresent means that the newest version is already the model to be added.
var errPresent = errors.New("the newest version is this model already")

// add adds the model to the repository dir, and returns its name, version and folder as text.
func (a *addition) add(ctx context.Context, dir string) (_ string, err error) {
	if err := repository.CheckName(a.name); err != nil {
		return "", &cli.UsageError{Err: err}
	}
	if a.dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	err = a.check(ctx) // without a lock, because a lock is impossible in a read-only folder
	version := 0
	if err == nil {
		version, err = repository.Add(ctx, a.dir, a.name, func() {
			a.log.Info("waiting for another process that adds a version", "model", a.name, "repository", a.dir)
		}, a.fill)
	}
	if errors.Is(err, errPresent) {
		version, err = a.newest, nil
		a.log.Info("nothing to do: the newest version is this model already", "model", a.name, "version", version)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s:%d %s", a.name, version, filepath.Join(a.dir, a.name, strconv.Itoa(version))), nil
}

// check reads the model's versions in the repository. It returns errPresent if there is nothing to add.
func (a *addition) check(ctx context.Context) (err error) {
	var found repository.Model
	for _, m := range repository.Scan([]string{a.dir}).Models {
		if m.Name == a.name {
			found = m
		}
	}
	if found.Err != nil {
		return found.Err
	}
	if err := a.prepareFor(found.Config); err != nil {
		return err
	}
	if len(found.Versions) == 0 {
		return nil
	}
	newest := found.Versions[len(found.Versions)-1]
	a.newest, a.before = newest.Number, newest.Manifest
	if a.preparer.Holds(ctx, newest.Dir) == nil {
		return errPresent
	}
	return ctx.Err() // the next version replaces the newest, whatever its fault
}

// prepareFor creates the preparer for the settings of a model's config.yaml.
func (a *addition) prepareFor(c repository.Config) (err error) {
	switch c.Device {
	case "cpu":
		a.precision = ""
	case "cuda":
		a.precision = model.FP16
	}
	a.wanted = ""
	precision := a.precision
	if want := c.Precision; want != "" && want != repository.Auto {
		if a.cfg.Precision != "" && a.cfg.Precision != want {
			return fmt.Errorf("PRECISION is %s, but %s of %s has precision %s: change one of them",
				a.cfg.Precision, repository.ConfigFile, a.name, want)
		}
		precision, a.wanted = want, want
	}
	// An interrupted download stays in the model's folder, for the next pull.
	a.preparer, err = a.loader.preparer(precision, filepath.Join(a.dir, a.name))
	return err
}

// fill writes the model to the folder work. Another process may have added the model meanwhile.
func (a *addition) fill(ctx context.Context, work string) error {
	if err := a.check(ctx); err != nil {
		return err
	}
	if err := a.preparer.Fill(ctx, work); err != nil {
		return err
	}
	m, err := model.ReadManifest(work)
	if err != nil {
		return err
	}
	if want := cmp.Or(a.wanted, a.cfg.Precision); want != "" && want != m.Precision {
		return fmt.Errorf("%s holds an %s model, not an %s one: name the checkpoint that it was made of", a.cfg.Weights, m.Precision, want)
	}
	if a.before != nil && !slices.Equal(directions(m), directions(a.before)) {
		a.log.Warn("the new version replaces a model with other languages: to keep both, pull one with --name and delete this version",
			"model", a.name, "source", m.Source, "before", a.before.Source)
	}
	return nil
}

// directions returns the languages of a model, on each side.
func directions(m *model.Manifest) []string {
	from, to := m.Directions()
	return slices.Concat(from, []string{":"}, to)
}
