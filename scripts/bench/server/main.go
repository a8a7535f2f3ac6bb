// Command server is dragoman with a fixed number of tokens for every translation,
// for benchmarks with random weights, which never end one:
//
//	MODEL_WEIGHTS=build/bench/int8 ONNXRUNTIME_LIB=… server -length 32
//
// It is the service's own HTTP interface, use case and engines, with the service's
// settings from the environment. What differs is that </s> is banned until a
// translation has its length, and that reaching the length is no error.
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
	"syscall"

	"dragoman/app/config"
	"dragoman/app/engine"
	"dragoman/app/httpapi"
	"dragoman/app/translate"
	"dragoman/model"
	"dragoman/model/cpu"
	"dragoman/model/family"
	"dragoman/model/search"
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

// run serves until ctx is done.
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

	service, release, err := open(ctx, rt, cfg, length, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	api := httpapi.New(httpapi.Config{MaxBodyBytes: cfg.MaxBodyBytes, RequestTimeout: cfg.RequestTimeout, Log: log})
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

// open makes the service. release closes what is below it.
func open(ctx context.Context, rt *cpu.Runtime, cfg config.Config, length int, log *slog.Logger) (_ *translate.Service, release func() error, err error) {
	manifest, err := model.ReadManifest(cfg.Weights)
	if err != nil {
		return nil, nil, err
	}
	tok, err := family.OpenTokenizer(cfg.Weights, manifest.Family)
	if err != nil {
		return nil, nil, err
	}
	options := cfg.Search(manifest.Spec.Generation)
	const prefix = 2 // decoder start and language
	options.MinLength, options.MaxLength = prefix+length, prefix+length

	engines, err := start(ctx, rt, cfg, manifest.Spec, options, log)
	if err != nil {
		return nil, nil, err
	}
	m, err := translate.NewModel(translate.ModelConfig{
		Name: "model", Version: "1", Tokenizer: tok, Engine: endless{engines, length}, Spec: manifest.Spec, Languages: manifest.Languages,
		Search: options, Limits: translate.Limits{Beams: options.Beams, MaxLength: options.MaxLength},
	})
	if err != nil {
		return nil, nil, errors.Join(err, engines.Close())
	}
	service := translate.New(translate.Config{
		Models: translate.Only(m, nil), MaxRecords: cfg.MaxRecords, MaxChars: cfg.MaxChars, MaxSentences: cfg.MaxSentences, MaxTokens: cfg.MaxTokens,
	})
	return service, engines.Close, nil
}

// start loads the model for each worker, with the service's settings.
func start(ctx context.Context, rt *cpu.Runtime, cfg config.Config, spec model.Spec, options search.Options, log *slog.Logger) (*engine.Engine, error) {
	workers, threads := cfg.Share(spec, runtime.GOMAXPROCS(0))
	models, err := engine.OpenModels(workers, func() (model.Model, error) {
		return rt.Open(ctx, cfg.Weights, cpu.Options{Threads: threads})
	})
	if err != nil {
		return nil, err
	}
	return engine.Start(cfg.Engine(options.Beams, options.MaxLength, log), models...)
}

// endless takes translations that reached their length for finished ones.
type endless struct {
	translate.Engine
	length int
}

// Stream fails where a translation has another length.
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

// whole translates each record in one piece and once, whatever comes out, as the peers
// do: random weights loop and echo.
type whole struct{ *translate.Service }

// Translate asks for that.
func (w whole) Translate(ctx context.Context, req translate.Request) ([]translate.Result, error) {
	req.Whole, req.Once = true, true
	return w.Service.Translate(ctx, req)
}
