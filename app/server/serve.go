package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"dragoman/app/config"
	"dragoman/app/measure"
)

// serve runs the service until ctx is done.
func (p *program) serve(ctx context.Context, cfg config.Config, log *slog.Logger) error {
	speaks, err := tlsOf(cfg, log)
	if err != nil {
		return err
	}
	if p.lines != nil {
		p.lines.Report(log)
	}
	// Listening before the model loads reports a port in use at once.
	address := net.JoinHostPort(cfg.Host, strconv.Itoa(cfg.Port))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w: set APP_HOST and APP_PORT", address, err)
	}
	calls, err := listenGRPC(cfg, log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	front, err := openFrontend(ctx, p.version, cfg, log)
	if err != nil {
		if calls != nil {
			err = errors.Join(err, calls.Close())
		}
		return errors.Join(err, listener.Close())
	}
	p.measureLines(front.metrics.Registry())
	front.checkFiles(openFiles())
	l := p.loader(cfg, log)
	l.serves = true
	s := &server{loader: l, frontend: front, listener: accepting(listener, log), tls: speaks}
	if calls != nil {
		s.calls = accepting(calls, log)
	}
	return errors.Join(s.run(ctx), front.Close())
}

// measureLines registers the metric of dropped lines.
func (p *program) measureLines(r prometheus.Registerer) {
	if p.lines != nil {
		promauto.With(r).NewCounterFunc(prometheus.CounterOpts{
			Namespace: measure.Namespace, Name: "log_lines_dropped_total", Help: "Log lines that were dropped because the reader of the log was too slow.",
		}, func() float64 { return float64(p.lines.Dropped()) })
	}
}

// listenGRPC returns a listener for gRPC; nil if gRPC is off, or another process has the default port: several services on one
// machine may keep the default.
func listenGRPC(cfg config.Config, log *slog.Logger) (net.Listener, error) {
	if cfg.Role == config.Worker || cfg.GRPCPort == 0 {
		return nil, nil
	}
	address := net.JoinHostPort(cfg.Host, strconv.Itoa(cfg.GRPCPort))
	listener, err := net.Listen("tcp", address)
	if err == nil {
		return listener, nil
	}
	if cfg.GRPCPort != config.DefaultGRPCPort {
		return nil, fmt.Errorf("cannot listen on %s for gRPC: %w: set GRPC_PORT, or GRPC_PORT=0 for none", address, err)
	}
	log.Warn("gRPC is off: the port is in use", "address", address, "remedy", "set GRPC_PORT")
	return nil, nil
}

// server is one run of the service.
type server struct {
	loader   *loader
	frontend *frontend
	listener net.Listener
	calls    net.Listener // listener of gRPC; nil: none
	tls      *tls.Config  // nil: no encryption
}

// run serves until ctx is done, and then shuts down in order: it reports not ready, stops accepting and releases jobs without a
// waiting request, lets requests in flight finish, ends live text, stops the engine, closes the model and unloads the runtime.
func (s *server) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	srv := s.frontend.api.Server()
	srv.TLSConfig = s.tls.Clone() // the server modifies it
	draining := newDrain(s.listener, srv)
	served := make(chan error, 1)
	go func() {
		if s.tls != nil {
			served <- srv.ServeTLS(draining, "", "")
		} else {
			served <- srv.Serve(draining)
		}
		cancel() // serving ends before ctx is done if accepting fails
	}()
	s.loader.log.Info("listening", "address", s.listener.Addr().String(), "version", s.loader.version)
	if cfg := s.loader.cfg; cfg.KeysFile == "" && s.listener.Addr().(*net.TCPAddr).IP.IsUnspecified() {
		s.loader.log.Warn("no API keys are needed on any network of this machine", "remedy", "set API_KEYS_FILE, or APP_HOST=127.0.0.1 for this machine alone")
	}
	stopCalls := s.serveCalls()

	t, err := s.start(ctx)
	stopJobs := func() error { return nil }
	if err == nil {
		s.frontend.warn()
		stopJobs = inBackground(context.Background(), s.frontend.jobs.Run) // jobs continue after the next start
		t.run(ctx, func() { s.frontend.refreshed(t) })
		s.loader.log.Info("shutting down", "timeout", s.loader.cfg.ShutdownTimeout)
	} else if ctx.Err() != nil {
		err = nil // the service was stopped while the model was loading
	}
	err = errors.Join(err, s.stop(srv, draining, stopCalls, t, stopJobs))
	if serveErr := <-served; !errors.Is(serveErr, http.ErrServerClosed) {
		err = errors.Join(err, fmt.Errorf("serve HTTP: %w", serveErr))
	}
	s.loader.log.Info("stopped")
	return err
}

// serveCalls serves gRPC if there is a listener for it. stop ends serving, and lets calls in flight finish until a context is
// done.
func (s *server) serveCalls() (stop func(timeout context.Context)) {
	if s.calls == nil {
		return func(context.Context) {}
	}
	var options []grpc.ServerOption
	if s.tls != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(s.tls)))
	}
	calls := s.frontend.api.GRPC(options...)
	s.loader.log.Info("listening for gRPC", "address", s.calls.Addr().String())
	go func() {
		if err := calls.Serve(s.calls); err != nil {
			s.loader.log.Error("gRPC has ended", "error", err)
		}
	}()
	return func(timeout context.Context) {
		defer context.AfterFunc(timeout, calls.Stop)()
		calls.GracefulStop()
	}
}

// start loads the models, tries them and reports ready.
func (s *server) start(ctx context.Context) (*translation, error) {
	begin, log := time.Now(), s.loader.log
	t, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.frontend.ready(t); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	log.Info("ready", "models", len(modelsOf(t.catalog)), "languages", len(t.catalog.Languages()), "took", time.Since(begin).Round(time.Millisecond))
	s.welcome(t)
	return t, nil
}

// load creates the translation service for the role of the process.
func (s *server) load(ctx context.Context) (*translation, error) {
	s.loader.ceiling = s.frontend.gate
	if m := s.frontend.memories; m != nil { // a nil service is no nil interface
		s.loader.memories = m
	}
	broker, registry := s.frontend.broker, s.frontend.metrics.Registry()
	switch s.loader.cfg.Role {
	case config.Gateway:
		return s.loader.join(broker, registry)
	case config.Worker:
		return s.loader.loadWorker(ctx, broker, registry)
	}
	return s.loader.load(ctx, registry)
}

// stop ends serving; t is nil if nothing was loaded.
func (s *server) stop(srv *http.Server, draining *drain, stopCalls func(timeout context.Context), t *translation, stopJobs func() error) error {
	// Time for answers to be sent after the engine has ended their requests.
	const grace = time.Second

	s.frontend.api.Drain()
	timeout, cancel := context.WithTimeout(context.Background(), s.loader.cfg.ShutdownTimeout)
	defer cancel()
	var others sync.WaitGroup
	others.Go(func() { _ = stopJobs() }) // stopJobs has no error
	others.Go(func() { stopCalls(timeout) })
	err := errors.Join(draining.end(timeout), srv.Shutdown(timeout))
	s.frontend.api.WaitLive(timeout)
	others.Wait()
	s.frontend.live.Close() // after requests, which may have waited for sessions
	late := errors.Is(err, context.DeadlineExceeded)
	if late {
		err = fmt.Errorf("requests in flight did not end within %s and were cut off: raise SHUTDOWN_TIMEOUT", s.loader.cfg.ShutdownTimeout)
	}
	if t != nil {
		err = errors.Join(err, t.Close())
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
