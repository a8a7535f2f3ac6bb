package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/pflag"
)

// sender is the load generator.
const sender = "build/stress_test"

// summary is what it says of a run.
type summary struct {
	Requests  int     `json:"requests"`
	Answered  int     `json:"answered"`
	PerSecond float64 `json:"answered_per_s"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
	Records   int     `json:"records"`
	CPU       float64 `json:"-"` // milliseconds of the service for each record
}

// load sends requests to processes, of sentences from English to French and back and so on.
func (g *group) load(ctx context.Context, beams int, args ...string) (s summary, err error) {
	out, err := os.MkdirTemp("", "fleet-bench-*")
	if err != nil {
		return s, err
	}
	defer os.RemoveAll(out)
	before := g.cpu()
	cmd := exec.CommandContext(ctx, sender, append([]string{
		"--quiet", "--out", out, "--url", "http://" + g.address, "--lambda", "0", "--options", fmt.Sprintf(`{"beams":%d}`, beams),
	}, args...)...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return s, fmt.Errorf("%s: %w", sender, err)
	}
	raw, err := os.ReadFile(filepath.Join(out, "summary.json"))
	if err != nil {
		return s, err
	}
	var report struct{ Phases []summary }
	if err := json.Unmarshal(raw, &report); err != nil {
		return s, err
	}
	s = report.Phases[0]
	if s.Answered != s.Requests {
		return s, fmt.Errorf("%d of %d requests were answered", s.Answered, s.Requests)
	}
	s.CPU = (g.cpu() - before) / float64(s.Records) * 1000
	return s, nil
}

// side is what is compared with another one.
type side struct {
	name  string
	start func(ctx context.Context, environ ...string) (*group, error)
}

// cost compares one process with a gateway, a worker and Redis on the same cores: throughput, then
// latency at half of what one process can do. Rounds take turns.
func cost(ctx context.Context, args []string) error {
	var rounds, beams, clients int
	var seconds float64
	if err := parse("cost", args, func(f *pflag.FlagSet) {
		f.IntVar(&rounds, "rounds", 5, "of which there are medians")
		f.IntVar(&beams, "beams", 5, "of the search")
		f.IntVar(&clients, "clients", 64, "for the throughput")
		f.Float64Var(&seconds, "seconds", 10, "of each measurement")
	}); err != nil {
		return err
	}
	if err := buildSender(ctx); err != nil {
		return err
	}
	sides := []side{{"one process", alone}, {"gateway, worker, Redis", func(ctx context.Context, environ ...string) (*group, error) { return joined(ctx, 1, environ...) }}}
	groups := make([]*group, len(sides))
	for i, s := range sides {
		g, err := s.start(ctx)
		if err != nil {
			return err
		}
		defer g.stop()
		groups[i] = g
		if _, err := g.load(ctx, beams, "--clients", "8", "--duration", "3"); err != nil { // to warm up
			return err
		}
	}
	duration := fmt.Sprint(seconds)
	var full, half [2][]summary
	for round := range rounds {
		for turn := range sides {
			i := (round + turn) % len(sides)
			s, err := groups[i].load(ctx, beams, "--clients", fmt.Sprint(clients), "--duration", duration)
			if err != nil {
				return err
			}
			full[i] = append(full[i], s)
			fmt.Fprintf(os.Stderr, "%s: %.0f/s, %.2f ms of CPU\n", sides[i].name, s.PerSecond, s.CPU)
		}
	}
	rate := fmt.Sprint(median(of(full[0], perSecond)) / 2)
	for round := range rounds {
		for turn := range sides {
			i := (round + turn) % len(sides)
			s, err := groups[i].load(ctx, beams, "--rate", rate, "--duration", duration, "--seed", fmt.Sprint(round+1))
			if err != nil {
				return err
			}
			half[i] = append(half[i], s)
			fmt.Fprintf(os.Stderr, "%s: p50 %.1f ms, p99 %.1f ms\n", sides[i].name, s.P50, s.P99)
		}
	}
	fmt.Printf("%d beams, %d clients; then %s requests/s\n\n", beams, clients, rate)
	fmt.Println("| | sentences/s | CPU, ms a sentence | p50 at half load, ms | p99 at half load, ms |\n|---|---|---|---|---|")
	for i, s := range sides {
		fmt.Printf("| %s | %.0f | %.2f | %.1f | %.1f |\n", s.name, median(of(full[i], perSecond)), median(of(full[i], cpuOf)),
			median(of(half[i], p50)), median(of(half[i], p99)))
	}
	fmt.Printf("| median of the rounds' ratios or differences | %.3f | %.3f | %+.1f | %+.1f |\n",
		compared(full, perSecond, ratio), compared(full, cpuOf, ratio), compared(half, p50, difference), compared(half, p99, difference))
	return nil
}

func buildSender(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", sender, "./scripts/stress_test")
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

func perSecond(s summary) float64 { return s.PerSecond * float64(s.Records) / float64(s.Answered) }
func cpuOf(s summary) float64     { return s.CPU }
func p50(s summary) float64       { return s.P50 }
func p99(s summary) float64       { return s.P99 }

func ratio(a, b float64) float64      { return b / a }
func difference(a, b float64) float64 { return b - a }

// of is a number of each summary.
func of(list []summary, number func(summary) float64) (numbers []float64) {
	for _, s := range list {
		numbers = append(numbers, number(s))
	}
	return numbers
}

// compared is the median of what each round's two sides are to each other.
func compared(sides [2][]summary, number func(summary) float64, compare func(a, b float64) float64) float64 {
	var list []float64
	for i := range sides[0] {
		list = append(list, compare(number(sides[0][i]), number(sides[1][i])))
	}
	return median(list)
}
