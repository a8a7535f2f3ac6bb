// Package server makes a running process of a configuration: it opens models, stores and the broker,
// puts the service of each role together, and ends it in order.
package server

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"dragoman/app/cli"
	"dragoman/app/config"
	"dragoman/app/translate"
)

// Main runs the command that the process was started with until it ends, or a signal ends it, and
// returns the exit code.
func Main(version string) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		s, _ := (<-signals).(syscall.Signal)
		signal.Stop(signals) // a second signal ends the process at once
		cancel(cli.Signalled{Signal: s})
	}()
	p := program{version: version, environ: os.Environ(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	return p.run(ctx, os.Args[1:])
}

// program is the program in a process: the command line, with what its commands need.
type program struct {
	version        string
	environ        []string // NAME=value
	stdin          io.Reader
	stdout, stderr io.Writer

	loadRuntime func(library string) (modelRuntime, error) // nil: ONNX Runtime
	loadGPUs    func(library string) (gpuRuntime, error)   // nil: those of this machine
}

// run runs a command until it ends or ctx is done, and returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	line := cli.Program{
		Version: p.version, Environ: p.environ, Stdin: p.stdin, Stdout: p.stdout, Stderr: p.stderr,
		RunService: p.serve, PullModel: p.pull, LoadModels: p.load,
	}
	return line.Run(ctx, args)
}

// loader makes the loader of the models of a configuration.
func (p *program) loader(cfg config.Config, log *slog.Logger) *loader {
	l := &loader{cfg: cfg, version: p.version, log: log, stderr: p.stderr, loadRuntime: p.loadRuntime, loadGPUs: p.loadGPUs}
	if l.loadRuntime == nil {
		l.loadRuntime = loadRuntime
	}
	if l.loadGPUs == nil {
		l.loadGPUs = loadGPUs
	}
	return l
}

// load loads the models of a configuration, which the caller closes.
func (p *program) load(ctx context.Context, cfg config.Config, log *slog.Logger) (*translate.Service, func() error, error) {
	t, err := p.loader(cfg, log).load(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	return t.service, t.Close, nil
}
