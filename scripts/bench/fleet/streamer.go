package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/pflag"
)

// streamer makes service-streamer's table: one sentence after the other, batches in one process, and one, two and four workers.
// Each worker has one thread. Rounds alternate.
func streamer(ctx context.Context, args []string) error {
	var rounds, beams, clients int
	var seconds float64
	if err := parse("table", args, func(f *pflag.FlagSet) {
		f.IntVar(&rounds, "rounds", 5, "of which there are medians")
		f.IntVar(&beams, "beams", 1, "of the search")
		f.IntVar(&clients, "clients", 128, "but for the first row")
		f.Float64Var(&seconds, "seconds", 8, "of each measurement")
	}); err != nil {
		return err
	}
	if err := buildSender(ctx); err != nil {
		return err
	}
	fleetOf := func(workers int) func(context.Context, ...string) (*group, error) {
		return func(ctx context.Context, environ ...string) (*group, error) { return joined(ctx, workers, environ...) }
	}
	rows := []struct {
		side
		clients int
	}{
		{side{"naive: one request at a time, one sentence each", alone}, 1},
		{side{"batches in one process, one thread", alone}, clients},
		{side{"Redis, one worker", fleetOf(1)}, clients},
		{side{"Redis, two workers", fleetOf(2)}, clients},
		{side{"Redis, four workers", fleetOf(4)}, clients},
	}
	runs := make([][]summary, len(rows))
	for round := range rounds {
		for turn := range rows {
			i := (round + turn) % len(rows)
			if err := func() error {
				g, err := rows[i].start(ctx, "APP_WORKERS=1", "THREADS=1")
				if err != nil {
					return err
				}
				defer g.stop()
				send := func(seconds float64) (summary, error) {
					return g.load(ctx, fmt.Sprintf(`{"beams":%d}`, beams), "--clients", fmt.Sprint(rows[i].clients), "--duration", fmt.Sprint(seconds))
				}
				if _, err := send(2); err != nil { // to warm up
					return err
				}
				s, err := send(seconds)
				runs[i] = append(runs[i], s)
				fmt.Fprintf(os.Stderr, "%s: %.0f/s\n", rows[i].name, perSecond(s))
				return err
			}(); err != nil {
				return err
			}
		}
	}
	fmt.Printf("%d beams, %d clients\n\n| | sentences/s | to naive | CPU, ms a sentence | p50, ms | p99, ms |\n|---|---|---|---|---|---|\n", beams, clients)
	naive := median(of(runs[0], perSecond))
	for i, row := range rows {
		speed := median(of(runs[i], perSecond))
		fmt.Printf("| %s | %.0f | %.1f | %.2f | %.0f | %.0f |\n", row.name, speed, speed/naive,
			median(of(runs[i], cpuOf)), median(of(runs[i], p50)), median(of(runs[i], p99)))
	}
	return nil
}
