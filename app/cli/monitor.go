package cli

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"dragoman/app/cli/monitor"
)

// monitor returns the command that polls servers until it is interrupted.
func (p *Program) monitor() *cobra.Command {
	var cfg monitor.Config
	var csv string
	cmd := &cobra.Command{
		Use: "monitor [SERVER]...", Short: "Watch running services",
		Long: `Polls /metrics of servers and prints the changes between two polls, as a table or, with
--csv, as CSV. A server is a URL, host:port or a host; the default is this machine at APP_PORT.
For a server that does not answer, a line says so.

In the CSV, queue, tokenize, encode, decode, detokenize, request, queue_wait and cpu_time are
microseconds, memory and resident are bytes. queue_tokens, queue_wait, batch_rows, memory and
resident are current values, all others sums over the interval: count, failed and refused are
requests, tokens_in and tokens_out tokens, decoded sentences.`,
		RunE: func(cmd *cobra.Command, servers []string) error {
			cfg.Servers = servers
			return p.runMonitor(cmd.Context(), cfg, csv)
		},
	}
	flags := cmd.Flags()
	flags.DurationVar(&cfg.Interval, "interval", time.Second, "time between polls")
	flags.UintVar(&cfg.Count, "count", 0, "end after so many intervals; 0: no limit")
	flags.StringVar(&csv, "csv", "", "file for CSV instead of the table; - is standard output")
	return cmd
}

func (p *Program) runMonitor(ctx context.Context, cfg monitor.Config, csv string) (err error) {
	own, _, err := Configure(p.Environ, p.Stderr)
	if err != nil {
		return err
	}
	cfg.Port = own.Port
	if len(cfg.Servers) == 0 {
		cfg.Servers = []string{"localhost"}
	}
	m, err := monitor.New(cfg)
	if err != nil {
		return usagef("monitor: %w", err)
	}
	switch csv {
	case "":
		return m.Run(ctx, monitor.Table(p.Stdout))
	case "-":
		return m.Run(ctx, monitor.CSV(p.Stdout))
	}
	file, err := os.Create(csv)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return m.Run(ctx, monitor.CSV(file))
}
