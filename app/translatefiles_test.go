package main

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// folder makes a folder with files, and returns its path.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o640))
	}
	return root
}

// contents are those of all files in a folder.
func contents(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		found[filepath.ToSlash(name)] = string(raw)
		return err
	}))
	return found
}

const stationText, gareText = "\tWhere is the station?\r\n\r\nI like to read books.\nWhere is the station?", "\tOù se trouve la gare ?\r\n\r\nJ'aime lire des livres.\nOù se trouve la gare ?"

// Documents are written again, with their texts as lines are translated.
func TestTranslateDocuments(t *testing.T) {
	root := folder(t, map[string]string{"a.txt": stationText, "in/b.txt": "Where is the station?", "in/deep/C.TXT": "12\n", "in/photo.jpg": "x"})
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	run := func(args ...string) result {
		return execute(t, "", environment(), append([]string{"translate", "--from", "auto", "--to", "fr"}, args...)...)
	}
	r := run(at("a.txt"), "-o", at("new/gare.txt"))
	require.Equal(t, exitOK, r.code, r.stderr)
	assert.Empty(t, r.stdout+r.stderr)
	r = run(at("in"), "-o", at("in/fr"))
	require.Equal(t, exitOK, r.code, r.stderr)
	r = run(at("a.txt"), at("in/b.txt"), "--output", at("both"))
	require.Equal(t, exitOK, r.code, r.stderr)
	r = run(at("in"), "-o", at("in/fr"))
	assert.Equal(t, exitError, r.code)
	assert.Contains(t, r.stderr, "is there already: name another file, or replace it by --force")
	r = run(at("in"), "-o", at("in/fr"), "--force") // what is there already is no document of the folder
	require.Equal(t, exitOK, r.code, r.stderr)
	gare := "Où se trouve la gare ?"
	assert.Equal(t, map[string]string{
		"a.txt": stationText, "in/b.txt": "Where is the station?", "in/deep/C.TXT": "12\n", "in/photo.jpg": "x",
		"new/gare.txt": gareText, "in/fr/b.txt": gare, "in/fr/deep/C.TXT": "12\n", "both/a.txt": gareText, "both/b.txt": gare,
	}, contents(t, root))
	info, err := os.Stat(at("new/gare.txt"))
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o640), info.Mode().Perm(), "as the document has them")
}

func TestTranslateDocumentsFails(t *testing.T) {
	root := folder(t, map[string]string{"a.txt": "One.", "b.txt": "Two.", "in/a.txt": "Three.", "empty.txt": "", "a.pdf": "%PDF-1.7", "none/photo.jpg": "x"})
	before := contents(t, root)
	at := func(name string) string { return filepath.Join(root, name) }
	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no output":      {[]string{at("a.txt")}, exitUsage, "a.txt is a document: name a file for its translation by -o"},
		"no input":       {[]string{"-o", at("x.txt")}, exitUsage, "-o needs files or folders"},
		"force alone":    {[]string{"--force", "text"}, exitUsage, "--force and --columns only with -o"},
		"columns alone":  {[]string{"--columns", "1", "text"}, exitUsage, "--force and --columns only with -o"},
		"lines":          {[]string{"--file", at("a.txt"), "-o", at("x.txt"), at("a.txt")}, exitUsage, "not both"},
		"missing":        {[]string{at("nope.txt"), "-o", at("x.txt")}, exitError, "no such file"},
		"itself":         {[]string{at("a.txt"), "-o", at("a.txt"), "--force"}, exitError, "would take its place"},
		"its folder":     {[]string{at("a.txt"), "-o", root, "--force"}, exitError, "would take its place"},
		"there":          {[]string{at("a.txt"), "-o", at("b.txt")}, exitError, "b.txt is there already"},
		"two of a name":  {[]string{at("a.txt"), at("in/a.txt"), "-o", at("out")}, exitError, "are both"},
		"empty":          {[]string{at("empty.txt"), "-o", at("x.txt")}, exitError, "empty.txt: the document is empty"},
		"PDF":            {[]string{at("a.pdf"), "-o", at("x.pdf")}, exitError, "a.pdf: the file is a PDF"},
		"nothing there":  {[]string{at("none"), "-o", at("x")}, exitError, "there is no document in"},
		"language":       {[]string{at("a.txt"), "-o", at("x.txt"), "--to", "xx"}, exitUsage, "use one of"},
		"through a file": {[]string{at("a.txt"), "-o", at("b.txt/x.txt")}, exitError, "not a directory"},
	} {
		r := execute(t, "", environment(), append([]string{"translate", "--from", "en", "--to", "fr"}, test.args...)...)
		assert.Equal(t, test.code, r.code, "%s: %s", name, r.stderr)
		assert.Contains(t, r.stderr, test.want, name)
		assert.Equal(t, before, contents(t, root), name)
	}
}

// A translation is there as a whole or not at all, and does not take the place of what came meanwhile.
func TestSave(t *testing.T) {
	root := folder(t, map[string]string{"a.txt": "One."})
	p := paper{filepath.Join(root, "a.txt"), filepath.Join(root, "new", "b.txt")}
	errFull := errors.New("no space left")
	err := output{}.save(p, func(out io.Writer) error {
		_, _ = io.WriteString(out, "half")
		return errFull
	})
	require.ErrorIs(t, err, errFull)
	assert.Equal(t, map[string]string{"a.txt": "One."}, contents(t, root))
	err = output{}.save(p, func(out io.Writer) error {
		_, err := io.WriteString(out, "whole")
		return errors.Join(err, os.WriteFile(p.to, []byte("faster"), 0o600))
	})
	require.ErrorContains(t, err, "is there already")
	assert.Equal(t, map[string]string{"a.txt": "One.", "new/b.txt": "faster"}, contents(t, root))
}

// newOneDocument is a service that has one document, or makes it.
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

func TestTranslateDocumentsAsJobs(t *testing.T) {
	root := folder(t, map[string]string{"in/a.txt": "One."})
	from, to := filepath.Join(root, "in/a.txt"), filepath.Join(root, "b.txt")
	s, asked := newOneDocument(t, "UN.")
	url := s.serve(t)
	r := execute(t, "", nil, asJob(url, from, "-o", to, "--model", "m:2", "--beams", "3", "--columns", "a,2")...)
	require.Equal(t, exitOK, r.code, r.stderr)
	assert.Equal(t, "One.", s.asked)
	assert.Equal(t, map[string][]string{"fromLang": {"en"}, "toLang": {"fr"}, "name": {"a.txt"}, "model": {"m:2"},
		"options": {`{"beams":3}`}, "columns": {"a", "2"}}, map[string][]string(asked.URL.Query()))
	assert.Equal(t, map[string]string{"in/a.txt": "One.", "b.txt": "UN."}, contents(t, root))
	assert.Equal(t, []string{from + " is job 4f2c: `dragoman jobs wait 4f2c --url " + url + " -o FILE` picks it up again",
		"a.txt: 1 of 2 texts look wrong after all retries: check the translation"}, r.errorLines())

	// It is picked up again.
	r = execute(t, "", nil, "jobs", "wait", "4f2c", "--url", url, "-o", to)
	assert.Equal(t, exitError, r.code)
	assert.Contains(t, r.stderr, "is there already")
	s.routes["GET /documents/4f2c/result"] = answer(200, "DEUX.")
	r = execute(t, "", nil, "jobs", "wait", "4f2c", "--url", url, "-o", to, "--force")
	require.Equal(t, exitOK, r.code, r.stderr)
	assert.Equal(t, "DEUX.", contents(t, root)["b.txt"])
	for want, args := range map[string][]string{
		"is a document: name a file for it, such as -o a.txt": {"wait", "4f2c"},
		"jobs takes -o only with wait ID":                     {"-o", to},
		"jobs takes --force only with -o":                     {"--force"},
	} {
		r = execute(t, "", nil, append([]string{"jobs", "--url", url}, args...)...)
		assert.Equal(t, exitUsage, r.code)
		assert.Contains(t, r.stderr, want)
	}
}

func TestTranslateDocumentsAsJobsFails(t *testing.T) {
	root := folder(t, map[string]string{"a.txt": "One."})
	from, to := filepath.Join(root, "a.txt"), filepath.Join(root, "b.txt")
	s, _ := newOneDocument(t, "")
	url := s.serve(t)
	s.routes["GET /documents/4f2c/result"] = answer(409, `{"error":{"code":"not_done","message":"never"}}`)
	r := execute(t, "", nil, asJob(url, from, "-o", to)...)
	assert.Equal(t, exitError, r.code)
	assert.Contains(t, r.stderr, "dragoman: never")
	s.routes["POST /documents"] = answer(422, `{"error":{"code":"invalid_document","message":"it is broken"}}`)
	r = execute(t, "", nil, asJob(url, from, "-o", to)...)
	assert.Equal(t, exitError, r.code)
	assert.Contains(t, r.stderr, "a.txt: it is broken")
	assert.Equal(t, map[string]string{"a.txt": "One."}, contents(t, root))
}
