package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"dragoman/app/catalog"
	"dragoman/app/config"
	"dragoman/app/engine"
	"dragoman/app/translate"
	"dragoman/model"
	"dragoman/model/family"
	"dragoman/model/repository"
	"dragoman/model/search"
	"dragoman/tokenizer"
)

// instances implements [catalog.Loader]: it opens models on the first backend that can run them.
type instances struct {
	cfg      config.Config
	log      *slog.Logger
	backends []backend

	tokenizers tokenizers
	servers    servers
}

// Needs implements [catalog.Loader].
func (l *instances) Needs(s catalog.Source) int64 {
	if s.Config.OpenAI != nil {
		return 0
	}
	need := tokenizerBytes(s.Manifest)
	for _, on := range l.backends {
		if allowed(on, s) && on.accepts(s.Manifest) == nil { // the first backend that allows the model will probably run it
			return need + on.needs(settingsOf(l.cfg, s.Config), s.Manifest)
		}
	}
	return need
}

// allowed reports whether a model's own settings allow a backend.
func allowed(on backend, s catalog.Source) bool {
	device := config.Device(s.Config.Device)
	return device == "" || device == config.Auto || device == on.device()
}

// Load implements [catalog.Loader].
func (l *instances) Load(ctx context.Context, s catalog.Source, state engine.Pool) (catalog.Instance, error) {
	cfg := settingsOf(l.cfg, s.Config)
	if s.Config.OpenAI != nil {
		return l.servers.open(cfg, s, l.log)
	}
	name := cmp.Or(cfg.Family, s.Manifest.Family)
	defer boundGarbage()
	tok, err := l.tokenizers.get(name, s.Manifest, func() (*tokenizer.Tokenizer, error) { return family.OpenTokenizer(s.Dir, name, s.Manifest.Languages) })
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, on := range l.backends {
		if !allowed(on, s) {
			continue
		}
		i, err := l.open(ctx, on, cfg, s, tok, state)
		if err == nil {
			return i, nil
		}
		if !errors.Is(err, errElsewhere) {
			return nil, err
		}
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		return nil, fmt.Errorf("device is %s in the model's %s, which this process does not use: set DEVICE", s.Config.Device, repository.ConfigFile)
	}
	return nil, errors.Join(errs...)
}

// Check implements [catalog.Loader].
func (l *instances) Check(ctx context.Context, s catalog.Source) error {
	if s.Config.OpenAI != nil {
		return nil
	}
	return s.Manifest.Check(ctx, s.Dir, l.cfg.Verify)
}

func (l *instances) open(ctx context.Context, on backend, cfg config.Config, s catalog.Source, tok *tokenizer.Tokenizer, state engine.Pool) (*instance, error) {
	options, engineConfig, limits := decodingOf(cfg, s.Manifest)
	engineConfig.Pool = state
	engineConfig.Joints = translate.Joints(tok)
	engineConfig.Log = l.log.With("model", s.Name, "version", s.Version)
	engines, bytes, err := on.start(ctx, cfg, s.Dir, s.Manifest, tok, engineConfig)
	if err != nil {
		return nil, err
	}
	i := newInstance(engines, string(on.device()), bytes+tokenizerBytes(s.Manifest), cfg, s, translate.ModelConfig{
		Tokenizer: tok, Engine: engines, Search: options, Limits: limits,
	})
	if err := i.warmUp(ctx, s, engines); err != nil {
		return nil, errors.Join(err, i.Close())
	}
	return i, nil
}

// warmUp translates a short text, which initializes lazy parts, and reveals a model that cannot run.
func (i *instance) warmUp(ctx context.Context, s catalog.Source, engines *engine.Engine) error {
	m, err := i.Model(s.Name, s.Version)
	if err != nil {
		return err
	}
	job, err := m.Probe()
	if err == nil {
		err = engines.WarmUp(ctx, job)
	}
	if err != nil {
		return fmt.Errorf("warm-up: %w", err)
	}
	return nil
}

// settingsOf returns the configuration with a model's own settings.
func settingsOf(cfg config.Config, own repository.Config) config.Config {
	cfg.Workers = cmp.Or(own.Workers, cfg.Workers)
	cfg.Threads = cmp.Or(own.Threads, cfg.Threads)
	cfg.Beams = cmp.Or(own.Beams, cfg.Beams)
	cfg.MaxLength = cmp.Or(own.MaxLength, cfg.MaxLength)
	cfg.KVMemory = cmp.Or(config.Size(own.KVMemory), cfg.KVMemory)
	return cfg
}

// decodingOf returns the search options and the engine configuration of a model, and the limits of a request.
func decodingOf(cfg config.Config, m *model.Manifest) (search.Options, engine.Config, translate.Limits) {
	options := cfg.Search(m.Spec.Generation)
	beams, maxLength := cfg.Limits(options, m.Spec.MaxPositions)
	return options, engine.Config{
		Rows: cfg.BatchSize, MaxBeams: beams, MaxLength: maxLength, Memory: int64(cfg.KVMemory), PrefillTokens: cfg.PrefillTokens,
		QueueRequests: cfg.Concurrency, QueueTokens: cfg.QueueTokens, QueueWait: cfg.QueueWait,
	}, translate.Limits{Beams: beams, MaxLength: maxLength}
}

// instance implements [catalog.Instance].
type instance struct {
	decoder
	bytes  int64
	device string
	config translate.ModelConfig // configuration without a name
}

// decoder is the engine of an instance.
type decoder interface {
	Stats() []engine.Stats
	Rows() int
	Close() error
}

// newInstance returns an instance of a source. It adds the source's properties to m.
func newInstance(d decoder, device string, bytes int64, cfg config.Config, s catalog.Source, m translate.ModelConfig) *instance {
	m.Identity, m.Spec, m.Languages = cfg.Family+" "+s.Identity, s.Manifest.Spec, s.Manifest.Languages
	m.Sources, m.Targets = s.Manifest.Directions()
	return &instance{d, bytes, device, m}
}

// Model implements [catalog.Instance].
func (i *instance) Model(name, version string) (*translate.Model, error) {
	cfg := i.config
	cfg.Name, cfg.Version = name, version
	return translate.NewModel(cfg)
}

// Bytes implements [catalog.Instance].
func (i *instance) Bytes() int64 { return i.bytes }

// Device implements [catalog.Instance].
func (i *instance) Device() string { return i.device }
