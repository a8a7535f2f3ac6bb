package azure

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/compattest"
	"dragoman/app/jobs"
	"dragoman/app/jobs/jobstore"
)

// documentServer returns a server with the route for documents. A file keeps its jobs until stop is called.
func documentServer(t *testing.T, cfg dialect.Config) (server http.Handler, file string, stop func() error) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "jobs.db")
	of, stop, err := compattest.Documents(file, compattest.Translator{})
	require.NoError(t, err)
	stop = sync.OnceValue(stop)
	t.Cleanup(func() { assert.NoError(t, stop()) })
	return compattest.Server(cfg, compattest.Translator{}, func(s *dialect.Server) dialect.Dialect { return Documents(s, of(s)) }), file, stop
}

// formOf makes a form of files, each given as a field, a name, a type and a content.
func formOf(t *testing.T, files ...string) (contentType, body string) {
	t.Helper()
	var out bytes.Buffer
	form := multipart.NewWriter(&out)
	for i := 0; i < len(files); i += 4 {
		header := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf("form-data; name=%q; filename=%q", files[i], files[i+1])}}
		if files[i+2] != "" {
			header.Set("Content-Type", files[i+2])
		}
		part, err := form.CreatePart(header)
		require.NoError(t, err)
		_, err = part.Write([]byte(files[i+3]))
		require.NoError(t, err)
	}
	require.NoError(t, form.Close())
	return form.FormDataContentType(), out.String()
}

// sendForm sends a form and waits for the answer without limit.
func sendForm(t *testing.T, server http.Handler, path string, files ...string) *httptest.ResponseRecorder {
	t.Helper()
	contentType, body := formOf(t, files...)
	r := httptest.NewRequest("POST", path, strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Accept", "application/octet-stream")
	w := httptest.NewRecorder()
	server.ServeHTTP(w, r)
	return w
}

const documentPath = "/translator/document:translate?api-version=2026-03-01"

// A document's answer is the translation, and no job stays.
func TestDocuments(t *testing.T) {
	server, file, stop := documentServer(t, dialect.Config{})
	// From azure-ai-translation-document 2.0.0.
	w := sendForm(t, server, documentPath+"&targetLanguage=fr", "document", "letter.txt", "text/plain", "hello\n\n  world\r\nhello")
	require.Equal(t, 200, w.Code, w.Body)
	assert.Equal(t, "HELLO\n\n  WORLD\r\nHELLO", w.Body.String())
	assert.Equal(t, "attachment; filename=letter.fr.txt", w.Header().Get("Content-Disposition"))
	w = sendForm(t, server, "/translator/document:translate?api-version=2024-05-01&sourceLanguage=en&targetLanguage=zh-Hans&category=general&allowFallback=true&translateTextWithinImage=false",
		"document", "page", "text/html", "<p>hello</p>")
	require.Equal(t, 200, w.Code, w.Body)
	assert.Contains(t, w.Body.String(), "<p>HELLO</p>")
	w = sendForm(t, server, "/models/default"+documentPath+"&targetLanguage=fr", "document", "a.txt", "", "hello")
	assert.Equal(t, "HELLO", w.Body.String())
	for name, glossary := range map[string][]string{
		"CSV": {"glossary", "g.csv", "text/csv", "artist,\"maître, x\"\n"}, "TSV": {"glossary", "g", "text/tab-separated-values", "artist\tmaître, x\n"}, "a name in capitals": {"glossary", "G.TAB", "", "artist\tmaître, x"},
	} {
		w = sendForm(t, server, documentPath+"&sourceLanguage=en&targetLanguage=fr", append([]string{"document", "a.txt", "text/plain", "an artist"}, glossary...)...)
		assert.Equal(t, "AN maître, x", w.Body.String(), name)
	}
	w = sendForm(t, server, documentPath+"&targetLanguage=fr", "document", "a.txt", "text/plain", "many")
	assert.Equal(t, 413, w.Code)

	require.NoError(t, stop())
	store, err := jobstore.OpenFile(file, jobs.StoreConfig{TTL: time.Hour})
	require.NoError(t, err)
	defer func() { assert.NoError(t, store.Close()) }()
	left, err := store.List(t.Context(), "192.0.2.1/32", 100)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestDocumentsThatAreRefused(t *testing.T) {
	server, _, _ := documentServer(t, dialect.Config{})
	text := []string{"document", "a.txt", "text/plain", "hello"}
	with := func(name, mediaType, content string) []string {
		return append(text[:4:4], "glossary", name, mediaType, content)
	}
	const enfr = documentPath + "&sourceLanguage=en&targetLanguage=fr"
	for name, test := range map[string]struct {
		path   string
		files  []string
		status int
		want   string
	}{
		"no target":                   {documentPath, text, 400, `{"code":"InvalidRequest","message":"The target language is missing."}`},
		"another target":              {documentPath + "&targetLanguage=tlh", text, 400, `\"tlh\" is not a target language`},
		"another source":              {documentPath + "&targetLanguage=fr&sourceLanguage=tlh", text, 400, `\"tlh\" is not a source language`},
		"no version":                  {"/translator/document:translate?targetLanguage=fr", text, 400, "The API version parameter is missing or invalid: use 2024-05-01 or 2026-03-01."},
		"the version of texts":        {"/translator/document:translate?api-version=3.0&targetLanguage=fr", text, 400, "The API version parameter"},
		"no document":                 {enfr, []string{"file", "a.txt", "", "x"}, 400, "send it as a file in the field document"},
		"an empty document":           {enfr, []string{"document", "a.txt", "", ""}, 422, "The document is empty."},
		"another kind":                {enfr, []string{"document", "a.exe", "", "x"}, 415, "can be translated"},
		"an old kind of Word's":       {enfr, []string{"document", "a.docx", "", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"}, 415, `{"code":"InvalidRequest","message":"The file`},
		"a large document":            {enfr, []string{"document", "a.txt", "", strings.Repeat("x", 5<<20)}, 413, "The document has 5242880 bytes"},
		"a deployment":                {enfr + "&deploymentName=gpt", text, 400, "The value of deploymentName is not offered by this server: leave it out."},
		"no fallback":                 {enfr + "&allowFallback=false", text, 400, "The value of allowFallback is not offered"},
		"texts in pictures":           {enfr + "&translateTextWithinImage=true", text, 400, "The value of translateTextWithinImage is not offered"},
		"no such model":               {"/models/nope" + enfr, text, 404, `{"code":"ResourceNotFound","message":"There is no model`},
		"another action":              {"/translator/document:batch?api-version=2026-03-01", text, 404, "documents go to /translator/document:translate"},
		"glossary of XLIFF":           {enfr, with("g.xlf", "application/xliff+xml", "<xliff/>"), 400, "send a file .csv or .tsv"},
		"glossary, no source":         {documentPath + "&targetLanguage=fr", with("g.csv", "", "a,b"), 400, "A glossary needs the language of the document: send sourceLanguage."},
		"glossary with a term twice":  {enfr, with("g.csv", "", "a,b\na,c"), 400, "Line 2: "},
		"glossary of other languages": {enfr, with("g.csv", "", "a,b,en,ja"), 400, "expected"},
		"glossary with too many":      {enfr, with("g.tsv", "", strings.Repeat("a\tb\n", 2000)), 413, "has more than 1000 terms"},
	} {
		w := sendForm(t, server, test.path, test.files...)
		assert.Equal(t, test.status, w.Code, name)
		assert.Contains(t, w.Body.String(), test.want, name)
		assert.True(t, strings.HasPrefix(w.Body.String(), `{"error":{"code":"`), name)
	}
	contentType, body := formOf(t, "document", "a.txt", "text/plain", "wait")
	w := compattest.Send(t.Context(), server, "POST", enfr, contentType, body)
	assert.Equal(t, 504, w.Code)
	assert.Contains(t, w.Body.String(), "InternalServerError")
	w = compattest.Send(t.Context(), server, "POST", enfr, "application/json", `{"document":{"a":1}}`)
	assert.Equal(t, 400, w.Code)

	none := compattest.Server(dialect.Config{}, compattest.Translator{}, func(s *dialect.Server) dialect.Dialect { return Documents(s, nil) })
	w = sendForm(t, none, enfr, text...)
	assert.Equal(t, `{"error":{"code":"ResourceNotFound","message":"This service has no documents: its operator has turned them off by JOB_FILE=off."}}`, compattest.Body(w))
}

func TestDocumentsWithKeys(t *testing.T) {
	gate, key := compattest.Keys(t)
	server, _, _ := documentServer(t, dialect.Config{Gate: gate})
	contentType, body := formOf(t, "document", "a.txt", "text/plain", "hello")
	for name, test := range map[string]struct {
		headers []string
		status  int
	}{
		"Azure's":     {[]string{"Ocp-Apim-Subscription-Key", key}, 200},
		"a token":     {[]string{"Authorization", "Bearer " + key}, 200},
		"none":        {nil, 401},
		"a wrong one": {[]string{"Ocp-Apim-Subscription-Key", "x"}, 401},
	} {
		r := httptest.NewRequest("POST", documentPath+"&targetLanguage=fr", strings.NewReader(body))
		r.Header.Set("Content-Type", contentType)
		for i := 0; i < len(test.headers); i += 2 {
			r.Header.Set(test.headers[i], test.headers[i+1])
		}
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		assert.Equal(t, test.status, w.Code, name)
		if test.status == 401 {
			assert.Contains(t, w.Body.String(), `"code":"Unauthorized"`, name)
		}
	}
}
