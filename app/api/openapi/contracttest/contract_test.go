package contracttest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// document describes a small service.
const document = `{
	"openapi": "3.1.1",
	"info": {"title": "toy", "version": "1"},
	"paths": {
		"/say": {"post": {
			"parameters": [{"$ref": "#/components/parameters/Wait"}, {"name": "loud", "in": "query", "required": true, "schema": {"type": "boolean"}}],
			"requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Say"}}, "text/plain": {"schema": {"type": "string"}}}},
			"responses": {
				"200": {"description": "", "headers": {"Count": {"$ref": "#/components/headers/Count"}}, "content": {
					"application/json": {"schema": {"$ref": "#/components/schemas/Said"}, "example": {"said": "a"}},
					"application/x-ndjson": {"schema": {"type": "string", "contentMediaType": "application/x-ndjson",
						"contentSchema": {"items": {"type": "object", "minProperties": 1}}}},
					"text/event-stream": {"schema": {"type": "string", "contentMediaType": "text/event-stream",
						"contentSchema": {"items": {"type": "object", "properties": {"event": {"enum": ["word", "done"]}, "data": {"type": "object"}}}}}}}},
				"4XX": {"description": "", "content": {"application/json": {"schema": {"type": "object"}, "x-codes": ["wrong_type", "too_late"]}}},
				"default": {"description": ""}}}},
		"/open": {"post": {"requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": {"b": {}}}}}}, "responses": {"200": {"description": ""}}}},
		"/items/{id}": {"parameters": [{"name": "page", "in": "query", "schema": {"type": "integer"}}], "get": {"responses": {"200": {"description": "", "content": {"text/plain": {"schema": {"const": "item"}}}}}}},
		"/loop": {"$ref": "#/paths/~1loop"}
	},
	"components": {
		"parameters": {"Wait": {"name": "Wait", "in": "header", "schema": {"type": "integer", "minimum": 1}}},
		"headers": {"Count": {"required": true, "schema": {"type": "integer", "maximum": 3}}, "Secret": {"schema": {"type": "string"}}},
		"responses": {
			"NotFound": {"description": "", "content": {"text/plain": {"schema": {"type": "string"}}}},
			"MethodNotAllowed": {"description": "", "headers": {"Allow": {"required": true, "schema": {"type": "string"}}}}},
		"schemas": {
			"ErrorCode": {"enum": ["wrong_type", "too_late", "busy"]},
			"Say": {"type": "object", "required": ["say"], "additionalProperties": false, "properties": {"say": {"type": "string", "examples": ["hi"]}}},
			"Said": {"type": "object", "required": ["said"], "properties": {"said": {"type": "string"}}}
		}
	}
}`

func newContract(t *testing.T, document string) *Contract {
	t.Helper()
	c, err := New([]byte(document))
	require.NoError(t, err)
	return c
}

func TestNewFails(t *testing.T) {
	for document, want := range map[string]string{"": "not JSON", "{": "not JSON", "[]": "not an object", "null": "not an object"} {
		_, err := New([]byte(document))
		assert.ErrorContains(t, err, want, document)
	}
}

// exchange returns an exchange. Headers are lines such as "Count: 1"; headers of the request begin with ">".
func exchange(method, target, sent string, status int, received string, headers ...string) Exchange {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, target, nil)
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		if name, ok := strings.CutPrefix(name, ">"); ok {
			r.Header.Set(name, value)
			continue
		}
		w.Header().Set(name, value)
	}
	w.WriteHeader(status)
	return Exchange{Request: r, Sent: []byte(sent), Response: w.Result(), Received: []byte(received)}
}

func TestVerify(t *testing.T) {
	const (
		say    = "/say?loud=true"
		hello  = `{"say":"hello"}`
		inJSON = ">Content-Type: application/json"
		asJSON = "Content-Type: application/json; charset=utf-8"
		lines  = "Content-Type: application/x-ndjson"
		events = "Content-Type: text/event-stream"
		one    = "Count: 1"
	)
	for _, test := range []struct {
		name string
		x    Exchange
		want string // part of the error; "": no error
	}{
		{"right", exchange("POST", say, hello, 200, `{"said":"hello"}`, inJSON, asJSON, one), ""},
		{"with a header", exchange("POST", say, hello, 200, `{"said":"hello"}`, inJSON, asJSON, one, ">Wait: 3"), ""},
		{"text sent", exchange("POST", say, "hello", 200, `{"said":"hello"}`, ">Content-Type: text/plain", asJSON, one), ""},
		{"a path with a parameter", exchange("GET", "/items/7", "", 200, "item", "Content-Type: text/plain"), ""},
		{"HEAD", exchange("HEAD", "/items/7", "", 200, "", "Content-Type: text/plain"), ""},
		{"a class of statuses", exchange("POST", say, "x", 422, "{}", asJSON), ""},
		{"any other status", exchange("POST", say, "x", 500, ""), ""},
		{"not found", exchange("GET", "/nope", "", 404, "no", "Content-Type: text/plain"), ""},
		{"method not allowed", exchange("PUT", say, "", 405, "", "Allow: POST"), ""},
		{"a browser asks first", exchange("OPTIONS", say, "", 204, ""), ""},
		{"lines", exchange("POST", say, hello, 200, "{\"a\":1}\n{\"done\":{}}\n", inJSON, lines, one), ""},
		{"events", exchange("POST", say, hello, 200, "event: word\ndata: {}\n\nevent: done\ndata: {}\n\n", inJSON, events, one), ""},
		{"refused for a type", exchange("POST", say, `{"say":1}`, 400, `{"error":{"code":"wrong_type"}}`, inJSON, asJSON), ""},
		{"refused for more than a schema tells", exchange("POST", say, hello, 400, `{"error":{"code":"too_late"}}`, inJSON, asJSON), ""},

		{"refused with a code of elsewhere", exchange("POST", say, `x`, 400, `{"error":{"code":"busy"}}`, inJSON, asJSON), "code busy is not described"},
		{"refused with a code of another API", exchange("POST", say, `x`, 400, `{"error":{"code":"InvalidRequest"}}`, inJSON, asJSON), ""},
		{"a body of another type", exchange("POST", say, hello, 200, `{"said":1}`, inJSON, asJSON, one), "got number, want string"},
		{"a body without a field", exchange("POST", say, hello, 200, `{}`, inJSON, asJSON, one), "missing property 'said'"},
		{"a field too many", exchange("POST", say, hello, 200, `{"said":"a","more":1}`, inJSON, asJSON, one), "/more"},
		{"no JSON", exchange("POST", say, hello, 200, `{`, inJSON, asJSON, one), "not application/json"},
		{"another media type", exchange("POST", say, hello, 200, `a`, inJSON, "Content-Type: text/html", one), "media type text/html is not described"},
		{"no media type", exchange("POST", say, hello, 200, `a`, inJSON, one), "Content-Type"},
		{"no header", exchange("POST", say, hello, 200, `{"said":"a"}`, inJSON, asJSON), "header Count is missing"},
		{"a header of another type", exchange("POST", say, hello, 200, `{"said":"a"}`, inJSON, asJSON, "Count: many"), `header Count is "many"`},
		{"a header out of range", exchange("POST", say, hello, 200, `{"said":"a"}`, inJSON, asJSON, "Count: 4"), `header Count is "4"`},
		{"a header of elsewhere", exchange("POST", say, hello, 200, `{"said":"a"}`, inJSON, asJSON, one, "Secret: 1"), "header Secret is not described"},
		{"a status of nowhere", exchange("GET", "/items/7", "", 201, "item", "Content-Type: text/plain"), "no answer with status 201"},
		{"a body where there is none", exchange("POST", say, "x", 500, "oops"), "body of 4 bytes"},
		{"a path of nowhere that works", exchange("GET", "/nope", "", 200, "yes", "Content-Type: text/plain"), "no answer with status 200"},
		{"an empty parameter", exchange("GET", "/items/", "", 200, "item", "Content-Type: text/plain"), "no answer with status 200"},
		{"405 of a path of nowhere", exchange("GET", "/nope", "", 405, "", "Allow: POST"), "no answer with status 405"},
		{"405 without Allow", exchange("PUT", say, "", 405, ""), "header Allow is missing"},
		{"a reference to itself", exchange("GET", "/loop", "", 200, ""), "no answer with status 200"},

		{"a line that is no JSON", exchange("POST", say, hello, 200, "{\"done\":{}\n", inJSON, lines, one), "line 1"},
		{"a line against the schema", exchange("POST", say, hello, 200, "{}\n{\"done\":{}}\n", inJSON, lines, one), "contentSchema"},
		{"a line without an end", exchange("POST", say, hello, 200, "{\"done\":{}}", inJSON, lines, one), "no end"},
		{"lines without an end", exchange("POST", say, hello, 200, "{\"a\":1}\n", inJSON, lines, one), "only the last one ends the stream"},
		{"lines after the end", exchange("POST", say, hello, 200, "{\"done\":1}\n{\"done\":1}\n", inJSON, lines, one), "only the last one ends the stream"},
		{"no lines", exchange("POST", say, hello, 200, "", inJSON, lines, one), "no end"},
		{"an event without data", exchange("POST", say, hello, 200, "event: done\n\n", inJSON, events, one), "want a line with event:"},
		{"an event with more lines", exchange("POST", say, hello, 200, "event: done\ndata: {}\nid: 1\n\n", inJSON, events, one), "want a line with event:"},
		{"an event that is no JSON", exchange("POST", say, hello, 200, "event: done\ndata: {\n\n", inJSON, events, one), "event 1"},
		{"an event without an end", exchange("POST", say, hello, 200, "event: done\ndata: {}\n", inJSON, events, one), "no end"},
		{"an event against the schema", exchange("POST", say, hello, 200, "event: error\ndata: {}\n\n", inJSON, events, one), "contentSchema"},

		{"took another type", exchange("POST", say, `{"say":1}`, 200, `{"said":"a"}`, inJSON, asJSON, one), "took a request"},
		{"took a field too many", exchange("POST", say, `{"say":"a","x":1}`, 200, `{"said":"a"}`, inJSON, asJSON, one), "took a request"},
		{"took what is no JSON", exchange("POST", say, `{`, 200, `{"said":"a"}`, inJSON, asJSON, one), "took a request"},
		{"took nothing", exchange("POST", say, ``, 200, `{"said":"a"}`, inJSON, asJSON, one), "there is no body"},
		{"took another media type", exchange("POST", say, hello, 200, `{"said":"a"}`, ">Content-Type: text/csv", asJSON, one), "text/csv is not described"},
		{"took no media type", exchange("POST", say, hello, 200, `{"said":"a"}`, asJSON, one), "took a request"},
		{"took a field too many of what may have more", exchange("POST", "/open", `{"a":1}`, 200, "", inJSON), ""},
		{"took a header out of range", exchange("POST", say, hello, 200, `{"said":"a"}`, inJSON, asJSON, one, ">Wait: 0"), `parameter Wait is "0"`},
		{"took no query", exchange("POST", "/say", hello, 200, `{"said":"a"}`, inJSON, asJSON, one), "parameter loud is missing"},
		{"took another query of the path", exchange("GET", "/items/7?page=x", "", 200, "item", "Content-Type: text/plain"), `parameter page is "x"`},
		{"took another query", exchange("POST", "/say?loud=1", hello, 200, `{"said":"a"}`, inJSON, asJSON, one), `parameter loud is "1"`},
		{"refused what is allowed", exchange("POST", say, hello, 400, `{"error":{"code":"wrong_type"}}`, inJSON, asJSON), "refused with wrong_type what the document allows"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := newContract(t, document).Verify(test.x)
			if test.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func TestRoutes(t *testing.T) {
	c := newContract(t, document)
	routes := gin.RoutesInfo{{Method: "POST", Path: "/say"}, {Method: "POST", Path: "/open"}, {Method: "GET", Path: "/items/:id"}, {Method: "HEAD", Path: "/items/:id"}}
	assert.NoError(t, c.Routes(routes))
	assert.ErrorContains(t, c.Routes(routes[:2]), "GET /items/{id} is in the document, but not served")
	more := append(routes, gin.RouteInfo{Method: "PUT", Path: "/say"}, gin.RouteInfo{Method: "GET", Path: "/files/*path"})
	assert.ErrorContains(t, c.Routes(more), "PUT /say is served, but not in the document")
	assert.ErrorContains(t, c.Routes(more), "GET /files/{path} is served, but not in the document")
	assert.ErrorContains(t, c.Routes(append(routes, gin.RouteInfo{Method: "HEAD", Path: "/say"})), "HEAD /say is served")
	assert.NoError(t, c.Routes(append(routes, gin.RouteInfo{Method: "GET", Path: "/files/*path"}), "/files/*path"))
}

func TestExamples(t *testing.T) {
	n, err := newContract(t, document).Examples()
	assert.NoError(t, err)
	assert.Equal(t, 2, n)
	n, err = newContract(t, strings.Replace(document, `"said": "a"`, `"says": "a"`, 1)).Examples()
	assert.ErrorContains(t, err, "/example")
	assert.Equal(t, 2, n)
	_, err = newContract(t, strings.Replace(document, `["hi"]`, `["hi", 3]`, 1)).Examples()
	assert.ErrorContains(t, err, "/examples/1")
}

// silent is a test that only records errors.
type silent struct {
	testing.TB
	errors int
}

func (*silent) Helper() {}

func (s *silent) Errorf(string, ...any) { s.errors++ }

func TestTransport(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Count", "1")
		_, _ = w.Write([]byte(`{"said":1}`)) // a number breaks the contract
	}))
	defer server.Close()
	note := &silent{TB: t}
	client := http.Client{Transport: newContract(t, document).Transport(note, server.Client().Transport)}
	resp, err := client.Post(server.URL+"/say?loud=true", "application/json", strings.NewReader(`{"say":"a"}`))
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, `{"said":1}`, string(raw))
	assert.Equal(t, 1, note.errors)
	client = http.Client{Transport: newContract(t, document).Transport(t, http.DefaultTransport)}
	_, err = client.Get("http://127.0.0.1:1/")
	assert.Error(t, err, "nobody is there")
}
