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
	service := remote{Program: p}
	cmd := &cobra.Command{
		Use: "mcp", Short: "Offer translation to an agent by the Model Context Protocol", Long: mcpHelp, Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return service.serveTools(cmd.Context()) },
	}
	service.define(cmd.Flags())
	return cmd
}

// serveTools offers tools that call the running service, or a service that the command runs itself.
func (r *remote) serveTools(ctx context.Context) (err error) {
	c, err := r.client(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	cfg := mcp.Config{Version: r.Version, Client: c, Files: true}
	if r.url == "" && !answers(ctx, c) {
		own, err := r.ownService(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, own.end()) }()
		cfg.Client, cfg.Ready = own.Client, own.ready
	}
	return mcp.Serve(ctx, mcp.New(cfg), r.Stdin, r.Stdout)
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
func (r *remote) ownService(ctx context.Context) (*ownService, error) {
	cfg, log, err := Configure(r.Environ, r.Stderr)
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
	own := remote{r.Program, "http://" + net.JoinHostPort(loopback, strconv.Itoa(cfg.Port)), r.key}
	if s.Client, err = own.client(ctx); err != nil {
		return nil, err
	}
	ctx, s.stop = context.WithCancel(ctx)
	running, ended := context.WithCancel(context.WithoutCancel(ctx))
	s.running = running
	go func() {
		defer ended()
		s.err = r.RunService(ctx, cfg, log)
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

// freePort returns a free port. If another process takes the port before the service does, the service reports that.
func freePort() (int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}
