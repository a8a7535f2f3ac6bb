// Command faults does to a running service what happens to services: clients that
// leave, stall and come in thousands, ends in the middle of work, and many requests. It
// starts the program that it is given, with the bundled model, and writes a table of
// what was tried and what was seen. It exits with 1 where something was lost.
//
//	make build && go run ./scripts/faults -binary build/dragoman [name]...
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// fault is something that is done to a service.
type fault struct {
	name string
	what string
	// try returns what was seen, or an error where the service did not stand it.
	try func(ctx context.Context, r *run) (seen string, err error)
}

var faults = []fault{
	{"connections", "10,000 connections open at once, each of which is answered", connections},
	{"slowloris", "500 clients that send a byte of a header each second", slowHeaders},
	{"slow-bodies", "200 clients that announce a body and send little of it", slowBodies},
	{"slow-readers", "50 clients that do not read what is streamed to them", slowReaders},
	{"cancel", "100 clients that leave in the middle of a long text", cancel},
	{"deadline", "requests that give the service 1 ms", deadlines},
	{"overload", "400 requests at once, where 64 may be in flight", overload},
	{"term", "SIGTERM while 32 clients work", term},
	{"exports", "40 starts that are killed while they export the model, 10 that get SIGTERM", exports},
	{"kill", "a client process that dies with 100 requests open", reset},
	{"memory", "the worst legal requests, four of each at once and then 16 of each", memoryOfRequests},
	{"keyless", "712 bodies of 4 MB at once without a key, where keys are needed", keyless},
	{"bulk", "requests of 300 kB with low priority, one after the other, beside requests of a sentence", bulk},
	{"shared", "40 clients that send the same 300 kB and leave", sharedCancel},
	{"oversized", "20 clients that send 16 MB, where 4 are allowed", oversized},
	{"requests", "many requests: memory", manyRequests},
}

// run is what the faults have in common.
type run struct {
	binary   string
	requests int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := report(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

// report tries the faults that args name, or all, and prints the table.
func report(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("faults", flag.ContinueOnError)
	r := &run{}
	flags.StringVar(&r.binary, "binary", "build/dragoman", "the program")
	flags.IntVar(&r.requests, "requests", 100_000, "of the fault called requests")
	if err := flags.Parse(args); err != nil {
		return err
	}
	for _, name := range flags.Args() {
		if !slices.ContainsFunc(faults, func(f fault) bool { return f.name == name }) {
			return fmt.Errorf("no fault is called %q", name)
		}
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	var failed error
	for _, f := range faults {
		if flags.NArg() > 0 && !slices.Contains(flags.Args(), f.name) {
			continue
		}
		begin := time.Now()
		seen, err := f.try(ctx, r)
		if err != nil {
			seen = strings.TrimSpace(seen + " FAILED: " + err.Error())
			failed = errors.Join(failed, fmt.Errorf("%s: %w", f.name, err))
		}
		fmt.Fprintf(table, "| %s\t| %s\t| %s\t| %.0f s\t|\n", f.name, f.what, seen, time.Since(begin).Seconds())
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return failed
}
