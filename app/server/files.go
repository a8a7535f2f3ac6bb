package server

import (
	"errors"
	"log/slog"
	"net"

	"dragoman/app/config"
	"dragoman/app/outage"
)

// raiseFiles says how to have more files open.
const raiseFiles = "raise it: ulimit -n, LimitNOFILE= in a systemd unit, --ulimit nofile= of a container"

// filesBeside are open files that are no clients' connections: models, stores, those to Redis and to scrapers.
const filesBeside = 512

// checkFiles warns where the process may have fewer files open than clients may have connections; 0: there is no limit.
func (f *frontend) checkFiles(limit uint64) {
	if f.cfg.Role == config.Worker {
		return // which nobody asks but probes
	}
	needed := uint64(f.cfg.Concurrency + f.api.Streams() + filesBeside)
	if limit != 0 && limit < needed {
		f.log.Warn("the limit of open files is low for the connections that are allowed: "+raiseFiles, "limit", limit, "needed", needed)
	}
}

// accepting is a listener that logs why it accepts no connections: a process without files to open says nothing else, since
// what tries again is the server.
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
