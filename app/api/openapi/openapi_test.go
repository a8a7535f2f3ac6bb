package openapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"dragoman/app/api/openapi"
)

// config has limits that are low enough for tests to reach.
func config() openapi.Config {
	return openapi.Config{Version: "v1.2.3", MaxRecords: 4, MaxChars: 50, MaxBodyBytes: 2000,
		MaxJobRecords: 8, MaxJobChars: 100, MaxJobBodyBytes: 4000, MaxDocumentBytes: 3000, MaxLiveChars: liveChars}
}

func loaded() openapi.Model {
	return openapi.Model{Languages: []string{"en", "fr", "ja"}, Detects: true, MaxBeams: 8, MaxLength: 200}
}

// described is the description of a ready service. Tests share it, because making one is slow under the race detector.
var described = sync.OnceValues(func() (*openapi.Description, error) { return newDescription(config()) })

func newDescription(cfg openapi.Config) (*openapi.Description, error) {
	d, err := openapi.New(cfg)
	if err != nil {
		return nil, err
	}
	d.Ready(loaded())
	return d, nil
}

// describe returns the shared description. The caller must not change it.
func describe(t *testing.T) *openapi.Description {
	t.Helper()
	d, err := described()
	require.NoError(t, err)
	return d
}

// routerOf returns a router with only the description's routes.
func routerOf(d *openapi.Description) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	d.Register(router, func(c *gin.Context) { c.String(http.StatusNotFound, "ours") })
	return router
}

// get requests a path, with headers as names and values.
func get(h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	return ask(h, http.MethodGet, path, headers...)
}

func ask(h http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// document returns the description of all routes as clients get it.
func document(t *testing.T, d *openapi.Description) []byte {
	t.Helper()
	return documentAt(t, d, "/openapi-all.json")
}

func documentAt(t *testing.T, d *openapi.Description, path string) []byte {
	t.Helper()
	w := get(routerOf(d), path)
	require.Equal(t, http.StatusOK, w.Code)
	return w.Body.Bytes()
}

// tree is a parsed document.
type tree map[string]any

func treeOf(t *testing.T, d *openapi.Description) tree {
	t.Helper()
	return parse(t, document(t, d))
}

func parse(t *testing.T, document []byte) tree {
	t.Helper()
	var doc tree
	require.NoError(t, json.Unmarshal(document, &doc))
	return doc
}

// at returns the value at a place, or nil.
func (doc tree) at(names ...string) any {
	value := any(map[string]any(doc))
	for _, name := range names {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

// schema returns the value at a place of a schema.
func (doc tree) schema(names ...string) any {
	return doc.at(append([]string{"components", "schemas"}, names...)...)
}

func TestDocumentOfAService(t *testing.T) {
	doc := treeOf(t, describe(t))
	assert.Equal(t, "v1.2.3", doc.at("info", "version"))
	assert.Equal(t, map[string]any{
		"records": 4., "characters": 50., "bodyBytes": 2000., "jobRecords": 8., "jobCharacters": 100., "jobBodyBytes": 4000., "documentBytes": 3000., "liveCharacters": 200., "beams": 8., "maxLength": 200.,
		"languages": []any{"en", "fr", "ja"}, "sourceLanguages": []any{"auto", "en", "fr", "ja"},
	}, doc.at("x-limits"))
	assert.Equal(t, 4., doc.schema("TranslationPayload", "properties", "records", "maxItems"))
	assert.Equal(t, 50., doc.schema("TextRecord", "properties", "text", "maxLength"))
	assert.Equal(t, 8., doc.schema("Options", "properties", "beams", "maximum"))
	assert.Equal(t, 8., doc.schema("TranslationPayload", "properties", "alternatives", "maximum"))
	assert.Equal(t, 200., doc.schema("Options", "properties", "maxLength", "maximum"))
	assert.Equal(t, []any{"en", "fr", "ja"}, doc.schema("Language", "enum"))
	assert.Equal(t, []any{"auto", "en", "fr", "ja"}, doc.schema("SourceLanguage", "examples"))
	assert.Equal(t, []any{"en", "fr", "ja"}, doc.schema("TargetLanguage", "examples"))
	assert.Equal(t, map[string]any{}, doc.at("security").([]any)[0], "no key is needed")
}

func TestDocumentBeforeTheModelIsLoaded(t *testing.T) {
	d, err := openapi.New(config())
	require.NoError(t, err)
	doc := treeOf(t, d)
	assert.Equal(t, map[string]any{"records": 4., "characters": 50., "bodyBytes": 2000., "jobRecords": 8., "jobCharacters": 100., "jobBodyBytes": 4000., "documentBytes": 3000., "liveCharacters": 200.}, doc.at("x-limits"))
	assert.Equal(t, 50., doc.schema("TextRecord", "properties", "text", "maxLength"))
	for _, name := range []string{"Language", "SourceLanguage", "TargetLanguage"} {
		assert.Equal(t, "string", doc.schema(name, "type"))
		assert.NotContains(t, doc.schema(name), "enum")
		assert.NotContains(t, doc.schema(name), "examples")
	}
	assert.NotContains(t, doc.schema("Options", "properties", "beams"), "maximum")
}

func TestDocumentWithoutDetection(t *testing.T) {
	d, err := openapi.New(config())
	require.NoError(t, err)
	m := loaded()
	m.Detects = false
	d.Ready(m)
	assert.Equal(t, []any{"en", "fr", "ja"}, treeOf(t, d).schema("SourceLanguage", "examples"))
}

func TestDocumentWhereKeysAreNeeded(t *testing.T) {
	cfg := config()
	cfg.KeysNeeded = true
	d, err := newDescription(cfg)
	require.NoError(t, err)
	doc := treeOf(t, d)
	assert.Equal(t, []any{map[string]any{"bearer": []any{}}, map[string]any{"apiKey": []any{}}}, doc.at("security"))
	assert.NotContains(t, doc.at("paths", "/v2/translate", "post", "security"), map[string]any{})
	assert.Contains(t, doc.at("paths", "/v2/translate", "post", "security"), map[string]any{"deepl": []any{}})
	assert.Equal(t, []any{}, doc.at("paths", "/healthz", "get", "security"))
}

// TestDocumentIsValid validates the document against the OpenAPI Initiative's schema
// (https://spec.openapis.org/oas/3.1/schema/2022-10-07).
func TestDocumentIsValid(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("testdata/openapi-3.1.schema.json")
	require.NoError(t, err)
	empty, err := openapi.New(config())
	require.NoError(t, err)
	cfg := config()
	cfg.KeysNeeded = true
	closed, err := newDescription(cfg)
	require.NoError(t, err)
	for name, document := range map[string][]byte{
		"before the model is loaded":         document(t, empty),
		"native, before the model is loaded": documentAt(t, empty, "/openapi.json"),
		"ready":                              document(t, describe(t)),
		"native, ready":                      documentAt(t, describe(t), "/openapi.json"),
		"with keys":                          document(t, closed),
		"native, with keys":                  documentAt(t, closed, "/openapi.json"),
		"YAML":                               documentAt(t, describe(t), "/openapi-all.yaml"),
		"native YAML":                        documentAt(t, describe(t), "/openapi.yaml"),
	} {
		t.Run(name, func(t *testing.T) {
			var doc map[string]any
			require.NoError(t, yaml.Unmarshal(document, &doc)) // JSON is YAML
			assert.Equal(t, "3.1.1", doc["openapi"])
			assert.NoError(t, schema.Validate(doc))
			checkReferences(t, doc, doc)
		})
	}
}

// checkReferences reports each reference below value without a target in the document.
func checkReferences(t *testing.T, doc tree, value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			checkReferences(t, doc, item)
		}
	case map[string]any:
		if ref, ok := value["$ref"].(string); ok {
			path, local := strings.CutPrefix(ref, "#/")
			assert.True(t, local, ref)
			var names []string
			for name := range jsontext.Pointer("/" + path).Tokens() {
				names = append(names, name)
			}
			assert.NotNil(t, doc.at(names...), ref)
		}
		for _, item := range value {
			checkReferences(t, doc, item)
		}
	}
}

func TestServingTheDocument(t *testing.T) {
	d, err := openapi.New(config())
	require.NoError(t, err)
	h := routerOf(d)
	for path, contentType := range map[string]string{
		"/openapi.json": "application/json; charset=utf-8", "/openapi.yaml": "application/yaml; charset=utf-8",
		"/openapi-all.json": "application/json; charset=utf-8", "/openapi-all.yaml": "application/yaml; charset=utf-8",
	} {
		t.Run(path, func(t *testing.T) {
			d.Ready(openapi.Model{})
			first := get(h, path)
			assert.Equal(t, 200, first.Code)
			assert.Equal(t, contentType, first.Header().Get("Content-Type"))
			assert.Equal(t, "no-cache", first.Header().Get("Cache-Control"))
			tag := first.Header().Get("ETag")
			assert.Regexp(t, `^"[0-9a-f]{32}"$`, tag)

			again := get(h, path, "If-None-Match", tag)
			assert.Equal(t, 304, again.Code)
			assert.Empty(t, again.Body)
			head := ask(h, "HEAD", path)
			assert.Equal(t, 200, head.Code)
			assert.Equal(t, first.Header(), head.Header())
			assert.Empty(t, head.Body)

			d.Ready(loaded())
			changed := get(h, path, "If-None-Match", tag)
			assert.Equal(t, 200, changed.Code, "the model was loaded since")
			assert.Contains(t, changed.Body.String(), "sourceLanguages")
		})
	}
}

func TestYAMLIsTheSameDocument(t *testing.T) {
	d := describe(t)
	for _, name := range []string{"/openapi", "/openapi-all"} {
		text := documentAt(t, d, name+".yaml")
		assert.Contains(t, string(text), "# The HTTP interface of dragoman", "comments are kept")
		var fromYAML map[string]any
		require.NoError(t, yaml.Unmarshal(text, &fromYAML))
		asJSON, err := json.Marshal(fromYAML)
		require.NoError(t, err)
		assert.JSONEq(t, string(documentAt(t, d, name+".json")), string(asJSON))
	}
}
