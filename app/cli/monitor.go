package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"dragoman/app/monitor"
)

// monitorFlags are the flags of monitor.
type monitorFlags struct {
	interval, duration time.Duration
	count              int
	csv, targets, key  string
	resolve            []string
	plain              bool
}

// monitor makes the command that polls servers until it is told to end.
func (p *Program) monitor() *cobra.Command {
	var f monitorFlags
	cmd := &cobra.Command{
		Use: "monitor [SERVER]...", Short: "Watch running services",
		Long: `Polls /metrics of servers and says what happened between two polls. A server is a URL,
host:port or a host; without one, and without --targets and --resolve, it is the one on
this machine at APP_PORT.

In a terminal it is a table that is refreshed in place, until Ctrl-C. Where standard output
is none, it is CSV, or one table after the other where --csv names a file for that. A server
that does not answer is a line that says so. Below a server with several models there is a line for
each of them; the server's own has what they did together.

The CSV has a line for each server and interval, and, where a server has several models, one for
each of them, with these columns. Times are in whole
microseconds and, where nothing else is said, sums over the interval.

` + monitor.ColumnsHelp(),
		RunE: func(cmd *cobra.Command, servers []string) error { return p.runMonitor(cmd.Context(), f, servers) },
	}
	flags := cmd.Flags()
	flags.DurationVar(&f.interval, "interval", time.Second, "time between polls")
	flags.DurationVar(&f.duration, "duration", 0, "end after this time; 0 is no bound")
	flags.IntVar(&f.count, "count", 0, "end after so many intervals; 0 is no bound")
	flags.StringVar(&f.csv, "csv", "", "file to write CSV to; - is standard output")
	flags.StringVar(&f.targets, "targets", "", "file with a server on each line, read again at each poll")
	flags.StringArrayVar(&f.resolve, "resolve", nil, "DNS name, such as dragoman-headless:9527, whose addresses are all servers, resolved again at each poll; can be repeated")
	flags.StringVar(&f.key, "key", "", "API key to send, for proxies that want one before /metrics; the service itself wants none")
	flags.BoolVar(&f.plain, "plain", false, "one table after the other, for places that are no terminal")
	return cmd
}

func (p *Program) runMonitor(ctx context.Context, f monitorFlags, servers []string) (err error) {
	cfg, _, err := Configure(p.Environ, p.Stderr)
	if err != nil {
		return err
	}
	m, err := f.monitor(servers, cfg.Port)
	if err != nil {
		return usagef("monitor: %w", err)
	}
	var sinks []monitor.Sink
	if f.csv != "" && f.csv != "-" {
		file, createErr := os.Create(f.csv)
		if createErr != nil {
			return createErr
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		sinks = append(sinks, monitor.NewCSV(file))
	}
	return p.watch(ctx, f, m, sinks)
}

// monitor makes the monitor of the flags and servers; port is that of hosts without one.
func (f *monitorFlags) monitor(servers []string, port int) (*monitor.Monitor, error) {
	if len(servers) == 0 && f.targets == "" && len(f.resolve) == 0 {
		servers = []string{"localhost"}
	}
	cfg := monitor.Config{
		Targets:  monitor.Targets{Servers: servers, File: f.targets, Resolve: f.resolve, Port: port},
		Interval: f.interval, Count: f.count, Key: f.key,
	}
	switch {
	case f.interval < monitor.MinInterval:
		return nil, fmt.Errorf("--interval %s: use %s or more", f.interval, monitor.MinInterval)
	case f.count < 0:
		return nil, fmt.Errorf("--count %d: use 0 for no bound, or more", f.count)
	case f.duration != 0 && f.duration < f.interval:
		return nil, fmt.Errorf("--duration %s: use 0 for no bound, or %s, an interval, or more", f.duration, f.interval)
	case f.duration != 0:
		// Whole intervals: one that is cut short would say nothing.
		n := int(f.duration / f.interval)
		if cfg.Count == 0 || n < cfg.Count {
			cfg.Count = n
		}
	}
	return monitor.New(cfg)
}

// watch runs a monitor, with what standard output shows of it.
func (p *Program) watch(ctx context.Context, f monitorFlags, m *monitor.Monitor, sinks []monitor.Sink) error {
	if f.csv == "-" || (f.csv == "" && !f.plain && !isTerminal(p.Stdout)) {
		return m.Run(ctx, append(sinks, monitor.NewCSV(p.Stdout))...)
	}
	refresh := !f.plain && isTerminal(p.Stdout) && p.canDraw()
	return m.Run(ctx, append(sinks, monitor.NewTable(p.Stdout, refresh))...)
}

// isTerminal says whether what is written can be seen at once.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// canDraw says whether the terminal can move its cursor.
func (p *Program) canDraw() bool {
	kind := ""
	for _, variable := range p.Environ {
		if value, ok := strings.CutPrefix(variable, "TERM="); ok {
			kind = value
		}
	}
	return kind != "" && kind != "dumb"
}
