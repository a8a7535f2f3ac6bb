// Command dragoman is a self-hosted translation service for M2M100, NLLB-200 and
// SMaLL-100 models. See README.md, or run `dragoman help`.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"dragoman/app/config"
	"dragoman/app/telemetry"
	"dragoman/model/family"
)

// version is set by the linker.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// The exit codes of run.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

// run is the program: it runs a subcommand until it ends or ctx is done, and
// returns the exit code. What went wrong is one line on stderr.
func run(ctx context.Context, args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{environ: environ, stdin: stdin, stdout: stdout, stderr: stderr, loadRuntime: loadRuntime, loadGPUs: loadGPUs}
	err := p.dispatch(ctx, args)
	if err == nil || errors.Is(err, pflag.ErrHelp) {
		return exitOK
	}
	fmt.Fprintf(stderr, "dragoman: %s\n", oneLine(err))
	var usage *usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitError
}

// oneLine is an error's text without line breaks.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// usageError is a command line or environment that cannot be understood.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// program is what the subcommands share.
type program struct {
	environ     []string // NAME=value; flags are added as variables
	stdin       io.Reader
	stdout      io.Writer
	stderr      io.Writer
	loadRuntime func(library string) (modelRuntime, error)
	loadGPUs    func(library string) (gpuRuntime, error)
}

// dispatch runs the subcommand that args name; serve is the default.
func (p *program) dispatch(ctx context.Context, args []string) error {
	name := "serve"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	switch name {
	case "serve":
		return p.serve(ctx, args)
	case "pull":
		return p.pull(ctx, args)
	case "models":
		return p.models(ctx, args)
	case "translate":
		return p.translate(ctx, args)
	case "jobs":
		return p.jobs(ctx, args)
	case "glossaries":
		return p.glossaries(ctx, args)
	case "live":
		return p.live(ctx, args)
	case "key":
		return p.key(ctx, args)
	case "health":
		return p.health(ctx, args)
	case "monitor":
		return p.monitor(ctx, args)
	case "version", "--version":
		_, err := fmt.Fprintf(p.stdout, "dragoman %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return err
	case "help", "--help", "-h":
		return p.help()
	}
	return &usageError{fmt.Errorf("unknown subcommand %q: use serve, pull, models, translate, live, jobs, glossaries, key, health, monitor, version or help", name)}
}

// help prints the subcommands and the environment variables.
func (p *program) help() error {
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, `dragoman translates text with models of the families M2M100 and SMaLL-100 (100 languages,
weights under MIT) and NLLB-200 (202 languages, weights under CC BY-NC: not for commercial use).

  dragoman [serve]                                 serve HTTP
  dragoman pull [model]                            fetch and export a model
  dragoman models                                  list the models of a repository
  dragoman translate --from en --to fr [text]...   translate arguments, files or standard input
  dragoman translate --from en --to fr [file]... -o path   translate documents
  dragoman live --from en --to fr                  translate standard input while it is written
  dragoman jobs [wait ID | cancel ID]              list, await or end jobs of a running service
  dragoman glossaries [add FILE | show ID | rm ID] list, make or delete glossaries of a running service
  dragoman key name [--admin]                      make an API key
  dragoman health                                  ask a running service how it is
  dragoman monitor [server]...                     watch running services
  dragoman version
  dragoman help

Each subcommand explains its flags with --help. Environment:

`)
	for _, v := range config.Variables() {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", v.Name, v.Default, v.Help)
	}
	fmt.Fprint(w, `
Traces go to OTEL_EXPORTER_OTLP_ENDPOINT, where that is set; the other variables of
OpenTelemetry's SDK (OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER, ...) hold as well.
`)
	return w.Flush()
}

// parse parses a subcommand's flags and returns its other arguments, which may
// stand between the flags.
func (p *program) parse(flags *pflag.FlagSet, args []string, usage string) ([]string, error) {
	flags.SetOutput(io.Discard) // errors are printed once, by run
	flags.SortFlags = false
	flags.Usage = func() { fmt.Fprintf(p.stdout, "%s\n\n%s", usage, flags.FlagUsages()) }
	err := flags.Parse(args)
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		return nil, &usageError{fmt.Errorf("%s: %w", flags.Name(), err)}
	}
	return flags.Args(), err
}

// override returns an environment with the values of flags that are set.
func override(environ []string, values map[string]string) []string {
	environ = slices.Clip(environ)
	for name, value := range values {
		if value != "" {
			environ = append(environ, name+"="+value)
		}
	}
	return environ
}

// quiet lets only warnings and errors be logged where LOG_LEVEL does not say: the
// result of a command is for whoever typed it, the log of a service for operators.
func quiet(environ []string) []string {
	set := func(variable string) bool {
		level, ok := strings.CutPrefix(variable, "LOG_LEVEL=")
		return ok && strings.TrimSpace(level) != ""
	}
	if slices.ContainsFunc(environ, set) {
		return environ
	}
	return override(environ, map[string]string{"LOG_LEVEL": "warn"})
}

// configure reads the configuration from an environment, and makes the logger.
func configure(environ []string, stderr io.Writer) (config.Config, *slog.Logger, error) {
	cfg, err := config.Parse(environ)
	if err != nil {
		return cfg, nil, &usageError{err}
	}
	if _, err := family.Named(cfg.Family); err != nil { // not in config, which tools import that need no tokenizers
		return cfg, nil, &usageError{fmt.Errorf("configuration: MODEL_FAMILY=%q: use auto, %s", cfg.Family, strings.Join(family.Names(), ", "))}
	}
	options := &slog.HandlerOptions{Level: cfg.LogLevel}
	var handler slog.Handler = slog.NewTextHandler(stderr, options)
	if cfg.LogFormat == "json" {
		handler = slog.NewJSONHandler(stderr, options)
	}
	return cfg, slog.New(telemetry.TraceLogs(handler)), nil
}

// loader makes the loader of the models of a configuration.
func (p *program) loader(cfg config.Config, log *slog.Logger) *loader {
	return &loader{cfg: cfg, log: log, stderr: p.stderr, loadRuntime: p.loadRuntime, loadGPUs: p.loadGPUs}
}
