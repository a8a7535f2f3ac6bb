// Package cli is the command line: its commands, their flags, and their output. The functions that serve, load and export models
// are passed in.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"dragoman/app/config"
	"dragoman/app/measure"
	"dragoman/app/text/spelling"
	"dragoman/app/translate"
	"dragoman/model/family"
)

// Program is one run of the command line.
type Program struct {
	Version        string
	Environ        []string // NAME=value; flags are added as variables
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Log            io.Writer // for the service's log, and for the reason why a command has ended; nil: Stderr
	// RunService runs the service until ctx is done.
	RunService func(ctx context.Context, cfg config.Config, log *slog.Logger) error
	// PullModel fetches and exports a model, and returns the line that describes it.
	PullModel func(ctx context.Context, cfg config.Config, log *slog.Logger, into Repository) (string, error)
	// LoadModels loads the models of a configuration, which the caller must close.
	LoadModels func(ctx context.Context, cfg config.Config, log *slog.Logger) (s *translate.Service, closeAll func() error, err error)
}

// Exit codes of [Program.Run]. A program that a signal ended exits with 128 and the signal's number.
const (
	ExitOK     = 0
	ExitError  = 1
	ExitUsage  = 2
	ExitPartly = 3 // some lines or documents were not translated
)

// Signalled is the cause of a context that a signal has ended.
type Signalled struct{ Signal syscall.Signal }

func (s Signalled) Error() string        { return s.Signal.String() }
func (s Signalled) Is(target error) bool { return target == context.Canceled }

// UsageError is the error of an invalid command line or environment.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

func usagef(format string, a ...any) error { return &UsageError{fmt.Errorf(format, a...)} }

// Run runs a command until it ends or ctx is done, and returns the exit code. It prints an error as one line on standard error.
func (p *Program) Run(ctx context.Context, args []string) int {
	err := p.execute(ctx, args)
	if err == nil {
		return ExitOK
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		stop, ok := errors.AsType[interrupted](err)
		if !ok {
			stop = "interrupted"
		}
		fmt.Fprintf(p.log(), "dragoman: %s\n", string(stop))
		if s, ok := errors.AsType[Signalled](context.Cause(ctx)); ok {
			return 128 + int(s.Signal)
		}
		return 128 + int(syscall.SIGINT)
	}
	fmt.Fprintf(p.log(), "dragoman: %s\n", OneLine(err))
	if _, ok := errors.AsType[*UsageError](err); ok {
		return ExitUsage
	}
	if _, ok := errors.AsType[*partlyError](err); ok {
		return ExitPartly
	}
	return ExitError
}

func (p *Program) log() io.Writer {
	if p.Log != nil {
		return p.Log
	}
	return p.Stderr
}

// interrupted is the error of a command that a signal has ended; it is the command's own message.
type interrupted string

func (i interrupted) Error() string        { return string(i) }
func (i interrupted) Is(target error) bool { return target == context.Canceled }

// OneLine returns an error's text without line breaks.
func OneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// execute runs the command that args name.
func (p *Program) execute(ctx context.Context, args []string) error {
	root := p.root()
	root.SetArgs(slices.Clip(append([]string{}, args...))) // not nil, which would stand for the process's arguments
	return root.ExecuteContext(ctx)
}

func (p *Program) root() *cobra.Command {
	root := p.serve()
	root.Use, root.Short = "dragoman", "self-hosted translation service"
	root.Long = `dragoman translates texts, documents and live text, by M2M100 and SMaLL-100 (100
languages; MIT), NLLB-200 (202; CC BY-NC: not for commercial use), MADLAD-400
(over 400), mBART-50 (52), Opus-MT (1,400 pairs) and Firefox's (100 pairs).`
	root.SilenceErrors, root.SilenceUsage = true, true
	version := root.Flags().BoolP("version", "v", false, "version for dragoman") // cobra's own would need a template
	run := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if *version {
			return p.printVersion(cmd, args)
		}
		return run(cmd, args)
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(p.serve(), p.pull(), p.models(), p.translate(), p.live(), p.mcp(), p.jobs(), p.glossaries(), p.key(), p.health(), p.monitor(), p.version())
	root.Flags().SortFlags = false
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout) // before the command completion is made, which keeps it
	root.SetErr(p.Stderr)
	p.completions(root)
	p.setHelp(root)
	return root
}

// serve returns the command that runs the service.
func (p *Program) serve() *cobra.Command {
	var models string
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve HTTP", Args: noArguments,
		Long: "Serves HTTP. All other settings come from the environment: see dragoman help config.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, log, err := Configure(override(p.Environ, map[string]string{"AUTO_PULL": models}), p.log())
			if err != nil {
				return err
			}
			if err := cfg.CheckServe(); err != nil {
				return &UsageError{err}
			}
			return p.RunService(cmd.Context(), cfg, log)
		},
	}
	cmd.Flags().StringVar(&models, "models", "", "fetch models when languages are first asked for: firefox, opus or both with a comma between (AUTO_PULL)")
	return cmd
}

func (p *Program) line() string {
	return fmt.Sprintf("dragoman %s (%s, %s/%s)", p.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func (p *Program) version() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version", Args: noArguments, RunE: p.printVersion}
}

func (p *Program) printVersion(*cobra.Command, []string) error {
	_, err := fmt.Fprintln(p.Stdout, p.line())
	return err
}

// noArguments refuses arguments. For a command with subcommands, arguments are misspelt names of subcommands.
func noArguments(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case cmd.HasSubCommands():
		var names []string
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				names = append(names, c.Name())
			}
		}
		return usagef("unknown command %q%s: use %s", strings.TrimPrefix(cmd.CommandPath()+" "+args[0], "dragoman "),
			didYouMean("", suggestions(args[0], names)), strings.Join(names, ", "))
	}
	return usagef("%s takes no arguments, got %q", cmd.Name(), args)
}

func oneArgument(takes string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("%s takes %s, got %q", strings.TrimPrefix(cmd.CommandPath(), "dragoman "), takes, args)
		}
		return nil
	}
}

// suggestions returns the names that a misspelt or shortened name probably means.
func suggestions(word string, names []string) (list []string) {
	for _, name := range names {
		if strings.HasPrefix(name, word) {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		list = spelling.Near(word, names)
	}
	return list
}

// didYouMean returns a question with names, "" if there are none.
func didYouMean(prefix string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (did you mean " + prefix + strings.Join(names, " or "+prefix) + "?)"
}

// flagError returns an error of parsing flags, with the flags that were probably meant.
func flagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	name, question := strings.TrimPrefix(cmd.CommandPath(), "dragoman "), ""
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		question = didYouMean("--", suggestions(unknown.GetSpecifiedName(), names))
	}
	return usagef("%s: %w%s", name, err, question)
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

// warningsOnly restricts logging to warnings and errors if LOG_LEVEL is not set: the result of a command is for its user, the log
// of a service for operators.
func warningsOnly(environ []string) []string {
	set := func(variable string) bool {
		level, ok := strings.CutPrefix(variable, "LOG_LEVEL=")
		return ok && strings.TrimSpace(level) != ""
	}
	if slices.ContainsFunc(environ, set) {
		return environ
	}
	return override(environ, map[string]string{"LOG_LEVEL": "warn"})
}

// Configure parses the configuration from an environment, and creates the logger.
func Configure(environ []string, stderr io.Writer) (config.Config, *slog.Logger, error) {
	cfg, err := config.Parse(environ)
	if err != nil {
		return cfg, nil, &UsageError{err}
	}
	if _, err := family.Named(cfg.Family); err != nil { // checked here and not in config, because tools that need no tokenizers import config
		return cfg, nil, usagef("configuration: MODEL_FAMILY=%q: use auto, %s", cfg.Family, strings.Join(family.Names(), ", "))
	}
	options := &slog.HandlerOptions{Level: cfg.LogLevel}
	var handler slog.Handler = slog.NewTextHandler(stderr, options)
	if cfg.LogFormat == "json" {
		handler = slog.NewJSONHandler(stderr, options)
	}
	log := slog.New(measure.TraceLogs(handler))
	for _, name := range config.ServiceLinks(environ) {
		log.Warn("an environment variable is ignored: Kubernetes set it to the address of a service; enableServiceLinks: false in the pod's specification prevents that", "variable", name)
	}
	misspelt := config.Misspelt(environ)
	for _, name := range slices.Sorted(maps.Keys(misspelt)) {
		log.Warn("an unknown environment variable is ignored", "variable", name, "did_you_mean", misspelt[name])
	}
	return cfg, log, nil
}

// IsTerminal reports whether a writer is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
