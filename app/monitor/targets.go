package monitor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// metricsPath is where servers have their metrics, unless a URL says otherwise.
const metricsPath = "/metrics"

// Targets says which servers there are. What [Targets.File] and [Targets.Resolve] name
// is looked up again at each poll; while that fails, the servers are those of before.
type Targets struct {
	// Servers are http or https URLs, host:port or only a host. A URL without a path is
	// that of a server, and its metrics are at /metrics.
	Servers []string
	// File has a server on each line; blank lines and those that begin with # do not
	// count. "" for none.
	File string
	// Resolve are DNS names, with a port or without: each address of a name is a server.
	Resolve []string
	// Port is that of hosts without one.
	Port int
	// Lookup returns the addresses of a name; nil: those of the system's resolver.
	Lookup func(ctx context.Context, host string) ([]string, error)
}

// target is a server.
type target struct {
	name string // as it is shown
	url  string // of its metrics
}

// targets finds servers. It is used by one goroutine.
type targets struct {
	cfg      Targets
	fixed    []target
	fromFile []target            // of the latest time that it could be read
	resolved map[string][]target // likewise, by what Resolve says
}

// newTargets fails on servers that cannot be understood, on a file that cannot be read,
// and where nothing names a server.
func newTargets(cfg Targets) (*targets, error) {
	if cfg.Lookup == nil {
		cfg.Lookup = net.DefaultResolver.LookupHost
	}
	t := &targets{cfg: cfg, resolved: map[string][]target{}}
	for _, text := range cfg.Servers {
		server, err := parseTarget(text, cfg.Port)
		if err != nil {
			return nil, err
		}
		t.fixed = append(t.fixed, server)
	}
	for _, name := range cfg.Resolve {
		if _, _, err := splitName(name, cfg.Port); err != nil {
			return nil, err
		}
	}
	if cfg.File != "" {
		list, err := readTargets(cfg.File, cfg.Port)
		if err != nil {
			return nil, err
		}
		t.fromFile = list
	}
	if len(cfg.Servers) == 0 && len(cfg.Resolve) == 0 && cfg.File == "" {
		return nil, errors.New("nothing to poll: name a server, a file of servers or a DNS name")
	}
	return t, nil
}

// find returns the servers of the moment, each once, and what went wrong with finding
// them. Each name may take the given time to resolve.
func (t *targets) find(ctx context.Context, patience time.Duration) (list []target, notes []string) {
	if t.cfg.File != "" {
		if fromFile, err := readTargets(t.cfg.File, t.cfg.Port); err != nil {
			notes = append(notes, oneLine(err).Error())
		} else {
			t.fromFile = fromFile
		}
	}
	list = slices.Concat(t.fixed, t.fromFile)
	for _, name := range t.cfg.Resolve {
		if resolved, err := t.resolve(ctx, name, patience); err != nil {
			notes = append(notes, oneLine(err).Error())
		} else {
			t.resolved[name] = resolved
		}
		list = append(list, t.resolved[name]...)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(server target) bool {
		again := seen[server.url]
		seen[server.url] = true
		return again
	}), notes
}

// resolve returns a server for each address of a name, in order of the addresses.
func (t *targets) resolve(ctx context.Context, name string, patience time.Duration) ([]target, error) {
	host, port, err := splitName(name, t.cfg.Port)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	addresses, err := t.cfg.Lookup(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", host, err)
	}
	slices.Sort(addresses)
	list := make([]target, len(addresses))
	for i, address := range addresses {
		if list[i], err = parseTarget(net.JoinHostPort(address, port), 0); err != nil {
			return nil, fmt.Errorf("resolve %s: %w", host, err)
		}
	}
	return list, nil
}

// splitName splits a DNS name with a port or without.
func splitName(name string, defaultPort int) (host, port string, err error) {
	host, port, err = net.SplitHostPort(name)
	if err != nil {
		host, port = name, strconv.Itoa(defaultPort)
	}
	if n, err := strconv.ParseUint(port, 10, 16); host == "" || strings.ContainsAny(host, ":/[]") || err != nil || n == 0 {
		return "", "", fmt.Errorf("%q is no name to resolve: use one such as dragoman-headless:9527", name)
	}
	return host, port, nil
}

// readTargets reads a file of servers.
func readTargets(name string, defaultPort int) ([]target, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []target
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		server, err := parseTarget(line, defaultPort)
		if err != nil {
			return nil, fmt.Errorf("%s line %d: %w", name, n, err)
		}
		list = append(list, server)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return list, nil
}

// parseTarget understands a URL, host:port or a host.
func parseTarget(text string, defaultPort int) (target, error) {
	address := text
	if !strings.Contains(text, "://") {
		if ip := net.ParseIP(text); ip != nil && strings.Contains(text, ":") {
			address = "[" + text + "]" // IPv6 without a port
		}
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return target{}, fmt.Errorf("%q is no server: use one such as http://localhost:9527 or localhost:9527", withoutSecrets(text))
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return target{}, fmt.Errorf("%q has no port that there can be: use 1 to 65535", withoutSecrets(text))
		}
	} else if address != text {
		if defaultPort == 0 {
			return target{}, fmt.Errorf("%q has no port: use one such as %s:9527", withoutSecrets(text), u.Hostname())
		}
		u.Host = net.JoinHostPort(u.Hostname(), strconv.Itoa(defaultPort))
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = metricsPath
	}
	u.Fragment = ""
	name := u.Host
	if u.Path != metricsPath {
		name += u.Path
	}
	return target{name: printable(name), url: u.String()}, nil
}

// withoutSecrets is what was given for a server without what stands before an @.
func withoutSecrets(text string) string {
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		return "…" + text[i:]
	}
	return text
}
