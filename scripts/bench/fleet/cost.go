package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// sender is the load generator.
const sender = "build/stress_test"

// summary is the load generator's summary of a run.
type summary struct {
	Requests  int               `json:"requests"`
	Answered  int               `json:"answered"`
	PerSecond float64           `json:"answered_per_s"`
	P50       float64           `json:"p50_ms"`
	P99       float64           `json:"p99_ms"`
	Records   int               `json:"records"`
	Failures  map[string]string `json:"error_examples"`
	CPU       float64           `json:"-"` // the service's milliseconds per record
	// Parts is CPU by role.
	Parts  map[string]float64 `json:"-"`
	Others float64            `json:"-"` // share of the machine's CPU time used by neither the service nor the sender
}

// load sends requests to processes, with sentences from English to French and back in alternation.
func (g *group) load(ctx context.Context, options string, args ...string) (s summary, err error) {
	out, err := os.MkdirTemp("", "fleet-bench-*")
	if err != nil {
		return s, err
	}
	defer os.RemoveAll(out)
	before, machine, begin := g.cpu(), busy(), time.Now()
	cmd := exec.CommandContext(ctx, sender, append([]string{
		"--quiet", "--out", out, "--url", "http://" + g.address, "--lambda", "0", "--options", options,
	}, args...)...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return s, fmt.Errorf("%s: %w", sender, err)
	}
	after, all, took := g.cpu(), busy()-machine, time.Since(begin).Seconds()
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
		return s, fmt.Errorf("%d of %d requests were answered: %v", s.Answered, s.Requests, s.Failures)
	}
	own := 0.0
	s.Parts = make(map[string]float64)
	for role := range after {
		own += after[role] - before[role]
		s.Parts[role] = (after[role] - before[role]) / float64(s.Records) * 1000
	}
	s.CPU = own / float64(s.Records) * 1000
	sent := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	s.Others = (all - (own+sent)/float64(runtime.NumCPU())) / took
	return s, nil
}

// side is one of the two sides of a comparison.
type side struct {
	name  string
	start func(ctx context.Context, environ ...string) (*group, error)
}

// costs are the flags of cost.
type costs struct {
	rounds, beams, clients, records int
	seconds                         float64
}

// options are the options of the requests.
func (c costs) options() string { return fmt.Sprintf(`{"beams":%d}`, c.beams) }

// cost compares one process with a gateway, a worker and Redis on the same cores: throughput, then latency at half of one
// process's capacity. The sides alternate. The half of the rounds with the least other load of the machine counts.
func cost(ctx context.Context, args []string) error {
	var c costs
	if err := parse("cost", args, func(f *pflag.FlagSet) {
		f.IntVar(&c.rounds, "rounds", 12, "of which the quieter half counts")
		f.IntVar(&c.beams, "beams", 5, "of the search")
		f.IntVar(&c.clients, "clients", 64, "for the throughput")
		f.IntVar(&c.records, "records", 1, "of a request, a sentence each")
		f.Float64Var(&c.seconds, "seconds", 6, "of each measurement")
	}); err != nil {
		return err
	}
	if err := buildSender(ctx); err != nil {
		return err
	}
	sides := [2]side{{"one process", alone}, {"gateway, worker, Redis", func(ctx context.Context, environ ...string) (*group, error) { return joined(ctx, 1, environ...) }}}
	var groups [2]*group
	for i, s := range sides {
		g, err := s.start(ctx)
		if err != nil {
			return err
		}
		defer g.stop()
		groups[i] = g
		if _, err := g.load(ctx, c.options(), "--clients", "8", "--duration", "3"); err != nil { // to warm up
			return err
		}
	}
	full, fullOthers, err := c.turns(ctx, groups, "--clients", fmt.Sprint(c.clients))
	if err != nil {
		return err
	}
	rate := median(of(full[0], perSecond)) / 2 / float64(c.records)
	half, halfOthers, err := c.turns(ctx, groups, "--rate", fmt.Sprint(rate))
	if err != nil {
		return err
	}
	fmt.Printf("%d beams, requests of %d, %d clients, then %.0f requests/s; %d of %d rounds count, in which others took %.0f%% and %.0f%% of the machine at most\n\n",
		c.beams, c.records, c.clients, rate, len(full[0]), c.rounds, 100*fullOthers, 100*halfOthers)
	fmt.Println("| | sentences/s | CPU, ms a sentence | p50 at half load, ms | p99 at half load, ms |\n|---|---|---|---|---|")
	for i, s := range sides {
		fmt.Printf("| %s | %.0f | %.2f | %.1f | %.1f |\n", s.name, median(of(full[i], perSecond)), median(of(full[i], cpuOf)),
			median(of(half[i], p50)), median(of(half[i], p99)))
	}
	fmt.Printf("| median of the rounds' ratios or differences | %.3f | %.3f | %+.1f | %+.1f |\n",
		compared(full, perSecond, ratio), compared(full, cpuOf, ratio), compared(half, p50, difference), compared(half, p99, difference))
	for i, s := range sides {
		var parts []string
		for _, role := range slices.Sorted(maps.Keys(full[i][0].Parts)) {
			part := func(s summary) float64 { return s.Parts[role] }
			parts = append(parts, fmt.Sprintf("%s %.2f (at half load %.2f)", role, median(of(full[i], part)), median(of(half[i], part))))
		}
		fmt.Printf("\nCPU of %s, ms a sentence: %s\n", s.name, strings.Join(parts, ", "))
	}
	return nil
}

// turns sends requests to both sides in alternation. It returns the quieter half of the rounds, and the largest share of the
// machine that other processes used in them.
func (c costs) turns(ctx context.Context, groups [2]*group, args ...string) (runs [2][]summary, others float64, err error) {
	var rounds [][2]summary
	for n := range c.rounds {
		args := append(args, "--duration", fmt.Sprint(c.seconds), "--seed", fmt.Sprint(n+1), "--pay-size", fmt.Sprint(c.records))
		var round [2]summary
		for turn := range groups {
			i := (n + turn) % 2
			if round[i], err = groups[i].load(ctx, c.options(), args...); err != nil {
				return runs, 0, err
			}
		}
		rounds = append(rounds, round)
		fmt.Fprintf(os.Stderr, "%.0f and %.0f/s, p50 %.1f and %.1f ms, p99 %.1f and %.1f ms, others took %.0f%%\n",
			perSecond(round[0]), perSecond(round[1]), round[0].P50, round[1].P50, round[0].P99, round[1].P99, 100*disturbance(round))
	}
	slices.SortFunc(rounds, func(a, b [2]summary) int { return cmp.Compare(disturbance(a), disturbance(b)) })
	for _, round := range rounds[:(len(rounds)+1)/2] {
		for i := range runs {
			runs[i] = append(runs[i], round[i])
		}
		others = disturbance(round)
	}
	return runs, others, nil
}

// disturbance returns the share of the machine that other processes used in a round.
func disturbance(round [2]summary) float64 { return max(round[0].Others, round[1].Others) }

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

// of returns a number of each summary.
func of(list []summary, number func(summary) float64) (numbers []float64) {
	for _, s := range list {
		numbers = append(numbers, number(s))
	}
	return numbers
}

// compared returns the median of the comparisons of each round's two sides.
func compared(sides [2][]summary, number func(summary) float64, compare func(a, b float64) float64) float64 {
	var list []float64
	for i := range sides[0] {
		list = append(list, compare(number(sides[0][i]), number(sides[1][i])))
	}
	return median(list)
}
