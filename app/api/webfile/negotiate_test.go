package webfile

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// accepting returns a request with the lines of an Accept header.
func accepting(header string, lines ...string) *http.Request {
	return &http.Request{Header: http.Header{header: lines}}
}

func TestPrefersHTML(t *testing.T) {
	for _, test := range []struct {
		name   string
		accept string
		want   bool
	}{
		{"Chrome and Edge", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7", true},
		{"Firefox", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true},
		{"Firefox 128", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/png,image/svg+xml,*/*;q=0.8", true},
		{"Safari", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true},
		{"Lynx", "text/html, text/plain, text/sgml, text/css, application/xhtml+xml, */*;q=0.01", true},
		{"w3m", "text/html, text/*;q=0.5, image/*, application/*", false}, // JSON has the same preference
		{"Java's URLConnection", "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", true},

		{"no header", "", false},
		{"curl, wget, requests, fetch", "*/*", false},
		{"curl -H for JSON", "application/json", false},
		{"axios", "application/json, text/plain, */*", false},
		{"jQuery", "application/json, text/javascript, */*; q=0.01", false},
		{"an image", "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8", false},
		{"a style", "text/css,*/*;q=0.1", false},
		{"a probe of Kubernetes", "*/*", false},

		{"as much of both", "text/html, application/json", false},
		{"JSON first, HTML more", "application/json;q=0.5, text/html", true},
		{"HTML first, JSON more", "text/html;q=0.5, application/json", false},
		{"HTML refused", "text/html;q=0, */*", false},
		{"JSON refused", "application/json;q=0, */*", true},
		{"any text", "text/*", true},
		{"any text a little", "text/*;q=0.1, application/json;q=0.2", false},
		{"the most specific range counts", "text/*;q=0.1, text/html;q=0.9, application/json;q=0.5", true},
		{"capitals and spaces", " TEXT/HTML ; Q=1.0 , application/json ; q=0.9", true},
		{"parameters", "text/html;charset=utf-8", true},
		{"only a wildcard with a weight", "*/*;q=0.1", false},
		{"twice", "text/html;q=0.1, application/json;q=0.5, text/html;q=0.9", true},

		{"weight above 1", "text/html;q=2", false},
		{"weight below 0", "text/html;q=-1", false},
		{"weight that is no number", "text/html;q=high", false},
		{"NaN", "text/html;q=NaN", false},
		{"infinity", "text/html;q=Inf", false},
		{"empty weight", "text/html;q=", false},
		{"only separators", ",,;;,;q=1,", false},
		{"something longer", "text/html2", false},
		{"bytes", "\xff\x00text/html", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.want, PrefersHTML(accepting("Accept", test.accept)))
		})
	}
	assert.False(t, PrefersHTML(&http.Request{}), "no headers at all")
	assert.True(t, PrefersHTML(accepting("Accept", "application/json;q=0.5", "text/html")), "several lines are one list")
}

func TestAcceptsGzip(t *testing.T) {
	for accept, want := range map[string]bool{
		"gzip, deflate, br, zstd": true, "gzip": true, "GZIP": true, "x-gzip": true, "*": true, "deflate, gzip;q=0.5": true,
		"": false, "identity": false, "br": false, "gzip;q=0": false, "gzip;q=0.000, *": false, "*;q=0": false, "gzipped": false,
	} {
		assert.Equal(t, want, acceptsGzip(accepting("Accept-Encoding", accept)), accept)
	}
}

func FuzzWeights(f *testing.F) {
	for _, seed := range []string{"", "text/html,application/xml;q=0.9,*/*;q=0.8", "a;q=1e-400", `a;x="b,c;q=0"`, "q=1;q=2", ",;=,;q", "\xff;q=\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		accepted := weights([]string{header})
		for name, q := range accepted {
			assert.NotEmpty(t, name)
			assert.True(t, q >= 0 && q <= 1, "%q has the weight %v", name, q)
		}
		assert.Equal(t, accepted, weights([]string{header, header}), "the same line again changes nothing")
	})
}
