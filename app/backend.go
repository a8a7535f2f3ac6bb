package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"dragoman/app/engine"
	"dragoman/app/httpapi"
	"dragoman/app/translate"
	"dragoman/app/weights"
	"dragoman/model"
	"dragoman/model/export"
	"dragoman/model/hub"
	"dragoman/model/ort"
	"dragoman/model/search"
	"dragoman/tokenizer"
)

// modelRuntime is ONNX Runtime as the program uses it.
type modelRuntime interface {
	Open(dir string, threads int) (model.Model, error)
	Version() string
	Close() error
}

// ortRuntime is the real one.
type ortRuntime struct{ *ort.Runtime }

// Open loads an exported folder.
func (r ortRuntime) Open(dir string, threads int) (model.Model, error) {
	m, err := r.Runtime.Open(dir, ort.Options{Threads: threads})
	if err != nil {
		return nil, err // not m: a nil pointer in an interface is not nil
	}
	return m, nil
}

func loadRuntime(library string) (modelRuntime, error) {
	r, err := ort.Load(library)
	if err != nil {
		return nil, err
	}
	return ortRuntime{r}, nil
}

// backend is a loaded model and all that translates with it.
type backend struct {
	service  *translate.Service
	model    httpapi.Model
	releases []func() error // what was acquired, in that order
}

// Close stops the engine, closes the model and unloads the runtime, in that order.
func (b *backend) Close() error {
	var errs []error
	for i := len(b.releases) - 1; i >= 0; i-- {
		errs = append(errs, b.releases[i]())
	}
	b.releases = nil
	return errors.Join(errs...)
}

// load makes everything that translation needs, the model's files included. The
// runtime comes first: that it is missing should show before an export.
func (p *program) load(ctx context.Context) (_ *backend, err error) {
	b := &backend{}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	library, err := findLibrary(p.cfg.Library, libraryFolders())
	if err != nil {
		return nil, err
	}
	rt, err := p.loadRuntime(library)
	if err != nil {
		return nil, err
	}
	b.releases = append(b.releases, rt.Close)
	p.log.Info("loaded ONNX Runtime", "version", rt.Version(), "library", library)

	dir, err := p.prepare(ctx)
	if err != nil {
		return nil, err
	}
	return b, b.open(rt, dir, p)
}

// prepare returns the exported folder of the configured model, made if need be.
func (p *program) prepare(ctx context.Context) (string, error) {
	settings := hub.Config{
		Endpoint: p.cfg.Endpoint, Token: p.cfg.Token, Offline: bool(p.cfg.Offline),
		Accept: weights.AcceptConfig, Log: p.log,
	}
	if terminal, ok := p.stderr.(*os.File); ok {
		settings.Progress = hub.ProgressTo(terminal, p.log)
	}
	client, err := hub.New(settings)
	if err != nil {
		return "", err
	}
	cache := ""
	if dir, err := os.UserCacheDir(); err == nil {
		cache = filepath.Join(dir, "dragoman")
	}
	return weights.New(weights.Config{
		Weights: p.cfg.Weights, Revision: p.cfg.Revision, SaveWeights: p.cfg.SaveWeights, Cache: cache,
		Precision: p.cfg.Precision, KeepCheckpoint: bool(p.cfg.KeepCheckpoint),
		Hub: client, Export: export.Export, Log: p.log,
	}).Prepare(ctx)
}

// open loads the exported folder dir and puts the use case on top of it.
func (b *backend) open(rt modelRuntime, dir string, p *program) error {
	manifest, err := model.ReadManifest(dir)
	if err != nil {
		return err
	}
	if want := p.cfg.Precision; want != "" && want != manifest.Precision {
		return fmt.Errorf("PRECISION is %s, but %s holds an %s model: set PRECISION=auto, or MODEL_WEIGHTS to the checkpoint",
			want, dir, manifest.Precision)
	}
	m, err := rt.Open(dir, p.cfg.Threads)
	if err != nil {
		return err
	}
	b.releases = append(b.releases, m.Close)
	tok, err := tokenizer.Open(dir)
	if err != nil {
		return err
	}
	options := search.DefaultOptions(manifest.Spec.Generation)
	if p.cfg.Beams > 0 {
		options.Beams = p.cfg.Beams
	}
	if p.cfg.MaxLength > 0 {
		options.MaxLength = p.cfg.MaxLength
	}
	eng, err := engine.New(engine.Config{Model: m, Search: options, Rows: p.cfg.BatchSize, Concurrency: p.cfg.Concurrency})
	if err != nil {
		return err
	}
	b.releases = append(b.releases, func() error { eng.Close(); return nil })
	b.model = httpapi.Model{Source: manifest.Source, Revision: manifest.Revision, Precision: string(manifest.Precision)}
	b.service, err = translate.New(translate.Config{
		Tokenizer: tok, Engine: eng, Spec: manifest.Spec, Languages: manifest.Languages, MaxRecords: p.cfg.MaxRecords,
	})
	return err
}
