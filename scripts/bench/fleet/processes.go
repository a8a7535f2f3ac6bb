package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// process is a started process. The caller must stop it.
type process struct {
	*exec.Cmd
	role    string
	address string
}

// launch starts a program.
func launch(environ []string, name string, args ...string) (*process, error) {
	p := newProcess(environ, name, args...)
	return p, p.Start()
}

func newProcess(environ []string, name string, args ...string) *process {
	p := &process{Cmd: exec.Command(name, args...)}
	p.Env = append(os.Environ(), environ...)
	p.Stderr = os.Stderr
	return p
}

func (p *process) stop() {
	_ = p.Process.Kill()
	_ = p.Wait()
}

// cpu returns the CPU time of the process, in seconds.
func (p *process) cpu() float64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest)
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100 // ticks per second
}

// freeAddress returns an unused address of this machine.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// startRedis starts a Redis without persistence, or with an append-only file in a folder.
func startRedis(ctx context.Context, folder string) (*process, error) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		return nil, fmt.Errorf("%w: apt-get install redis-server", err)
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(address)
	args := []string{"--bind", "127.0.0.1", "--port", port, "--save", "", "--loglevel", "warning"}
	if folder != "" {
		args = append(args, "--appendonly", "yes", "--dir", folder)
	}
	p, err := launch(nil, "redis-server", args...)
	if err != nil {
		return nil, err
	}
	p.role, p.address = "Redis", address
	client := redis.NewClient(&redis.Options{Addr: address})
	defer func() { _ = client.Close() }()
	return p, until(ctx, "Redis answers", func() bool { return client.Ping(ctx).Err() == nil })
}

// serve starts the service and waits until it translates, or as a worker is ready.
func serve(ctx context.Context, role, broker string, environ ...string) (*process, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(address)
	binary, err := filepath.Abs("build/dragoman")
	if err != nil {
		return nil, err
	}
	p, err := launch(append([]string{
		"APP_HOST=127.0.0.1", "APP_PORT=" + port, "LOG_LEVEL=warn", "CACHE_BYTES=0", "ROLE=" + role, "BROKER_URL=redis://" + broker,
	}, environ...), binary, "serve")
	if err != nil {
		return nil, err
	}
	p.role, p.address = role, address
	err = until(ctx, role+" is ready", func() bool {
		resp, err := http.Get("http://" + address + "/readyz")
		if err == nil && role != "worker" {
			resp.Body.Close()
			resp, err = http.Post("http://"+address+"/translation", "application/json",
				strings.NewReader(`{"payload":{"fromLang":"en","toLang":"fr","records":[{"id":"","text":"Hello."}]}}`))
		}
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	if err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// until waits until a condition holds.
func until(ctx context.Context, what string, holds func() bool) error {
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(end) {
			return errors.New("after a minute it is not so that " + what)
		}
	}
	return nil
}

// group is a group of processes that serve together.
type group struct {
	processes []*process
	redis     *process // nil: none
	address   string   // address for requests
}

// alone starts one process with all roles.
func alone(ctx context.Context, environ ...string) (*group, error) {
	p, err := serve(ctx, "all", "", environ...)
	if err != nil {
		return nil, err
	}
	return &group{processes: []*process{p}, address: p.address}, nil
}

// joined starts a gateway, workers, and Redis between them.
func joined(ctx context.Context, workers int, environ ...string) (_ *group, err error) {
	g := &group{}
	defer func() {
		if err != nil {
			g.stop()
		}
	}()
	if g.redis, err = startRedis(ctx, ""); err != nil {
		return nil, err
	}
	g.processes = append(g.processes, g.redis)
	for i := range workers + 1 {
		role := "worker"
		if i == workers {
			role = "gateway"
		}
		p, err := serve(ctx, role, g.redis.address, environ...)
		if err != nil {
			return nil, err
		}
		g.processes, g.address = append(g.processes, p), p.address
	}
	return g, nil
}

func (g *group) stop() {
	for _, p := range g.processes {
		p.stop()
	}
}

// cpu returns the CPU time by role, in seconds.
func (g *group) cpu() map[string]float64 {
	sums := make(map[string]float64)
	for _, p := range g.processes {
		sums[p.role] += p.cpu()
	}
	return sums
}
