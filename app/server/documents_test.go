package server

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
	"dragoman/app/document/kinds"
)

// upload sends a document in a form with other fields.
func upload(t *testing.T, url, name, content string, fields map[string]string) (status int, answer []byte) {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for field, value := range fields {
		require.NoError(t, form.WriteField(field, value))
	}
	part, err := form.CreateFormFile("file", name)
	require.NoError(t, err)
	_, err = io.WriteString(part, content)
	require.NoError(t, err)
	require.NoError(t, form.Close())
	resp, err := http.Post(url, form.FormDataContentType(), &body)
	require.NoError(t, err)
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, answer
}

// submitDocument submits a document, and returns its job.
func submitDocument(t *testing.T, url, name, content string) jobAnswer {
	t.Helper()
	status, raw := upload(t, url+"/documents", name, content, map[string]string{"fromLang": "en", "toLang": "fr"})
	require.Equal(t, 202, status, "%s", raw)
	var answer jobAnswer
	require.NoError(t, json.Unmarshal(raw, &answer))
	return answer
}

// fetch requests a page and returns its status, headers and body.
func fetch(t *testing.T, url string) (status int, header http.Header, body string) {
	t.Helper()
	resp, err := http.Get(url)
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, resp.Header, string(raw)
}

// manual returns a text of n lines, some of them repeated, and its translation.
func manual(t *testing.T, r *running, lines int) (text, translation string) {
	t.Helper()
	var records []record
	for i := range lines {
		records = append(records, record{fmt.Sprint(i), fmt.Sprintf("It is number %d.", i)})
	}
	translated, err := r.translated("en", "fr", records)
	require.NoError(t, err)
	var before, after strings.Builder
	for i, source := range records {
		fmt.Fprintf(&before, "  %s\r\n\r\n%s\n---\n", source.Text, records[i/2].Text)
		fmt.Fprintf(&after, "  %s\r\n\r\n%s\n---\n", translated[i].Text, translated[i/2].Text)
	}
	return before.String(), after.String()
}

// A document's texts get the translations that requests get, and the rest does not change.
func TestDocument(t *testing.T) {
	r := service(t, "JOB_FILE="+filepath.Join(t.TempDir(), "jobs.db"))
	text, want := manual(t, r, 300)
	submitted := submitDocument(t, r.url, "manual.txt", text)
	assert.Equal(t, 300, submitted.Job.Progress.Records)
	assert.Equal(t, "done", ended(t, r.url+submitted.Job.URL).Job.State)
	status, header, got := fetch(t, r.url+"/documents/"+submitted.Job.ID+"/result")
	require.Equal(t, 200, status, got)
	assert.Equal(t, want, got)
	assert.Equal(t, "attachment; filename=manual.fr.txt", header.Get("Content-Disposition"))

	for name, test := range map[string]struct {
		file, content string
		status        int
		code          string
	}{
		"PDF":     {"a.txt", "%PDF-1.7", 415, "unsupported_document"},
		"unknown": {"a.xyz", "text", 415, "unsupported_document"},
		"empty":   {"a.txt", "", 422, "invalid_document"},
		"binary":  {"a.txt", "\x00\xff\xfe", 422, "invalid_document"},
		"large":   {"a.txt", strings.Repeat("It is raining.\n", 3<<20), 413, "body_too_large"},
	} {
		status, answer := upload(t, r.url+"/documents", test.file, test.content, map[string]string{"fromLang": "en", "toLang": "fr"})
		assert.Equal(t, test.status, status, name)
		assert.Contains(t, string(answer), `"`+test.code+`"`, name)
	}
}

// A Word document stays a valid Word document with translated texts, even if the model breaks tags.
func TestDocumentOfWord(t *testing.T) {
	r := service(t, "JOB_FILE="+filepath.Join(t.TempDir(), "jobs.db"))
	raw, err := os.ReadFile("../document/office/testdata/report.docx")
	require.NoError(t, err)
	submitted := submitDocument(t, r.url, "report.docx", string(raw))
	done := ended(t, r.url+submitted.Job.URL)
	require.Equal(t, "done", done.Job.State)
	status, header, got := fetch(t, r.url+"/documents/"+submitted.Job.ID+"/result")
	require.Equal(t, 200, status, got)
	assert.Equal(t, "application/vnd.openxmlformats-officedocument.wordprocessingml.document", header.Get("Content-Type"))
	archive, err := zip.NewReader(strings.NewReader(got), int64(len(got)))
	require.NoError(t, err)
	before, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	assert.Len(t, archive.File, len(before.File))
	kind, err := kinds.Find("report.docx", "", []byte(got[:min(len(got), kinds.Head)]))
	require.NoError(t, err)
	texts := 0
	require.NoError(t, document.Texts(t.Context(), kind, strings.NewReader(got), int64(len(got)), document.Options{}, func(string, bool) error { texts++; return nil }))
	assert.Positive(t, texts)
}

// A document outlives a restart of the service, half translated and done.
func TestDocumentOutlivesTheService(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.db")
	holds := make(chan bool, 1) // the model must wait
	start := func() *running {
		return startServer(t, func(ctx context.Context) {
			select {
			case hold := <-holds:
				if hold {
					<-ctx.Done()
				}
			default:
			}
		}, func(http.Handler) {}, "JOB_FILE="+file, "CACHE_BYTES=0", "NUM_BEAMS=1")
	}
	r := start()
	text, want := manual(t, r, 300)
	submitted := submitDocument(t, r.url, "manual.txt", text)
	eventsOf(t, r.url+submitted.Job.URL, func(a jobAnswer) bool { return a.Job.Progress.Done > 0 })
	holds <- true
	r.stop()
	require.NoError(t, <-r.result)

	result := "/documents/" + submitted.Job.ID + "/result"
	for range 2 { // everything is translated already
		r = start()
		ended(t, r.url+submitted.Job.URL)
		status, _, got := fetch(t, r.url+result)
		require.Equal(t, 200, status, got)
		assert.Equal(t, want, got)
		r.stop()
		require.NoError(t, <-r.result)
	}
}

// A PDF is translated to a PDF, or to its plain text.
func TestPDFs(t *testing.T) {
	r := service(t, "JOB_FILE="+filepath.Join(t.TempDir(), "jobs.db"))
	file, err := os.ReadFile("../document/pdf/testdata/columns.pdf")
	require.NoError(t, err)
	for as, c := range map[string]struct{ name, starts, contains string }{
		"":     {"columns.fr.pdf", "%PDF-", "%%EOF"},
		"html": {"columns.fr.html", "<!DOCTYPE html>", "<p>"},
		"txt":  {"columns.fr.txt", "", "\n\n"},
	} {
		fields := map[string]string{"fromLang": "en", "toLang": "fr"}
		if as != "" {
			fields["as"] = as
		}
		status, raw := upload(t, r.url+"/documents", "columns.pdf", string(file), fields)
		require.Equal(t, 202, status, "%s", raw)
		var answer jobAnswer
		require.NoError(t, json.Unmarshal(raw, &answer))
		assert.Equal(t, "done", ended(t, r.url+answer.Job.URL).Job.State)
		status, header, got := fetch(t, r.url+"/documents/"+answer.Job.ID+"/result")
		require.Equal(t, 200, status, got)
		assert.Contains(t, header.Get("Content-Disposition"), c.name)
		assert.True(t, strings.HasPrefix(got, c.starts), "%.200s", got)
		assert.Contains(t, got, c.contains)
		assert.NotContains(t, got, "Inside of a form")
	}
}
