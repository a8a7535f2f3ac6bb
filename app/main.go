// Command dragoman is a self-hosted translation service for M2M100, NLLB-200 and
// SMaLL-100 models. See README.md, or run `dragoman help`.
package main

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

// version is set by the linker.
var version = "dev"

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		s, _ := (<-signals).(syscall.Signal)
		signal.Stop(signals) // a second signal ends the process at once
		cancel(cli.Signalled{Signal: s})
	}()
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// run is the program: it runs a command until it ends or ctx is done, and returns the exit code.
func run(ctx context.Context, args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{environ: environ, stderr: stderr, loadRuntime: loadRuntime, loadGPUs: loadGPUs}
	line := cli.Program{
		Version: version, Environ: environ, Stdin: stdin, Stdout: stdout, Stderr: stderr,
		RunService: p.serve, PullModel: p.pull, LoadModels: p.load,
	}
	return line.Run(ctx, args)
}

// program is what the command line has done.
type program struct {
	environ     []string // NAME=value
	stderr      io.Writer
	loadRuntime func(library string) (modelRuntime, error)
	loadGPUs    func(library string) (gpuRuntime, error)
}

// loader makes the loader of the models of a configuration.
func (p *program) loader(cfg config.Config, log *slog.Logger) *loader {
	return &loader{cfg: cfg, log: log, stderr: p.stderr, loadRuntime: p.loadRuntime, loadGPUs: p.loadGPUs}
}

// load loads the models of a configuration, which the caller closes.
func (p *program) load(ctx context.Context, cfg config.Config, log *slog.Logger) (*translate.Service, func() error, error) {
	t, err := p.loader(cfg, log).load(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	return t.service, t.Close, nil
}
