// Command fakeserver serves the web page in front of a made-up API, so that tests of
// the page can say when each answer comes and what goes wrong. It runs a command that
// finds the server's address in FAKE_URL, and ends with its exit code:
//
//	go run ./scripts/webtest/fakeserver node --test scripts/webtest/*.test.mjs
//
// Without a command it prints its address and serves until it is interrupted.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	err := run(os.Args[1:])
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(max(1, exit.ExitCode())) // -1 where a signal ended it
	case err != nil:
		fmt.Fprintln(os.Stderr, "fakeserver:", err)
		os.Exit(1)
	}
}

// run serves on a free port of this machine while the command runs.
func run(command []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	api, err := newServer()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	url := "http://" + listener.Addr().String()
	srv := &http.Server{Handler: api.routes(), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(listener) }()

	if len(command) == 0 {
		fmt.Println(url)
		<-ctx.Done()
	} else {
		err = runCommand(ctx, command, url)
	}
	err = errors.Join(err, srv.Close())
	if serveErr := <-served; !errors.Is(serveErr, http.ErrServerClosed) {
		err = errors.Join(err, fmt.Errorf("serve: %w", serveErr))
	}
	return err
}

// runCommand runs a command with the server's address in its environment.
func runCommand(ctx context.Context, command []string, url string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "FAKE_URL="+url)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", command[0], err)
	}
	return nil
}
