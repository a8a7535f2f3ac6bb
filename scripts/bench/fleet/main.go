// Command fleet measures the cost of Redis between gateways and workers, and its limit:
//
//	make build runtime && go run ./scripts/bench/fleet cost | table | limit
//
// cost compares one process with a gateway and a worker on the same cores, table repeats service-streamer's comparison, and limit
// measures the maximum rate of sentences with workers whose model takes time but no CPU. It starts redis-server (apt-get install
// redis-server) and everything else itself, and writes Markdown.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/pflag"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	commands := map[string]func(context.Context, []string) error{
		"cost": cost, "table": streamer, "limit": limit,
		"simulate-worker": simulateWorker, "simulate-gateway": simulateGateway, // started by limit
	}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: fleet cost | table | limit [flags]")
		os.Exit(2)
	}
	if err := commands[os.Args[1]](ctx, os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

// parse reads flags.
func parse(name string, args []string, define func(*pflag.FlagSet)) error {
	flags := pflag.NewFlagSet(name, pflag.ExitOnError)
	define(flags)
	return flags.Parse(args)
}

// median returns the median of some numbers.
func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
