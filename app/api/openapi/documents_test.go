package openapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dropin/compattest"
)

// Answers about documents match the description.
func TestAnswersOfDocuments(t *testing.T) {
	c, h := newContract(t), newAPI(t, true).Handler()
	submit := func(content string, fields ...string) (url string) {
		contentType, body := compattest.Form("a.txt", content, append(fields, "fromLang", "en", "toLang", "fr")...)
		w := call(t, c, h, "POST", "/documents", body, "Content-Type", contentType)
		require.Equal(t, 202, w.Code, w.Body)
		return strings.Replace(w.Header().Get("Location"), "/jobs/", "/documents/", 1)
	}
	url := submit("one\nloop\n", "options", `{"beams":2}`, "priority", "normal", "columns", "a,b", "also", "alt,headers", "model", "default")
	assert.Equal(t, 200, call(t, c, h, "GET", url+"/events", "").Code) // waits until the job has ended
	assert.Equal(t, 200, call(t, c, h, "HEAD", url+"/events", "").Code)
	w := call(t, c, h, "GET", url, "")
	assert.Contains(t, w.Body.String(), `"flagged":1`)
	assert.Equal(t, 200, call(t, c, h, "HEAD", url, "").Code)
	w = call(t, c, h, "GET", url+"/result", "")
	assert.Equal(t, "ONE\nLOOP\n", w.Body.String())
	assert.Equal(t, 200, call(t, c, h, "HEAD", url+"/result", "").Code)
	assert.Equal(t, 204, call(t, c, h, "DELETE", url, "").Code)
	for _, path := range []string{url, url + "/result", url + "/events"} {
		assert.Equal(t, 404, call(t, c, h, "GET", path, "").Code)
	}
	assert.Equal(t, 404, call(t, c, h, "DELETE", url, "").Code)

	waits := submit("wait")
	assert.Equal(t, 409, call(t, c, h, "GET", waits+"/result", "").Code)
	assert.Equal(t, 200, call(t, c, h, "DELETE", waits, "").Code)
	failed := submit("endless")
	call(t, c, h, "GET", failed+"/events", "")
	assert.Contains(t, call(t, c, h, "GET", failed, "").Body.String(), `"field":"file"`)
	assert.Equal(t, 409, call(t, c, h, "GET", failed+"/result", "").Code)

	for _, test := range []struct {
		query, body string
		headers     []string
		status      int
	}{
		{"?fromLang=en&toLang=fr&name=a.txt", "one", []string{"Content-Type", "application/octet-stream", "Idempotency-Key", "k"}, 202},
		{"?fromLang=en&toLang=fr&name=a.txt", "one", []string{"Content-Type", "application/octet-stream", "Idempotency-Key", "k"}, 200},
		{"?fromLang=en&toLang=fr&name=a.txt", "two", []string{"Content-Type", "application/octet-stream", "Idempotency-Key", "k"}, 422},
		{"?fromLang=en&toLang=fr&name=a.txt", "", []string{"Content-Type", "application/octet-stream"}, 422},
		{"?fromLang=en&toLang=fr&name=a.json", "{", []string{"Content-Type", "application/octet-stream"}, 422},
		{"?fromLang=en&toLang=fr&name=a.txt", "%PDF-1.7", []string{"Content-Type", "application/octet-stream"}, 415},
		{"?fromLang=en&toLang=fr&name=a.txt", "one", []string{"Content-Type", "application/octet-stream", "Content-Encoding", "gzip"}, 415},
		{"?fromLang=en&toLang=fr&name=a.txt", strings.Repeat("x", 3001), []string{"Content-Type", "application/octet-stream"}, 413},
		{"?fromLang=en&toLang=xx&name=a.txt", "one", []string{"Content-Type", "application/octet-stream"}, 400},
		{"?fromLang=en&toLang=fr&name=a.txt&model=x", "one", []string{"Content-Type", "application/octet-stream"}, 404},
	} {
		w := call(t, c, h, "POST", "/documents"+test.query, test.body, test.headers...)
		assert.Equal(t, test.status, w.Code, "%s: %s", test.query, w.Body)
	}
	assert.Equal(t, 405, call(t, c, h, "PUT", "/documents", "x").Code)
}

// Answers of the other APIs about documents match the description.
func TestAnswersOfCompatibleDocuments(t *testing.T) {
	c, h := newContract(t), newAPI(t, true).Handler()
	contentType, body := compattest.Form("a.txt", "one\n", "source", "en", "target", "fr", "target_lang", "FR")
	w := call(t, c, h, "POST", "/translate_file", body, "Content-Type", contentType)
	require.Equal(t, 200, w.Code, w.Body)
	var file struct{ TranslatedFileURL string }
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &file))
	w = call(t, c, h, "GET", strings.TrimPrefix(file.TranslatedFileURL, "http://service:9527"), "")
	assert.Equal(t, "ONE\n", w.Body.String())

	w = call(t, c, h, "POST", "/v2/document", body, "Content-Type", contentType)
	require.Equal(t, 200, w.Code, w.Body)
	var handle struct {
		ID string `json:"document_id"`
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &handle))
	key, path := w.Body.String(), "/v2/document/"+handle.ID
	call(t, c, h, "GET", "/documents/"+handle.ID+"/events", "") // waits until the job has ended
	assert.Contains(t, call(t, c, h, "POST", path, key).Body.String(), `"status":"done"`)
	assert.Equal(t, "ONE\n", call(t, c, h, "POST", path+"/result", key).Body.String())

	body = strings.Replace(body, `name="file"`, `name="document"`, 1)
	w = call(t, c, h, "POST", "/translator/document:translate?api-version=2026-03-01&targetLanguage=fr", body, "Content-Type", contentType)
	assert.Equal(t, "ONE\n", w.Body.String())
	w = call(t, c, h, "POST", "/translator/document:translate?api-version=2026-03-01&targetLanguage=xx", body, "Content-Type", contentType)
	assert.Equal(t, 400, w.Code)
}
