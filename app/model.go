package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"dragoman/app/cache"
	"dragoman/app/config"
	"dragoman/app/engine"
	"dragoman/app/httpapi"
	"dragoman/app/language"
	"dragoman/app/translate"
	"dragoman/model"
	"dragoman/model/bundled"
	"dragoman/model/export"
	"dragoman/model/family"
	"dragoman/model/hub"
	"dragoman/model/weights"
)

// loader makes models ready to translate with.
type loader struct {
	cfg         config.Config
	log         *slog.Logger
	stderr      io.Writer // for the progress of downloads, where it is a terminal
	loadRuntime func(library string) (modelRuntime, error)
	loadGPUs    func(library string) (gpuRuntime, error)
}

// loadedModel is a model and all that translates with it.
type loadedModel struct {
	service  *translate.Service
	model    httpapi.Model
	engines  *engine.Engine
	limits   translate.Limits
	cache    *cache.Cache
	releases []func() error // what was acquired, in that order
}

// Close stops the engine, closes the model and unloads the runtime, in that order.
func (m *loadedModel) Close() error {
	var errs []error
	for i := len(m.releases) - 1; i >= 0; i-- {
		errs = append(errs, m.releases[i]())
	}
	m.releases = nil
	return errors.Join(errs...)
}

// load makes everything that translation needs, the model's files included. The
// runtime comes first: that it is missing should show before an export. Where the best
// backend turns out not to do, the next one is tried. The metrics may be nil.
func (l *loader) load(ctx context.Context, metrics *translate.Metrics) (_ *loadedModel, err error) {
	m := &loadedModel{}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.Close())
		}
	}()
	rt, library, err := l.openRuntime()
	if err != nil {
		return nil, err
	}
	m.releases = append(m.releases, rt.Close)
	backends, err := l.backends(rt, library)
	if err != nil {
		return nil, err
	}
	for _, on := range backends {
		m.releases = append(m.releases, on.close)
	}
	for i, on := range backends {
		err = l.loadOn(ctx, m, on, metrics)
		if err == nil || i == len(backends)-1 || !errors.Is(err, errElsewhere) {
			break
		}
		l.log.Warn("the model runs elsewhere", "not_on", on.device(), "reason", oneLine(err))
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// loadOn prepares the model for a backend and opens it there.
func (l *loader) loadOn(ctx context.Context, m *loadedModel, on backend, metrics *translate.Metrics) error {
	dir, err := l.prepare(ctx, on.precision())
	if err != nil {
		return err
	}
	return l.open(ctx, m, on, dir, metrics)
}

// openRuntime loads ONNX Runtime from the library that it returns the path of.
func (l *loader) openRuntime() (_ modelRuntime, library string, err error) {
	library, err = findLibrary(l.cfg.Library, libraryFolders())
	if err != nil {
		return nil, "", err
	}
	rt, err := l.loadRuntime(library)
	if err != nil {
		return nil, "", err
	}
	l.log.Info("loaded ONNX Runtime", "version", rt.Version(), "library", library)
	return rt, library, nil
}

// prepare returns the exported folder of the configured model, made if need be, in
// this precision where PRECISION does not say; "" lets the model's size decide.
func (l *loader) prepare(ctx context.Context, precision model.Precision) (string, error) {
	p, err := l.preparer(precision, "")
	if err != nil {
		return "", err
	}
	return p.Prepare(ctx)
}

// preparer prepares exported folders in this precision where PRECISION does not say. What it
// downloads goes to the folder downloads, or to the exported one where that is "".
func (l *loader) preparer(precision model.Precision, downloads string) (*weights.Preparer, error) {
	settings := hub.Config{
		Endpoint: l.cfg.Endpoint, Token: l.cfg.Token, Offline: bool(l.cfg.Offline),
		Family: l.cfg.Family, Accept: weights.AcceptConfig, Log: l.log,
	}
	if terminal, ok := l.stderr.(*os.File); ok {
		settings.Progress = hub.ProgressTo(terminal, l.log)
	}
	client, err := hub.New(settings)
	if err != nil {
		return nil, err
	}
	cache := ""
	if dir, err := os.UserCacheDir(); err == nil {
		cache = filepath.Join(dir, "dragoman")
	}
	return weights.New(weights.Config{
		Weights: l.cfg.Weights, Revision: l.cfg.Revision, SaveWeights: l.cfg.SaveWeights, Cache: cache, Downloads: downloads,
		Precision: cmp.Or(l.cfg.Precision, precision), Family: l.cfg.Family, KeepCheckpoint: bool(l.cfg.KeepCheckpoint), Verify: l.cfg.Verify,
		Hub: client, Export: export.Export, Log: l.log,
	}), nil
}

// open loads the exported folder dir on a backend and puts the use case on top of it.
func (l *loader) open(ctx context.Context, m *loadedModel, on backend, dir string, metrics *translate.Metrics) error {
	manifest, err := model.ReadManifest(dir)
	if err != nil {
		return err
	}
	if want := l.cfg.Precision; want != "" && want != manifest.Precision {
		return fmt.Errorf("PRECISION is %s, but %s holds an %s model: set PRECISION=auto, or MODEL_WEIGHTS to the checkpoint",
			want, dir, manifest.Precision)
	}
	options := l.cfg.Search(manifest.Spec.Generation)
	tok, err := family.OpenTokenizer(dir, cmp.Or(l.cfg.Family, manifest.Family))
	if err != nil {
		return err
	}
	beams, maxLength := l.cfg.Limits(options, manifest.Spec.MaxPositions)
	engines, err := on.start(ctx, dir, manifest, l.cfg.Engine(beams, maxLength, l.log))
	if err != nil {
		return err
	}
	m.releases = append(m.releases, engines.Close)
	results, err := cache.New(cache.Config{Bytes: int64(l.cfg.CacheBytes)})
	if err != nil {
		return err
	}
	var detector translate.Detector // stays nil for a model with languages of its own
	if d, err := language.NewDetector(language.DetectorConfig{Languages: manifest.Languages}); err == nil {
		detector = d
	} else {
		l.log.Warn("fromLang auto is off", "error", err)
	}
	identity, err := model.HashFile(ctx, filepath.Join(dir, model.ManifestFile))
	if err != nil {
		return err
	}
	m.engines, m.cache, m.limits = engines, results, translate.Limits{Beams: beams, MaxLength: maxLength}
	m.model = httpapi.Model{Source: manifest.Source, Revision: manifest.Revision, Precision: string(manifest.Precision), Device: string(on.device())}
	if manifest.Source == bundled.Source {
		m.model.Note = bundled.Note
	}
	m.service, err = translate.New(translate.Config{
		Tokenizer: tok, Engine: engines, Detector: detector, Spec: manifest.Spec, Languages: manifest.Languages,
		MaxRecords: l.cfg.MaxRecords, MaxChars: l.cfg.MaxChars, MaxSentences: l.cfg.MaxSentences, MaxTokens: l.cfg.MaxTokens,
		Metrics: metrics,
		Search:  options, Limits: m.limits, Cache: results, Model: identity.SHA256,
	})
	return err
}
