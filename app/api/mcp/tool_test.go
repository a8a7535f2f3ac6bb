package mcp

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/client"
)

// Converters of agents, such as Gemini's and LangChain's, know neither lists of types nor closed objects. (google-genai 3.6.1:
// 'bool' object has no attribute 'items'.)
func TestSchemasArePlain(t *testing.T) {
	for _, files := range []bool{true, false} {
		ours, theirs := mcp.NewInMemoryTransports()
		server, err := New(Config{Files: files}).Connect(t.Context(), ours, nil)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, server.Close()) })
		agent, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), theirs, nil)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, agent.Close()) })
		list, err := agent.ListTools(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, list.Tools, 4)
		for _, tool := range list.Tools {
			for _, schema := range []any{tool.InputSchema, tool.OutputSchema} {
				raw, err := json.Marshal(schema)
				require.NoError(t, err)
				assert.NotContains(t, string(raw), `"type":[`, tool.Name)
				assert.NotContains(t, string(raw), `null`, tool.Name)
				assert.NotContains(t, strings.ReplaceAll(string(raw), `"additionalProperties":{"type":"string"}`, ""), "additionalProperties", tool.Name)
			}
		}
	}
}

func TestArguments(t *testing.T) {
	for _, test := range []struct{ raw, want, failed string }{
		{`{"to":"fr","texts":["a","b"]}`, "fr a|b", ""},
		{`{"to":"fr","texts":"a"}`, "fr a", ""},
		{`{"to":"fr","texts":"[\"a\"]"}`, `fr ["a"]`, ""},
		{`{"to":"fr","texts":["a"],"from":null,"model":null,"format":null,"terms":null}`, "fr a", ""},
		{`{"to":"fr","texts":[]}`, "fr ", ""},
		{`{"to":null,"texts":["a"]}`, "", "translate needs to: code or name"},
		{`null`, "", "translate needs to"}, {``, "", "translate needs to"}, {`{}`, "", "translate needs to"},
		{`[]`, "", "the arguments of translate are no JSON object"}, {`5`, "", "no JSON object"},
		{`{"to":["fr"],"texts":["a"]}`, "", "to is not a string"},
		{`{"to":"fr","texts":[null]}`, "", "texts is not a list of strings"},
		{`{"to":"fr","texts":[["a"]]}`, "", "texts is not a list of strings"},
		{`{"to":"fr","texts":["a"],"terms":["a"]}`, "", "terms is not an object of strings"},
		{`{"to":"fr","texts":["a"],"terms":{"a":null}}`, "", "terms is not an object of strings"},
		{`{"to":"fr","texts":["a"],"` + strings.Repeat("x", 1000) + `":1}`, "", "translate has no argument"},
	} {
		var in translateInput
		err := arguments("translate", plainSchema[translateInput](), jsontext.Value(test.raw), &in)
		if test.failed != "" {
			require.Error(t, err, test.raw)
			assert.Contains(t, err.Error(), test.failed, test.raw)
			assert.Less(t, len(err.Error()), 300)
			continue
		}
		require.NoError(t, err, test.raw)
		assert.Equal(t, test.want, in.To+" "+strings.Join(in.Texts, "|"))
	}
}

func TestNamesOfLanguages(t *testing.T) {
	for name, want := range map[string]string{"French": "fr", "french": "fr", "fr": "fr", " FR ": "FR", "zh-Hans": "zh-Hans", "Simplified Chinese": "zh", "Traditional Chinese": "zh-Hant", "日本語": "ja", "Klingon": "Klingon", "": ""} {
		assert.Equal(t, want, code(name))
	}
}

// Errors of the service name the arguments of tools, and the tool that helps.
func TestErrorsAreInTheWordsOfTools(t *testing.T) {
	for message, want := range map[string]string{
		`"xx" is not a language of this model, see http://localhost/languages?model=m`: `"xx" is not a language of this model: call list_languages, which says what there is`,
		`payload.records[3].text has 9 characters, at most 5 are allowed`:              `texts[3] has 9 characters, at most 5 are allowed`,
		`payload.format is "rtf", expected text, html or xml`:                          `format is "rtf", expected text, html or xml`,
		`payload.toLang is empty`: `to is empty`,
	} {
		assert.EqualError(t, userError(&client.Error{Status: http.StatusBadRequest, Message: message}), want)
	}
	other := errors.New("other")
	assert.Equal(t, other, userError(other))
}
