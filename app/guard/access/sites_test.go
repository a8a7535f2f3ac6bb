package access

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What pages of other sites send is refused where it changes something, and flagged where it reads; what programs,
// extensions and the service's own pages send is let in, behind whatever proxy. A page of a stranger's name is of
// another site even where its name is the service's.
func TestSites(t *testing.T) {
	const open, flagged, refused = "open", "flagged", "refused"
	unset, err := NewSites(nil, "Server.Example.com")
	require.NoError(t, err)
	set, err := NewSites([]string{" Translate.example.com", "*.apps.example.org"}, "server.example.com")
	require.NoError(t, err)
	anyName, err := NewSites([]string{"*"}, "")
	require.NoError(t, err)
	origin := func(o string, more ...string) []string { return append([]string{"Origin", o}, more...) }
	for name, test := range map[string]struct {
		sites   Sites
		host    string
		headers []string
		want    string // of a POST; GETs are flagged where they are not refused by their host
		get     string
	}{
		"a program":                   {unset, "translate.corp.example", nil, open, open},
		"a program, by any name":      {unset, "evil.example.com", []string{"User-Agent", "curl", "Referer", "http://translate.google.com/"}, open, open},
		"its own page":                {unset, "localhost:9527", origin("http://localhost:9527", "Sec-Fetch-Site", "same-origin"), open, open},
		"its own page, at an address": {unset, "192.0.2.1:9527", origin("http://192.0.2.1:9527"), open, open},
		"its own page, IPv6":          {unset, "[2001:db8::1]:9527", origin("http://[2001:db8::1]:9527"), open, open},
		"its own page, short name":    {unset, "nas:9527", origin("http://nas:9527"), open, open},
		"its own page, private name":  {unset, "nas.lan:9527", origin("http://nas.lan:9527"), open, open},
		"its own page, a cluster's":   {unset, "dragoman.translation.svc.cluster.local", origin("http://dragoman.translation.svc.cluster.local"), open, open},
		"its own page, its machine":   {unset, "server.example.com:9527", origin("http://server.example.com:9527"), open, open},
		"behind a proxy with TLS":     {unset, "translate.example.com", origin("https://translate.example.com", "Sec-Fetch-Site", "same-origin"), open, open},
		"behind one that renames it":  {unset, "backend:9527", origin("https://translate.example.com", "Sec-Fetch-Site", "same-origin"), open, open},
		"typed into a browser":        {unset, "translate.example.com", []string{"Sec-Fetch-Site", "none"}, open, open},
		"an extension":                {unset, "localhost:9527", origin("chrome-extension://abcdef", "Sec-Fetch-Site", "cross-site"), open, open},
		"another extension":           {unset, "translate.example.com:9527", origin("moz-extension://a-b-c"), open, open},
		"a third":                     {unset, "127.0.0.1", origin("safari-web-extension://A-B"), open, open},

		"another site":                  {unset, "localhost:9527", origin("https://evil.example", "Sec-Fetch-Site", "cross-site"), refused, flagged},
		"another site, old browser":     {unset, "localhost:9527", origin("https://evil.example"), refused, flagged},
		"another site, without CORS":    {unset, "localhost:9527", []string{"Sec-Fetch-Site", "cross-site"}, refused, flagged},
		"another site of the machine":   {unset, "localhost:9527", origin("http://localhost:3000", "Sec-Fetch-Site", "same-site"), refused, flagged},
		"another port of its machine":   {unset, "server.example.com:9527", origin("http://server.example.com"), refused, flagged},
		"a sandbox":                     {unset, "localhost:9527", origin("null"), refused, flagged},
		"a redirection":                 {unset, "localhost:9527", origin("null", "Sec-Fetch-Site", "cross-site"), refused, flagged},
		"an extension's name in a site": {unset, "localhost:9527", origin("https://chrome-extension.example"), refused, flagged},

		"a stranger's name":           {unset, "evil.example.com:9527", origin("http://evil.example.com:9527"), refused, refused},
		"a stranger's name, claims":   {unset, "evil.example.com:9527", origin("http://evil.example.com:9527", "Sec-Fetch-Site", "same-origin", "X-Forwarded-Proto", "https"), refused, refused},
		"a stranger's name, GET":      {unset, "evil.example.com:9527", []string{"Referer", "http://evil.example.com:9527/x"}, refused, refused},
		"a stranger's name, dot":      {unset, "evil.example.com.:9527", origin("http://evil.example.com.:9527"), refused, refused},
		"a stranger's name, capitals": {unset, "EVIL.example.COM", origin("http://evil.example.com"), refused, refused},
		"a shared domain's name":      {unset, "evil.github.io", origin("http://evil.github.io"), refused, refused},
		"a name that begins as one":   {unset, "localhost.evil.com", origin("http://localhost.evil.com"), refused, refused},
		"an address in a name":        {unset, "127.0.0.1.evil.com:9527", origin("http://127.0.0.1.evil.com:9527"), refused, refused},

		"a name that is set":      {set, "translate.example.com", origin("http://translate.example.com"), open, open},
		"one that a pattern sets": {set, "mt.apps.example.org:80", origin("http://mt.apps.example.org"), open, open},
		"its proxy renames it":    {set, "backend.example.com", origin("http://translate.example.com"), refused, refused},
		"its proxy calls it":      {set, "127.0.0.1:9527", origin("http://translate.example.com"), open, open},
		"another name, a program": {set, "evil.example.com", nil, refused, refused},
		"another name, with TLS":  {set, "evil.example.com", []string{"Sec-Fetch-Site", "same-origin"}, refused, refused},
		"above a pattern":         {set, "apps.example.org", nil, refused, refused},
		"beside a pattern":        {set, "evilapps.example.org", nil, refused, refused},
		"a probe":                 {set, "10.1.2.3:9527", nil, open, open},
		"HTTP/1.0":                {set, "", nil, open, open},
		"a service":               {set, "dragoman:9527", nil, open, open},
		"another page, names set": {set, "translate.example.com", origin("https://evil.example"), refused, flagged},
		"another port, names set": {set, "translate.example.com", origin("https://translate.example.com:8443"), refused, flagged},

		"any name":                   {anyName, "evil.example.com", origin("http://evil.example.com"), open, open},
		"any name, and another site": {anyName, "evil.example.com", origin("http://example.com"), refused, flagged},
	} {
		for method, want := range map[string]string{"POST": test.want, "PATCH": test.want, "DELETE": test.want, "BREW": test.want, "GET": test.get, "HEAD": test.get} {
			r := request(method, test.headers...)
			r.Host = test.host
			got := open
			if err := test.sites.Guard(r, false); err != nil {
				got = refused
				assert.Regexp(t, "CORS_ORIGINS|ALLOWED_HOSTS", err.Error(), name)
			} else if visitOf(r).otherSite != nil {
				got = flagged
				assert.Error(t, (*Gate)(nil).Enter(r, ""), name)
				_, err := (*Gate)(nil).MustReadKey(r, "")
				assert.Error(t, err, name)
			}
			assert.Equal(t, want, got, "%s, %s", name, method)
		}
	}
}

// Pages that CORS allows may call what they ask for, if the name is the service's.
func TestSitesWithCORS(t *testing.T) {
	guard := func(host, origin string, allowed bool) error {
		r, w := httptest.NewRequest("POST", "/", nil), httptest.NewRecorder()
		r.Host = host
		r.Header.Set("Origin", origin)
		cors, err := NewCORS([]string{"https://app.example.com"})
		require.NoError(t, err)
		assert.False(t, cors(w, r))
		return Sites{}.Guard(Proxies{}.Resolve(w, r), allowed)
	}
	assert.NoError(t, guard("localhost", "https://app.example.com", false))
	assert.Error(t, guard("localhost", "https://evil.example.com", false))
	assert.NoError(t, guard("localhost", "https://evil.example.com", true))
	assert.NoError(t, guard("translate.example.com", "http://evil.example.com", true))
	assert.Error(t, guard("evil.example.com", "http://evil.example.com", true))
}

func TestSitesRefuseNames(t *testing.T) {
	for _, name := range []string{"https://example.com", "example.com:9527", "a*.example.com", "*.", "a b", "example.com/", "[::1", "**", "user@example.com", "*.*.example.com"} {
		_, err := NewSites([]string{name}, "")
		assert.Error(t, err, name)
	}
	s, err := NewSites([]string{"", " "}, "")
	require.NoError(t, err)
	assert.False(t, s.strict)
}

// Profiles are for nobody's pages, and under no name that is not known, whoever asks.
func TestPrivate(t *testing.T) {
	h := Sites{}.Private(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for url, headers := range map[string][]string{
		"http://localhost:6060/": nil, "http://127.0.0.1:6060/": {"Sec-Fetch-Site", "none"},
		"http://evil.example.com:6060/": nil, "http://localhost:6060/x": {"Sec-Fetch-Site", "cross-site"}, "http://localhost:6060/y": {"Origin", "null"},
	} {
		r := httptest.NewRequest("GET", url, nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		assert.Equal(t, map[bool]int{true: 200, false: 403}[strings.HasSuffix(url, ":6060/") && !strings.Contains(url, "evil")], w.Code, url)
	}
}
