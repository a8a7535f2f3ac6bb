package server

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/cli"
	"dragoman/app/cli/clitest"
	"dragoman/model"
	"dragoman/model/cpu/cputest"
	"dragoman/model/source"
)

// asProgram, in the environment of this test binary, makes it the program.
const asProgram = "DRAGOMAN_TEST_MAIN"

// exported is the folder of the bundled model, exported once for all tests.
var exported string

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(Main("dev"))
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // one of hangUp may arrive when the service of its test has ended
	os.Exit(withExport(m.Run))
}

// withExport calls run while exported exists.
func withExport(run func() int) int {
	dir, err := os.MkdirTemp("", "dragoman-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	p, err := source.NewPreparer(source.Config{SaveWeights: dir})
	if err == nil {
		exported, err = p.Prepare(context.Background())
	}
	if err != nil {
		panic(err)
	}
	return run()
}

// environment returns the environment of a program with the bundled model, and added variables. Its time limits suit a slow
// machine.
func environment(added ...string) []string {
	return append([]string{
		"ONNXRUNTIME_LIB=" + cputest.Library(), "SAVE_WEIGHTS=" + exported,
		"APP_HOST=127.0.0.1", "APP_PORT=0", "GRPC_PORT=0", "APP_WORKERS=1", "THREADS=1", "DEVICE=cpu", "LOG_FORMAT=json",
		"REQUEST_TIMEOUT=1h", "QUEUE_WAIT=0", "JOB_FILE=off", "GLOSSARY_FILE=off", "MEMORY_FILE=off",
	}, added...)
}

// result is the outcome of a run of the program.
type result struct {
	code           int
	stdout, stderr string
}

// errorLines returns the lines on stderr that are not log lines.
func (r result) errorLines() []string { return clitest.ErrorLines(r.stderr) }

// execute runs the program to its end.
func execute(t *testing.T, stdin string, environ []string, args ...string) result {
	var stdout, stderr bytes.Buffer
	p := &program{version: "dev", environ: environ, stdin: strings.NewReader(stdin), stdout: &stdout, stderr: &stderr}
	return result{p.run(t.Context(), args), stdout.String(), stderr.String()}
}

func TestUsageErrors(t *testing.T) {
	for _, test := range []struct {
		args    []string
		environ []string
		want    string
	}{
		{[]string{"sevre"}, nil, `unknown command "sevre" (did you mean serve?): use completion, glossaries, health, jobs, key, live, mcp, models, monitor, pull, serve, translate, version`},
		{[]string{"serve", "now"}, nil, `serve takes no arguments, got ["now"]`},
		{[]string{"serve", "--port", "1"}, nil, `serve: unknown flag: --port`},
		{nil, []string{"APP_PORT=x"}, `configuration: APP_PORT="x": use a whole number`},
		{[]string{"serve"}, []string{"DEVICE=tpu"}, `configuration: DEVICE="tpu": use auto, cpu or cuda`},
		{[]string{"pull", "a/b", "c/d"}, nil, `pull of several models, or with --name, needs a repository: add --repository DIR, or set MODEL_REPOSITORY`},
		{[]string{"pull", "a/b", "c/d", "--name", "x", "--repository", "/models"}, nil, `pull takes --name and --out with one model, got ["a/b" "c/d"]`},
		{[]string{"pull", "a/b", "c/d", "--revision", "v1"}, nil, `pull takes --revision with one model: write owner/name@revision for each of ["a/b" "c/d"]`},
		{[]string{"pull", "http://me:secret@h/b?key=secret", "http://h/c/b", "--repository", "/models"}, nil, `"http://h/b" and "http://h/c/b" would both be called b: pull one of them with --name`},
		{[]string{"pull", "a/b", "c/b@v1", "--repository", "/models"}, nil, `"a/b" and "c/b@v1" would both be called b: pull one of them with --name`},
		{[]string{"pull", "a/b", "c", "--repository", "/models"}, nil, `model "c" is neither a folder that exists, nor an http(s) URL, ` +
			`nor a repository's name (owner/name): check the spelling; write a folder's path with ./ or / in front`},
		{[]string{"pull", "--precision", "int4"}, nil, `configuration: PRECISION="int4": use auto, int8, fp32 or fp16`},
		{[]string{"pull", "firefox"}, nil, `pull firefox needs pairs of languages, such as: pull firefox en-de`},
		{[]string{"pull", "--repository", "m", "firefox", "en-de", "nonsense"}, nil, `model "firefox:nonsense": name a pair of languages, such as firefox:en-de`},
		{[]string{"pull"}, []string{"MODEL_FAMILY=opus"}, `configuration: MODEL_FAMILY="opus": use auto, m2m100, small100, nllb, marian, firefox, mbart, t5, ctranslate2`},
		{[]string{"pull", "--revision", "main"}, nil, `configuration: MODEL_REVISION="main": the bundled model has no revisions, set MODEL_WEIGHTS too`},
		{[]string{"pull", "--repository", "/models"}, nil, `pull --repository needs the model's name there: add --name NAME`},
		{[]string{"pull", "--name", "m"}, nil, `pull of several models, or with --name, needs a repository: add --repository DIR, or set MODEL_REPOSITORY`},
		{[]string{"pull", "--name", "m", "--repository", "/models", "--out", "x"}, nil, `pull takes --out, or --name and a repository, not both`},
		{[]string{"pull", "--name", "../m", "--repository", "/models"}, nil,
			`"../m" is not a model's name: use 1 to 63 letters, digits or . _ -, the first a letter or digit`},
		{[]string{"pull", "--list", "--out", "x", "french"}, nil, `pull --list takes no --out: it only lists`},
		{[]string{"models", "m"}, nil, `models takes no arguments, got ["m"]`},
		{[]string{"serve"}, []string{"MODEL_REPOSITORY=/models", "MODEL_WEIGHTS=a/b"},
			"configuration: MODEL_REPOSITORY and MODEL_WEIGHTS are both set: unset one, and use `dragoman pull MODEL --repository DIR --name NAME` to add a model to a repository"},
		{[]string{"serve", "--models", "firefox"}, []string{"MODEL_WEIGHTS=a/b"}, "configuration: AUTO_PULL fetches models for one process with a repository: unset MODEL_WEIGHTS and ROLE, or AUTO_PULL"},
		{[]string{"serve", "--models", "argos"}, nil, `configuration: AUTO_PULL="argos": use firefox, opus or both with a comma between`},
		{[]string{"translate", "hello"}, nil, `translate needs --from and --to, such as --from en --to fr`},
		{[]string{"translate", "--from", "en", "hello"}, nil, `translate needs --from and --to, such as --from en --to fr`},
		{[]string{"translate", "--from", "en", "--to", "fr", "--file", "x", "hello"}, nil, `translate takes texts or files, not both`},
		{[]string{"translate", "--from", "en", "--to", "fr", "--beams", "many"}, nil,
			`translate: invalid argument "many" for "--beams" flag: strconv.ParseInt: parsing "many": invalid syntax`},
		{[]string{"translate", "--from", "en", "--to", "fr", "--beams", "-1", "x"}, nil, `translate: --beams -1: use 1 or more`},
		{[]string{"translate", "--from", "en", "--to", "fr", "--key", "k", "hello"}, nil,
			`translate takes --url and --key only with --job: without it, a model translates here`},
		{[]string{"translate", "--job", "--from", "en", "--to", "fr", "hello"}, nil, `APP_PORT=0 is a port that only the service's log tells: use --url`},
		{[]string{"translate", "--job", "--from", "en", "--to", "fr", "--url", "here", "hello"}, nil, `--url "here": use an address such as http://localhost:9527, or localhost:9527`},
		{[]string{"jobs", "--url", "http://here?a"}, nil, `client: URL is "http://here?a": leave out what follows ? or #`},
		{[]string{"translate", "--from", "en", "--to", "xx", "hello"}, nil, `"xx" is not a language of this model: use one of de en fr ja zh`},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			r := execute(t, "", environment(test.environ...), test.args...)
			assert.Equal(t, cli.ExitUsage, r.code)
			assert.Equal(t, []string{"dragoman: " + test.want}, r.errorLines())
			assert.Empty(t, r.stdout)
		})
	}
}

// copyExport copies the exported folder, so that a test can damage it.
func copyExport(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(exported)))
	return dir
}

// flip changes one byte in the middle of a file.
func flip(t *testing.T, path string) {
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	raw[len(raw)/2] ^= 1
	require.NoError(t, os.WriteFile(path, raw, 0o644))
}

// A missing or damaged file at the start gives one line with a remedy.
func TestStartErrors(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	_, port, err := net.SplitHostPort(taken.Addr().String())
	require.NoError(t, err)
	empty := t.TempDir()
	noLibrary := filepath.Join(empty, "libonnxruntime.so")
	text := filepath.Join(t.TempDir(), "libonnxruntime.so")
	require.NoError(t, os.WriteFile(text, []byte("not a library"), 0o644))

	for _, test := range []struct {
		name    string
		environ func(t *testing.T) []string
		want    []string // parts of the line
	}{
		{"the port is taken", func(*testing.T) []string { return []string{"APP_PORT=" + port} },
			[]string{"cannot listen on 127.0.0.1:" + port, "address already in use", "set APP_HOST and APP_PORT"}},
		{"no runtime library", func(*testing.T) []string { return []string{"ONNXRUNTIME_LIB=" + noLibrary} },
			[]string{noLibrary, "make runtime", "ONNXRUNTIME_LIB"}},
		{"the library is none", func(*testing.T) []string { return []string{"ONNXRUNTIME_LIB=" + text} },
			[]string{text, "version"}},
		{"no model folder", func(*testing.T) []string { return []string{"MODEL_WEIGHTS=" + empty + "/nope"} },
			[]string{"MODEL_WEIGHTS", empty + "/nope"}},
		{"an empty model folder", func(t *testing.T) []string {
			return []string{"MODEL_WEIGHTS=" + empty, "SAVE_WEIGHTS=" + t.TempDir()}
		}, []string{"config.json"}},
		{"no such repository, offline", func(t *testing.T) []string {
			return []string{"MODEL_WEIGHTS=owner/name", "SAVE_WEIGHTS=" + t.TempDir(), "HF_HUB_OFFLINE=1"}
		}, []string{"owner/name", "offline"}},
		{"a missing model file", func(t *testing.T) []string {
			dir := copyExport(t)
			require.NoError(t, os.Remove(filepath.Join(dir, model.DecoderFile)))
			return []string{"MODEL_WEIGHTS=" + dir}
		}, []string{model.DecoderFile, "and export again"}},
		{"corrupt weights", func(t *testing.T) []string {
			dir := copyExport(t)
			flip(t, filepath.Join(dir, model.WeightsFile))
			return []string{"MODEL_WEIGHTS=" + dir}
		}, []string{model.WeightsFile, "corrupt", "sha256", "export again"}},
		{"a corrupt tokenizer", func(t *testing.T) []string {
			dir := copyExport(t)
			flip(t, filepath.Join(dir, model.PieceModelFile))
			return []string{"MODEL_WEIGHTS=" + dir}
		}, []string{model.PieceModelFile, "corrupt", "export again"}},
		{"a damaged manifest", func(t *testing.T) []string {
			dir := copyExport(t)
			require.NoError(t, os.WriteFile(filepath.Join(dir, model.ManifestFile), []byte("{"), 0o644))
			return []string{"MODEL_WEIGHTS=" + dir}
		}, []string{model.ManifestFile, "damaged", "export again"}},
		{"an export in another precision", func(*testing.T) []string {
			return []string{"MODEL_WEIGHTS=" + exported, "PRECISION=int8"}
		}, []string{"PRECISION is int8", "fp32 model", "PRECISION=auto"}},
		{"a length that the model lacks", func(*testing.T) []string { return []string{"MAX_LENGTH=5000"} },
			[]string{"max length is 5000", "1024 positions"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := execute(t, "", environment(test.environ(t)...), "serve")
			assert.Equal(t, cli.ExitError, r.code)
			require.Len(t, r.errorLines(), 1, r.stderr)
			for _, part := range test.want {
				assert.Contains(t, r.errorLines()[0], part)
			}
		})
	}
}

func TestPull(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	// A pull needs no ONNX Runtime.
	r := execute(t, "", []string{"SAVE_WEIGHTS=/nowhere"}, "pull", cputest.Bundled(), "--out", out, "--precision=fp32")
	require.Equal(t, cli.ExitOK, r.code, r.stderr)
	assert.Equal(t, out+"\n", r.stdout)
	m, err := model.ReadManifest(out)
	require.NoError(t, err)
	assert.Equal(t, model.FP32, m.Precision)
	assert.Len(t, m.Languages, 100)
	before, err := os.Stat(filepath.Join(out, model.WeightsFile))
	require.NoError(t, err)

	again := execute(t, "", nil, "pull", "--out", out, cputest.Bundled(), "--precision", "fp32")
	assert.Equal(t, cli.ExitOK, again.code)
	after, err := os.Stat(filepath.Join(out, model.WeightsFile))
	require.NoError(t, err)
	assert.Equal(t, before.ModTime(), after.ModTime(), "nothing to do the second time")
}

func TestPullReportsErrors(t *testing.T) {
	r := execute(t, "", []string{"HF_HUB_OFFLINE=1"}, "pull", "owner/name", "--out", t.TempDir())
	assert.Equal(t, cli.ExitError, r.code)
	require.Len(t, r.errorLines(), 1)
	assert.Contains(t, r.errorLines()[0], "owner/name")
}

func TestFindLibrary(t *testing.T) {
	none, second, third := t.TempDir(), t.TempDir(), t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(none, libraryName()), 0o755)) // a folder is not a library
	for _, dir := range []string{second, third} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, libraryName()), nil, 0o644))
	}
	path, err := findLibrary("", []string{none, second, third})
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(second, libraryName()), path)

	path, err = findLibrary("/as/told.so", []string{second})
	require.NoError(t, err)
	assert.Equal(t, "/as/told.so", path)

	_, err = findLibrary("", []string{none})
	assert.ErrorContains(t, err, "make runtime")
}
