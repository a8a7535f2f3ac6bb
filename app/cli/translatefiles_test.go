package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/cli/clitest"
	"dragoman/app/client"
)

// A translation is written completely or not at all. It does not replace a file that was written meanwhile.
func TestSave(t *testing.T) {
	root := clitest.Folder(t, map[string]string{"a.txt": "One."})
	p := documentTask{filepath.Join(root, "a.txt"), filepath.Join(root, "new", "b.txt")}
	errFull := errors.New("no space left")
	err := output{}.save(p, io.Discard, func(out io.Writer) error {
		_, _ = io.WriteString(out, "half")
		return errFull
	})
	require.ErrorIs(t, err, errFull)
	assert.Equal(t, map[string]string{"a.txt": "One."}, clitest.Contents(t, root))
	err = output{}.save(p, io.Discard, func(out io.Writer) error {
		_, err := io.WriteString(out, "whole")
		return errors.Join(err, os.WriteFile(p.to, []byte("faster"), 0o600))
	})
	require.ErrorContains(t, err, "is there already")
	assert.Equal(t, map[string]string{"a.txt": "One.", "new/b.txt": "faster"}, clitest.Contents(t, root))
}

// newOneDocument returns a service with one document.
func newOneDocument(t *testing.T, content string) (s *oneJob, asked *http.Request) {
	s, asked = newOneJob(), &http.Request{}
	const document = `,"document":{"name":"a.txt","kind":"txt","bytes":3}}`
	running, done := strings.TrimSuffix(runningJob, "}")+document, strings.TrimSuffix(strings.Replace(doneJob, `"done":2`, `"done":2,"flagged":1`, 1), "}")+document
	s.routes["POST /documents"] = func(w http.ResponseWriter, r *http.Request) {
		*asked = *r
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			panic(err)
		}
		s.asked = string(raw)
		answer(202, `{"job":`+running+`}`)(w, r)
	}
	s.routes["GET /jobs/4f2c/events"] = jobEvents(running, done)
	s.routes["GET /documents/4f2c/result"] = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, content) }
	return s, asked
}

// A file with the extension of a kind but other contents, such as TypeScript's .ts, which is also Qt's, is left out like all
// files of unknown kinds.
func TestFoldersHaveOtherFiles(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	for name, content := range map[string]string{"main.ts": "const a = 1", "video.ts": "G@", "main.go": "package main"} {
		require.NoError(t, os.WriteFile(filepath.Join(from, name), []byte(content), 0o600))
	}
	_, err := output{path: to}.tasks([]string{from})
	require.ErrorContains(t, err, "there is no document in")
	require.NoError(t, os.WriteFile(filepath.Join(from, "app_de.ts"), []byte("<!DOCTYPE TS><TS/>"), 0o600))
	list, err := output{path: to}.tasks([]string{from})
	require.NoError(t, err)
	require.Equal(t, []documentTask{{filepath.Join(from, "app_de.ts"), filepath.Join(to, "app_de.ts")}}, list)
}

func TestTranslateDocumentsAsJobs(t *testing.T) {
	root := clitest.Folder(t, map[string]string{"in/a.txt": "One."})
	from, to := filepath.Join(root, "in/a.txt"), filepath.Join(root, "b.txt")
	s, asked := newOneDocument(t, "UN.")
	url := s.serve(t)
	r := execute(t, "", nil, asJob(url, from, "-o", to, "--model", "m:2", "--beams", "3", "--columns", "a,2", "--also", "alt,headers")...)
	require.Equal(t, ExitOK, r.code, r.stderr)
	assert.Equal(t, "One.", s.asked)
	assert.Equal(t, map[string][]string{"fromLang": {"en"}, "toLang": {"fr"}, "name": {"a.txt"}, "model": {"m:2"},
		"options": {`{"beams":3}`}, "columns": {"a", "2"}, "also": {"alt", "headers"}}, map[string][]string(asked.URL.Query()))
	assert.Equal(t, map[string]string{"in/a.txt": "One.", "b.txt": "UN."}, clitest.Contents(t, root))
	assert.Equal(t, []string{from + " is job 4f2c: `dragoman jobs wait 4f2c --url " + url + " -o FILE` picks it up again",
		"a.txt: 1 of 2 texts look wrong after all retries: check the translation"}, r.errorLines())

	// A document from standard input gets a name of its kind.
	r = execute(t, "Two.", nil, asJob(url, "-o", "-", "--format", "md")...)
	assert.Equal(t, "UN.", r.stdout, r.stderr)
	assert.Equal(t, []string{"document.md"}, asked.URL.Query()["name"])
	assert.Equal(t, "Two.", s.asked)

	r = execute(t, "%PDF-", nil, asJob(url, "-o", "-", "--format", "pdf", "--as", "txt")...)
	require.Equal(t, ExitOK, r.code, r.stderr)
	assert.Equal(t, []string{"txt"}, asked.URL.Query()["as"])

	// The job can be resumed.
	r = execute(t, "", nil, "jobs", "wait", "4f2c", "--url", url, "-o", to)
	assert.Equal(t, ExitError, r.code)
	assert.Contains(t, r.stderr, "is there already")
	s.routes["GET /documents/4f2c/result"] = answer(200, "DEUX.")
	r = execute(t, "", nil, "jobs", "wait", "4f2c", "--url", url, "-o", to, "--force")
	require.Equal(t, ExitOK, r.code, r.stderr)
	assert.Equal(t, "DEUX.", clitest.Contents(t, root)["b.txt"])
	for want, args := range map[string][]string{
		"is a document: name a file for it, such as -o a.txt": {"wait", "4f2c"},
		"jobs: unknown shorthand flag: 'o' in -o":             {"-o", to},
		"jobs wait takes --force only with -o":                {"wait", "4f2c", "--force"},
	} {
		r = execute(t, "", nil, append([]string{"jobs", "--url", url}, args...)...)
		assert.Equal(t, ExitUsage, r.code)
		assert.Contains(t, r.stderr, want)
	}
}

func TestTranslateDocumentsAsJobsFails(t *testing.T) {
	root := clitest.Folder(t, map[string]string{"a.txt": "One."})
	from, to := filepath.Join(root, "a.txt"), filepath.Join(root, "b.txt")
	s, _ := newOneDocument(t, "")
	url := s.serve(t)
	s.routes["GET /documents/4f2c/result"] = answer(409, `{"error":{"code":"not_done","message":"never"}}`)
	r := execute(t, "", nil, asJob(url, from, "-o", to)...)
	assert.Equal(t, ExitError, r.code)
	assert.Contains(t, r.stderr, "dragoman: never")
	s.routes["POST /documents"] = answer(422, `{"error":{"code":"invalid_document","message":"it is broken"}}`)
	r = execute(t, "", nil, asJob(url, from, "-o", to)...)
	assert.Equal(t, ExitError, r.code)
	assert.Contains(t, r.stderr, "a.txt: it is broken")
	assert.Equal(t, map[string]string{"a.txt": "One."}, clitest.Contents(t, root))
}

// Texts that look wrong are named in their order, with the pages of a PDF; of many, the first ones.
func TestWrongTexts(t *testing.T) {
	w := wrongTexts{pages: map[string]int{"one": 3}, found: map[string]bool{}}
	texts := []string{"one", "two", "three"}
	var out strings.Builder
	w.tell(&out, "a.pdf", texts)
	assert.Empty(t, out.String())
	w.add("three")
	w.add("one")
	w.tell(&out, "a.pdf", texts)
	assert.Equal(t, "a.pdf, page 3: \"one\"\na.pdf: \"three\"\n", out.String())
	out.Reset()
	for i := range 2 * maxWrong {
		texts = append(texts, fmt.Sprint(i))
		w.add(fmt.Sprint(i))
	}
	w.tell(&out, "a.pdf", texts)
	assert.Equal(t, maxWrong+1, strings.Count(out.String(), "\n"))
	out.Reset()
	tell(&out, client.JobDocument{Name: "a.pdf", Left: []string{"page 2: 1 texts: why"}}, 0, 5)
	assert.Equal(t, "a.pdf: not translated: page 2: 1 texts: why\n", out.String())
}

// LibreOffice converts documents of old programs, if it is configured: those that are named, and those in folders.
func TestTranslateOldDocuments(t *testing.T) {
	if _, err := exec.LookPath("timeout"); err != nil {
		t.Skip("timeout is not installed")
	}
	letter, err := filepath.Abs("../document/office/testdata/libreoffice-letter.docx")
	require.NoError(t, err)
	const old = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"
	root := clitest.Folder(t, map[string]string{"in/a.doc": old, "in/b.txt": "One."})
	path := func(name string) string { return filepath.Join(root, name) }
	soffice := path("soffice")
	require.NoError(t, os.WriteFile(soffice, []byte("#!/bin/sh\n"+`for arg; do out=$folder; folder=$arg; done; cp '`+letter+`' "$out/in.docx"`+"\n"), 0o755))
	environ := []string{"DOCUMENT_LIBREOFFICE=" + soffice}
	translate := func(environ []string, args ...string) result {
		return execute(t, "", environ, append([]string{"translate", "-f", "en", "-t", "fr"}, args...)...)
	}
	r := translate(environ, path("in/a.doc"), "-o", path("a.docx"))
	require.Equal(t, ExitOK, r.code, r.stderr)
	r = translate(environ, path("in"), "-o", path("out"))
	require.Equal(t, ExitOK, r.code, r.stderr)
	contents := clitest.Contents(t, root)
	assert.True(t, strings.HasPrefix(contents["a.docx"], "PK"))
	assert.True(t, strings.HasPrefix(contents["out/a.docx"], "PK"))
	assert.Equal(t, "One.", contents["out/b.txt"])

	r = translate(environ, path("in/a.doc"), "-o", path("b.doc"))
	assert.Equal(t, ExitUsage, r.code)
	assert.Contains(t, r.stderr, "is a .docx: name the output so")
	r = translate([]string{"DOCUMENT_LIBREOFFICE=" + path("none")}, path("in/a.doc"), "-o", path("b.docx"))
	assert.Contains(t, r.stderr, "need LibreOffice")
	r = translate(nil, path("in/a.doc"), "-o", path("b.docx"))
	assert.Equal(t, ExitError, r.code)
	assert.Contains(t, r.stderr, "save it as docx")
	r = translate(nil, path("in"), "-o", path("others"))
	require.Equal(t, ExitOK, r.code, r.stderr)
	assert.NotContains(t, clitest.Contents(t, root), "others/a.docx")
}

// A service may convert documents of old programs.
func TestOldDocumentsAsJobs(t *testing.T) {
	from := filepath.Join(clitest.Folder(t, map[string]string{"a.rtf": `{\rtf1 One.}`}), "a.rtf")
	s, asked := newOneDocument(t, "UN.")
	r := execute(t, "", nil, asJob(s.serve(t), from, "-o", from+".docx")...)
	require.Equal(t, ExitOK, r.code, r.stderr)
	assert.Equal(t, []string{"a.rtf"}, asked.URL.Query()["name"])
}
