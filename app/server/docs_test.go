package server

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/store/porttest"
	"dragoman/model"
	"dragoman/model/cpu/cputest"
	"dragoman/model/repository"
	"dragoman/model/source/hubtest"
)

// block is an example of a page, between fences.
type block struct {
	where, language, text string
	answers               bool // an answer: it follows the example before it within a few lines
}

var fences = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```")

// examples returns the examples of all pages of the documentation.
func examples(t *testing.T) (list []block) {
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	for _, page := range append(pages, "../../README.md") {
		raw, err := os.ReadFile(page)
		require.NoError(t, err)
		end := 0 // end of the previous example
		for i, at := range fences.FindAllSubmatchIndex(raw, -1) {
			line := 1 + bytes.Count(raw[:at[0]], []byte("\n"))
			near := i > 0 && bytes.Count(raw[end:at[0]], []byte("\n")) < 6
			end = at[1]
			list = append(list, block{fmt.Sprintf("%s:%d", filepath.Base(page), line), string(raw[at[2]:at[3]]), string(raw[at[4]:at[5]]), near})
		}
	}
	return list
}

// documented.sh stands in for the programs in examples. It checks their arguments.
//
//go:embed testdata/documented.sh
var documented string

// example is the environment of an example: a folder with the files that examples name, and a service.
type example struct {
	*running
	t        *testing.T
	dir      string
	address  string // of the example's own server
	firefox  string // URL of the index of models; "": none
	hub      string // URL of the hub with owner/models; "": none
	replaces *strings.Replacer
}

// newExample makes a folder for an example.
func newExample(t *testing.T, r *running, text string) example {
	e := example{running: r, t: t, dir: t.TempDir(), address: porttest.Hold(t)}
	office := func(name string) string {
		raw, err := os.ReadFile(filepath.Join("..", "document", "office", "testdata", name))
		require.NoError(t, err)
		return string(raw)
	}
	for name, content := range map[string]string{
		"lines.txt": "Where is the station?\n", "book.txt": "Where is the station?\n", "sentences.txt": "Where is the station?\n",
		"terms.tsv": "station\tgare centrale\n", "kitchen.tsv": "steamer\tcuiseur vapeur\n", "kuche.csv": "steamer,Dampfgarer\n",
		"page.html": "<p>Where is the station?</p>\n", "products.csv": "id,title,note\n1,Where is the station?,Thank you.\n",
		"letters/one.txt": "Thank you.\n", "report.docx": office("libreoffice-letter.docx"), "slides.pptx": office("libreoffice-talk.pptx"),
		"go.mod": "", "home/.curlrc": "",
	} {
		path := filepath.Join(e.dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	if !strings.Contains(text, " pull ") {
		for _, version := range []string{"m2m100/1", "m2m100/2", "small/1", "en-ja/2"} {
			link(t, exported, filepath.Join(e.dir, "models", version))
		}
	}
	if strings.Contains(text, "firefox") {
		e.firefox = firefoxMirror(t)
		require.NoError(t, os.CopyFS(filepath.Join(e.dir, "enfr"), os.DirFS("../../model/testdata/firefox-trained")))
	}
	if strings.Contains(text, "opus-mt") || strings.Contains(text, "my-model") {
		for _, name := range []string{"checkpoints/opus-mt-en-fr", "checkpoints/opus-mt-fr-en", "checkpoints/opus-mt-en-de", "checkpoints/opus-mt-de-en", "checkpoints/opus-mt-ROMANCE-en", "my-model"} {
			require.NoError(t, os.CopyFS(filepath.Join(e.dir, name), os.DirFS("../../model/testdata/families/marian")))
		}
	}
	if strings.Contains(text, "argosmodel") || strings.Contains(text, "opus-ct2") || strings.Contains(text, "owner/models") {
		e.converted()
	}
	for name, kind := range map[string]string{"madlad400-3b-mt": "t5", "nllb-200-distilled-600M": "nllb"} {
		if strings.Contains(text, name) {
			require.NoError(t, os.CopyFS(filepath.Join(e.dir, name), os.DirFS("../../model/testdata/families/"+kind)))
		}
	}
	e.fakes(text)
	hub := e.repository(text)
	if strings.Contains(text, "jobs wait ID") && !strings.Contains(text, "curl") { // the id of an existing job
		status, job := ask(t, "POST", r.url+"/jobs", jobOfMany(1, ""))
		require.Equal(t, 202, status)
		require.NoError(t, os.WriteFile(filepath.Join(e.dir, "last"), []byte(job.Job.ID), 0o644))
	}
	redis := "redis://" + miniredis.RunT(t).Addr()
	e.replaces = strings.NewReplacer( // the placeholders that a reader replaces
		"https://translate.example.com", r.url, "https://models.example/enfr", hub, "facebook/m2m100_418M", cputest.Bundled(), "alirezamsh/small100", cputest.Bundled(),
		"google/madlad400-3b-mt", e.dir+"/madlad400-3b-mt", "facebook/nllb-200-distilled-600M", e.dir+"/nllb-200-distilled-600M",
		" Helsinki-NLP/", " "+e.dir+"/checkpoints/", " /checkpoints", " "+e.dir+"/checkpoints",
		" /models", " "+e.dir+"/models", "=/models", "="+e.dir+"/models",
		"FLEET_SECRET=...", fleetSecret, "redis://:PASSWORD@redis.example:6379", redis, "redis://localhost:6379", redis,
		" a:9527", " "+strings.TrimPrefix(r.url, "http://"), " b:9527", " 127.0.0.1:1", "dragoman-headless:9527", strings.TrimPrefix(r.url, "http://"),
		"--interval 5s --duration 1h", "--interval 1s --duration 1h",
	)
	return e
}

// converted writes an Argos package and a folder of ctranslate2's converters for an example.
func (e example) converted() {
	const testdata = "../../model/testdata/"
	f, err := os.Create(filepath.Join(e.dir, "translate-en_fr-1_9.argosmodel"))
	require.NoError(e.t, err)
	z := zip.NewWriter(f)
	for name, in := range map[string]string{"metadata.json": "", "sentencepiece.model": "", "model.bin": "model/", "config.json": "model/", "shared_vocabulary.json": "model/"} {
		raw, err := os.ReadFile(testdata + "families/ctranslate2-argos/" + name)
		require.NoError(e.t, err)
		w, err := z.Create("en_fr/" + in + name)
		require.NoError(e.t, err)
		_, err = w.Write(raw)
		require.NoError(e.t, err)
	}
	require.NoError(e.t, errors.Join(z.Close(), f.Close()))
	folder := filepath.Join(e.dir, "opus-ct2-en-fr")
	require.NoError(e.t, os.CopyFS(folder, os.DirFS(testdata+"ctranslate2/marian")))
	for _, name := range []string{"source.spm", "target.spm"} {
		require.NoError(e.t, model.CopyFile(testdata+"families/marian/"+name, filepath.Join(folder, name)))
	}
}

// repository serves models of other programs as a hub's repository, if a text names one. It returns the URL of the repository
// with Firefox's files.
func (e *example) repository(text string) string {
	if !strings.Contains(text, "owner/models") {
		return ""
	}
	files := map[string][]byte{}
	for _, folder := range []string{"enfr", "opus-ct2-en-fr"} {
		entries, err := os.ReadDir(filepath.Join(e.dir, folder))
		for _, entry := range entries {
			raw, err := os.ReadFile(filepath.Join(e.dir, folder, entry.Name()))
			require.NoError(e.t, err)
			files[folder+"/"+entry.Name()] = raw
			if folder == "enfr" {
				files[entry.Name()] = raw
			}
		}
		require.True(e.t, err == nil || folder == "enfr", err)
	}
	server := hubtest.New(e.t, "owner/models", files)
	e.hub = server.Endpoint
	return server.Base
}

// link makes a folder of links to the files of another folder.
func link(t *testing.T, from, to string) {
	require.NoError(t, os.MkdirAll(to, 0o755))
	entries, err := os.ReadDir(from)
	require.NoError(t, err)
	for _, entry := range entries {
		if entry.Type().IsRegular() && !strings.HasPrefix(entry.Name(), ".") {
			require.NoError(t, os.Link(filepath.Join(from, entry.Name()), filepath.Join(to, entry.Name())))
		}
	}
}

// fakes puts stand-ins for programs, including the repository's scripts, where examples find them.
func (e example) fakes(text string) {
	put := func(path string) {
		path = filepath.Join(e.dir, path)
		require.NoError(e.t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(e.t, os.WriteFile(path, []byte(documented), 0o755))
	}
	for _, name := range []string{"bin/dragoman", "build/dragoman", "bin/curl", "bin/make", "bin/go", "bin/docker", "bin/kubectl", "bin/openssl", "bin/redis-server", "bin/captions", "bin/git", "bin/pip", "bin/npm", "bin/npx", "bin/sudo"} {
		put(name)
	}
	for _, pattern := range []string{"../../scripts/*.sh", "../../scripts/*/*.sh"} {
		scripts, err := filepath.Glob(pattern)
		require.NoError(e.t, err)
		for _, script := range scripts {
			put(strings.TrimPrefix(script, "../../"))
		}
	}
	require.NoError(e.t, os.MkdirAll(filepath.Join(e.dir, "scripts", "k8s"), 0o755))

	const release = "dragoman-VERSION-linux-amd64" // with its archive and checksum
	if !strings.Contains(text, release) {
		return
	}
	put(filepath.Join(release, "dragoman"))
	pack := exec.CommandContext(e.t.Context(), "bash", "-euc", `tar -czf "$1.tar.gz" "$1" && rm -r "$1" && sha256sum "$1.tar.gz" >SHA256SUMS`, "-", release)
	pack.Dir = e.dir
	out, err := pack.CombinedOutput()
	require.NoError(e.t, err, string(out))
}

// run runs a text in the shell and returns its output.
func (e example) run(text string) string {
	root, err := filepath.Abs("../..")
	require.NoError(e.t, err)
	program, err := filepath.Abs(os.Args[0])
	require.NoError(e.t, err)
	host, port, err := net.SplitHostPort(strings.TrimPrefix(e.url, "http://"))
	require.NoError(e.t, err)
	_, own, err := net.SplitHostPort(e.address)
	require.NoError(e.t, err)
	cmd := exec.CommandContext(e.t.Context(), "bash", "-euo", "pipefail", "-c", e.replaces.Replace(text))
	cmd.Dir = e.dir
	cmd.Env = append(environment(
		"HOME="+filepath.Join(e.dir, "home"), "PATH="+filepath.Join(e.dir, "bin")+":/usr/local/bin:/usr/bin:/bin",
		"ROOT="+root, "SANDBOX="+e.dir, "PROGRAM="+program, "OWN_PORT="+own, "JOB_FILE=off", "FIREFOX_MODELS="+e.firefox, "HF_ENDPOINT="+e.hub, asProgram+"=1",
	), "APP_HOST="+host, "APP_PORT="+port)
	cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "SAVE_WEIGHTS=") && strings.Contains(text, " pull ") })
	cmd.Env = append(cmd.Env, "XDG_CACHE_HOME="+filepath.Join(e.dir, "cache"))
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	err = cmd.Run()
	if pids, missing := os.ReadFile(filepath.Join(e.dir, "pids")); missing == nil {
		for _, pid := range strings.Fields(string(pids)) {
			_ = exec.Command("kill", pid).Run() // the process may have ended already
		}
	}
	require.NoError(e.t, err, "%s%s", out.String(), log.String())
	return out.String()
}

// Every example of every page works as written.
func TestExamplesOfTheDocumentation(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil && os.Getenv("CI") == "" {
		t.Skip("the examples need curl")
	}
	dir := t.TempDir()
	r := service(t, "JOB_FILE="+filepath.Join(dir, "jobs.db"), "GLOSSARY_FILE="+filepath.Join(dir, "glossaries.db"), "MEMORY_FILE="+filepath.Join(dir, "memories.db"))
	list := examples(t)
	require.Greater(t, len(list), 60)
	answer := "" // of the previous example
	for _, b := range list {
		t.Run(b.where, func(t *testing.T) {
			if !b.answers {
				answer = ""
			}
			switch b.language {
			case "sh":
				answer = newExample(t, r, b.text).run(b.text)
			case "json":
				answer = checkJSON(t, newExample(t, r, b.text), b.text, answer)
			case "yaml":
				checkYAML(t, b.text)
			case "go":
				if !strings.HasPrefix(b.text, "package ") { // a program, which app/client tests
					checkGo(t, b.text)
				}
			case "python", "js", "": // scripts/clients and app/client test such examples; blocks without a language are not programs
			default:
				require.Fail(t, "nothing tests examples in "+b.language)
			}
		})
	}
}

// checkJSON sends a request of a page to the service, or compares an answer of a page with the answer to the previous example.
// It returns the service's answer.
func checkJSON(t *testing.T, e example, text, answer string) string {
	if strings.HasPrefix(text, `"`) {
		text = "{" + text + "}" // a field of an object
	}
	var shown any
	require.NoError(t, json.Unmarshal([]byte(text), &shown))
	object, _ := shown.(map[string]any)
	for field, route := range map[string]string{"payload": "translation", "dictionaries": "glossaries"} {
		if object[field] != nil {
			require.NoError(t, os.WriteFile(filepath.Join(e.dir, "body.json"), []byte(text), 0o644))
			return e.run("curl http://localhost:9527/" + route + " -H 'Content-Type: application/json' -d @body.json")
		}
	}
	if answer != "" {
		var got any
		require.NoError(t, json.Unmarshal([]byte(answer), &got), answer)
		assert.Equal(t, shape(shown), shape(got), answer)
	}
	return ""
}

// checkGo compiles an example of the Go client, a program or statements, and discards the result.
func checkGo(t *testing.T, text string) {
	dir, imports := t.TempDir(), ""
	for name, path := range map[string]string{"grpc.": "google.golang.org/grpc", "insecure.": "google.golang.org/grpc/credentials/insecure", "inferencepb.": "dragoman/app/api/dropin/openinference/inferencepb"} {
		if strings.Contains(text, " "+name) || strings.Contains(text, "("+name) || strings.Contains(text, "&"+name) {
			imports += fmt.Sprintf("%q\n", path)
		}
	}
	source, overlay := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json")
	program := []byte("package main\n\nimport (\n\"context\"\n\"dragoman/app/client\"\n" + imports + ")\n\nfunc main() {}\n\n" +
		"func example(ctx context.Context, c *client.Client, id string, request client.Request, save func(string)) {\n{\n" + text + "\n}\n}\n")
	if strings.HasPrefix(text, "package main\n") {
		program = []byte(text)
	}
	require.NoError(t, os.WriteFile(source, program, 0o600))
	place, err := filepath.Abs("example/main.go")
	require.NoError(t, err)
	raw, err := json.Marshal(map[string]any{"Replace": map[string]string{place: source}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, raw, 0o600))
	said, _ := exec.CommandContext(t.Context(), "go", "build", "-o", os.DevNull, "-gcflags=-e", "-overlay", overlay, "./example").CombinedOutput()
	for line := range strings.Lines(string(said)) {
		if !strings.HasPrefix(line, "#") {
			assert.Contains(t, line, "declared and not used")
		}
	}
}

// shape returns the parts of JSON that are the same in all answers of a kind.
func shape(v any) any {
	switch v := v.(type) {
	case map[string]any:
		fields := map[string]any{}
		for name, value := range v {
			fields[name] = shape(value)
		}
		return fields
	case []any:
		if len(v) == 0 {
			return []any{}
		}
		return []any{shape(v[0])}
	}
	return fmt.Sprintf("%T", v)
}

// checkYAML reads a configuration as that of a repository or of a model in it.
func checkYAML(t *testing.T, text string) {
	dir := t.TempDir()
	for _, name := range []string{"m2m100/1", "m2m100/2", "small/1"} {
		link(t, exported, filepath.Join(dir, name))
	}
	path, all := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "m2m100", "config.yaml")
	require.NoError(t, os.WriteFile(all, []byte("versions: all\n"), 0o644))
	if strings.Contains(text, "versions:") {
		path, text = all, strings.ReplaceAll(text, "precision: int8", "precision: fp32")
	}
	if strings.HasPrefix(text, "openai:") {
		path = filepath.Join(dir, "llm", "config.yaml")
		require.NoError(t, os.Mkdir(filepath.Dir(path), 0o755))
	}
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	found := repository.Scan([]string{dir})
	assert.Empty(t, found.Problems)
	for _, m := range found.Models {
		assert.NoError(t, m.Err)
	}
	for _, p := range found.Pipelines {
		assert.NoError(t, p.Err)
	}
}
