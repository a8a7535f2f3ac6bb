package access

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rs/cors"
)

// CORS sets the headers with which browsers let pages of other origins call the service. A CORS reports whether the request is a
// preflight, to which 204 is the whole answer. A CORS must run before the gate and before everything else that answers, because
// browsers send preflights without a key.
//
// Cookies and passwords of the browser are never accepted from other origins; API keys are, because a page sends them in a header
// of its own. A preflight from an allowed origin is answered with the headers that it asks for.
type CORS func(w http.ResponseWriter, r *http.Request) (preflight bool)

// NewCORS returns the CORS that lets pages of some origins call the service: https://app.example.com, https://*.example.com for
// all subdomains, or * alone for every origin. Without origins it returns nil.
func NewCORS(origins []string) (CORS, error) {
	var allowed []string
	for _, origin := range origins {
		if origin = strings.TrimSpace(origin); origin == "" {
			continue
		}
		if err := checkOrigin(origin); err != nil {
			return nil, err
		}
		allowed = append(allowed, origin)
	}
	if len(allowed) == 0 {
		return nil, nil
	}
	if len(allowed) > 1 && slices.Contains(allowed, "*") {
		return nil, errors.New("* is every origin: name it alone, or leave it out")
	}
	return corsOf(allowed), nil
}

// OpenCORS returns the CORS for all origins, for APIs whose originals let every page call them.
func OpenCORS() CORS { return corsOf([]string{"*"}) }

func corsOf(origins []string) CORS {
	handler := cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete},
		AllowedHeaders: []string{"*"}, // those that a preflight asks for, because SDKs add headers of their own
		ExposedHeaders: []string{"Retry-After", "RateLimit", "RateLimit-Policy", "X-Request-Id", "Dragoman-Cache", "Dragoman-Flags"},
		MaxAge:         7200, // seconds; the maximum of Chromium
	})
	return func(w http.ResponseWriter, r *http.Request) bool {
		handler.HandlerFunc(w, r)
		return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
	}
}

// checkOrigin requires an origin as browsers write it, because it is compared as text: another form would never match.
func checkOrigin(origin string) error {
	if origin == "*" {
		return nil
	}
	// A star may stand for a host's first labels, with a dot after it: https://*example.com would admit notexample.com.
	plain := strings.ToLower(strings.Replace(origin, "://*.", "://", 1))
	u, err := url.Parse(plain)
	if err != nil || u.Hostname() == "" || u.Scheme+"://"+u.Host != plain || strings.HasSuffix(plain, ":") ||
		strings.ContainsFunc(plain, func(r rune) bool { return r == '*' || r <= ' ' || r > '~' }) {
		return fmt.Errorf("%.60q is not an origin: use a scheme and a host, such as https://app.example.com or https://*.example.com", origin)
	}
	if port := u.Port(); u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		return fmt.Errorf("%.60q: browsers leave the usual port %s out, do so too", origin, port)
	}
	return nil
}
