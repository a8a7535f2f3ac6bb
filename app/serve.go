package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"dragoman/app/config"
	"dragoman/app/translate"
)

// serve runs the service until ctx is done.
func (p *program) serve(ctx context.Context, args []string) error {
	rest, err := p.parse(pflag.NewFlagSet("serve", pflag.ContinueOnError), args,
		"dragoman [serve]\n\nServes HTTP. All settings come from the environment: see `dragoman help`.")
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return &usageError{fmt.Errorf("serve takes no arguments, got %q", rest)}
	}
	if err := p.configure(); err != nil {
		return err
	}
	// Listening before the model loads shows a port that is taken at once.
	address := net.JoinHostPort(p.cfg.Host, strconv.Itoa(p.cfg.Port))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w: set APP_HOST and APP_PORT", address, err)
	}
	border, err := p.openBorder(ctx)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	p.translations = translate.NewMetrics(border.metrics.Registry())
	s := &server{cfg: p.cfg, log: p.log, listener: listener, load: p.load, border: border}
	return errors.Join(s.run(ctx), border.Close())
}

// server is one run of the service.
type server struct {
	cfg      config.Config
	log      *slog.Logger
	listener net.Listener
	border   *border
	load     func(ctx context.Context) (*backend, error)
}

// run serves until ctx is done, and then ends in order: it reports not ready,
// stops accepting, lets requests in flight finish, stops the engine, closes the
// model and unloads the runtime.
func (s *server) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	srv := s.border.api.Server()
	served := make(chan error, 1)
	go func() {
		served <- srv.Serve(s.listener)
		cancel() // serving ends before ctx is done where accepting fails
	}()
	s.log.Info("listening", "address", s.listener.Addr().String(), "version", version)

	b, err := s.start(ctx)
	if err == nil {
		<-ctx.Done()
		s.log.Info("shutting down", "timeout", s.cfg.ShutdownTimeout)
	} else if ctx.Err() != nil {
		err = nil // told to stop while the model was loading
	}
	err = errors.Join(err, s.stop(srv, b))
	if serveErr := <-served; !errors.Is(serveErr, http.ErrServerClosed) {
		err = errors.Join(err, fmt.Errorf("serve HTTP: %w", serveErr))
	}
	s.log.Info("stopped")
	return err
}

// start loads the model, tries it and reports ready.
func (s *server) start(ctx context.Context) (*backend, error) {
	begin := time.Now()
	b, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	if err := b.service.WarmUp(ctx); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	if err := s.border.ready(b, s.cfg); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	s.log.Info("ready", "model", b.model.Source, "revision", b.model.Revision, "precision", b.model.Precision,
		"languages", len(b.service.Languages()), "took", time.Since(begin).Round(time.Millisecond))
	return b, nil
}

// stop ends serving; b is nil where no model was loaded.
func (s *server) stop(srv *http.Server, b *backend) error {
	// How long answers get to leave after the engine has ended their requests.
	const grace = time.Second

	s.border.api.Drain()
	timeout, cancel := context.WithTimeout(context.Background(), s.cfg.ShutdownTimeout)
	defer cancel()
	err := srv.Shutdown(timeout)
	late := errors.Is(err, context.DeadlineExceeded)
	if late {
		err = fmt.Errorf("requests in flight did not end within %s and were cut off: raise SHUTDOWN_TIMEOUT", s.cfg.ShutdownTimeout)
	}
	if b != nil {
		err = errors.Join(err, b.Close())
	}
	if late {
		timeout, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		if srv.Shutdown(timeout) != nil {
			err = errors.Join(err, srv.Close())
		}
	}
	return err
}
