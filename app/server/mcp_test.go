package server

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/cli"
)

// keyTransport sends a key with each request.
type keyTransport struct{ key string }

func (k keyTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+k.key)
	return http.DefaultTransport.RoundTrip(r)
}

// agent connects the SDK's own client.
func agent(t *testing.T, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// use calls a tool. failed is the error's text.
func use(t *testing.T, session *mcp.ClientSession, tool string, arguments map[string]any, out any) (failed string, content []mcp.Content) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	require.NoError(t, err)
	if result.IsError {
		return result.Content[0].(*mcp.TextContent).Text, nil
	}
	raw, err := json.Marshal(result.StructuredContent)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, out))
	return "", result.Content
}

func TestToolsOverHTTP(t *testing.T) {
	r, key := keyed(t)
	_, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: r.url + "/mcp", MaxRetries: -1}, nil)
	require.Error(t, err, "it has no key")

	session := agent(t, &mcp.StreamableClientTransport{Endpoint: r.url + "/mcp", HTTPClient: &http.Client{Transport: keyTransport{key}}})
	list, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	assert.ElementsMatch(t, []string{"translate", "detect_language", "list_languages", "translate_document"}, names)

	var translated struct {
		Translations []struct {
			Text, From string
			Flags      []string
		}
	}
	failed, content := use(t, session, "translate", map[string]any{"texts": []string{"Where is the station?", "7"}, "to": "fr"}, &translated)
	require.Empty(t, failed)
	assert.Equal(t, "Où est la gare ?", translated.Translations[0].Text)
	assert.Equal(t, "en", translated.Translations[0].From)
	assert.Equal(t, "7", translated.Translations[1].Text)
	require.Len(t, content, 1, "the same as JSON, for agents without structured content")
	assert.Equal(t, `{"translations":[{"text":"Où est la gare ?","from":"en"},{"text":"7","from":""}]}`, content[0].(*mcp.TextContent).Text)
	// As language models write arguments: one text, names of languages, null.
	failed, _ = use(t, session, "translate", map[string]any{"texts": "Where is the station?", "to": "French", "from": "english", "model": nil, "terms": nil}, &translated)
	require.Empty(t, failed)
	assert.Equal(t, "Où est la gare ?", translated.Translations[0].Text)

	var languages struct {
		Languages []struct {
			Language string
			Code     string
			Targets  []string
		}
	}
	failed, _ = use(t, session, "detect_language", map[string]any{"texts": []string{"Where is the station?", "7"}}, &languages)
	require.Empty(t, failed)
	assert.Equal(t, "en", languages.Languages[0].Language)
	assert.Empty(t, languages.Languages[1].Language)
	failed, _ = use(t, session, "list_languages", nil, &languages)
	require.Empty(t, failed)
	assert.Len(t, languages.Languages, 5)
	assert.Contains(t, languages.Languages[0].Targets, "en")

	for _, test := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"translate", map[string]any{"texts": []string{"a"}, "to": "xx"}, `"xx" is not a language of this model: call list_languages`},
		{"translate", map[string]any{"texts": []string{"a"}, "to": "Klingon"}, `"Klingon" is not a language of this model: call list_languages`},
		{"translate", map[string]any{"texts": []string{"a"}, "to": "fr", "model": "nope"}, "nope"},
		{"translate", map[string]any{"texts": 5, "to": "fr"}, "texts is not a list of strings, send the texts to translate"},
		{"translate", map[string]any{"texts": []any{"a", 5}, "to": "fr"}, "texts is not a list of strings"},
		{"translate", map[string]any{"texts": []string{"a"}, "to": "fr", "terms": map[string]any{"a": 5}}, "terms is not an object of strings"},
		{"translate", map[string]any{"texts": []string{"a"}, "to": "fr", "format": "rtf"}, `format is "rtf"`},
		{"translate", map[string]any{"texts": []string{"a"}}, "translate needs to: code or name of the language"},
		{"translate", map[string]any{"text": "a", "to": "fr"}, `translate has no argument "text": it takes format, from, model, terms, texts, to`},
		{"translate_document", map[string]any{"name": "a.txt", "content": "%", "to": "fr"}, "base64"},
		{"translate_document", map[string]any{"name": "a.exe", "content": "YQ==", "to": "fr", "from": "en"}, "JOB_FILE"}, // this service has no documents
	} {
		failed, _ := use(t, session, test.tool, test.arguments, &struct{}{})
		assert.Contains(t, failed, test.want)
	}
}

func TestToolForDocuments(t *testing.T) {
	r := service(t, "JOB_FILE="+filepath.Join(t.TempDir(), "jobs"))
	session := agent(t, &mcp.StreamableClientTransport{Endpoint: r.url + "/mcp"})
	var named struct{ Name string }
	failed, content := use(t, session, "translate_document", map[string]any{"name": "a.md", "content": []byte("# Where is the station?\n"), "to": "fr"}, &named)
	require.Empty(t, failed)
	assert.Equal(t, "a.fr.md", named.Name)
	resource := content[1].(*mcp.EmbeddedResource).Resource
	assert.Equal(t, "# Où est la gare ?\n", resource.Text)
	assert.Equal(t, "dragoman:///documents/a.fr.md", resource.URI)
	assert.Contains(t, resource.MIMEType, "text/")
}

// dragoman mcp uses a running service, or runs one if there is none. It reads and writes files.
func TestToolsOnStandardInput(t *testing.T) {
	for _, name := range []string{"a service", "its own"} {
		t.Run(name, func(t *testing.T) {
			arguments := []string{"mcp"}
			if name == "a service" {
				arguments = append(arguments, "--url", service(t, "JOB_FILE="+filepath.Join(t.TempDir(), "jobs")).url)
			}
			in, toProgram := io.Pipe()
			fromProgram, out := io.Pipe()
			ended := make(chan int, 1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p := &program{environ: environment("APP_PORT=1", "JOB_FILE="+filepath.Join(t.TempDir(), "jobs")), loadRuntime: loadRuntime, stderr: io.Discard}
			go func() {
				line := cli.Program{Version: "dev", Environ: p.environ, Stdin: in, Stdout: out, Stderr: io.Discard, RunService: p.serve}
				ended <- line.Run(ctx, arguments)
			}()
			session := agent(t, &mcp.IOTransport{Reader: fromProgram, Writer: toProgram})
			var written struct{ Path string }
			source := filepath.Join(t.TempDir(), "a.txt")
			require.NoError(t, os.WriteFile(source, []byte("Where is the station?\n"), 0o600))
			failed, _ := use(t, session, "translate_document", map[string]any{"path": source, "to": "fr"}, &written)
			require.Empty(t, failed)
			assert.Equal(t, strings.TrimSuffix(source, ".txt")+".fr.txt", written.Path)
			raw, err := os.ReadFile(written.Path)
			require.NoError(t, err)
			assert.Equal(t, "Où est la gare ?\n", string(raw))
			failed, _ = use(t, session, "translate_document", map[string]any{"path": source, "to": "fr"}, &written)
			assert.Contains(t, failed, "is there already")
			require.NoError(t, session.Close())
			assert.Equal(t, 0, <-ended)
		})
	}
}
