package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"weak"

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

	mu         sync.Mutex                                   // guards the rest
	tokenizers map[string]weak.Pointer[tokenizer.Tokenizer] // by the content of their files
}

// Needs implements [catalog.Loader].
func (l *instances) Needs(s catalog.Source) int64 {
	need := tokenizerBytes(s.Manifest)
	for _, on := range l.backends {
		if allowed(on, s) && on.accepts(s.Manifest) == nil { // as far as can be told, it runs there
			return need + on.needs(settingsOf(l.cfg, s.Config), s.Manifest)
		}
	}
	return need
}

// allowed says whether a model's own settings let it run on a backend.
func allowed(on backend, s catalog.Source) bool {
	device := config.Device(s.Config.Device)
	return device == "" || device == config.Auto || device == on.device()
}

// Load implements [catalog.Loader].
func (l *instances) Load(ctx context.Context, s catalog.Source, state engine.Pool) (catalog.Instance, error) {
	cfg := settingsOf(l.cfg, s.Config)
	tok, err := l.tokenizer(cfg, s)
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

// open opens a model on a backend.
func (l *instances) open(ctx context.Context, on backend, cfg config.Config, s catalog.Source, tok *tokenizer.Tokenizer, state engine.Pool) (*instance, error) {
	options, engineConfig, limits := decodingOf(cfg, s.Manifest)
	engineConfig.Pool = state
	engineConfig.Log = l.log.With("model", s.Name, "version", s.Version)
	engines, bytes, err := on.start(ctx, cfg, s.Dir, s.Manifest, engineConfig)
	if err != nil {
		return nil, err
	}
	return &instance{
		engines: engines, bytes: bytes + tokenizerBytes(s.Manifest), device: on.device(),
		config: translate.ModelConfig{
			Identity: cfg.Family + " " + s.Identity, Tokenizer: tok, Engine: engines, Spec: s.Manifest.Spec,
			Languages: s.Manifest.Languages, Search: options, Limits: limits,
		},
	}, nil
}

// settingsOf is the configuration with a model's own settings.
func settingsOf(cfg config.Config, own repository.Config) config.Config {
	cfg.Workers = cmp.Or(own.Workers, cfg.Workers)
	cfg.Threads = cmp.Or(own.Threads, cfg.Threads)
	cfg.Beams = cmp.Or(own.Beams, cfg.Beams)
	cfg.MaxLength = cmp.Or(own.MaxLength, cfg.MaxLength)
	cfg.KVMemory = cmp.Or(config.Size(own.KVMemory), cfg.KVMemory)
	return cfg
}

// decodingOf is how a model decodes.
func decodingOf(cfg config.Config, m *model.Manifest) (search.Options, engine.Config, translate.Limits) {
	options := cfg.Search(m.Spec.Generation)
	beams, maxLength := cfg.Limits(options, m.Spec.MaxPositions)
	return options, cfg.Engine(beams, maxLength, nil), translate.Limits{Beams: beams, MaxLength: maxLength}
}

// tokenizer opens the tokenizer of a model. Models whose tokenizers have the same files share one.
func (l *instances) tokenizer(cfg config.Config, s catalog.Source) (*tokenizer.Tokenizer, error) {
	name := cmp.Or(cfg.Family, s.Manifest.Family)
	key := name
	for _, file := range tokenizerFiles {
		key += " " + s.Manifest.Files[file].SHA256
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.tokenizers[key].Value(); known != nil {
		return known, nil
	}
	tok, err := family.OpenTokenizer(s.Dir, name)
	if err != nil {
		return nil, err
	}
	if l.tokenizers == nil {
		l.tokenizers = make(map[string]weak.Pointer[tokenizer.Tokenizer])
	}
	l.tokenizers[key] = weak.Make(tok)
	runtime.AddCleanup(tok, l.forget, key)
	return tok, nil
}

// forget removes a tokenizer that nobody uses.
func (l *instances) forget(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tokenizers[key].Value() == nil {
		delete(l.tokenizers, key)
	}
}

// tokenizerFiles are the files that a tokenizer is made of.
var tokenizerFiles = []string{model.PieceModelFile, model.VocabFile, model.TokenizerFile, model.TokenizerConfigFile}

// tokenizerBytes is about what a tokenizer takes in memory: its vocabulary, and the indexes of it.
func tokenizerBytes(m *model.Manifest) (bytes int64) {
	const indexes = 4
	for _, file := range tokenizerFiles {
		bytes += indexes * m.Files[file].Size
	}
	return bytes
}

// instance implements [catalog.Instance].
type instance struct {
	engines *engine.Engine
	bytes   int64
	device  config.Device
	config  translate.ModelConfig // without a name
}

// Model implements [catalog.Instance].
func (i *instance) Model(name, version string) (*translate.Model, error) {
	cfg := i.config
	cfg.Name, cfg.Version = name, version
	return translate.NewModel(cfg)
}

// Bytes implements [catalog.Instance].
func (i *instance) Bytes() int64 { return i.bytes }

// Stats implements [catalog.Instance].
func (i *instance) Stats() []engine.Stats { return i.engines.Stats() }

// Rows implements [catalog.Instance].
func (i *instance) Rows() int { return i.engines.Rows() }

// Device implements [catalog.Instance].
func (i *instance) Device() string { return string(i.device) }

// Close implements [catalog.Instance].
func (i *instance) Close() error { return i.engines.Close() }
