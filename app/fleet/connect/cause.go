package connect

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// The client library says "broken pipe", "EOF" or "context deadline exceeded" where a server refuses connections, or speaks TLS
// where it should not. Therefore a probe asks the server itself: it connects, sends PING, and reads the answer.

// address is the address of the broker, or of a part of it.
type address struct {
	network, at string
	tls         *tls.Config // nil if the client does not use TLS
}

// probeTime is the longest time of each step of a probe.
const probeTime = time.Second

// remedies tell what to do about errors whose text contains one of the signs.
var remedies = []struct {
	signs  []string
	remedy string
}{
	{[]string{"WRONGPASS", "NOAUTH", "without any password configured"}, "set the user and password in BROKER_URL: redis://USER:PASSWORD@HOST:PORT"},
	{[]string{"NOPERM"}, "let the user in BROKER_URL run all commands on keys and channels that begin with BROKER_PREFIX"},
	{[]string{"READONLY"}, "name the primary in BROKER_URL, or Sentinels that know it by ?master_name="},
	{[]string{"cluster support disabled"}, "leave ?addr= out of BROKER_URL"},
	{[]string{"CLUSTERDOWN", "MOVED ", "CROSSSLOT"}, "it is a node of a cluster: add ?addr=HOST:PORT to BROKER_URL, or where that is there, see CLUSTER INFO"},
	{[]string{"all sentinels"}, "name Sentinels in BROKER_URL, or leave ?master_name= out"},
	{[]string{"max number of clients"}, "raise maxclients of the server"},
	{[]string{"DENIED"}, "give the server a password, or set its protected-mode to no"},
	{[]string{"OOM "}, "raise maxmemory of the server"},
	{[]string{"certificate required", "bad certificate"}, "set tls-auth-clients of the server to no: members have no certificates"},
	{[]string{"unknown authority", "not trusted"}, "name the file of its authority by SSL_CERT_FILE"},
}

// withRemedy adds the remedy for an error, and reports whether there is one.
func withRemedy(err error) (error, bool) {
	for _, r := range remedies {
		for _, sign := range r.signs {
			if strings.Contains(err.Error(), sign) {
				return fmt.Errorf("%w: %s", err, r.remedy), true
			}
		}
	}
	return err, false
}

// Cause returns the cause of a client's error, with a remedy, as far as the cause can be found out.
func (c *Client) Cause(ctx context.Context, err error) error {
	if explained, known := withRemedy(err); known {
		return explained
	}
	if _, said := errors.AsType[redis.Error](err); said {
		return err // the error is the server's own answer
	}
	for _, s := range c.servers {
		if found := s.probe(ctx); found != nil {
			found, _ = withRemedy(found)
			return found
		}
	}
	return err
}

// probe returns why the server cannot be used; nil if the probe finds no cause.
func (s address) probe(ctx context.Context) error {
	if s.tls != nil {
		err := s.handshake(ctx, s.tls)
		if _, plain := errors.AsType[tls.RecordHeaderError](err); !plain && !timedOut(err) {
			return err
		}
		if answer, err := s.ask(ctx, "PING\r\n"); err == nil && answer != "" {
			return errors.New("the server speaks no TLS: use redis:// in BROKER_URL")
		}
		return err
	}
	answer, err := s.ask(ctx, "PING\r\n")
	if err != nil && !timedOut(err) && !errors.Is(err, errDial) {
		if answer, err = s.ask(ctx, ""); timedOut(err) { // the server may answer before it reads anything
			err = nil
		}
	}
	switch refusal, refused := strings.CutPrefix(answer, "-"); {
	case strings.HasPrefix(answer, "+"), strings.HasPrefix(refusal, "NOAUTH"): // the probe has no password
		return nil
	case refused:
		return errors.New(refusal)
	case err == nil, !timedOut(err) && !errors.Is(err, errDial):
		if host, _, _ := net.SplitHostPort(s.at); speaksTLS(s.handshake(ctx, &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12})) {
			return errors.New("the server wants TLS: use rediss:// in BROKER_URL")
		}
		return fmt.Errorf("%s ends the connection: is it Redis?", s.at)
	case errors.Is(err, errDial):
		return err
	}
	return fmt.Errorf("nothing answers at %s: is it Redis?", s.at)
}

// errDial means that the connection failed.
var errDial = errors.New("cannot connect")

func timedOut(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}

func (s address) dial(ctx context.Context) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: probeTime}).DialContext(ctx, s.network, s.at)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDial, err)
	}
	return conn, errors.Join(conn.SetDeadline(time.Now().Add(probeTime)))
}

// ask sends text, and returns the first line of the answer.
func (s address) ask(ctx context.Context, text string) (line string, err error) {
	conn, err := s.dial(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, text) // a server that refuses may have closed the connection after its line
	line, err = bufio.NewReader(io.LimitReader(conn, 1<<10)).ReadString('\n')
	if printable := strings.TrimSpace(line); strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") {
		return printable, nil
	}
	return "", err
}

// handshake opens a connection with TLS.
func (s address) handshake(ctx context.Context, cfg *tls.Config) error {
	conn, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := tls.Client(conn, cfg).HandshakeContext(ctx); err != nil {
		return fmt.Errorf("TLS with %s: %w", s.at, err)
	}
	return nil
}

// speaksTLS reports whether the error of a handshake, or none, shows that the server speaks TLS.
func speaksTLS(err error) bool {
	_, verified := errors.AsType[*tls.CertificateVerificationError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	return err == nil || verified || alert
}
