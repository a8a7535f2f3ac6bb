package server

import (
	"errors"
	"log/slog"
	"net"

	"dragoman/app/config"
	"dragoman/app/outage"
)

// raiseFiles describes how to raise the limit of open files.
const raiseFiles = "raise it: ulimit -n, LimitNOFILE= in a systemd unit, --ulimit nofile= of a container"

// filesBeside is the number of open files other than clients' connections: models, stores, connections to Redis and to scrapers.
const filesBeside = 512

// checkFiles warns if the limit of open files is lower than the allowed connections of clients; 0: there is no limit.
func (f *frontend) checkFiles(limit uint64) {
	if f.cfg.Role == config.Worker {
		return // only probes connect to a worker
	}
	needed := uint64(f.cfg.Concurrency + f.api.Streams() + filesBeside)
	if limit != 0 && limit < needed {
		f.log.Warn("the limit of open files is too low for the allowed connections: "+raiseFiles, "limit", limit, "needed", needed)
	}
}

// accepting returns a listener that logs errors of Accept: a process without free files would otherwise be silent, because the
// HTTP server repeats Accept by itself.
func accepting(l net.Listener, log *slog.Logger) net.Listener {
	return &acceptor{l, &outage.Log{Log: log, Level: slog.LevelError, Failing: "connections are not accepted", Over: "connections are accepted again"}}
}

type acceptor struct {
	net.Listener
	outage *outage.Log
}

// Accept implements [net.Listener].
func (a *acceptor) Accept() (net.Conn, error) {
	conn, err := a.Listener.Accept()
	switch {
	case err == nil:
		a.outage.Note(nil)
	case noFiles(err):
		a.outage.Note(err, "limit", openFiles(), "remedy", "the limit of open files is reached: "+raiseFiles)
	case !errors.Is(err, net.ErrClosed):
		a.outage.Note(err)
	}
	return conn, err
}
