package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"sync"
	"time"
)

// profiles serves the profiles of package runtime/pprof below /debug/pprof/. It does not belong on the service's own address:
// profiles show memory, and taking them costs time. It has a mux of its own; http.DefaultServeMux is not served.
func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index) // and every profile by name
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol) // long lists of addresses
	return mux
}

// StartPprof serves profiles on an address of its own, such as localhost:6060, until stop is called, which aborts profiles being
// taken. With address "" it does nothing. guard restricts access. It fails if it cannot listen.
func StartPprof(address string, guard func(http.Handler) http.Handler, log *slog.Logger) (stop func() error, err error) {
	if address == "" {
		return func() error { return nil }, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s for profiles: %w: set PPROF_ADDR", address, err)
	}
	level := slog.LevelInfo
	if ip := listener.Addr().(*net.TCPAddr).IP; !ip.IsLoopback() {
		level = slog.LevelWarn // any client that reaches it can read memory
	}
	log.Log(context.Background(), level, "serving profiles", "address", listener.Addr().String())

	// No further timeouts: a profile takes as long as its client asks.
	srv := &http.Server{
		Handler: guard(profiles()), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(listener) }()
	return sync.OnceValue(func() error {
		err := srv.Close()
		if serveErr := <-served; !errors.Is(serveErr, http.ErrServerClosed) {
			err = errors.Join(err, fmt.Errorf("serve profiles: %w", serveErr))
		}
		return err
	}), nil
}
