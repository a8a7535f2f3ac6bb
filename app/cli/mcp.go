package cli

import (
	"context"
	"errors"
	"net"
	"strconv"

	"github.com/spf13/cobra"

	"dragoman/app/api/mcp"
	"dragoman/app/client"
)

const mcpHelp = `Offers translation to an agent by the Model Context Protocol, on standard input and output: tools
that translate texts and documents, detect languages and list them. In the agent's settings the
command is "dragoman" with the argument "mcp".

The tools use the service at --url, or on this machine. If none runs here, this command runs one
with the settings of the environment until it ends.`

// mcp returns the command that offers tools on standard input and output.
func (p *Program) mcp() *cobra.Command {
	var service remote
	cmd := &cobra.Command{
		Use: "mcp", Short: "Offer translation to an agent by the Model Context Protocol", Long: mcpHelp, Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.runTools(cmd.Context(), service) },
	}
	service.define(cmd.Flags())
	return cmd
}

func (p *Program) runTools(ctx context.Context, service remote) (err error) {
	c, err := p.client(service)
	if err != nil {
		return err
	}
	defer c.Close()
	cfg := mcp.Config{Version: p.Version, Client: c, Files: true}
	if service.url == "" && !answers(ctx, c) {
		own, err := p.ownService(ctx, service.key)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, own.end()) }()
		cfg.Client, cfg.Ready = own.Client, own.ready
	}
	return mcp.Serve(ctx, mcp.New(cfg), p.Stdin, p.Stdout)
}

// answers reports whether a service is running, ready or not.
func answers(ctx context.Context, c *client.Client) bool {
	err := c.Ready(ctx)
	_, refused := errors.AsType[*client.Error](err)
	return err == nil || refused
}

// ownService is a service that a command runs for itself.
type ownService struct {
	*client.Client
	running context.Context // done when the service has ended
	stop    context.CancelFunc
	err     error // of the ended service
}

// ownService runs a service on a port of the loopback. The caller must end it.
func (p *Program) ownService(ctx context.Context, key string) (*ownService, error) {
	cfg, log, err := Configure(p.Environ, p.Stderr)
	if err != nil {
		return nil, err
	}
	if cfg.Port, err = freePort(); err != nil {
		return nil, err
	}
	cfg.Host, cfg.GRPCPort, cfg.TLSCert, cfg.TLSKey = loopback, 0, "", ""
	if err := cfg.CheckServe(); err != nil {
		return nil, &UsageError{err}
	}
	s := &ownService{}
	if s.Client, err = p.client(remote{url: "http://" + net.JoinHostPort(loopback, strconv.Itoa(cfg.Port)), key: key}); err != nil {
		return nil, err
	}
	ctx, s.stop = context.WithCancel(ctx)
	running, ended := context.WithCancel(context.WithoutCancel(ctx))
	s.running = running
	go func() {
		defer ended()
		s.err = p.RunService(ctx, cfg, log)
	}()
	return s, nil
}

// ready waits until the service accepts requests.
func (s *ownService) ready(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.running, cancel)()
	err := s.WaitReady(ctx)
	if s.running.Err() != nil {
		return errors.Join(errors.New("the service has ended"), s.err)
	}
	return err
}

func (s *ownService) end() error {
	s.stop()
	s.Close()
	<-s.running.Done()
	return s.err
}

const loopback = "127.0.0.1"

// freePort returns a free port. If another process takes it before the service does, the service reports that.
func freePort() (int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}
