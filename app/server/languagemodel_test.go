package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/cli"
	"dragoman/app/remote/remotetest"
)

// pullServer adds the model of a server to a new repository, under the name llm.
func pullServer(t *testing.T, s *remotetest.Server) (dir string) {
	dir = filepath.Join(t.TempDir(), "models")
	r := execute(t, "", environment(), "pull", "--repository", dir, "--name", "llm", "openai:"+s.URL+"#"+remotetest.Model)
	require.Equal(t, cli.ExitOK, r.code, r.stderr)
	assert.Equal(t, "llm:1 "+filepath.Join(dir, "llm", "config.yaml")+"\n", r.stdout)
	return dir
}

// A language model is pulled, listed and translates from the command line.
func TestLanguageModelCommands(t *testing.T) {
	s := remotetest.New(t, nil)
	dir := pullServer(t, s)
	for _, again := range []string{"openai:" + s.URL + "#" + remotetest.Model, "openai:" + s.URL + "/"} { // the same, and the server's only model
		r := execute(t, "", environment("MODEL_REPOSITORY="+dir), "pull", "--name", "llm", again)
		require.Equal(t, cli.ExitOK, r.code, r.stderr)
		assert.Empty(t, r.stderr)
	}
	r := execute(t, "", environment(), "models", "--repository", dir)
	require.Equal(t, cli.ExitOK, r.code, r.stderr)
	assert.Regexp(t, `llm +1 +openai +\S* *\d+ .*served`, r.stdout)
	r = execute(t, "The house is big.\nThe garden.\n", environment("MODEL_REPOSITORY="+dir), "translate", "--from", "en", "--to", "fr")
	require.Equal(t, cli.ExitOK, r.code, r.stderr)
	assert.Equal(t, "Le maison est grand.\nLe jardin.\n", r.stdout)
	for _, call := range s.Calls() {
		assert.Equal(t, remotetest.Model, call.Body["model"])
	}
}

func TestPullServerRefuses(t *testing.T) {
	s := remotetest.New(t, nil)
	silent := remotetest.New(t, nil)
	other := filepath.Join(pullServer(t, s))
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"no repository":       {[]string{"openai:" + s.URL + "#player"}, "add --repository DIR"},
		"no such model":       {[]string{"--repository", t.TempDir(), "openai:" + s.URL + "#x"}, "name one of the server's models after #: player"},
		"no URL":              {[]string{"--repository", t.TempDir(), "openai:#x"}, "use an http(s) URL"},
		"password":            {[]string{"--repository", t.TempDir(), "openai:http://a:b@localhost/v1#x"}, "put the key into a file"},
		"away, and not named": {[]string{"--repository", t.TempDir(), "openai:http://127.0.0.1:1/v1"}, "connection refused"},
		"no list of models":   {[]string{"--repository", t.TempDir(), "openai:" + s.URL + "/v2"}, "404"},
		"the name is taken":   {[]string{"--repository", other, "--name", "llm", "openai:" + silent.URL + "#player"}, "is another model already"},
	} {
		t.Run(name, func(t *testing.T) {
			r := execute(t, "", environment(), append([]string{"pull"}, test.args...)...)
			assert.NotEqual(t, cli.ExitOK, r.code)
			assert.Contains(t, r.stderr, test.want)
			assert.NotContains(t, r.stderr, "a:b@")
		})
	}
	r := execute(t, "", environment("MODEL_WEIGHTS=openai:"+s.URL+"#player"), "translate", "--from", "en", "--to", "fr", "x")
	assert.Contains(t, r.stderr, "served from a repository")
	// A server that is named may begin later.
	dir := t.TempDir()
	r = execute(t, "", environment(), "pull", "--repository", dir, "openai:http://127.0.0.1:1/v1#hy-mt")
	require.Equal(t, cli.ExitOK, r.code, r.stderr)
	assert.Contains(t, r.stderr, "does not tell its models")
	raw, err := os.ReadFile(filepath.Join(dir, "hy-mt", "config.yaml"))
	require.NoError(t, err)
	assert.Contains(t, string(raw), "profile: hy-mt")
	// So may one that serves models which it does not list.
	empty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"object":"list","data":[]}`) }))
	defer empty.Close()
	r = execute(t, "", environment(), "pull", "--repository", dir, "--name", "folder", "openai:"+empty.URL+"/v1#/models/folder")
	require.Equal(t, cli.ExitOK, r.code, r.stderr)
	assert.Contains(t, r.stderr, "lists no models")
	r = execute(t, "", environment(), "pull", "--repository", dir, "--name", "other", "openai:"+empty.URL+"/v1")
	assert.NotEqual(t, cli.ExitOK, r.code)
	assert.Contains(t, r.stderr, "lists no models")
}

// A language model answers requests beside an exported model.
func TestServiceOfALanguageModel(t *testing.T) {
	s := remotetest.New(t, nil)
	dir := pullServer(t, s)
	addVersion(t, filepath.Join(dir, "small", "1"), func(string) {})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("order: [small, llm]\n"), 0o644))
	r := service(t, "MODEL_REPOSITORY="+dir)
	status, result, body := r.translateWith(t, "llm", "en", "fr", "The house is big.")
	require.Equal(t, http.StatusOK, status, body)
	assert.Equal(t, "Le maison est grand.", result.Text)
	assert.Equal(t, "llm", result.Detail.Model)
	status, result, body = r.translateWith(t, "", "en", "fr", station)
	require.Equal(t, http.StatusOK, status, body)
	assert.Equal(t, "small", result.Detail.Model)
	status, result, body = r.translateWith(t, "", "en", "fi", "The house is big.") // the other model has no Finnish
	require.Equal(t, http.StatusOK, status, body)
	assert.Equal(t, "llm", result.Detail.Model)
	assert.Contains(t, r.metrics(t), `dragoman_sentences_total{model="llm",outcome="done",version="1",worker="0"} 2`)
}
