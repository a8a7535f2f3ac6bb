package server

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"dragoman/model"
)

// detailed is a record with the details of its translation.
type detailed struct {
	record
	Detail struct {
		Model, Version, InsteadOf string
		Flags                     []string
		Segments                  []struct {
			Steps []struct{ Model, FromLang, ToLang, Text string }
		}
	}
}

// translateWith sends one sentence to a model; "": any model.
func (r *running) translateWith(t require.TestingT, name, from, to, text string) (status int, result detailed, body string) {
	payload := map[string]any{"fromLang": from, "toLang": to, "detail": true, "records": []record{{"1", text}}}
	if name != "" {
		payload["model"] = name
	}
	raw, err := json.Marshal(map[string]any{"payload": payload})
	require.NoError(t, err)
	resp, err := http.Post(r.url+"/translation", "application/json", strings.NewReader(string(raw)))
	require.NoError(t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var parsed struct{ Result []detailed }
	require.NoError(t, json.Unmarshal(answer, &parsed))
	if len(parsed.Result) > 0 {
		result = parsed.Result[0]
	}
	return resp.StatusCode, result, string(answer)
}

// newRepository makes a repository with copies of the exported model by names, and config.yaml files by paths.
func newRepository(t *testing.T, versions []string, configs map[string]string) (dir string) {
	dir = t.TempDir()
	for _, version := range versions {
		addVersion(t, filepath.Join(dir, version), func(string) {})
	}
	for path, content := range configs {
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte(content), 0o644))
	}
	return dir
}

// addVersion adds a version, changed by change, to a repository in one step.
func addVersion(t *testing.T, dir string, change func(dir string)) {
	made := copyExport(t)
	change(made)
	require.NoError(t, os.MkdirAll(filepath.Dir(dir), 0o755))
	require.NoError(t, os.CopyFS(dir+".tmp", os.DirFS(made)))
	require.NoError(t, os.Rename(dir+".tmp", dir))
}

// metrics returns the metrics of the service.
func (r *running) metrics(t require.TestingT) string {
	resp, err := http.Get(r.url + "/metrics")
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(raw)
}

const (
	station   = "Where is the station?"
	stationFr = "Où est la gare ?"
)

func TestServiceOfManyModels(t *testing.T) {
	r := service(t, "MODEL_REPOSITORY="+newRepository(t, []string{"one/1", "one/2", "two/7", "ja-en/1"}, map[string]string{
		"one/config.yaml":   "versions: all",
		"two/config.yaml":   "aliases: [zwei]\nbeams: 2",
		"ja-en/config.yaml": "pairs: [ja-en]",
		"config.yaml":       "order: [two]\npipelines:\n  ja-fr:\n    version: 3\n    steps: [{model: ja-en, to: en}, {model: 'one:1'}]\n",
	}))
	for _, test := range []struct{ name, from, to, model, version string }{
		{"", "en", "fr", "two", "7"},
		{"zwei", "en", "fr", "two", "7"},
		{"two:7", "en", "fr", "two", "7"},
		{"one", "en", "fr", "one", "2"},
		{"one:1", "en", "fr", "one", "1"},
	} {
		status, got, body := r.translateWith(t, test.name, test.from, test.to, station)
		assert.Equal(t, 200, status, body)
		assert.Equal(t, stationFr, got.Text)
		assert.Equal(t, []string{test.model, test.version}, []string{got.Detail.Model, got.Detail.Version}, test.name)
	}
	status, got, body := r.translateWith(t, "ja-fr", "ja", "fr", "駅はどこですか。")
	assert.Equal(t, 200, status, body)
	assert.Equal(t, stationFr, got.Text)
	assert.Equal(t, []string{"ja-fr", "3"}, []string{got.Detail.Model, got.Detail.Version})
	require.Len(t, got.Detail.Segments[0].Steps, 2)
	assert.Equal(t, station, got.Detail.Segments[0].Steps[0].Text)

	for name, want := range map[string]string{
		"three": "use two, ja-en, one or ja-fr", "one:3": "use 1 or 2", "ja-en": "not a language of this model", "../one": "there is no model",
	} {
		status, _, body := r.translateWith(t, name, "en", "fr", station)
		assert.GreaterOrEqual(t, status, 400, name)
		assert.Contains(t, body, want)
	}
	// All models have equal files: one and two differ in their beams.
	assert.Len(t, regexp.MustCompile(`(?m)^dragoman_model_loads_total\{.*\} [1-9]`).FindAllString(r.metrics(t), -1), 2)
}

// A new version takes over without a lost request; a broken version does not.
func TestServiceFollowsItsRepository(t *testing.T) {
	dir := newRepository(t, []string{"m/1"}, nil)
	r := service(t, "MODEL_REPOSITORY="+dir, "CACHE_BYTES=0")
	status, got, _ := r.translateWith(t, "m", "en", "fr", station)
	require.Equal(t, 200, status)
	assert.Equal(t, "1", got.Detail.Version)

	stop := make(chan struct{})
	var client errgroup.Group
	client.Go(func() error {
		for {
			select {
			case <-stop:
				return nil
			default:
			}
			status, got, body := r.translateWith(t, "m", "en", "fr", station)
			assert.Equal(t, 200, status, body)
			assert.Equal(t, stationFr, got.Text)
		}
	})
	addVersion(t, filepath.Join(dir, "m", "2"), func(dir string) {
		flip(t, filepath.Join(dir, model.WeightsFile)) // the manifest is from version 1
	})
	hangUp(t)
	for !strings.Contains(r.metrics(t), `dragoman_model_state{model="m",state="broken",version="2"} 1`) {
		require.NoError(t, t.Context().Err())
	}
	status, got, _ = r.translateWith(t, "m", "en", "fr", station)
	assert.Equal(t, 200, status)
	assert.Equal(t, "1", got.Detail.Version)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "m", "config.yaml"), []byte("beams: 2"), 0o644)) // the files were those of version 1
	addVersion(t, filepath.Join(dir, "m", "3"), func(string) {})
	hangUp(t)
	for got.Detail.Version != "3" {
		status, got, _ = r.translateWith(t, "m", "en", "fr", station)
		require.Equal(t, 200, status)
	}
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "m", "3"))) // while it serves
	hangUp(t)
	for got.Detail.Version != "1" {
		status, got, _ = r.translateWith(t, "m", "en", "fr", station)
		require.Equal(t, 200, status)
	}
	close(stop)
	require.NoError(t, client.Wait())
}

// If weights are truncated during use, only the requests of their model fail: the process and other models continue, and so does
// the model once its files are intact. A repository that is missing changes nothing.
func TestServiceOutlivesChangedFiles(t *testing.T) {
	dir := newRepository(t, []string{"a/1", "b/1"}, map[string]string{"b/config.yaml": "beams: 2"})
	r := service(t, "MODEL_REPOSITORY="+filepath.Join(t.TempDir(), "missing")+","+dir, "CACHE_BYTES=0")
	stop := make(chan struct{})
	var clients errgroup.Group
	for _, name := range []string{"a", "a", "b"} {
		clients.Go(func() error {
			for {
				select {
				case <-stop:
					return nil
				default:
				}
				status, got, body := r.translateWith(t, name, "en", "fr", station)
				if status == 200 {
					assert.Equal(t, stationFr, got.Text)
				} else {
					assert.Equal(t, "a", name, body)
					assert.Contains(t, body, "model_broken")
				}
			}
		})
	}
	until := func(name string, want int) {
		for status := 0; status != want; {
			status, _, _ = r.translateWith(t, name, "en", "fr", station)
			require.NoError(t, t.Context().Err())
		}
	}
	until("a", 200)
	until("b", 200)
	weights := filepath.Join(dir, "a", "1", model.WeightsFile)
	require.NoError(t, os.Truncate(weights, 100))
	until("a", 503)
	until("b", 200)
	resp, err := http.Get(r.url + "/healthz")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, 200, resp.StatusCode)
	require.NoError(t, os.Link(filepath.Join(dir, "b", "1", model.WeightsFile), weights+".new"))
	require.NoError(t, os.Rename(weights+".new", weights))
	hangUp(t)
	until("a", 200)
	close(stop)
	require.NoError(t, clients.Wait())
}

// A service without a model waits for one.
func TestServiceWithoutModels(t *testing.T) {
	dir := t.TempDir()
	r := service(t, "MODEL_REPOSITORY="+dir)
	status, _, body := r.translateWith(t, "", "en", "fr", station)
	assert.Equal(t, 503, status, body)
	addVersion(t, filepath.Join(dir, "m", "1"), func(string) {})
	hangUp(t)
	for status != 200 {
		status, _, _ = r.translateWith(t, "", "en", "fr", station)
		require.NoError(t, t.Context().Err())
	}
}

// SIGHUP does not end a process that has yet to begin to follow its repositories.
func TestHangUpAtTheStart(t *testing.T) {
	b, err := loaderOf(t, &program{environ: environment("DEVICE=cpu", "MODEL_REPOSITORY="+t.TempDir()), stderr: io.Discard, loadRuntime: (&openings{}).load}).load(t.Context(), nil)
	require.NoError(t, err)
	hangUp(t)
	assert.Equal(t, syscall.SIGHUP, <-b.hangUp)
	require.NoError(t, b.Close())
}

// hangUp sends this process SIGHUP, at which it scans its repositories.
func hangUp(t *testing.T) {
	t.Helper()
	self, err := os.FindProcess(os.Getpid())
	require.NoError(t, err)
	require.NoError(t, self.Signal(syscall.SIGHUP))
}
