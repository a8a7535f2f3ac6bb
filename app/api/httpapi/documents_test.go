package httpapi

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// form returns a multipart form with a file and fields, given as names and values.
func form(t *testing.T, name, content string, fields ...string) (body, mediaType string) {
	t.Helper()
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	for i := 0; i < len(fields); i += 2 {
		require.NoError(t, w.WriteField(fields[i], fields[i+1]))
	}
	part, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="file"; filename="` + name + `"`}, "Content-Type": {"application/octet-stream"}})
	require.NoError(t, err)
	_, err = part.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.String(), w.FormDataContentType()
}

// submitDocument submits a document as a form.
func (s *jobService) submitDocument(t *testing.T, name, content string, fields ...string) (status int, job jobOutput, answer string) {
	t.Helper()
	body, mediaType := form(t, name, content, append([]string{"fromLang", "en", "toLang", "fr"}, fields...)...)
	status, answer = s.do("POST", "/documents", body, "Content-Type", mediaType)
	var parsed struct{ Job jobOutput }
	require.NoError(t, json.Unmarshal([]byte(answer), &parsed))
	return status, parsed.Job, answer
}

// download requests a document.
func (s *jobService) download(path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w
}

const novel = "\nIt was a dark night.\r\n  1.\n\tIt was a dark night.\nAnd then: loop\nloop\n"

// A translated document differs from the original only in its texts.
func TestDocument(t *testing.T) {
	s := newJobService(t, nil, true)
	status, job, answer := s.submitDocument(t, "Großer Roman.txt", novel)
	require.Equal(t, 202, status, answer)
	assert.Equal(t, &documentOutput{Name: "Großer Roman.txt", Kind: "txt", Bytes: int64(len(novel)), Result: "/documents/" + job.ID + "/result"}, job.Document)
	assert.Equal(t, 3, job.Progress.Records, "what is there twice is translated once")
	s.do("GET", job.URL+"/events", "") // waits until the job has ended

	w := s.download(job.Document.Result)
	require.Equal(t, 200, w.Code, w.Body)
	assert.Equal(t, strings.ReplaceAll(strings.ToUpper(novel), "\t", "\t"), w.Body.String())
	assert.Equal(t, "text/plain", w.Header().Get("Content-Type"))
	assert.Equal(t, `attachment; filename="Gro_er Roman.fr.txt"; filename*=UTF-8''Gro%C3%9Fer%20Roman.fr.txt`, w.Header().Get("Content-Disposition"))
	assert.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
	assert.Zero(t, s.memory.InUse())

	_, job2 := s.do("GET", "/documents/"+job.ID, "")
	assert.Contains(t, job2, `"flagged":1`)
	assert.Contains(t, job2, `"state":"done"`)
	assert.NotContains(t, job2, `"result":[`)
	_, sameJob := s.do("GET", job.URL, "")
	assert.Equal(t, job2, sameJob)
	status, events := s.do("GET", "/documents/"+job.ID+"/events", "")
	assert.Equal(t, 200, status)
	assert.Contains(t, events, `"document":{"name":"Großer Roman.txt"`)
	status, answer = s.do("HEAD", job.Document.Result, "")
	assert.Equal(t, 200, status)
	assert.Empty(t, answer)
	status, _ = s.do("DELETE", "/documents/"+job.ID, "")
	assert.Equal(t, 204, status)
	assert.Equal(t, 404, s.download(job.Document.Result).Code)
}

// A body can also be the document itself.
func TestRawDocument(t *testing.T) {
	s := newJobService(t, nil, true)
	for query, headers := range map[string][]string{
		"name=" + url.QueryEscape(`C:\Texte\..\brief.txt`): {"Content-Type", "application/octet-stream"},
		"": {"Content-Type", "text/plain", "Content-Disposition", `attachment; filename="brief.txt"`},
	} {
		status, answer := s.do("POST", "/documents?fromLang=auto&toLang=fr&"+query, "hello\n", headers...)
		require.Equal(t, 202, status, answer)
		var parsed struct{ Job jobOutput }
		require.NoError(t, json.Unmarshal([]byte(answer), &parsed))
		s.do("GET", parsed.Job.URL+"/events", "")
		w := s.download(parsed.Job.Document.Result)
		assert.Equal(t, "HELLO\n", w.Body.String())
		assert.Equal(t, "attachment; filename=brief.fr.txt", w.Header().Get("Content-Disposition"))
	}
}

// Equal requests get the same job, however their forms are encoded.
func TestDocumentsAreIdempotent(t *testing.T) {
	s := newJobService(t, nil, false)
	send := func(content string) (int, string) {
		body, mediaType := form(t, "a.txt", content, "toLang", "fr", "fromLang", "en")
		return s.do("POST", "/documents", body, "Content-Type", mediaType, "Idempotency-Key", "k")
	}
	status, first := send("one")
	require.Equal(t, 202, status, first)
	status, again := send("one") // with another boundary
	assert.Equal(t, 200, status)
	assert.JSONEq(t, first, again)
	status, other := send("two")
	assert.Equal(t, 422, status)
	assert.Contains(t, other, "idempotency_mismatch")
}

// With keys, a document belongs to one key.
func TestDocumentsHaveOwners(t *testing.T) {
	gate, alice, bob := gateOf(t, "chars=10/d")
	s := newJobService(t, gate, true)
	body, mediaType := form(t, "a.txt", "hello\nhello\n", "fromLang", "en", "toLang", "fr")
	status, answer := s.do("POST", "/documents", body, "Content-Type", mediaType, "X-API-Key", alice)
	require.Equal(t, 202, status, answer)
	assert.Contains(t, answer, `"characters":6`, "what comes again costs a character")
	var parsed struct{ Job jobOutput }
	require.NoError(t, json.Unmarshal([]byte(answer), &parsed))
	s.do("GET", parsed.Job.URL+"/events", "", "X-API-Key", alice)
	status, _ = s.do("GET", parsed.Job.Document.Result, "", "X-API-Key", alice)
	assert.Equal(t, 200, status)
	for _, path := range []string{parsed.Job.Document.Result, "/documents/" + parsed.Job.ID} {
		status, answer = s.do("GET", path, "", "X-API-Key", bob)
		assert.Equal(t, 404, status, answer)
		status, _ = s.do("GET", path, "")
		assert.Equal(t, 401, status)
	}
	status, answer = s.do("POST", "/documents", body, "Content-Type", mediaType)
	assert.Equal(t, 401, status, answer)
	body, mediaType = form(t, "a.txt", "hello again\n", "fromLang", "en", "toLang", "fr")
	status, answer = s.do("POST", "/documents", body, "Content-Type", mediaType, "X-API-Key", alice)
	assert.Equal(t, 413, status, answer)
	assert.Contains(t, answer, `"too_many_characters","field":"file"`)
}

// There is no result before the job is done, or for a job without a document.
func TestDocumentThatIsNotThere(t *testing.T) {
	s := newJobService(t, nil, false)
	_, job, _ := s.submitDocument(t, "a.txt", "hello")
	w := s.download(job.Document.Result)
	assert.Equal(t, 409, w.Code)
	assert.Contains(t, w.Body.String(), `"not_done"`)
	s.do("DELETE", job.URL, "")
	w = s.download(job.Document.Result)
	assert.Equal(t, 409, w.Code)
	assert.Contains(t, w.Body.String(), "cancelled")
	id := strings.TrimPrefix(s.submit(t, jobRequest("x")), "/jobs/")
	for _, path := range []string{"/documents/" + id, "/documents/" + id + "/result", "/documents/" + id + "/events", "/documents/x/result", "/documents/%2e%2e/result"} {
		assert.Equal(t, 404, s.download(path).Code, path)
	}
}

// Invalid and hostile documents are refused before any work, and leave no memory in use.
func TestHostileDocuments(t *testing.T) {
	s := newJobService(t, nil, false)
	lines := func(n int) string {
		var out strings.Builder
		for i := range n {
			out.WriteString(strings.Repeat("x", i+1) + "\n")
		}
		return out.String()
	}
	for name, test := range map[string]struct {
		name, content string
		fields        []string
		status        int
		want          string
	}{
		"too large":         {"a.txt", strings.Repeat("x ", 5001), nil, 413, `"body_too_large","field":"file","message":"the document has 10002 bytes, at most 10000 are allowed`},
		"far too large":     {"a.txt", strings.Repeat("x", 300_000), nil, 413, `"body_too_large"`},
		"empty":             {"a.txt", "", nil, 422, `"invalid_document","field":"file","message":"the document is empty"`},
		"PDF":               {"a.txt", "%PDF-1.7\n", nil, 415, `"unsupported_document"`},
		"PDF as text":       {"a.txt", "%PDF-1.7\n", nil, 415, `"unsupported_document"`},
		"unknown":           {"a.exe", "MZ", nil, 415, `"unsupported_document"`},
		"binary":            {"a.txt", "\xff\xfe\xfd", nil, 422, `"invalid_document","field":"file"`},
		"too many texts":    {"a.txt", lines(21), nil, 413, `"too_many_records","field":"file"`},
		"not too many":      {"a.txt", strings.Repeat("x\n", 1000), nil, 202, `"records":1,`},
		"long text":         {"a.txt", strings.Repeat("x", 5001), nil, 400, `"text_too_long","field":"file"`},
		"no text":           {"a.txt", "1\n2\n", nil, 202, `"records":0,`},
		"language":          {"a.txt", "x", []string{"toLang", "de"}, 400, `"duplicate_field","field":"toLang"`},
		"model":             {"a.txt", "x", []string{"model", ""}, 400, `"invalid_value","field":"model"`},
		"priority":          {"a.txt", "x", []string{"priority", "max"}, 400, `"invalid_value","field":"priority"`},
		"options":           {"a.txt", "x", []string{"options", "{"}, 400, `"invalid_json","field":"options"`},
		"an option":         {"a.txt", "x", []string{"options", `{"beams":"2"}`}, 400, `"wrong_type","field":"options.beams","message":"options.beams is a string, expected a whole number"`},
		"no such option":    {"a.txt", "x", []string{"options", `{"beam":2}`}, 400, `"unknown_field","field":"options.beam"`},
		"null as options":   {"a.txt", "x", []string{"options", `null`}, 400, `"wrong_type","field":"options","message":"options is null, expected an object"`},
		"records":           {"a.txt", "x", []string{"records", `[]`}, 400, `"unknown_field","field":"records"`},
		"many columns":      {"a.csv", "a,b\n", []string{"columns", strings.Repeat("1,", 50_000)}, 400, `"invalid_value","field":"columns","message":"the field columns has 50001 items, at most 200 are allowed: send fewer"`},
		"columns again":     {"a.csv", "a,b\n", slices.Repeat([]string{"columns", "a"}, 500), 400, `"field":"columns","message":"the field columns has 500 items`},
		"a long column":     {"a.csv", "a,b\n", []string{"columns", "a," + strings.Repeat("x", 1000)}, 400, `the field columns has 1000 bytes, at most 256 are allowed`},
		"a long name":       {strings.Repeat("x", 2000) + ".txt", "x", nil, 400, `the field filename has 2004 bytes, at most 1024 are allowed`},
		"long options":      {"a.txt", "x", []string{"options", `{"beams":2` + strings.Repeat(" ", 2000) + `}`}, 400, `the field options has 2011 bytes, at most 1024 are allowed`},
		"webhook":           {"a.txt", "x", []string{"webhook", ""}, 400, `"invalid_value","field":"webhook"`},
		"bad name of field": {"a.txt", "x", []string{"toLang\xff", "x"}, 400, `"unknown_field"`},
		"not UTF-8":         {"a.txt", "x", []string{"model", "\xff"}, 400, `"invalid_value","field":"model"`},
	} {
		status, _, answer := s.submitDocument(t, test.name, test.content, test.fields...)
		assert.Equal(t, test.status, status, "%s: %.300s", name, answer)
		assert.Contains(t, answer, test.want, name)
		assert.Zero(t, s.memory.InUse(), name)
		if id, found := strings.CutPrefix(answer, `{"job":{"id":"`); found {
			s.do("DELETE", "/jobs/"+id[:strings.IndexByte(id, '"')], "")
		}
	}
}

// Invalid requests for documents are refused, too.
func TestDocumentsThatAreNone(t *testing.T) {
	s := newJobService(t, nil, false)
	body, mediaType := form(t, "a.txt", "x", "fromLang", "en", "toLang", "fr")
	at := strings.LastIndex(body, "\r\n--")
	file := body[strings.LastIndex(body[:at], "\r\n--"):at]
	two := body[:at] + file + body[at:]
	for name, test := range map[string]struct {
		query, body string
		headers     []string
		status      int
		want        string
	}{
		"no file":         {"", "--x\r\nContent-Disposition: form-data; name=\"toLang\"\r\n\r\nfr\r\n--x--\r\n", []string{"Content-Type", "multipart/form-data; boundary=x"}, 400, `"missing_field","field":"file"`},
		"two files":       {"", two, []string{"Content-Type", mediaType}, 400, `"duplicate_field"`},
		"other field":     {"", strings.Replace(body, `name="file"`, `name="upload"`, 1), []string{"Content-Type", mediaType}, 400, `"unknown_field","field":"upload"`},
		"no boundary":     {"", body, []string{"Content-Type", "multipart/form-data"}, 400, "without a boundary"},
		"broken form":     {"", body[:40], []string{"Content-Type", mediaType}, 400, `"invalid_value"`},
		"no languages":    {"", "x", []string{"Content-Type", "text/plain"}, 400, `"missing_field","field":"fromLang","message":"fromLang is missing`},
		"other languages": {"?fromLang=en&toLang=xx", "x", []string{"Content-Type", "text/plain"}, 202, ""}, // the translator of the test accepts it
		"no language":     {"?fromLang=xx&toLang=fr", "x", []string{"Content-Type", "text/plain"}, 400, `"unknown_language","field":"fromLang"`},
		"no model":        {"?fromLang=auto&toLang=fr&model=nope", "x", []string{"Content-Type", "text/plain"}, 404, `"unknown_model"`},
		"JSON":            {"?fromLang=en&toLang=fr", "{}", []string{"Content-Type", "application/json"}, 202, `"kind":"json"`},
		"no kind":         {"?fromLang=en&toLang=fr", "x", []string{"Content-Type", "application/x-sh"}, 415, `"unsupported_document"`},
		"packed":          {"?fromLang=en&toLang=fr", "x", []string{"Content-Type", "text/plain", "Content-Encoding", "gzip"}, 415, `"unsupported_media_type"`},
		"bad query":       {"?toLang=%zz", "x", []string{"Content-Type", "text/plain"}, 400, `"invalid_value"`},
		"bad key":         {"?fromLang=en&toLang=fr", "x", []string{"Content-Type", "text/plain", "Idempotency-Key", ""}, 400, `"invalid_header"`},
		"another site":    {"?fromLang=en&toLang=fr", "x", []string{"Content-Type", "text/plain", "Sec-Fetch-Site", "cross-site"}, 400, "CORS_ORIGINS"},
		"the same site":   {"?fromLang=en&toLang=fr", "x", []string{"Content-Type", "text/plain", "Sec-Fetch-Site", "same-origin"}, 202, ""},
	} {
		status, answer := s.do("POST", "/documents"+test.query, test.body, test.headers...)
		assert.Equal(t, test.status, status, "%s: %s", name, answer)
		assert.Contains(t, answer, test.want, name)
		assert.Zero(t, s.memory.InUse(), name)
	}
	status, _ := s.do("PUT", "/documents", "x")
	assert.Equal(t, http.StatusMethodNotAllowed, status)
}

// The field also holds for both passes over the document: the reading of texts and the writing of translations.
func TestAlso(t *testing.T) {
	s := newJobService(t, nil, true)
	for also, records := range map[string]int{"": 1, "headers": 1, "headers, alt,alt": 2} {
		status, job, answer := s.submitDocument(t, "a.md", "![a house](a.png)\n", "also", also)
		require.Equal(t, 202, status, answer)
		assert.Equal(t, records, job.Progress.Records, also)
		s.do("GET", job.URL+"/events", "")
		assert.Equal(t, 200, s.download(job.Document.Result).Code, also)
		s.do("DELETE", job.URL, "")
	}
}

// The first row of a table is not translated if it looks like names, and the job reports that.
func TestHeaderOfATable(t *testing.T) {
	s := newJobService(t, nil, true)
	for _, c := range []struct {
		header, want string
		kept         bool
	}{
		{"", "id,text\n1,HELLO THERE\n", true},
		{"auto", "id,text\n1,HELLO THERE\n", true},
		{"keep", "id,text\n1,HELLO THERE\n", false},
		{"translate", "ID,TEXT\n1,HELLO THERE\n", false},
	} {
		var fields []string
		if c.header != "" {
			fields = []string{"header", c.header}
		}
		status, job, answer := s.submitDocument(t, "a.csv", "id,text\n1,hello there\n", fields...)
		require.Equal(t, 202, status, answer)
		assert.Equal(t, c.kept, job.Document.HeaderKept, c.header)
		s.do("GET", job.URL+"/events", "")
		assert.Equal(t, c.want, s.download(job.Document.Result).Body.String())
		s.do("DELETE", job.URL, "")
	}
	for field, values := range map[string][]string{
		"header": {"", "yes"}, "wrapped": {"", "yes"}, "as": {"", "html"}, "also": {"sheets", "alt,names", "Alt"},
	} {
		for _, value := range values {
			_, _, answer := s.submitDocument(t, "a.csv", "a", field, value)
			assert.Contains(t, answer, `"code":"invalid_value"`, value)
			assert.Contains(t, answer, `"field":"`+field+`"`)
		}
	}
}
