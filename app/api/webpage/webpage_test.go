package webpage

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/webfile"
)

// newRouter returns a router with the real site, as in the service.
func newRouter(t *testing.T) (http.Handler, *Site) {
	gin.SetMode(gin.TestMode)
	site, err := New()
	require.NoError(t, err)
	router := gin.New()
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		router.Handle(method, "/", site.Page)
		router.Handle(method, AssetsPath, site.Asset(func(c *gin.Context) {
			c.JSON(http.StatusNotFound, gin.H{"error": "not_found"})
		}))
	}
	return router, site
}

// do sends a request without a body; headers are alternating names and values.
func do(h http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// bodyOf returns a file's text.
func bodyOf(t *testing.T, f *webfile.File) string {
	t.Helper()
	w := httptest.NewRecorder()
	f.Serve(w, httptest.NewRequest("GET", "/", nil))
	require.Equal(t, 200, w.Code)
	return w.Body.String()
}

func TestPage(t *testing.T) {
	router, site := newRouter(t)
	w := do(router, "GET", "/")
	assert.Equal(t, 200, w.Code)
	assert.Equal(t, http.Header{
		"Accept-Ranges":                {"bytes"},
		"Cache-Control":                {"no-cache"},
		"Content-Length":               w.Result().Header["Content-Length"], // below
		"Content-Security-Policy":      {contentSecurityPolicy},
		"Content-Type":                 {"text/html; charset=utf-8"},
		"Cross-Origin-Resource-Policy": {"same-origin"},
		"Etag":                         w.Result().Header["Etag"], // TestConditionalRequests
		"Referrer-Policy":              {"no-referrer"},
		"Vary":                         {"Accept", "Accept-Encoding"},
		"X-Content-Type-Options":       {"nosniff"},
	}, w.Header())
	assert.Contains(t, w.Body.String(), `src="assets/`+site.version+`/main.js"`)
	assert.NotContains(t, w.Body.String(), "{{")
}

func TestAssets(t *testing.T) {
	router, site := newRouter(t)
	require.Greater(t, len(site.assets), 10)
	types := map[string]string{"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "svg": "image/svg+xml"}
	for name, asset := range site.assets {
		w := do(router, "GET", "/assets/"+site.version+"/"+name)
		assert.Equal(t, 200, w.Code, name)
		assert.Equal(t, types[name[strings.LastIndex(name, ".")+1:]], w.Header().Get("Content-Type"))
		assert.Equal(t, "public, max-age=31536000, immutable", w.Header().Get("Cache-Control"))
		assert.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
		assert.Equal(t, bodyOf(t, asset), w.Body.String())

		w = do(router, "GET", "/assets/0123456789abcdef/"+name)
		assert.Equal(t, 200, w.Code, "a page of another version works too")
		assert.Equal(t, "no-cache", w.Header().Get("Cache-Control"))
	}
}

func TestGzip(t *testing.T) {
	router, site := newRouter(t)
	for _, path := range []string{"/", "/assets/" + site.version + "/main.js", "/assets/" + site.version + "/page.css"} {
		plain := do(router, "GET", path)
		assert.Contains(t, plain.Header().Values("Vary"), "Accept-Encoding", path)
		packed := do(router, "GET", path, "Accept-Encoding", "gzip, deflate, br")
		assert.Equal(t, "gzip", packed.Header().Get("Content-Encoding"), path)
		assert.Less(t, packed.Body.Len(), plain.Body.Len()*6/10, path)
	}
}

func TestConditionalRequests(t *testing.T) {
	router, site := newRouter(t)
	for _, path := range []string{"/", "/assets/" + site.version + "/main.js"} {
		for _, encoding := range []string{"", "gzip"} {
			etag := do(router, "GET", path, "Accept-Encoding", encoding).Header().Get("ETag")
			require.Regexp(t, `^"[0-9a-f]{32}"$`, etag)
			for _, match := range []string{etag, "W/" + etag, `"other", ` + etag, "*"} {
				w := do(router, "GET", path, "Accept-Encoding", encoding, "If-None-Match", match)
				assert.Equal(t, 304, w.Code, match)
				assert.Empty(t, w.Body.String())
				assert.Equal(t, etag, w.Header().Get("ETag"))
				assert.NotEmpty(t, w.Header().Get("Cache-Control"))
			}
			assert.Equal(t, 200, do(router, "GET", path, "Accept-Encoding", encoding, "If-None-Match", `"other"`).Code)
		}
	}
}

func TestHead(t *testing.T) {
	router, site := newRouter(t)
	for _, path := range []string{"/", "/assets/" + site.version + "/main.js"} {
		get, head := do(router, "GET", path), do(router, "HEAD", path)
		assert.Equal(t, 200, head.Code)
		assert.Empty(t, head.Body.String())
		assert.Equal(t, get.Header(), head.Header())
	}
}

func TestAssetsThatDoNotExist(t *testing.T) {
	router, site := newRouter(t)
	for _, path := range []string{
		"/assets/", "/assets//", "/assets/" + site.version, "/assets/" + site.version + "/", "/assets/" + site.version + "//main.js",
		"/assets/main.js", "/assets/x/main.js", "/assets/" + site.version + "/nothing.js", "/assets/" + site.version + "/MAIN.JS",
		"/assets/" + site.version + "/../index.html", "/assets/" + site.version + "/..%2findex.html", "/assets/" + site.version + "/%2e%2e/webpage.go",
		"/assets/" + site.version + "/main.js/", "/assets/" + site.version + "/main.js%00", "/assets/../../webpage.go", `/assets/..\..\webpage.go`,
	} {
		w := do(router, "GET", path)
		assert.Equal(t, 404, w.Code, path)
		assert.Equal(t, `{"error":"not_found"}`, w.Body.String())
		assert.NotContains(t, w.Header().Get("Cache-Control"), "immutable")
	}
}

func TestVersionFollowsTheFiles(t *testing.T) {
	build := func(files fstest.MapFS) *Site {
		files["index.html"] = &fstest.MapFile{Data: []byte(`<script src="{{.Assets}}/a.js"></script>`)}
		site, err := newSite(files)
		require.NoError(t, err)
		assert.Equal(t, `<script src="assets/`+site.version+`/a.js"></script>`, bodyOf(t, site.page.Load()))
		return site
	}
	file := func(body string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(body)} }
	seen := map[string]bool{}
	for _, files := range []fstest.MapFS{
		{"assets/a.js": file("1")}, {"assets/a.js": file("2")}, {"assets/b.js": file("1")},
		{"assets/a.js": file("1"), "assets/b.js": file("1")}, {"assets/a.js": file("1b.js 1\n1")},
	} {
		site := build(files)
		assert.False(t, seen[site.version], "%s stands for different files", site.version)
		assert.Equal(t, site.version, build(files).version)
		seen[site.version] = true
	}
}

func TestFilesThatDoNotFit(t *testing.T) {
	page := &fstest.MapFile{Data: []byte("<p>")}
	for want, files := range map[string]fstest.MapFS{
		"assets":            {"index.html": page},
		"index.html":        {"assets/a.js": page},
		"notes.txt":         {"index.html": page, "assets/notes.txt": page},
		"assets/folder":     {"index.html": page, "assets/folder/a.js": page},
		"{{.Assets}}":       {"index.html": {Data: []byte("{{.Assets")}, "assets/a.js": page},
		"other than":        {"index.html": {Data: []byte("{{.Nothing}}")}, "assets/a.js": page},
		"and one {{.Note}}": {"index.html": {Data: []byte("{{.Note}}{{.Note}}")}, "assets/a.js": page},
	} {
		_, err := newSite(files)
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, "web page: ")
	}
}

// The whole page stays small.
func TestSize(t *testing.T) {
	router, site := newRouter(t)
	sent := do(router, "GET", "/", "Accept-Encoding", "gzip").Body.Len()
	for name := range site.assets {
		sent += do(router, "GET", "/assets/"+site.version+"/"+name, "Accept-Encoding", "gzip").Body.Len()
	}
	t.Logf("%d bytes as they are sent, in %d files", sent, len(site.assets)+1)
	assert.Less(t, sent, 66<<10) // a sixth of it is text in four languages other than English
}

func TestReadyShowsTheNote(t *testing.T) {
	site, err := New()
	require.NoError(t, err)
	const note = "Everyday sentences only; a < b."
	assert.NotContains(t, bodyOf(t, site.page.Load()), "Everyday")
	require.NoError(t, site.Ready(note))
	assert.Contains(t, bodyOf(t, site.page.Load()), "Everyday sentences only; a &lt; b.")
	require.NoError(t, site.Ready(""))
	assert.NotContains(t, bodyOf(t, site.page.Load()), "Everyday")
}
