package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/pflag"
)

// limits are the flags of limit.
type limits struct {
	workers, gateways []int
	rounds            int
	seconds           float64
	profiles          string
	file              bool
	simulation
}

// throughput is the result for a number of workers and gateways.
type throughput struct {
	workers, gateways        int
	perSecond                float64 // sentences
	mean                     time.Duration
	redis, gateway, worker   float64 // CPU, µs per sentence
	busy                     float64 // share of the machine's CPU in use by all processes; 1: all of it
	commands, in, out, calls float64 // per sentence: commands, bytes to Redis, bytes from it, its reads and writes
	costs                    string  // the cost of commands
}

// limit measures the maximum rate of sentences.
func limit(ctx context.Context, args []string) error {
	var l limits
	if err := parse("limit", args, func(f *pflag.FlagSet) {
		f.IntSliceVar(&l.workers, "workers", []int{1, 2, 4, 8, 16}, "processes")
		f.IntSliceVar(&l.gateways, "gateways", []int{1, 2, 4}, "processes")
		f.IntVar(&l.rounds, "rounds", 3, "of which there are medians")
		f.Float64Var(&l.seconds, "seconds", 6, "of each measurement")
		f.IntVar(&l.Rows, "rows", 80, "that a worker decodes together")
		f.IntVar(&l.Steps, "steps", 20, "that a sentence takes")
		f.DurationVar(&l.Step, "step", 10*time.Millisecond, "time of a step")
		f.IntVar(&l.Source, "source", 16, "tokens of a sentence")
		f.IntVar(&l.Batch, "batch", 1, "sentences of a request")
		f.BoolVar(&l.file, "appendonly", false, "Redis has an append-only file")
		f.StringVar(&l.profiles, "profiles", "", "folder for CPU profiles of a gateway and a worker")
	}); err != nil {
		return err
	}
	each := float64(l.Rows) / (float64(l.Steps) * l.Step.Seconds())
	fmt.Printf("%d rows, %d steps of %s: a worker decodes %.0f sentences/s at most; %d tokens each; requests of %d\n\n",
		l.Rows, l.Steps, l.Step, each, l.Source, l.Batch)
	fmt.Println("| gateways | workers | sentences/s | of what the workers can | mean, ms | CPU, µs a sentence: Redis / gateway / worker | Redis's core | machine busy | commands / reads and writes a sentence | bytes a sentence in / out |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	runs := make(map[[2]int][]throughput)
	for range l.rounds {
		for _, gateways := range l.gateways {
			for _, workers := range l.workers {
				t, err := l.measure(ctx, workers, gateways)
				if err != nil {
					return err
				}
				runs[[2]int{gateways, workers}] = append(runs[[2]int{gateways, workers}], t)
				fmt.Fprintf(os.Stderr, "%d gateways, %d workers: %.0f/s; %s\n", gateways, workers, t.perSecond, t.costs)
			}
		}
	}
	for _, gateways := range l.gateways {
		for _, workers := range l.workers {
			list := runs[[2]int{gateways, workers}]
			m := func(number func(throughput) float64) float64 {
				var numbers []float64
				for _, t := range list {
					numbers = append(numbers, number(t))
				}
				return median(numbers)
			}
			speed := m(func(t throughput) float64 { return t.perSecond })
			redis := m(func(t throughput) float64 { return t.redis })
			fmt.Printf("| %d | %d | %.0f | %.2f | %.0f | %.0f / %.0f / %.0f | %.0f%% | %.0f%% | %.1f / %.1f | %.0f / %.0f |\n", gateways, workers, speed,
				speed/each/float64(workers), m(func(t throughput) float64 { return t.mean.Seconds() * 1000 }), redis,
				m(func(t throughput) float64 { return t.gateway }), m(func(t throughput) float64 { return t.worker }), redis*speed/1e4,
				100*m(func(t throughput) float64 { return t.busy }), m(func(t throughput) float64 { return t.commands }),
				m(func(t throughput) float64 { return t.calls }), m(func(t throughput) float64 { return t.in }), m(func(t throughput) float64 { return t.out }))
		}
	}
	return nil
}

// measure starts all processes and measures once.
func (l limits) measure(ctx context.Context, workers, gateways int) (t throughput, err error) {
	folder := ""
	if l.file {
		if folder, err = os.MkdirTemp("", "fleet-bench-*"); err != nil {
			return t, err
		}
		defer os.RemoveAll(folder)
	}
	server, err := startRedis(ctx, folder)
	if err != nil {
		return t, err
	}
	defer server.stop()
	s := l.simulation
	s.Redis = server.address
	s.Start = time.Now().Add(4*time.Second + time.Duration(workers+gateways)*100*time.Millisecond)
	s.End = s.Start.Add(time.Duration(l.seconds * float64(time.Second)))
	// In flight is the capacity of the workers, and half as much again.
	s.Callers = max(1, workers*s.Rows*3/2/gateways/s.Batch)
	var list [2][]*process // workers, gateways
	defer func() {
		for _, p := range append(list[0], list[1]...) {
			p.stop()
		}
	}()
	outputs := make([]strings.Builder, gateways)
	for i := range workers + gateways {
		kind, role := 0, "simulate-worker"
		if i >= workers {
			kind, role = 1, "simulate-gateway"
		}
		own := s
		if l.profiles != "" && (i == 0 || i == workers) {
			own.Profile = filepath.Join(l.profiles, fmt.Sprintf("%s-%d-%d.prof", role, gateways, workers))
		}
		raw, _ := json.Marshal(own) // plain data
		p, err := launchSelf(role, string(raw), func(p *process) {
			if kind == 1 {
				p.Stdout = &outputs[i-workers]
			}
		})
		if err != nil {
			return t, err
		}
		list[kind] = append(list[kind], p)
	}
	client := redis.NewClient(&redis.Options{Addr: server.address})
	defer func() { _ = client.Close() }()
	pause(ctx, time.Until(s.Start))
	before, machine := l.look(ctx, client, list), busy()
	client.ConfigResetStat(ctx)
	pause(ctx, time.Until(s.End)-50*time.Millisecond) // while all still run
	after := l.look(ctx, client, list)
	t = throughput{workers: workers, gateways: gateways, busy: busy() - machine, costs: commandCosts(ctx, client)}
	info, err := client.Info(ctx, "stats").Result()
	if err != nil {
		return t, err
	}
	var sentences int
	for i, p := range list[1] {
		if err := p.Wait(); err != nil {
			return t, fmt.Errorf("a gateway: %w", err)
		}
		var c counted
		if err := json.Unmarshal([]byte(outputs[i].String()), &c); err != nil {
			return t, err
		}
		sentences += c.Sentences
		t.mean += c.Mean / time.Duration(gateways)
	}
	n := float64(sentences)
	t.perSecond, t.busy = n/l.seconds, t.busy/l.seconds
	t.redis, t.worker, t.gateway = (after[0]-before[0])/n*1e6, (after[1]-before[1])/n*1e6, (after[2]-before[2])/n*1e6
	t.commands, t.in, t.out = field(info, "total_commands_processed")/n, field(info, "total_net_input_bytes")/n, field(info, "total_net_output_bytes")/n
	t.calls = (field(info, "total_reads_processed") + field(info, "total_writes_processed")) / n
	return t, nil
}

// launchSelf starts this program in another role.
func launchSelf(role, simulation string, change func(*process)) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := newProcess(nil, self, role, "--simulation", simulation)
	change(p)
	return p, p.Start()
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// look returns the CPU time so far of Redis, the workers and the gateways, in seconds.
func (l limits) look(ctx context.Context, client *redis.Client, list [2][]*process) (cpu [3]float64) {
	info, _ := client.Info(ctx, "cpu").Result()
	cpu[0] = field(info, "used_cpu_sys") + field(info, "used_cpu_user")
	for kind := range list {
		for _, p := range list[kind] {
			cpu[1+kind] += p.cpu()
		}
	}
	return cpu
}

// field returns a number of Redis's INFO.
func field(info, name string) float64 {
	_, rest, _ := strings.Cut("\n"+info, "\n"+name+":")
	value, _, _ := strings.Cut(rest, "\r")
	number, _ := strconv.ParseFloat(value, 64)
	return number
}

// commandCosts returns the commands that took the most time, and the time of each.
func commandCosts(ctx context.Context, client *redis.Client) string {
	info, _ := client.Info(ctx, "commandstats").Result()
	var list []string
	for line := range strings.Lines(info) {
		name, rest, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "cmdstat_"), ":")
		if !ok {
			continue
		}
		var calls, usec float64
		if _, err := fmt.Sscanf(rest, "calls=%f,usec=%f", &calls, &usec); err == nil && usec > 1e4 {
			list = append(list, fmt.Sprintf("%s %.0f × %.1f µs", name, calls, usec/calls))
		}
	}
	return strings.Join(list, ", ")
}

// busy returns the machine's used CPU time so far, in seconds of the whole machine.
func busy() float64 {
	raw, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	var f [8]float64
	line, _, _ := strings.Cut(string(raw), "\n")
	for i, word := range strings.Fields(line)[1:9] {
		f[i], _ = strconv.ParseFloat(word, 64)
	}
	return (f[0] + f[1] + f[2] + f[5] + f[6] + f[7]) / 100 / float64(strings.Count(string(raw), "\ncpu"))
}
