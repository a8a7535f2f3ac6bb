package deepl

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/compattest"
	"dragoman/app/jobs"
)

// documentServer returns a server that also has the routes for documents.
func documentServer(t *testing.T) http.Handler {
	t.Helper()
	of, stop, err := compattest.Documents(filepath.Join(t.TempDir(), "jobs.db"), compattest.Translator{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, stop()) })
	return compattest.Server(dialect.Config{}, compattest.Translator{}, New, func(s *dialect.Server) dialect.Dialect { return Documents(s, of(s)) })
}

// post sends a request and waits for the answer without limit.
func post(server http.Handler, path, contentType, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", path, strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	w := httptest.NewRecorder()
	server.ServeHTTP(w, r)
	return w
}

// handle is the id and key of a document, as DeepL's clients keep them.
type handle struct {
	ID  string `json:"document_id"`
	Key string `json:"document_key"`
}

// submit submits a document that the server must accept.
func submit(t *testing.T, server http.Handler, content string) (h handle, path, key string) {
	t.Helper()
	contentType, body := compattest.Form("report.txt", content, "target_lang", "FR", "formality", "prefer_more")
	w := post(server, "/v2/document", contentType, body)
	require.Equal(t, 200, w.Code, w.Body)
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &h))
	return h, "/v2/document/" + h.ID, `{"document_key":"` + h.Key + `"}`
}

// ended polls a document until its translation has ended.
func ended(t *testing.T, server http.Handler, path, key string) (status documentStatus) {
	t.Helper()
	require.Eventually(t, func() bool {
		w := post(server, path, jsonType, key)
		require.Equal(t, 200, w.Code, w.Body)
		status = documentStatus{}
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &status))
		return status.Status == "done" || status.Status == "error"
	}, time.Minute, time.Millisecond)
	return status
}

func TestDocuments(t *testing.T) {
	server := documentServer(t)
	h, path, key := submit(t, server, "hello\nhello\n")
	assert.Equal(t, documentStatus{ID: h.ID, Status: "done", Billed: new(6)}, ended(t, server, path, key), "what comes again costs a character")
	w := post(server, path+"/result", jsonType, key)
	assert.Equal(t, 200, w.Code)
	assert.Equal(t, "HELLO\nHELLO\n", w.Body.String())
	assert.Equal(t, "attachment; filename=report.fr.txt", w.Header().Get("Content-Disposition"))
	w = post(server, path+"/result", formType, "document_key="+h.Key)
	assert.Equal(t, 200, w.Code)

	for name, test := range map[string]struct {
		path, body string
		status     int
	}{
		"no key":           {path, `{}`, 400},
		"another key":      {path, `{"document_key":"x"}`, 404},
		"unknown":          {"/v2/document/x", key, 404},
		"result, no key":   {path + "/result", `{}`, 400},
		"result, wrong":    {path + "/result", `{"document_key":"x"}`, 404},
		"result, unknown":  {"/v2/document/x/result", key, 404},
		"key of no string": {path, `{"document_key":1}`, 400},
	} {
		w := post(server, test.path, jsonType, test.body)
		assert.Equal(t, test.status, w.Code, name)
		assert.Contains(t, w.Body.String(), `{"message":"`, name)
	}
}

// The status of a failed document has its error; a download before the end is refused.
func TestDocumentsThatFail(t *testing.T) {
	server := documentServer(t)
	h, path, key := submit(t, server, "many")
	assert.Equal(t, documentStatus{ID: h.ID, Status: "error", Message: "Too many.", ErrorMessage: "Too many."}, ended(t, server, path, key))
	assert.Equal(t, 503, post(server, path+"/result", jsonType, key).Code)

	_, path, key = submit(t, server, "wait")
	w := post(server, path+"/result", jsonType, key)
	assert.Equal(t, 503, w.Code)
	assert.Equal(t, `{"message":"The document is not translated yet: ask for it when its job is done."}`, compattest.Body(w))
}

func TestDocumentsThatAreRefused(t *testing.T) {
	server := documentServer(t)
	for name, test := range map[string]struct {
		file, content string
		fields        []string
		status        int
		want          string
	}{
		"no target":                      {"a.txt", "x", nil, 400, "Parameter 'target_lang' not specified."},
		"unknown target":                 {"a.txt", "x", []string{"target_lang", "XX"}, 400, "Value for 'target_lang' not supported."},
		"unknown source":                 {"a.txt", "x", []string{"target_lang", "FR", "source_lang", "XX"}, 400, "Value for 'source_lang' not supported."},
		"formality":                      {"a.txt", "x", []string{"target_lang", "FR", "formality", "more"}, 400, "'formality' is not supported for given 'target_lang'."},
		"format":                         {"a.txt", "x", []string{"target_lang", "FR", "output_format", "pdf"}, 400, "Value for 'output_format' not supported. A document keeps its format."},
		"the same format":                {"a.txt", "x", []string{"target_lang", "FR", "output_format", "TXT"}, 200, "document_key"},
		"name in a field that says more": {"blob", "x", []string{"target_lang", "FR", "filename", "a.txt"}, 200, "document_key"},
		"name in a field":                {"", "x", []string{"target_lang", "FR", "filename", "a.txt"}, 200, "document_key"},
		"no name":                        {"", "x", []string{"target_lang", "FR"}, 400, "can be translated"},
		"no kind":                        {"a.xyz", "x", []string{"target_lang", "FR"}, 400, "can be translated"},
		"empty":                          {"a.txt", "", []string{"target_lang", "FR"}, 400, "The document is empty."},
		"no such model":                  {"a.txt", "x", []string{"target_lang", "FR", "model", "nope"}, 404, "There is no model"},
		"far too large":                  {"a.txt", strings.Repeat("x", 5<<20), []string{"target_lang", "FR"}, 413, "The document has 5242880 bytes"},
		"too many of them":               {"a.txt", lines(1001), []string{"target_lang", "FR"}, 413, "The document has more than 1000 different texts"},
	} {
		contentType, body := compattest.Form(test.file, test.content, test.fields...)
		w := post(server, "/v2/document", contentType, body)
		assert.Equal(t, test.status, w.Code, name)
		assert.Contains(t, w.Body.String(), test.want, name)
	}
	w := post(server, "/v2/document", formType, "target_lang=FR")
	assert.Equal(t, `{"message":"Parameter 'file' not specified."}`, compattest.Body(w))
}

// lines returns n different lines.
func lines(n int) string {
	var out strings.Builder
	for i := range n {
		out.WriteString(strings.Repeat("x", i+1) + "\n")
	}
	return out.String()
}

// The remaining time is estimated from the finished part.
func TestStatusOf(t *testing.T) {
	now := time.Now()
	running := jobs.Job{ID: "a", State: jobs.Running, Started: now.Add(-10 * time.Second), Progress: jobs.Progress{Records: 30, Done: 10}}
	assert.Equal(t, documentStatus{ID: "a", Status: "translating", Remaining: new(20)}, statusOf(running, now))
	running.Progress.Done = 0
	assert.Equal(t, documentStatus{ID: "a", Status: "translating"}, statusOf(running, now))
	assert.Equal(t, documentStatus{ID: "a", Status: "queued"}, statusOf(jobs.Job{ID: "a", State: jobs.Queued}, now))
	assert.Equal(t, "error", statusOf(jobs.Job{State: jobs.Cancelled}, now).Status)
}
