package libretranslate

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/dialect"
	"dragoman/app/api/dropin/compattest"
)

// The specification has exactly the routes of the API.
func TestSpecHasTheRoutes(t *testing.T) {
	w := compattest.Send(t.Context(), compattest.Server(dialect.Config{}, nil, New), "GET", "/spec", "", "")
	require.Equal(t, 200, w.Code, "also while the model is loading")
	assert.Equal(t, "application/json; charset=utf-8", w.Header().Get("Content-Type"))
	var document struct {
		Swagger string
		Paths   map[string]map[string]any
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &document))
	assert.Equal(t, "2.0", document.Swagger)

	var described, served []string
	for path, item := range document.Paths {
		for method := range item {
			described = append(described, method+" "+path)
		}
	}
	s := dialect.New(dialect.Config{})
	for _, route := range append(New(s).Routes, Files(s, nil).Routes...) {
		served = append(served, map[string]string{"GET": "get ", "POST": "post "}[route.Methods]+strings.ReplaceAll(route.Path, ":name", "{name}"))
	}
	assert.ElementsMatch(t, served, described)
}

// Answers match the specification.
func TestAnswersAreAsInTheSpec(t *testing.T) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(spec))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft4)
	const at = "spec.json"
	require.NoError(t, compiler.AddResource(at, document))
	for _, test := range []struct {
		name               string
		method, path, body string
		status             int
		definition         string
		fields             []string // of the answer, if it is an object
	}{
		{"translate", "POST", "/translate", "q=Hello&source=auto&target=fr&alternatives=1", 200, "translation",
			[]string{"alternatives", "detectedLanguage", "translatedText"}},
		{"translate nothing", "POST", "/translate", "source=en&target=fr", 400, "error", []string{"error"}},
		{"detect", "POST", "/detect", "q=Hello", 200, "detections", nil},
		{"languages", "GET", "/languages", "", 200, "languages", nil},
		{"settings", "GET", "/frontend/settings", "", 200, "settings", []string{"apiKeys", "charLimit", "filesTranslation",
			"frontendTimeout", "keyRequired", "language", "suggestions", "supportedFilesFormat"}},
		{"health", "GET", "/health", "", 200, "health", []string{"status"}},
		{"files", "POST", "/translate_file", "", 403, "error", []string{"error"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			schema, err := compiler.Compile(at + "#/definitions/" + test.definition)
			require.NoError(t, err)
			w := compattest.Send(t.Context(), server(nil), test.method, test.path, formType, test.body)
			assert.Equal(t, test.status, w.Code)
			answer, err := jsonschema.UnmarshalJSON(w.Body)
			require.NoError(t, err)
			assert.NoError(t, schema.Validate(answer))
			if object, ok := answer.(map[string]any); ok {
				assert.Equal(t, test.fields, slices.Sorted(maps.Keys(object)))
				assert.Equal(t, test.fields, slices.Sorted(maps.Keys(schema.Properties)))
			}
		})
	}
}
