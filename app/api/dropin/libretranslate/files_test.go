package libretranslate

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/compattest"
)

// filesServer returns a server that also has the routes for files.
func filesServer(t *testing.T, cfg dialect.Config) http.Handler {
	t.Helper()
	of, stop, err := compattest.Documents(filepath.Join(t.TempDir(), "jobs.db"), compattest.Translator{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, stop()) })
	cfg.FileTypes = []string{".txt"}
	return compattest.Server(cfg, compattest.Translator{}, New, func(s *dialect.Server) dialect.Dialect { return Files(s, of(s)) })
}

// translateFile sends a file and waits for the answer without limit.
func translateFile(t *testing.T, server http.Handler, name, content string, fields ...string) (status int, answer struct{ TranslatedFileURL, Error string }) {
	t.Helper()
	contentType, body := compattest.Form(name, content, fields...)
	r := httptest.NewRequest("POST", "http://host:9527/translate_file", strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	w := httptest.NewRecorder()
	server.ServeHTTP(w, r)
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer), w.Body)
	return w.Code, answer
}

// The translated file has a URL with the file's extension.
func TestFiles(t *testing.T) {
	server := filesServer(t, dialect.Config{})
	for name, want := range map[string]string{
		"report.txt":      "report.fr.txt",
		"Grüße aus X.txt": "Grüße aus X.fr.txt",
	} {
		status, answer := translateFile(t, server, name, "hello\n\n  world\r\nhello", "source", "auto", "target", "fr")
		require.Equal(t, 200, status, answer)
		u, err := url.Parse(answer.TranslatedFileURL)
		require.NoError(t, err)
		assert.Equal(t, "host:9527", u.Host)
		assert.Regexp(t, `^/download_file/[A-Z2-7]{26}-[A-Z2-7]{26}\.`+want+"$", u.Path)
		w := httptest.NewRecorder()
		server.ServeHTTP(w, httptest.NewRequest("GET", answer.TranslatedFileURL, nil))
		assert.Equal(t, 200, w.Code)
		assert.Equal(t, "HELLO\n\n  WORLD\r\nHELLO", w.Body.String())
		assert.Contains(t, w.Header().Get("Content-Disposition"), "attachment;")

		known, _, _ := strings.Cut(u.Path, ".")
		id, _, _ := strings.Cut(known, "-")
		for _, guess := range []string{id, id + "-", id + "-x.txt", known + "x.txt", "/download_file/x", "/download_file/..%2f..%2fetc%2fpasswd"} {
			w := compattest.Send(t.Context(), server, "GET", guess, "", "")
			assert.Equal(t, 404, w.Code, guess)
		}
	}
	w := compattest.Send(t.Context(), server, "GET", "/frontend/settings", "", "")
	assert.Contains(t, w.Body.String(), `"filesTranslation":true`)
	assert.Contains(t, w.Body.String(), `"supportedFilesFormat":[".txt"]`)
}

func TestFilesThatAreRefused(t *testing.T) {
	server := filesServer(t, dialect.Config{})
	enfr := []string{"source", "en", "target", "fr"}
	for name, test := range map[string]struct {
		file, content string
		fields        []string
		status        int
		want          string
	}{
		"no source":         {"a.txt", "x", []string{"target", "fr"}, 400, "Invalid request: missing source parameter"},
		"no target":         {"a.txt", "x", []string{"source", "en"}, 400, "Invalid request: missing target parameter"},
		"unknown source":    {"a.txt", "x", []string{"source", "xx", "target", "fr"}, 400, "xx is not supported"},
		"unknown target":    {"a.txt", "x", []string{"source", "en", "target", "xx"}, 400, "xx is not supported"},
		"format":            {"a.exe", "x", enfr, 400, "Invalid request: file format not supported: the file a.exe"},
		"PDF":               {"a.txt", "%PDF-1.7", enfr, 400, "Invalid request: file format not supported: the file is a PDF"},
		"empty":             {"a.txt", "", enfr, 400, "The document is empty."},
		"large":             {"a.txt", strings.Repeat("x", 5<<20), enfr, 413, "The document has 5242880 bytes"},
		"job that fails":    {"a.txt", "many", enfr, 400, "Too many."},
		"a fault":           {"a.txt", "fail", []string{"source", "en", "target", "fr", "model", "nope"}, 404, "There is no model"},
		"no name of a file": {"", "x", enfr, 400, "Invalid request: empty file"},
	} {
		status, answer := translateFile(t, server, test.file, test.content, test.fields...)
		assert.Equal(t, test.status, status, name)
		assert.Contains(t, answer.Error, test.want, name)
	}
	w := compattest.Send(t.Context(), server, "POST", "/translate_file", formType, "source=en&target=fr")
	assert.Equal(t, 400, w.Code)
	assert.Equal(t, `{"error":"Invalid request: missing file parameter"}`, compattest.Body(w))
}

// A request whose deadline passes gets an error and leaves no file behind.
func TestFilesHaveDeadlines(t *testing.T) {
	server := filesServer(t, dialect.Config{})
	contentType, body := compattest.Form("a.txt", "wait", "source", "en", "target", "fr")
	w := compattest.Send(t.Context(), server, "POST", "/translate_file", contentType, body)
	assert.Equal(t, 504, w.Code)
}

// LibreTranslate's clients send keys in the form; a download needs only the file's name.
func TestFilesWithKeys(t *testing.T) {
	server := filesServer(t, dialect.Config{Gate: strict{}})
	status, answer := translateFile(t, server, "a.txt", "hello you", "source", "en", "target", "fr", "api_key", "wrong")
	assert.Equal(t, 403, status, answer)
	status, answer = translateFile(t, server, "a.txt", strings.Repeat("x", 300_000), "source", "en", "target", "fr", "api_key", "right")
	assert.Equal(t, 413, status)
	assert.Contains(t, answer.Error, "send the key in a header")
	status, answer = translateFile(t, server, "a.txt", "hello you", "source", "en", "target", "fr", "api_key", "right")
	require.Equal(t, 200, status, answer)
	w := httptest.NewRecorder()
	server.ServeHTTP(w, httptest.NewRequest("GET", answer.TranslatedFileURL, nil))
	assert.Equal(t, "HELLO YOU", w.Body.String())
}
