package cli

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dragoman/app/config"
)

// health returns the command that asks a running service for its health. Every answer but 200 is an error.
func (p *Program) health() *cobra.Command {
	var base string
	var timeout time.Duration
	var live bool
	cmd := &cobra.Command{
		Use: "health", Short: "Check a running service", Args: noArguments,
		Long: `Asks the service on this machine, or at --url, whether it is ready to translate,
or with --live whether it works at all. Exits with 0 if so, and with 1 and the
reason if not. Meant for health checks in images without a shell and curl.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if timeout <= 0 {
				return usagef("health: --timeout %s: use a time above 0, such as 3s", timeout)
			}
			route, well := "readyz", "ready"
			if live {
				route, well = "healthz", "alive"
			}
			target, err := serviceURL(p.Environ, base)
			if err != nil {
				return usagef("health: %w", err)
			}
			if err := probe(cmd.Context(), "dragoman-health/"+p.Version, target.JoinPath(route).String(), timeout, base == ""); err != nil {
				return err
			}
			_, err = fmt.Fprintln(p.Stdout, well)
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&base, "url", "", "address of the service (this machine, at APP_HOST and APP_PORT)")
	flags.DurationVar(&timeout, "timeout", 3*time.Second, "time to wait for the answer")
	flags.BoolVar(&live, "live", false, "ask /healthz (the process works), not /readyz (it can translate now)")
	return cmd
}

// serviceURL returns the address of the service: base, or if base is empty the address at which the command serve listens with
// the same environment.
func serviceURL(environ []string, base string) (*url.URL, error) {
	if base != "" {
		if _, _, err := net.SplitHostPort(base); err == nil && !strings.Contains(base, "/") {
			base = "http://" + base
		}
		u, err := url.Parse(base)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("--url %q: use an address such as http://localhost:9527, or localhost:9527", base)
		}
		return u, nil
	}
	cfg, err := config.Parse(environ)
	if err != nil {
		return nil, err
	}
	if cfg.Port == 0 {
		return nil, errors.New("APP_PORT=0 is a port that only the service's log tells: use --url")
	}
	scheme := "http"
	if cfg.TLSCert != "" {
		scheme = "https"
	}
	return &url.URL{Scheme: scheme, Host: net.JoinHostPort(reachable(cfg.Host), strconv.Itoa(cfg.Port))}, nil
}

// reachable returns the address, on the same machine, of a service that listens on host. For all addresses, this is the loopback.
func reachable(host string) string {
	ip, err := netip.ParseAddr(host)
	switch {
	case err != nil || !ip.Unmap().IsUnspecified():
		return host // a name, or one address
	case ip.Unmap().Is4():
		return "127.0.0.1"
	}
	return "::1"
}

// probe requests target and returns an error with the reason unless the answer is 200. It uses no proxy and follows no
// redirection, because an answer in place of the service's does not tell the service's health. The certificate of this machine's
// own service need not match the requested address.
func probe(ctx context.Context, agent, target string, timeout time.Duration, own bool) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", agent)
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: own}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s does not answer within %s", target, timeout)
	}
	if err != nil {
		return fmt.Errorf("the service does not answer: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %d: %s", target, resp.StatusCode, reason(resp.Body))
	}
	return nil
}

// reason returns the message in the body of an error, at most 200 characters of it.
func reason(body io.Reader) string {
	// An error while reading leaves a shorter reason; the status is known already.
	raw, _ := io.ReadAll(io.LimitReader(body, 4<<10))
	var answer struct {
		Error struct{ Code, Message string }
	}
	if json.Unmarshal(raw, &answer) == nil && answer.Error.Message != "" {
		return fmt.Sprintf("%.50s: %.200s", answer.Error.Code, answer.Error.Message)
	}
	return fmt.Sprintf("%.200q", raw)
}
