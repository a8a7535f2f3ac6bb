package openinference

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/compattest"
	"dragoman/app/catalog"
	"dragoman/app/fault"
	"dragoman/app/guard/access"
	"dragoman/app/translate"
)

// fake lists the models of the tests: default, which is served, and some that are not.
type fake struct {
	did  []string // loads and unloads
	fail error    // of them
}

func (*fake) Index() []catalog.Status {
	languages := []string{"en", "fr"}
	return []catalog.Status{
		{Name: "default", Version: "1", Aliases: []string{"main"}, Served: true, State: catalog.Unloaded, From: languages, To: languages},
		{Name: "default", Version: "2", Aliases: []string{"main"}, Current: true, Served: true, State: catalog.Ready, From: languages, To: languages,
			Family: "m2m100", Precision: "int8", Device: "cuda", Bytes: 12345},
		{Name: "default", Version: "3", State: catalog.Loading, Reason: "it is tried before it takes over"},
		{Name: "broken", Version: "1", Current: true, Served: true, State: catalog.Unloaded, Reason: "there is no weights.bin"},
		{Name: "old", Version: "4", State: catalog.Draining, Reason: "it was unloaded by hand"},
	}
}

func (*fake) Statistics() []translate.Statistics {
	return []translate.Statistics{
		{Model: "default", Version: "2", Last: time.UnixMilli(1700000000123), Succeeded: translate.Total{Count: 3, Time: 9}, Failed: translate.Total{Count: 1, Time: 2},
			Sentences: 7, Joins: 5, Tokenized: 11, Queued: 12, Decoded: 13, Detokenized: 14,
			CacheHits: translate.Total{Count: 2, Time: 15}, CacheMisses: translate.Total{Count: 6, Time: 16}},
		{Model: "a+b", Version: "1+1", Sentences: 9},
	}
}

func (f *fake) Load(ctx context.Context, name string) error {
	_, bounded := ctx.Deadline()
	f.did = append(f.did, "load "+name)
	if !bounded {
		return errors.New("a load without an end")
	}
	return f.fail
}

func (f *fake) Unload(name string) error {
	f.did = append(f.did, "unload "+name)
	return f.fail
}

// translator knows the versions of the model default.
type translator struct{ compattest.Translator }

func (t translator) Select(model string) (translate.Selection, error) {
	name, _, _ := strings.Cut(model, ":")
	if name == "default" || name == "main" {
		if strings.HasSuffix(model, ":9") {
			return nil, compattest.NoModel(model)
		}
		return t.Translator.Select("")
	}
	if name == "broken" {
		return t.Translator.Select("")
	}
	return nil, compattest.NoModel(model)
}

// serverOf returns the API; the caller may change cfg.
func serverOf(t dialect.Translator, models Models, change func(*dialect.Config, *Config)) http.Handler {
	server, cfg := dialect.Config{MaxRecords: 5}, Config{
		Version: "v1.2", Models: func() Models { return models }, Live: func() error { return nil }, Ready: func() error { return nil },
	}
	if change != nil {
		change(&server, &cfg)
	}
	return compattest.Server(server, t, func(s *dialect.Server) dialect.Dialect {
		cfg.Server = s
		return New(cfg)
	})
}

func open() http.Handler { return serverOf(translator{}, &fake{}, nil) }

func TestRoutes(t *testing.T) {
	const (
		input  = `{"name":"text","datatype":"BYTES","shape":[-1,1]}`
		inputs = `[` + input + `,{"name":"from","datatype":"BYTES","shape":[-1,1]},{"name":"to","datatype":"BYTES","shape":[-1,1]}]`
		output = `[` + input + `,{"name":"score","datatype":"FP32","shape":[-1,1]}]`
		stats  = `{"name":"default","version":"2","last_inference":1700000000123,"inference_count":7,"execution_count":5,"inference_stats":{` +
			`"success":{"count":3,"ns":9},"fail":{"count":1,"ns":2},"queue":{"count":7,"ns":12},"compute_input":{"count":7,"ns":11},` +
			`"compute_infer":{"count":7,"ns":13},"compute_output":{"count":7,"ns":14},"cache_hit":{"count":2,"ns":15},"cache_miss":{"count":6,"ns":16}},` +
			`"batch_stats":[],"memory_usage":[{"type":"GPU","id":0,"byte_size":12345}]}`
		none  = `{"count":0,"ns":0}`
		fresh = `{"name":"default","version":"1","last_inference":0,"inference_count":0,"execution_count":0,"inference_stats":{` +
			`"success":` + none + `,"fail":` + none + `,"queue":` + none + `,"compute_input":` + none + `,"compute_infer":` + none +
			`,"compute_output":` + none + `,"cache_hit":` + none + `,"cache_miss":` + none + `},"batch_stats":[],"memory_usage":[]}`
		notReady = `{"error":"the model broken:1 is not ready: there is no weights.bin"}`
	)
	for _, test := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/v2", "", 200, `{"extensions":["model_repository","model_configuration","schedule_policy","binary_tensor_data","parameters","statistics"],"name":"dragoman","version":"v1.2"}`},
		{"GET", "/v2/health/live", "", 200, `{"live":true}`},
		{"GET", "/v2/health/ready", "", 200, `{"ready":true}`},
		{"GET", "/v2/models/default", "", 200, `{"name":"default","versions":["1","2"],"platform":"dragoman","inputs":` + inputs + `,"outputs":` + output + `}`},
		{"GET", "/v2/models/main/versions/1/ready", "", 200, `{"name":"default","ready":true}`},
		{"GET", "/v2/models/default/versions/1", "", 200, `{"name":"default","versions":["1"],"platform":"dragoman","inputs":` + inputs + `,"outputs":` + output + `}`},
		{"GET", "/v2/models/default/ready", "", 200, `{"name":"default","ready":true}`},
		{"GET", "/v2/models/main/ready", "", 200, `{"name":"default","ready":true}`},
		{"GET", "/v2/models/default/versions/1/ready", "", 200, `{"name":"default","ready":true}`},
		{"GET", "/v2/models/default/versions/3/ready", "", 503, `{"error":"the model default:3 is not ready: it is tried before it takes over"}`},
		{"GET", "/v2/models/broken/ready", "", 503, notReady},
		{"GET", "/v2/models/broken", "", 503, notReady},
		{"GET", "/v2/models/broken/config", "", 503, notReady},
		{"GET", "/v2/models/broken/stats", "", 503, notReady},
		{"POST", "/v2/models/broken/infer", "{}", 503, notReady},
		{"GET", "/v2/models/other/ready", "", 404, `{"error":"there is no model \"other\": use default"}`},
		{"GET", "/v2/models/old", "", 404, `{"error":"there is no model \"old\": use default"}`},
		{"POST", "/v2/models/old/infer", "{}", 404, `{"error":"there is no model \"old\": use default"}`},
		{"GET", "/v2/models/default/versions/9", "", 404, `{"error":"there is no model \"default:9\": use default"}`},
		{"POST", "/v2/models/default/versions/9/infer", "{}", 404, `{"error":"there is no model \"default:9\": use default"}`},
		{"GET", "/v2/models/default/stats", "", 200, `{"model_stats":[` + fresh + `,` + stats + `]}`},
		{"GET", "/v2/models/default/versions/2/stats", "", 200, `{"model_stats":[` + stats + `]}`},
		{"GET", "/v2/models/stats", "", 200, `{"model_stats":[` + fresh + `,` + stats + `]}`},
		{"GET", "/v2/models/other/stats", "", 404, `{"error":"there is no model \"other\": use default"}`},
		{"POST", "/v2/repository/index", "", 200, `[{"name":"default","version":"1","state":"READY","reason":"the first request loads it"},` +
			`{"name":"default","version":"2","state":"READY","reason":""},` +
			`{"name":"default","version":"3","state":"LOADING","reason":"it is tried before it takes over"},` +
			`{"name":"broken","version":"1","state":"UNAVAILABLE","reason":"there is no weights.bin"},` +
			`{"name":"old","version":"4","state":"UNLOADING","reason":"it was unloaded by hand"}]`},
		{"POST", "/v2/repository/index", `{"ready":true,"more":1}`, 200, `[{"name":"default","version":"1","state":"READY","reason":"the first request loads it"},` +
			`{"name":"default","version":"2","state":"READY","reason":""}]`},
		{"POST", "/v2/repository/index", `{"ready":1}`, 400, `{"error":"ready cannot be a number"}`},
		{"POST", "/v2/repository/index", `[]`, 400, `{"error":"the request is an array, expected an object"}`},
		{"POST", "/v2/repository/index", `{`, 400, `{"error":"the request is not JSON at byte 1: unexpected EOF"}`},
	} {
		t.Run(test.path, func(t *testing.T) {
			w := compattest.Send(t.Context(), open(), test.method, test.path, "", test.body)
			assert.Equal(t, test.status, w.Code)
			assert.Equal(t, test.want, compattest.Body(w))
		})
	}
}

func TestConfig(t *testing.T) {
	w := compattest.Send(t.Context(), open(), "GET", "/v2/models/default/config", "", "")
	require.Equal(t, 200, w.Code)
	assert.JSONEq(t, `{
		"name": "default", "platform": "", "backend": "dragoman", "runtime": "",
		"version_policy": {"specific": {"versions": [1, 2]}}, "max_batch_size": 5,
		"input": [{"name": "text", "data_type": "TYPE_STRING", "dims": [1]},
			{"name": "from", "data_type": "TYPE_STRING", "dims": [1], "optional": true},
			{"name": "to", "data_type": "TYPE_STRING", "dims": [1], "optional": true}],
		"output": [{"name": "text", "data_type": "TYPE_STRING", "dims": [1]}, {"name": "score", "data_type": "TYPE_FP32", "dims": [1]}],
		"dynamic_batching": {"preferred_batch_size": [], "max_queue_delay_microseconds": 0, "preserve_ordering": false,
			"priority_levels": 3, "default_priority_level": 2},
		"instance_group": [], "default_model_filename": "",
		"parameters": {"family": {"string_value": "m2m100"}, "precision": {"string_value": "int8"}, "pipeline": {"string_value": "false"},
			"from": {"string_value": "en,fr"}, "to": {"string_value": "en,fr"}}}`, w.Body.String())
}

func TestWhileNotReady(t *testing.T) {
	loading := serverOf(nil, nil, func(_ *dialect.Config, cfg *Config) {
		cfg.Ready = func() error { return fault.New(fault.ShuttingDown, "", "the service is shutting down") }
		cfg.Live = func() error { return fault.New(fault.Stuck, "", "the model has not finished a step") }
	})
	for path, want := range map[string]string{
		"/v2/health/live":          `{"error":"the model has not finished a step"}`,
		"/v2/health/ready":         `{"error":"the service is shutting down"}`,
		"/v2/models/default/ready": `{"error":"the models are loading: try again in a moment"}`,
		"/v2/models/default":       `{"error":"the models are loading: try again in a moment"}`,
	} {
		w := compattest.Send(t.Context(), loading, "GET", path, "", "")
		assert.Equal(t, 503, w.Code)
		assert.Equal(t, want, compattest.Body(w))
		assert.Equal(t, "1", w.Header().Get("Retry-After"))
	}
	assert.Equal(t, 200, compattest.Send(t.Context(), loading, "GET", "/v2", "", "").Code)
}

// keys returns a gate with the keys of an admin and of a user.
func keys(t *testing.T) (gate *access.Gate, admin, user string) {
	admin, user = access.NewKey(), access.NewKey()
	first, err := access.Line("root", admin, "admin")
	require.NoError(t, err)
	second, err := access.Line("user", user, "chars=30/d")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, os.WriteFile(file, []byte(first+"\n"+second+"\n"), 0o600))
	gate, err = access.New(access.Config{KeysFile: file, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return gate, admin, user
}

func TestLoad(t *testing.T) {
	gate, admin, user := keys(t)
	const needed = `{"error":"an admin's API key is needed: make one with ` + "`dragoman key NAME --admin`" + ` and add its line to the file of API_KEYS_FILE"}`
	broken := &catalog.BrokenError{Model: "default:2", Err: errors.New("no weights")}
	for _, test := range []struct {
		name, path, key, body string
		fail                  error
		status                int
		want                  string
		did                   []string
	}{
		{"load", "default/load", admin, "", nil, 200, `{}`, []string{"load default"}},
		{"load by an alias", "main/load", admin, "{}", nil, 200, `{}`, []string{"load default"}},
		{"load what is not known yet", "new/load", admin, `{"parameters":{}}`, nil, 200, `{}`, []string{"load new"}},
		{"unload", "main/unload", admin, `{"parameters":{"unload_dependents":false}}`, nil, 200, `{}`, []string{"unload default"}},
		{"with a configuration", "default/load", admin, `{"parameters":{"config":"{}","file:1/model":"AA=="}}`, nil, 400,
			`{"error":"a model is configured by config.yaml in its folder: send no config and no files"}`, nil},
		{"no JSON", "default/unload", admin, `{`, nil, 400, `{"error":"the request is not JSON at byte 1: unexpected EOF"}`, nil},
		{"a user", "default/load", user, "", nil, 403, needed, nil},
		{"a user unloads", "default/unload", user, "", nil, 403, needed, nil},
		{"no key", "default/load", "", "", nil, 401, `{"error":"an API key is needed: send Authorization: Bearer KEY, or X-API-Key: KEY"}`, nil},
		{"a key that is none", "default/unload", "x", "", nil, 401, `{"error":"the API key is not valid: it was cut off or mistyped"}`, nil},
		{"one model", "default/load", admin, "", ErrNoRepository, 501, `{"error":"` + ErrNoRepository.Error() + `"}`, []string{"load default"}},
		{"one model stays", "default/unload", admin, "", ErrNoRepository, 501, `{"error":"` + ErrNoRepository.Error() + `"}`, []string{"unload default"}},
		{"no such model", "nope/load", admin, "", compattest.NoModel("nope"), 404, `{"error":"there is no model \"nope\": use default"}`, []string{"load nope"}},
		{"broken", "default/load", admin, "", broken, 503, `{"error":"the model default:2 cannot be loaded: no weights"}`, []string{"load default"}},
		{"a fault", "default/load", admin, "", errors.New("secret"), 500, `{"error":"internal error, request id id-77"}`, []string{"load default"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			models := &fake{fail: test.fail}
			h := serverOf(translator{}, models, func(cfg *dialect.Config, _ *Config) { cfg.Gate = gate })
			w := compattest.Send(t.Context(), h, "POST", "/v2/repository/models/"+test.path, "", test.body, "Authorization", "Bearer "+test.key)
			assert.Equal(t, test.status, w.Code)
			assert.Equal(t, test.want, compattest.Body(w))
			assert.Equal(t, test.did, models.did)
		})
	}
	// A service without keys has no admins.
	for _, path := range []string{"load", "unload"} {
		w := compattest.Send(t.Context(), open(), "POST", "/v2/repository/models/default/"+path, "", "")
		assert.Equal(t, 403, w.Code)
		assert.Equal(t, needed, compattest.Body(w))
	}
}

func TestKeys(t *testing.T) {
	gate, _, user := keys(t)
	h := serverOf(translator{}, &fake{}, func(cfg *dialect.Config, _ *Config) { cfg.Gate = gate })
	for path, open := range map[string]bool{
		"GET /v2": true, "GET /v2/health/live": true, "GET /v2/health/ready": true, "GET /v2/models/default/ready": true,
		"GET /v2/models/default": false, "GET /v2/models/default/config": false, "GET /v2/models/stats": false,
		"POST /v2/models/default/infer": false, "POST /v2/repository/index": false,
	} {
		method, path, _ := strings.Cut(path, " ")
		assert.Equal(t, !open, compattest.Send(t.Context(), h, method, path, "", "").Code == 401, path)
	}
	// The characters of all parts are charged together.
	for _, test := range []struct {
		texts  []string
		status int
	}{{[]string{"ten chars.", "ten chars.", "ten chars.", "x"}, 413}, {[]string{"ten chars.", "ten chars."}, 200}, {[]string{"ten chars", "xx"}, 429}} {
		to := slices.Repeat([]string{"fr", "de"}, len(test.texts))[:len(test.texts)]
		raw, err := json.Marshal(map[string]any{"inputs": []any{
			map[string]any{"name": "text", "datatype": "BYTES", "shape": []int{len(to)}, "data": test.texts},
			map[string]any{"name": "to", "datatype": "BYTES", "shape": []int{len(to)}, "data": to},
		}})
		require.NoError(t, err)
		w := compattest.Send(t.Context(), h, "POST", "/v2/models/default/infer", "", string(raw), "X-API-Key", user)
		assert.Equal(t, test.status, w.Code, w.Body)
	}
}

// post sends an inference request to the open server.
func post(t testing.TB, body string, headers ...string) *httptest.ResponseRecorder {
	return compattest.Send(t.Context(), open(), "POST", "/v2/models/default/infer", "", body, headers...)
}
