// Command stress_test sends translation requests to a service when they are due, independently of earlier answers, and reports
// the result: in one line, in numbers and in a plot. See README.md, or run it with --help.
//
//	go run ./scripts/stress_test --pay-size 16 --num-req 100 --sleep 0.1
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/pflag"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Exit codes of run.
const (
	exitOK     = 0
	exitFailed = 1 // a threshold was missed, or the test failed or was interrupted
	exitUsage  = 2
)

// helpWidth is the width of the lines of --help.
const helpWidth = 110

// run runs the test of args and returns the exit code. When ctx ends it sends no more, and reports the results so far.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprintf(stdout, "%s\n\n%s", usage, o.flags.FlagUsagesWrapped(helpWidth))
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "stress_test: %s; see --help\n", oneLine(err))
		return exitUsage
	}
	err = stress(ctx, o, stdout, stderr)
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(stderr, "stress_test: %s\n", oneLine(err))
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	return exitFailed
}

// oneLine returns an error's text without line breaks.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// usageError is an invalid command line.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }
