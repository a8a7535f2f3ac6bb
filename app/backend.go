package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"dragoman/app/cache"
	"dragoman/app/config"
	"dragoman/app/engine"
	"dragoman/app/httpapi"
	"dragoman/app/language"
	"dragoman/app/telemetry"
	"dragoman/app/translate"
	"dragoman/app/weights"
	"dragoman/model"
	"dragoman/model/export"
	"dragoman/model/family"
	"dragoman/model/hub"
)

// backend is a loaded model and all that translates with it.
type backend struct {
	service  *translate.Service
	device   config.Device
	model    httpapi.Model
	engines  *engine.Engine
	limits   translate.Limits
	cache    *cache.Cache
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
// runtime comes first: that it is missing should show before an export. Where the best
// place for the model turns out not to do, the next one is tried.
func (p *program) load(ctx context.Context) (_ *backend, err error) {
	b := &backend{}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	rt, library, err := p.openRuntime()
	if err != nil {
		return nil, err
	}
	b.releases = append(b.releases, rt.Close)
	places, err := p.places(rt, library)
	if err != nil {
		return nil, err
	}
	for _, at := range places {
		b.releases = append(b.releases, at.close)
	}
	for i, at := range places {
		err = p.loadAt(ctx, b, at)
		if err == nil || i == len(places)-1 || !errors.Is(err, errElsewhere) {
			break
		}
		p.log.Warn("the model runs elsewhere", "not_on", at.device(), "reason", oneLine(err))
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// loadAt prepares the model for a place and opens it there.
func (p *program) loadAt(ctx context.Context, b *backend, at place) error {
	dir, err := p.prepare(ctx, at.precision())
	if err != nil {
		return err
	}
	return b.open(ctx, at, dir, p)
}

// openRuntime loads ONNX Runtime from the library that it returns the path of.
func (p *program) openRuntime() (_ modelRuntime, library string, err error) {
	library, err = findLibrary(p.cfg.Library, libraryFolders())
	if err != nil {
		return nil, "", err
	}
	rt, err := p.loadRuntime(library)
	if err != nil {
		return nil, "", err
	}
	p.log.Info("loaded ONNX Runtime", "version", rt.Version(), "library", library)
	return rt, library, nil
}

// prepare returns the exported folder of the configured model, made if need be, in
// this precision where PRECISION does not say; "" lets the model's size decide.
func (p *program) prepare(ctx context.Context, precision model.Precision) (string, error) {
	settings := hub.Config{
		Endpoint: p.cfg.Endpoint, Token: p.cfg.Token, Offline: bool(p.cfg.Offline),
		Family: p.cfg.Family, Accept: weights.AcceptConfig, Log: p.log,
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
		Precision: cmp.Or(p.cfg.Precision, precision), Family: p.cfg.Family, KeepCheckpoint: bool(p.cfg.KeepCheckpoint), Verify: p.cfg.Verify,
		Hub: client, Export: export.Export, Log: p.log,
	}).Prepare(ctx)
}

// open loads the exported folder dir in a place and puts the use case on top of it.
func (b *backend) open(ctx context.Context, at place, dir string, p *program) error {
	manifest, err := model.ReadManifest(dir)
	if err != nil {
		return err
	}
	if want := p.cfg.Precision; want != "" && want != manifest.Precision {
		return fmt.Errorf("PRECISION is %s, but %s holds an %s model: set PRECISION=auto, or MODEL_WEIGHTS to the checkpoint",
			want, dir, manifest.Precision)
	}
	options := p.cfg.Search(manifest.Spec.Generation)
	tok, err := family.OpenTokenizer(dir, cmp.Or(p.cfg.Family, manifest.Family))
	if err != nil {
		return err
	}
	beams, maxLength := p.cfg.Limits(options, manifest.Spec.MaxPositions)
	engines, err := at.start(ctx, dir, manifest, p.cfg.Engine(beams, maxLength, p.log))
	if err != nil {
		return err
	}
	b.releases = append(b.releases, engines.Close)
	results, err := cache.New(cache.Config{Bytes: int64(p.cfg.CacheBytes)})
	if err != nil {
		return err
	}
	var detector translate.Detector // stays nil for a model with languages of its own
	if d, err := language.NewDetector(language.DetectorConfig{Languages: manifest.Languages}); err == nil {
		detector = d
	} else {
		p.log.Warn("fromLang auto is off", "error", err)
	}
	identity, err := model.HashFile(filepath.Join(dir, model.ManifestFile))
	if err != nil {
		return err
	}
	b.device, b.engines, b.cache, b.limits = at.device(), engines, results, translate.Limits{Beams: beams, MaxLength: maxLength}
	b.model = httpapi.Model{Source: manifest.Source, Revision: manifest.Revision, Precision: string(manifest.Precision)}
	b.service, err = translate.New(translate.Config{
		Tokenizer: tok, Engine: engines, Detector: detector, Spec: manifest.Spec, Languages: manifest.Languages,
		MaxRecords: p.cfg.MaxRecords, MaxChars: p.cfg.MaxChars, MaxSentences: p.cfg.MaxSentences, MaxTokens: p.cfg.MaxTokens,
		Metrics: p.metrics,
		Search:  options, Limits: b.limits, Cache: results, Model: identity.SHA256,
	})
	return err
}

// sources are what the service's metrics are read from.
func (b *backend) sources(cfg config.Config, keys telemetry.Keys, ready func() bool) telemetry.Sources {
	return telemetry.Sources{
		Engines: b.engines, Rows: b.engines.Rows(), Cache: b.cache, CacheBytes: int64(cfg.CacheBytes), Keys: keys, Ready: ready,
		Model: telemetry.ModelInfo{
			Source: b.model.Source, Revision: b.model.Revision, Precision: b.model.Precision, Version: version, Device: string(b.device),
		},
		Languages: b.service.Languages(),
	}
}
