package openapi_test

import (
	"compress/gzip"
	"io"
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// All files that the page names exist, and none is on another host.
func TestPage(t *testing.T) {
	h := routerOf(describe(t))
	w := get(h, "/docs")
	assert.Equal(t, 200, w.Code)
	assert.Equal(t, "text/html; charset=utf-8", w.Header().Get("Content-Type"))
	base, err := url.Parse("/docs")
	require.NoError(t, err)
	links := regexp.MustCompile(`(?:href|src)="([^"]*)"`).FindAllStringSubmatch(w.Body.String(), -1)
	assert.Len(t, links, 9)
	for _, link := range links {
		ref, err := url.Parse(link[1])
		require.NoError(t, err)
		assert.False(t, ref.IsAbs(), link[1])
		assert.NotEqual(t, byte('/'), link[1][0], "%s would break below a prefix", link[1])
		file := get(h, base.ResolveReference(ref).Path)
		assert.Equal(t, 200, file.Code, link[1])
		assert.NotEmpty(t, file.Header().Get("ETag"), link[1])
		assert.Equal(t, 304, get(h, base.ResolveReference(ref).Path, "If-None-Match", file.Header().Get("ETag")).Code, link[1])
		assert.Equal(t, 200, ask(h, "HEAD", base.ResolveReference(ref).Path).Code, link[1])
	}
	assert.NotRegexp(t, `<script>|<style|style=| on[a-z]+=`, w.Body.String(), "the policy forbids what is inline")
}

func TestPageFiles(t *testing.T) {
	h := routerOf(describe(t))
	for _, test := range []struct {
		path        string
		status      int
		contentType string
	}{
		{"/docs/docs.js", 200, "text/javascript; charset=utf-8"},
		{"/docs/docs.css", 200, "text/css; charset=utf-8"},
		{"/docs/swagger-ui.css", 200, "text/css; charset=utf-8"},
		{"/docs/favicon-32x32.png", 200, "image/png"},
		{"/docs/index.html", 404, ""},
		{"/docs/oauth2-redirect.html", 404, ""},
		{"/docs/swagger-ui-standalone-preset.js", 404, ""},
		{"/docs/swagger-ui.css.gz", 404, ""},
		{"/docs/embed.go", 404, ""},
		{"/docs/../page.go", 404, ""},
		{"/docs/..%2fopenapi.json", 404, ""},
		{"/docs//docs.js", 404, ""},
	} {
		t.Run(test.path, func(t *testing.T) {
			w := get(h, test.path)
			assert.Equal(t, test.status, w.Code)
			if test.status == 200 {
				assert.Equal(t, test.contentType, w.Header().Get("Content-Type"))
			}
		})
	}
}

// /docs/ redirects to /docs by a relative address, so also behind a proxy's prefix.
func TestPageWithASlash(t *testing.T) {
	w := get(routerOf(describe(t)), "/docs/")
	assert.Equal(t, 301, w.Code)
	assert.Equal(t, "../docs", w.Header().Get("Location"))
}

func TestPagePolicy(t *testing.T) {
	h := routerOf(describe(t))
	for _, path := range []string{"/docs", "/docs/docs.js", "/docs/swagger-ui-bundle.js"} {
		policy := get(h, path).Header().Get("Content-Security-Policy")
		assert.Contains(t, policy, "default-src 'none'", path)
		assert.NotContains(t, policy, "unsafe", path)
		assert.Equal(t, "nosniff", get(h, path).Header().Get("X-Content-Type-Options"), path)
	}
}

// The library's files are compressed in the binary. A client without gzip gets them uncompressed.
func TestPageCompression(t *testing.T) {
	h := routerOf(describe(t))
	const path = "/docs/swagger-ui-bundle.js"
	plain := get(h, path)
	assert.Empty(t, plain.Header().Get("Content-Encoding"))
	packed := get(h, path, "Accept-Encoding", "gzip, br")
	assert.Equal(t, "gzip", packed.Header().Get("Content-Encoding"))
	assert.Contains(t, packed.Header().Values("Vary"), "Accept-Encoding")
	assert.NotEqual(t, plain.Header().Get("ETag"), packed.Header().Get("ETag"))
	assert.Less(t, packed.Body.Len(), plain.Body.Len()/2)
	reader, err := gzip.NewReader(packed.Body)
	require.NoError(t, err)
	unpacked, err := io.ReadAll(reader)
	require.NoError(t, err)
	assert.True(t, plain.Body.String() == string(unpacked))
}

func TestPageNotFound(t *testing.T) {
	assert.Equal(t, "ours", get(routerOf(describe(t)), "/docs/nope").Body.String())
}
