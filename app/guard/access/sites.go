package access

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Sites decides which pages may use a service that is reachable from a browser, in which pages send requests without the user's
// consent: pages of the service itself, and pages that [CORS] allows. Programs and browser extensions are no pages. The zero
// Sites knows no name of the service.
//
// A page of another site has an Origin or a Sec-Fetch-Site that says so, which no page can change. A page whose name resolves to
// the service's address (DNS rebinding) has, for the browser, the same origin as the service. Two things give such a page away:
// its name is in the public DNS, because a stranger cannot own another name, and the page came by plain HTTP, because the service
// has no certificate for that name.
type Sites struct {
	names  []string // configured names; *.example.com for all subdomains
	own    string   // name of the machine
	strict bool     // other names are refused also to programs
	any    bool     // all names are accepted
}

// NewSites returns the Sites of a service with some names: example.com, *.example.com for all subdomains, or * alone for all.
// With names, requests for other names are refused, also those of programs, except for IP addresses and names that are not in the
// public DNS. own is the machine's name, which is also accepted.
func NewSites(names []string, own string) (Sites, error) {
	s := Sites{own: strings.ToLower(own)}
	for _, name := range names {
		switch name = strings.ToLower(strings.TrimSpace(name)); name {
		case "":
			continue
		case "*":
			s.any = true
			continue
		}
		plain := strings.TrimPrefix(name, "*.")
		if u, err := url.Parse("//" + plain); err != nil || plain == "" || u.Hostname() != plain || strings.ContainsAny(plain, "*, ") {
			return s, fmt.Errorf("%.60q is not a host's name: use such as translate.example.com, without a scheme and a port, or *.example.com", name)
		}
		s.names, s.strict = append(s.names, strings.TrimSuffix(name, ".")), true
	}
	return s, nil
}

// Guard checks a request, after CORS; allowed tells that all pages may call the path. Guard returns an [InvalidHeader] for a
// request that its page may not send. A page of another site may only read, and only from routes that cost nothing: [Gate.Enter]
// refuses its requests for other routes.
func (s Sites) Guard(r *http.Request, allowed bool) error {
	if err := s.checkHost(r); err != nil {
		return err
	}
	err := s.checkPage(r, allowed || visitOf(r).answer.Get("Access-Control-Allow-Origin") != "")
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		visitOf(r).otherSite = err
		return nil
	}
	return err
}

// Private returns a handler that only pages of the service may use, and only under the names known here.
func (s Sites) Private(h http.Handler) http.Handler {
	s.strict = true
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := s.checkHost(r)
		if err == nil {
			err = s.checkPage(r, false)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// checkHost refuses a request for a name that is not the service's.
func (s Sites) checkHost(r *http.Request) error {
	if s.knows(r) {
		return nil
	}
	return InvalidHeader("Host", r.Host, "a name that the service is known by: its operator adds them to ALLOWED_HOSTS")
}

// checkPage refuses a request from a page of another site, unless it is allowed.
func (s Sites) checkPage(r *http.Request, allowed bool) error {
	if allowed || s.ownPage(r) {
		return nil
	}
	name := "Origin"
	if r.Header.Get(name) == "" {
		name = "Sec-Fetch-Site"
	}
	return InvalidHeader(name, r.Header.Get(name), "requests from a page of the service, or have its operator name the page's origin in CORS_ORIGINS")
}

// ownPage reports whether a request comes from a page of the service, or from no page. A proxy may have changed the host with
// which the page's origin is compared.
func (s Sites) ownPage(r *http.Request) bool {
	origin, err := url.Parse(r.Header.Get("Origin"))
	if err == nil && (strings.HasSuffix(origin.Scheme, "-extension") || origin.Port() == "" && s.named(origin.Hostname())) {
		return true
	}
	changing := http.Request{Method: http.MethodPost, Header: r.Header, Host: r.Host, URL: r.URL}
	return http.NewCrossOriginProtection().Check(&changing) == nil
}

// knows reports whether a request is for a name of the service, or at least not sent by a page of that name.
func (s Sites) knows(r *http.Request) bool {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return s.any || !publicName(host) || host == s.own || s.named(host) || !s.strict && !byPlainHTTP(r)
}

// byPlainHTTP reports whether a page has sent a request by plain HTTP to its own host. GETs for the own host have only a Referer.
func byPlainHTTP(r *http.Request) bool {
	for _, name := range []string{"Origin", "Referer"} {
		if u, err := url.Parse(r.Header.Get(name)); err == nil && u.Scheme == "http" && strings.EqualFold(u.Host, r.Host) {
			return true
		}
	}
	return false
}

func (s Sites) named(host string) bool {
	return slices.ContainsFunc(s.names, func(name string) bool {
		below, all := strings.CutPrefix(name, "*")
		return host != "" && (name == host || all && strings.HasSuffix(host, below))
	})
}

// publicName reports whether a name may belong to a stranger: it is in the public DNS. IP addresses, names of one label and names
// below a domain that is not public, such as localhost, local, internal and svc, are not.
func publicName(host string) bool {
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil || !strings.Contains(host, ".") {
		return false
	}
	suffix, listed := publicsuffix.PublicSuffix(host)
	return listed || strings.Contains(suffix, ".")
}
