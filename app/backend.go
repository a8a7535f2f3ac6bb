package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

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
	"dragoman/model/hub"
	"dragoman/model/ort"
	"dragoman/tokenizer"
)

// modelRuntime is ONNX Runtime as the program uses it.
type modelRuntime interface {
	Open(dir string, opts ort.Options) (model.Model, error)
	Version() string
	Close() error
}

// ortRuntime is the real one.
type ortRuntime struct{ *ort.Runtime }

// Open loads an exported folder.
func (r ortRuntime) Open(dir string, opts ort.Options) (model.Model, error) {
	m, err := r.Runtime.Open(dir, opts)
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
	engines  *engine.Pool
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
// runtime comes first: that it is missing should show before an export.
func (p *program) load(ctx context.Context) (_ *backend, err error) {
	b := &backend{}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	rt, err := p.openRuntime()
	if err != nil {
		return nil, err
	}
	b.releases = append(b.releases, rt.Close)

	dir, err := p.prepare(ctx)
	if err != nil {
		return nil, err
	}
	return b, b.open(rt, dir, p)
}

// openRuntime loads ONNX Runtime.
func (p *program) openRuntime() (modelRuntime, error) {
	library, err := findLibrary(p.cfg.Library, libraryFolders())
	if err != nil {
		return nil, err
	}
	rt, err := p.loadRuntime(library)
	if err != nil {
		return nil, err
	}
	p.log.Info("loaded ONNX Runtime", "version", rt.Version(), "library", library)
	return rt, nil
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
	options := p.cfg.Search(manifest.Spec.Generation)
	tok, err := tokenizer.Open(dir)
	if err != nil {
		return err
	}
	beams, maxLength := p.cfg.Limits(options, manifest.Spec.MaxPositions)
	engines, err := b.startEngines(rt, dir, manifest.Spec, p.cfg.Engine(beams, maxLength, p.log), p)
	if err != nil {
		return err
	}
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
	b.engines, b.cache, b.limits = engines, results, translate.Limits{Beams: beams, MaxLength: maxLength}
	b.model = httpapi.Model{Source: manifest.Source, Revision: manifest.Revision, Precision: string(manifest.Precision)}
	b.service, err = translate.New(translate.Config{
		Tokenizer: tok, Engine: engines, Detector: detector, Spec: manifest.Spec, Languages: manifest.Languages,
		MaxRecords: p.cfg.MaxRecords, MaxChars: p.cfg.MaxChars, Metrics: p.metrics,
		Search: options, Limits: b.limits, Cache: results, Model: identity.SHA256,
	})
	return err
}

// startEngines loads the model once for each worker and starts an engine on it.
func (b *backend) startEngines(rt modelRuntime, dir string, spec model.Spec, cfg engine.Config, p *program) (*engine.Pool, error) {
	workers, threads := p.cfg.Share(spec, runtime.GOMAXPROCS(0))
	var m model.Model // any of them, they are alike
	engines, err := engine.StartPool(workers, cfg, func() (_ model.Model, err error) {
		m, err = rt.Open(dir, p.openOptions(spec, threads))
		return m, err
	})
	if err != nil {
		return nil, err
	}
	b.releases = append(b.releases, engines.Close)
	p.logMemory(m, cfg, workers, threads)
	return engines, nil
}

// openOptions says how the program opens a model.
func (p *program) openOptions(spec model.Spec, threads int) ort.Options {
	return ort.Options{
		Threads: threads, Verify: p.cfg.Verify, NoPrepack: !bool(p.cfg.Prepack) || spec.Small(), Log: p.log,
	}
}

// logMemory says what the decoding state of a worker can take at most.
func (p *program) logMemory(m model.Model, cfg engine.Config, workers, threads int) {
	f, rows := m.Footprint(), int64(max(cfg.Rows, cfg.MaxBeams))
	state := rows * (int64(cfg.MaxLength)*f.RowToken + int64(m.Spec().MaxPositions)*f.SourceToken)
	if cfg.Memory > 0 {
		state = min(state, cfg.Memory)
	}
	p.log.Info("decoding", "workers", workers, "threads", threads, "rows", rows, "max_beams", cfg.MaxBeams,
		"max_length", cfg.MaxLength, "state_bytes_at_most", state)
}

// sources are what the service's metrics are read from.
func (b *backend) sources(cfg config.Config, keys telemetry.Keys, ready func() bool) telemetry.Sources {
	return telemetry.Sources{
		Engines: b.engines, Rows: cfg.BatchSize, Cache: b.cache, CacheBytes: int64(cfg.CacheBytes), Keys: keys, Ready: ready,
		Model: telemetry.ModelInfo{
			Source: b.model.Source, Revision: b.model.Revision, Precision: b.model.Precision, Version: version, Device: cfg.Device,
		},
		Languages: b.service.Languages(),
	}
}
