// Command server is dragoman with a fixed number of tokens for every translation, for benchmarks with random weights, whose
// translations never end:
//
//	MODEL_WEIGHTS=build/bench/int8 ONNXRUNTIME_LIB=… server -length 32
//	MODEL_REPOSITORY=build/bench/models ONNXRUNTIME_LIB=… server -length 32
//
// It is the service's own HTTP interface, use case, catalog and engines, with the service's settings from the environment, on the
// CPU. The only differences: </s> is banned until a translation has its length, and reaching the length is not an error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"

	"dragoman/app/api/httpapi"
	"dragoman/app/catalog"
	"dragoman/app/config"
	"dragoman/app/engine"
	"dragoman/app/engine/fairshare"
	"dragoman/app/telemetry"
	"dragoman/app/text/language"
	"dragoman/app/translate"
	"dragoman/model"
	"dragoman/model/cpu"
	"dragoman/model/family"
	"dragoman/model/repository"
	"dragoman/model/search"
	"dragoman/tokenizer"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	length := flag.Int("length", 32, "tokens of a translation, the language not counted")
	flag.Parse()
	if err := run(ctx, *length); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, length int) (err error) {
	cfg, err := config.Parse(os.Environ())
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: cfg.LogLevel}))
	rt, err := cpu.Load(cfg.Library)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()

	models, err := open(ctx, rt, cfg, length, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, models.Close()) }()
	service := translate.New(translate.Config{
		Models: models, MaxRecords: cfg.MaxRecords, MaxChars: cfg.MaxChars, MaxSentences: cfg.MaxSentences, MaxTokens: cfg.MaxTokens,
	})
	metrics := telemetry.New(log)
	metrics.Registry().MustRegister(models.Collector(), engine.Metrics(models.Engines))
	api := httpapi.New(httpapi.Config{MaxBodyBytes: cfg.MaxBodyBytes, RequestTimeout: cfg.RequestTimeout, Log: log, Metrics: metrics})
	api.Ready(whole{service}, func() []httpapi.Model { return []httpapi.Model{{Name: "model", Version: "1", Source: "random"}} })

	listener, err := net.Listen("tcp", net.JoinHostPort(cfg.Host, strconv.Itoa(cfg.Port)))
	if err != nil {
		return err
	}
	server := api.Server()
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	_ = server.Serve(listener) // ends with ctx
	return nil
}

// open returns the catalog of the models in MODEL_REPOSITORY, or of the model in MODEL_WEIGHTS, and loads those configured to be
// loaded at the start. The caller must close it.
func open(ctx context.Context, rt *cpu.Runtime, cfg config.Config, length int, log *slog.Logger) (*catalog.Catalog, error) {
	const rounds = 2 // maximum that share a core, as in the service
	shared, err := fairshare.New(rounds * runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	snapshot := repository.Scan(cfg.Repositories)
	if len(cfg.Repositories) == 0 {
		if snapshot, err = repository.Single("model", cfg.Weights); err != nil {
			return nil, err
		}
	}
	c := catalog.New(catalog.Config{
		Loader: &loader{rt, cfg, length, log, shared, sync.Map{}}, Memory: int64(cfg.ModelMemory), KeepAlive: cfg.KeepAlive,
		Waiting: cfg.Concurrency, Log: log,
	})
	c.Update(snapshot)
	if err := c.Preload(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// loader implements [catalog.Loader].
type loader struct {
	rt         *cpu.Runtime
	cfg        config.Config
	length     int
	log        *slog.Logger
	cores      *fairshare.Cores
	tokenizers sync.Map // by checksum of their pieces
}

// instance implements [catalog.Instance].
type instance struct {
	*engine.Engine
	translate.ModelConfig
}

// ownBytes is the approximate memory of a model beside mapped files.
const ownBytes = 32 << 20

func (*loader) Needs(catalog.Source) int64 { return ownBytes }
func (instance) Bytes() int64              { return ownBytes }
func (instance) Device() string            { return "cpu" }

func (i instance) Model(name, version string) (*translate.Model, error) {
	i.Name, i.Version = name, version
	return translate.NewModel(i.ModelConfig)
}

func (l *loader) Load(ctx context.Context, s catalog.Source, state engine.Pool) (catalog.Instance, error) {
	pieces := s.Manifest.Files[model.PieceModelFile].SHA256
	tok, ok := l.tokenizers.Load(pieces)
	if !ok {
		opened, err := family.OpenTokenizer(s.Dir, s.Manifest.Family, s.Manifest.Languages)
		if err != nil {
			return nil, err
		}
		tok, _ = l.tokenizers.LoadOrStore(pieces, opened)
	}
	options := l.cfg.Search(s.Manifest.Spec.Generation)
	const prefix = 2 // decoder start and language
	options.MinLength, options.MaxLength = prefix+l.length, prefix+l.length
	engines, err := l.start(ctx, s, tok.(*tokenizer.Tokenizer), options, state)
	if err != nil {
		return nil, err
	}
	return instance{engines, translate.ModelConfig{
		Tokenizer: tok.(*tokenizer.Tokenizer), Engine: endless{engines, l.length}, Spec: s.Manifest.Spec, Languages: s.Manifest.Languages,
		Search: options, Limits: translate.Limits{Beams: options.Beams, MaxLength: options.MaxLength},
	}}, nil
}

func (l *loader) Check(context.Context, catalog.Source) error { return nil }

// start loads the model for each worker, with the service's settings.
func (l *loader) start(ctx context.Context, s catalog.Source, tok *tokenizer.Tokenizer, options search.Options, state engine.Pool) (*engine.Engine, error) {
	workers, threads := l.cfg.Share(s.Manifest.Spec, runtime.GOMAXPROCS(0))
	models, err := engine.OpenModels(workers, func() (model.Model, error) {
		return l.rt.Open(ctx, s.Dir, cpu.Options{Threads: threads, Verify: l.cfg.Verify, Scripts: language.Scripts, Within: tok.Within})
	})
	if err != nil {
		return nil, err
	}
	cfg := engine.Config{
		Log: l.log, Rows: l.cfg.BatchSize, MaxBeams: options.Beams, MaxLength: options.MaxLength, Memory: int64(l.cfg.KVMemory),
		PrefillTokens: l.cfg.PrefillTokens, QueueRequests: l.cfg.Concurrency, QueueTokens: l.cfg.QueueTokens, QueueWait: l.cfg.QueueWait, Pool: state,
	}
	if cfg.Cores, err = l.cores.Join(threads); err != nil {
		return nil, errors.Join(err, engine.CloseModels(models))
	}
	return engine.Start(cfg, models...)
}

// endless treats translations that reached their length as finished ones.
type endless struct {
	translate.Engine
	length int
}

// Stream fails if a translation has another length.
func (e endless) Stream(ctx context.Context, req engine.Request,
	next func() (engine.Job, bool, error), each func(job int, r engine.Result) error) error {
	return e.Engine.Stream(ctx, req, next, func(job int, r engine.Result) error {
		if n := len(r.Tokens); n != e.length {
			return fmt.Errorf("a translation has %d tokens, %d were asked for", n, e.length)
		}
		r.Truncated = false
		return each(job, r)
	})
}

// whole translates each record in one piece and once, whatever the result, as the peers do: random weights loop and echo.
type whole struct{ *translate.Service }

// Translate sets Whole and Once.
func (w whole) Translate(ctx context.Context, req translate.Request) ([]translate.Result, error) {
	req.Whole, req.Once = true, true
	return w.Service.Translate(ctx, req)
}
