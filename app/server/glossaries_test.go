package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/cli"
)

// The command line makes glossaries. Requests and jobs use them, and they outlive the service.
func TestGlossariesOfAService(t *testing.T) {
	dir := t.TempDir()
	settings := []string{"GLOSSARY_FILE=" + filepath.Join(dir, "glossaries.db"), "JOB_FILE=" + filepath.Join(dir, "jobs.db")}
	terms := filepath.Join(dir, "Our terms.csv")
	require.NoError(t, os.WriteFile(terms, []byte("station,\"gare, \"\"centrale\"\"\"\nAcme\n"), 0o600))
	start := func() *running {
		return startServer(t, func(context.Context) {}, func(http.Handler) {}, settings...)
	}
	end := func(r *running) {
		r.stop()
		require.NoError(t, <-r.result)
	}
	r := start()
	glossaries := func(stdin string, args ...string) result {
		return execute(t, stdin, nil, append([]string{"glossaries", "--url", r.url}, args...)...)
	}
	const head = "ID  NAME  FROM  TO  TERMS  CHANGED\n"
	assert.Equal(t, result{cli.ExitOK, head, ""}, glossaries(""))

	added := glossaries("", "add", terms, "--from", "en", "--to", "fr")
	require.Equal(t, cli.ExitOK, added.code, added.stderr)
	id := strings.TrimSpace(added.stdout)
	assert.Len(t, id, 36)
	assert.Equal(t, result{cli.ExitOK, "station\tgare, \"centrale\"\nAcme\tAcme\n", ""}, glossaries("", "show", id))
	assert.Equal(t, added, glossaries("station\tBahnhof\n", "add", "-", "--id", id, "--from", "en", "--to", "de"))
	assert.Equal(t, result{cli.ExitOK, "station,Bahnhof\n", ""}, glossaries("", "show", id, "--from", "en", "--to", "de", "--csv"))
	listed := glossaries("", "list").stdout
	assert.Regexp(t, `(?s)^ID +NAME +FROM +TO +TERMS +CHANGED\n`+id+`  Our terms  en +de  1 .*`+id+`  Our terms  en +fr  2 `, listed)

	body := `{"payload":{"fromLang":"en","toLangs":["fr","de"],"glossaryId":"` + id + `","records":[{"id":"1","text":"Where is the bus?"}]}}`
	status, direct := ask(t, "POST", r.url+"/translation", body)
	require.Equal(t, 200, status)
	require.Len(t, direct.Result, 2)
	status, submitted := ask(t, "POST", r.url+"/jobs", body)
	require.Equal(t, 202, status)
	assert.Equal(t, direct.Result, ended(t, r.url+submitted.Job.URL).Result)
	job := execute(t, "", nil, asJob(r.url, "--glossary", id, "Where is the bus?")...)
	assert.Equal(t, direct.Result[0].Text+"\n", job.stdout, job.stderr)

	for want, run := range map[string]func() result{
		`line 2: "a" is there already, in line 1`: func() result {
			return glossaries("a\tb\na\tc\n", "add", "-", "--name", "n", "--from", "en", "--to", "fr")
		},
		`"xx" is not a language of any model`:  func() result { return glossaries("a\tb\n", "add", "-", "--name", "n", "--from", "en", "--to", "xx") },
		"no such file":                         func() result { return glossaries("", "add", "none.tsv", "--from", "en", "--to", "fr") },
		"the glossary has 2 dictionaries":      func() result { return glossaries("", "show", id) },
		"there is no such glossary":            func() result { return glossaries("", "rm", "none") },
		"glossaries add needs --from and --to": func() result { return glossaries("", "add", terms) },
		"takes --id or --name, not both": func() result {
			return glossaries("", "add", terms, "--id", "x", "--name", "y", "--from", "en", "--to", "fr")
		},
		"needs --name where the terms come from": func() result { return glossaries("", "add", "-", "--from", "en", "--to", "fr") },
		`use add, list, rm, show`:                func() result { return glossaries("", "drop", id) },
		"translate takes --glossary only with --job": func() result {
			return execute(t, "", environment(), "translate", "--from", "en", "--to", "fr", "--glossary", id, "x")
		},
		"has no dictionary from \"fr\" to \"en\", but": func() result {
			return execute(t, "", nil, "translate", "--job", "--from", "fr", "--to", "en", "--url", r.url, "--glossary", id, "x")
		},
	} {
		got := run()
		assert.NotEqual(t, cli.ExitOK, got.code, want)
		assert.Contains(t, got.stderr, want)
	}

	end(r)
	r = start()
	assert.Equal(t, listed, glossaries("").stdout)
	assert.Equal(t, result{cli.ExitOK, "", ""}, glossaries("", "rm", id))
	assert.Equal(t, head, glossaries("").stdout)
	end(r)
}

// If the default file cannot be used, glossaries are off, and the rest works.
func TestGlossariesWithoutAFile(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	t.Setenv("XDG_CACHE_HOME", blocked)
	r := service(t, "GLOSSARY_FILE=")
	status, refused := ask(t, "GET", r.url+"/glossaries", "")
	assert.Equal(t, 503, status)
	assert.Equal(t, "glossaries_unavailable", refused.Error.Code)
	assert.Contains(t, refused.Error.Message, "GLOSSARY_FILE")
	status, _ = ask(t, "POST", r.url+"/translation", jobOfMany(1, ""))
	assert.Equal(t, 200, status)
}

// If another process has a configured file, the service does not start.
func TestGlossaryFileOfAnotherProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "glossaries.db")
	r := service(t, "GLOSSARY_FILE="+file)
	p := &program{environ: environment("GLOSSARY_FILE=" + file), stderr: io.Discard, loadRuntime: loadRuntime}
	assert.ErrorContains(t, p.runService(t.Context()), fmt.Sprintf("GLOSSARY_FILE: another process (process %d on ", os.Getpid()))
	status, _ := get(t, r.url+"/glossaries")
	assert.Equal(t, 200, status)
}
