package cli

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/cli/clitest"
	"dragoman/app/config"
	"dragoman/app/translate"
	"dragoman/model"
	"dragoman/model/family"
)

// result is the outcome of a run of the command line.
type result struct {
	code           int
	stdout, stderr string
}

// errorLines returns the lines on stderr that are not log lines.
func (r result) errorLines() []string { return clitest.ErrorLines(r.stderr) }

// execute runs a command. The fake models print their requests.
func execute(t *testing.T, stdin string, environ []string, args ...string) result {
	return executeIn(t.Context(), t, stdin, environ, args...)
}

func executeIn(ctx context.Context, t *testing.T, stdin string, environ []string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p := &Program{Version: "dev", Environ: environ, Stdin: strings.NewReader(stdin), Stdout: &stdout, Stderr: &stderr}
	p.LoadModels = func(context.Context, config.Config, *slog.Logger) (*translate.Service, func() error, error) {
		job, _ := echoJob(t, nil)
		return job.translator, func() error { return nil }, nil
	}
	p.RunService = func(ctx context.Context, _ config.Config, _ *slog.Logger) error {
		<-ctx.Done() // a service shuts down in order
		return nil
	}
	p.PullModel = func(ctx context.Context, _ config.Config, _ *slog.Logger, _ Repository) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}
	code := p.Run(ctx, args)
	return result{code, stdout.String(), stderr.String()}
}

// file writes lines to a file and returns its path.
func file(t *testing.T, content string) string {
	path := filepath.Join(t.TempDir(), "lines.txt")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"sevre":                                `unknown command "sevre" (did you mean serve?): use `,
		"trans hello":                          `unknown command "trans" (did you mean translate?)`,
		"hello":                                `unknown command "hello": use `,
		"jobs wiat":                            `unknown command "jobs wiat" (did you mean wait?): use cancel, list, wait`,
		"glossaries lst":                       `unknown command "glossaries lst" (did you mean list?)`,
		"completion tcsh":                      `unknown command "completion tcsh": use bash, fish, powershell, zsh`,
		"translate -f en -t fr nosuch.docx":    `nosuch.docx is the name of a document (stat nosuch.docx: no such file or directory)`,
		"translate -f en -t fr a NoSuch/B.PDF": `NoSuch/B.PDF is the name of a document`,
		"jobs --url ftp://x":                   `--url "ftp://x": use an address such as http://localhost:9527, or localhost:9527`,
		"version --bogus":                      `version: unknown flag: --bogus`,
		"version now":                          `version takes no arguments, got ["now"]`,
		"serve --prot 1":                       `serve: unknown flag: --prot`,
		"translate --form en":                  `translate: unknown flag: --form (did you mean --format?)`,
		"translate --alternative 3 x":          `translate: unknown flag: --alternative (did you mean --alternatives?)`,
		"translate -x":                         `translate: unknown shorthand flag: 'x' in -x`,
		"jobs wait a b":                        `jobs wait takes the id of a job, got ["a" "b"]`,
		"jobs wait --force a":                  `jobs wait takes --force only with -o`,
		"jobs --force":                         `jobs: unknown flag: --force`,
		"glossaries add x":                     `glossaries add needs --from and --to`,
		"glossaries add - -f en -t fr":         `glossaries add needs --name where the terms come from standard input`,
		"glossaries rm":                        `glossaries rm takes the id of a glossary, got []`,
		"key":                                  `key needs the caller's name`,
		"live -f en":                           `live needs --from and --to`,
		"translate x":                          `translate needs --from and --to`,
		"translate -f en -t fr - x":            `translate takes - for standard input alone`,
		"translate -f en -t fr -o - a b":       `translate takes -o - for one document: name a folder for several`,
		"translate -f en -t fr -o x.html":      `say by --format what the document of standard input is`,
		"translate -f en -t fr --format pdf x": `translate: --format "pdf": use one of text, html, xml`,
		"translate -f en -t fr --format text/html x.txt -o -":    `translate: --format "text/html": use one of `,
		"translate -f en -t fr --beams 0 x":                      `translate: --beams 0: use 1 or more`,
		"translate -f en -t fr --beams -1 x":                     `translate: --beams -1: use 1 or more`,
		"translate -f en -t fr --beams 100 x":                    `translate: --beams 100: use 1 to 8, or raise MAX_BEAMS`,
		"translate -f en -t fr --alternatives 9 x":               `translate: --alternatives 9: use 1 to 8, or raise MAX_BEAMS`,
		"translate -f en -t fr --json -o x x":                    `translate takes --alternatives, --json and --file for texts, not with -o`,
		"translate -f en -t fr --job --beams -1 --url http://a ": `translate: --beams -1: use 1 or more`,
	} {
		t.Run(args, func(t *testing.T) {
			r := execute(t, "", []string{"APP_PORT=1"}, strings.Fields(args)...)
			assert.Equal(t, ExitUsage, r.code)
			require.Len(t, r.errorLines(), 1, r.stderr)
			assert.Contains(t, r.errorLines()[0], want)
			assert.Empty(t, r.stdout)
		})
	}
}

// Each command prints its help for each way to request it.
func TestHelp(t *testing.T) {
	root := (&Program{}).root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	commands := root.Commands()
	require.Greater(t, len(commands), 11)
	for _, c := range commands {
		for _, args := range [][]string{{"help", c.Name()}, {c.Name(), "--help"}, {c.Name(), "-h"}} {
			r := execute(t, "", nil, args...)
			assert.Equal(t, ExitOK, r.code, args)
			assert.Contains(t, r.stdout, "dragoman "+c.Name(), args)
			assert.Equal(t, c.Name() == "config", strings.Contains(r.stdout, "APP_CONCURRENCY"), "variables are in the help of config")
			checkHelp(t, r.stdout)
			assert.Empty(t, r.stderr)
		}
		for _, below := range c.Commands() {
			r := execute(t, "", nil, "help", c.Name(), below.Name())
			assert.Contains(t, r.stdout, "dragoman "+c.Name()+" "+below.Name())
			if c.Name() != "completion" { // cobra's own
				checkHelp(t, r.stdout)
			}
		}
	}
	for _, args := range []string{"help", "--help", "-h"} {
		r := execute(t, "", nil, args)
		assert.Equal(t, ExitOK, r.code)
		lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
		assert.LessOrEqual(t, len(lines), 23, "a screen has 24 lines")
		for _, c := range commands {
			if c.IsAvailableCommand() {
				assert.Contains(t, r.stdout, "\n  "+c.Name()+" ")
			}
		}
	}
	for _, args := range [][]string{{"help", "config"}, {"config"}, {"man"}} {
		r := execute(t, "", nil, args...)
		assert.Equal(t, ExitOK, r.code)
		for _, v := range config.Variables() {
			assert.Contains(t, r.stdout, v.Name)
		}
		assert.NotRegexp(t, "`|\\]\\(", r.stdout, "Markdown")
	}
	for _, args := range []string{"version", "--version"} {
		assert.Contains(t, execute(t, "", nil, args).stdout, "dragoman dev (go")
	}
}

// checkHelp asserts that help fits a terminal and has no Markdown.
func checkHelp(t *testing.T, help string) {
	t.Helper()
	assert.NotRegexp(t, "`|\\]\\(", help)
	for line := range strings.Lines(help) {
		if utf8.RuneCountInString(strings.TrimSpace(line)) > 80 {
			t.Errorf("longer than 80 columns: %s", line)
		}
	}
}

// The manual page has every command, flag and variable; man itself finds no fault with it where it is installed.
func TestManual(t *testing.T) {
	page := execute(t, "", nil, "man").stdout
	for _, want := range []string{".TH DRAGOMAN 1", ".SH ENVIRONMENT", `.SS "dragoman translate \-f en \-t fr [TEXT]...`, `.SS "dragoman jobs wait ID`, `\-\-alternatives`, `\-f, \-\-from`} {
		assert.True(t, strings.Contains(page, want), want)
	}
	path, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("there is no groff")
	}
	groff := exec.Command(path, "-k", "-man", "-ww", "-Tutf8", "-z")
	groff.Stdin = strings.NewReader(page)
	out, err := groff.CombinedOutput()
	assert.NoError(t, err)
	assert.Empty(t, string(out))
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		r := execute(t, "", nil, "completion", shell)
		assert.Equal(t, ExitOK, r.code)
		assert.Contains(t, r.stdout, "dragoman")
	}
	for args, want := range map[string][]string{
		"translate --from ":        {"auto\tdetected", "fr\tFrench", "yue\tCantonese"},
		"translate -t ":            {"fr\tFrench", "ja\tJapanese"},
		"live --to ":               {"fr\tFrench"},
		"translate --format ":      {"text", "html", "xml"},
		"translate -o x --format ": {"docx", "md"},
		"translate --header ":      {"auto", "keep", "translate"},
		"pull --precision ":        {"int8", "fp32"},
		"glossaries add x --from ": {"fr\tFrench"},
		"":                         {"translate\t"},
		"jobs ":                    {"cancel\tEnd a job"},
		"completion ":              {"bash\t", "zsh\t", "fish\t", "powershell\t"},
	} {
		r := execute(t, "", nil, append([]string{"__complete"}, strings.Split(args, " ")...)...)
		assert.Equal(t, ExitOK, r.code, args)
		for _, one := range want {
			assert.Contains(t, r.stdout, one, args)
		}
	}
	dir := t.TempDir()
	writeExport(t, filepath.Join(dir, "en-ja", "1"), "en", "ja")
	environ := []string{"MODEL_REPOSITORY=" + dir}
	assert.Contains(t, execute(t, "", environ, "__complete", "translate", "--model", "").stdout, "en-ja\n")
	r := execute(t, "", environ, "__complete", "translate", "--to", "")
	assert.Contains(t, r.stdout, "ja\tJapanese")
	assert.NotContains(t, r.stdout, "yue", "the models do not have it")
}

// writeExport writes the manifest of an exported model without files.
func writeExport(t *testing.T, dir string, languages ...string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, model.WeightsFile), []byte("abc"), 0o644))
	weights, err := model.HashFile(t.Context(), filepath.Join(dir, model.WeightsFile))
	require.NoError(t, err)
	stack := model.Stack{Layers: 1, Heads: 2, FFN: 8}
	m := model.Manifest{Format: model.ManifestFormat, Precision: model.INT8, Family: "marian", Source: "owner/name", License: "mit", Languages: languages,
		Spec:  model.Spec{VocabSize: 100, DModel: 8, MaxPositions: 16, Encoder: stack, Decoder: stack, EOS: 2},
		Files: map[string]model.File{model.WeightsFile: weights}}
	require.NoError(t, m.Write(dir))
}

// Without a repository, models lists what serve has used before.
func TestModelsOfTheCache(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	r := execute(t, "", nil, "models")
	assert.Equal(t, ExitError, r.code)
	assert.Contains(t, r.stderr, "there are no models yet")

	cache := filepath.Join(os.Getenv("XDG_CACHE_HOME"), "dragoman")
	writeExport(t, filepath.Join(cache, "m2m100-418M-1a2b3c4d-int8"), "de", "en", "fr")
	require.NoError(t, os.MkdirAll(filepath.Join(cache, "half"), 0o755)) // of an export that was interrupted
	saved := t.TempDir()
	writeExport(t, saved, "en", "ja")
	writeExport(t, filepath.Join(config.PulledModels(os.Getenv("XDG_CACHE_HOME")), "firefox-en-de", "1"), "de", "en")
	r = execute(t, "", []string{"SAVE_WEIGHTS=" + saved}, "models")
	assert.Equal(t, ExitOK, r.code, r.stderr)
	assert.Regexp(t, `(?m)^firefox-en-de +1 `, r.stdout)
	assert.Regexp(t, `(?m)^m2m100-418M-1a2b3c4d-int8 +1 +marian +int8 +3 +mit +3 B +served$`, r.stdout)
	assert.Regexp(t, `(?m)^`+filepath.Base(saved)+` +1 +marian +int8 +2 +mit `, r.stdout)
}

// A variable that Kubernetes sets for a service called grpc is reported once, with a remedy.
func TestConfigureTellsServiceLinks(t *testing.T) {
	var log strings.Builder
	_, _, err := Configure([]string{"GRPC_PORT=tcp://10.0.0.1:9528", "APP_PRT=1"}, &log)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	require.Len(t, lines, 2)
	assert.Contains(t, lines[0], "enableServiceLinks: false")
	assert.Contains(t, lines[0], "variable=GRPC_PORT")
	assert.Contains(t, lines[1], "did_you_mean=APP_PORT")
}

// After a signal, a command exits with the code that shells expect and without an error for programmers. A service that shuts
// down in order has not failed.
func TestSignals(t *testing.T) {
	for _, test := range []struct {
		cause error
		args  string
		code  int
		want  string
	}{
		{Signalled{syscall.SIGINT}, "pull", 130, "dragoman: interrupted\n"},
		{Signalled{syscall.SIGTERM}, "pull", 143, "dragoman: interrupted\n"},
		{errors.New("otherwise"), "pull", 130, "dragoman: interrupted\n"},
		{Signalled{syscall.SIGINT}, "translate -f en -t fr -", 130, "dragoman: interrupted\n"},
		{Signalled{syscall.SIGINT}, "serve", 0, ""},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(test.cause)
		r := executeIn(ctx, t, "one", nil, strings.Fields(test.args)...)
		assert.Equal(t, result{test.code, "", test.want}, r, test.args)
	}
}

// Input from arguments, standard input and files, and the output.
func TestTranslateHere(t *testing.T) {
	path := file(t, "three\n")
	html := "<p title=\"x\">one</p>\n"
	for _, test := range []struct{ args, stdin, want string }{
		{"one", "", "one\n"},
		{"-", "one\ntwo\n", "one\ntwo\n"},
		{"", "one\n", "one\n"},
		{"--file - --file " + path, "one\n", "one\nthree\n"},
		{"--json one", "", `{"text":"one"}` + "\n"},
		{"--json", "a\n<b>\n", `{"text":"a"}` + "\n" + `{"text":"<b>"}` + "\n"},
		{"--format html", "<b>one</b>\n", "<b>one</b>\n"},
		{"--format html -o -", html, html},
		{"--format .html -o - -", html, html},
		{"-o - " + path, "ignored", "three\n"},
		{"-o - --format md " + path, "", "three\n"},
	} {
		r := execute(t, test.stdin, nil, append([]string{"translate", "-f", "en", "-t", "fr"}, strings.Fields(test.args)...)...)
		assert.Equal(t, result{ExitOK, test.want, ""}, r, test.args)
	}
	out := filepath.Join(t.TempDir(), "new", "out.html")
	r := execute(t, html, nil, "translate", "-f", "en", "-t", "fr", "--format", "html", "-o", out)
	assert.Equal(t, result{}, r)
	raw, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.Equal(t, html, string(raw))
	for args, want := range map[string]string{
		"--format html -o " + filepath.Dir(out): "is a folder", "--format html -o " + out: "is there already",
	} {
		r := execute(t, html, nil, append([]string{"translate", "-f", "en", "-t", "fr"}, strings.Fields(args)...)...)
		assert.NotEqual(t, ExitOK, r.code)
		assert.Contains(t, r.stderr, want)
	}
}

// A document from standard input leaves no temporary files.
func TestStandardInputLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, stdin := range []string{"<p>one</p>", "", "%PDF-1.7"} {
		execute(t, stdin, nil, "translate", "-f", "en", "-t", "fr", "--format", "html", "-o", "-")
		left, err := os.ReadDir(os.Getenv("TMPDIR"))
		require.NoError(t, err)
		assert.Empty(t, left)
	}
}

// The help of MODEL_FAMILY is written by hand, because config imports no families.
func TestHelpListsTheFamilies(t *testing.T) {
	field, ok := reflect.TypeFor[config.Config]().FieldByName("Family")
	require.True(t, ok)
	for _, name := range family.Names() {
		assert.Contains(t, field.Tag.Get("help"), name)
	}
}
