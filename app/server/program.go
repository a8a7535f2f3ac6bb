// Package server runs a process from a configuration: it opens models, stores and the broker, assembles the service of each role,
// and shuts it down in order.
package server

import (
	"context"
	"io"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"google.golang.org/grpc/grpclog"

	"dragoman/app/cli"
	"dragoman/app/config"
	"dragoman/app/outage"
	"dragoman/app/translate"
)

// Main runs the command of the process until it ends, or a signal ends it, and returns the exit code.
func Main(version string) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		s, _ := (<-signals).(syscall.Signal)
		signal.Stop(signals) // a second signal ends the process at once
		cancel(cli.Signalled{Signal: s})
	}()
	if len(os.Args) < 2 || os.Args[1] == "serve" { // other commands end when the reader of their output ends
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	}
	lines := outage.NewLines(os.Stderr)
	log.SetOutput(lines) // for the log lines of libraries
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, lines))
	p := program{version: version, environ: os.Environ(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, lines: lines}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), linesTimeout)
		defer cancel()
		lines.Close(ctx)
	}()
	return p.run(ctx, os.Args[1:])
}

// linesTimeout is the time limit for the last lines of the log.
const linesTimeout = time.Second

// program is the command line in a process, with the resources of its commands.
type program struct {
	version        string
	environ        []string // NAME=value
	stdin          io.Reader
	stdout, stderr io.Writer
	lines          *outage.Lines // of the service's log; nil: stderr

	loadRuntime func(library string) (modelRuntime, error) // nil: ONNX Runtime
	loadGPUs    func(library string) (gpuRuntime, error)   // nil: the GPUs of this machine
}

// run runs a command until it ends or ctx is done, and returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	line := cli.Program{
		Version: p.version, Environ: p.environ, Stdin: p.stdin, Stdout: p.stdout, Stderr: p.stderr, Log: p.log(),
		RunService: p.serve, PullModel: p.pull, LoadModels: p.load,
	}
	return line.Run(ctx, args)
}

// log returns the writer for log lines of the service.
func (p *program) log() io.Writer {
	if p.lines != nil {
		return p.lines
	}
	return p.stderr
}

// loader returns the loader of the models of a configuration.
func (p *program) loader(cfg config.Config, log *slog.Logger) *loader {
	l := &loader{cfg: cfg, version: p.version, log: log, stderr: p.stderr, lines: p.log(), loadRuntime: p.loadRuntime, loadGPUs: p.loadGPUs}
	if l.loadRuntime == nil {
		l.loadRuntime = loadRuntime
	}
	if l.loadGPUs == nil {
		l.loadGPUs = loadGPUs
	}
	return l
}

// load loads the models of a configuration, which the caller must close.
func (p *program) load(ctx context.Context, cfg config.Config, log *slog.Logger) (*translate.Service, func() error, error) {
	t, err := p.loader(cfg, log).load(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	return t.service, t.Close, nil
}
