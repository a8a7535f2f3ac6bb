package openapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/api/httpapi"
	"dragoman/app/api/mcp"
	"dragoman/app/guard/admission"
	"dragoman/app/guard/bound"
)

// place is a field of a request, with its operation and path.
type place struct {
	method, template, media string // media is the media type of the body, or "query" or "path"
	operation, schema       map[string]any
	path                    []string // names of fields; [] stands for an item of a list
	field                   map[string]any
}

func (p place) String() string {
	return fmt.Sprintf("%s %s %s %s", p.method, p.template, p.media, strings.Join(p.path, "."))
}

// name returns the name of the field, or of the list that it is an item of.
func (p place) name() string {
	for _, name := range slices.Backward(p.path) {
		if name != "[]" {
			return name
		}
	}
	return ""
}

// resolve follows a reference.
func (doc tree) resolve(value any) map[string]any {
	object, _ := value.(map[string]any)
	ref, ok := object["$ref"].(string)
	if !ok {
		return object
	}
	return doc.resolve(doc.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...))
}

func list(value any) []any {
	l, _ := value.([]any)
	return l
}

// parameters returns the parameters of an operation, without headers.
func (doc tree) parameters(item, operation map[string]any) (all []map[string]any) {
	for _, p := range append(list(item["parameters"]), list(operation["parameters"])...) {
		p := doc.resolve(p)
		fields, exploded := doc.resolve(p["schema"])["properties"].(map[string]any)
		for name, schema := range fields { // each is a parameter
			all = append(all, map[string]any{"name": name, "in": p["in"], "schema": schema})
		}
		if p["in"] != "header" && !exploded {
			all = append(all, p)
		}
	}
	return all
}

// places returns all fields of all requests.
func (doc tree) places() (all []place) {
	for template, item := range doc["paths"].(map[string]any) {
		item := item.(map[string]any)
		for method, operation := range item {
			operation, ok := operation.(map[string]any)
			if !ok {
				continue
			}
			operation["parameters"] = append(list(operation["parameters"]), list(item["parameters"])...)
			p := place{method: strings.ToUpper(method), template: template, operation: operation}
			for _, parameter := range doc.parameters(nil, operation) {
				p.media, p.schema, p.path = parameter["in"].(string), doc.resolve(parameter["schema"]), []string{parameter["name"].(string)}
				p.field = p.schema
				all = append(all, p)
			}
			content, _ := doc.resolve(operation["requestBody"])["content"].(map[string]any)
			for media, c := range content {
				p.media, p.schema, p.path = media, doc.resolve(c.(map[string]any)["schema"]), nil
				all = doc.below(p, p.schema, all, 0)
			}
		}
	}
	return all
}

// below adds the fields of a schema to all.
func (doc tree) below(p place, schema map[string]any, all []place, depth int) []place {
	if depth > 12 {
		return all
	}
	if p.field = schema; p.name() != "" {
		all = append(all, p)
	}
	path := p.path
	for _, kind := range []string{"allOf", "oneOf", "anyOf"} {
		for _, part := range list(schema[kind]) {
			if part := doc.resolve(part); part["required"] == nil || part["properties"] != nil {
				p.path = path
				all = doc.below(p, part, all, depth+1)
			}
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, property := range properties {
		p.path = append(slices.Clone(path), name)
		all = doc.below(p, doc.resolve(property), all, depth+1)
	}
	if items := doc.resolve(schema["items"]); items != nil {
		p.path = append(slices.Clone(path), "[]")
		all = doc.below(p, items, all, depth+1)
	}
	return all
}

// leads reports whether a path leads to a field of a schema.
func (doc tree) leads(schema map[string]any, path []string) bool {
	if len(path) == 0 {
		return true
	}
	properties, _ := schema["properties"].(map[string]any)
	next := doc.resolve(properties[path[0]])
	if path[0] == "[]" {
		next = doc.resolve(schema["items"])
	}
	if next != nil {
		return doc.leads(next, path[1:])
	}
	return doc.part(schema, path) != nil
}

// part returns the alternative of a schema that contains a path, or nil without alternatives.
func (doc tree) part(schema map[string]any, path []string) map[string]any {
	for _, kind := range []string{"allOf", "oneOf", "anyOf"} {
		for _, part := range list(schema[kind]) {
			if part := doc.resolve(part); part["properties"] != nil || part["items"] != nil || part["type"] != nil {
				if doc.leads(part, path) {
					return part
				}
			}
		}
	}
	return nil
}

// usual lists fields of which a request needs at least one, though the document does not require each of them. samples has
// values by field.
var (
	usual   = []string{"q", "text", "toLang", "fromLang", "source", "target", "inputs", "messages", "contents", "target_lang", "targetLanguageCode", "tl"}
	samples = map[string]any{
		"to": "fr", "toLang": "fr", "target": "fr", "target_lang": "FR", "tgt_lang": "fr", "tl": "fr", "targetLanguage": "fr", "targetLanguageCode": "fr",
		"source_lang": "EN", "model": "default", "version": "1", "action": "document:translate", "api-version": "3.0", "role": "user", "name": "text", "datatype": "BYTES",
		"project": "p:translateText", "location": "l:translateText", "webhook": "https://example.com", "entries": "a\tb",
	}
)

// value returns a valid value of a schema for a field, with the value at at the end of a path.
func (doc tree) value(name string, schema map[string]any, path []string, at any) any {
	schema = doc.resolve(schema)
	if len(path) == 0 && at != nil {
		return at
	}
	properties, _ := schema["properties"].(map[string]any)
	if part := doc.part(schema, path); part != nil && (len(path) == 0 && properties == nil || len(path) > 0 && properties[path[0]] == nil) {
		return doc.value(name, part, path, at)
	}
	sample, ok := samples[name]
	switch {
	case properties != nil:
		made := map[string]any{}
		for name, property := range properties {
			if slices.Contains(list(schema["required"]), any(name)) || slices.Contains(usual, name) {
				made[name] = doc.value(name, doc.resolve(property), nil, nil)
			}
		}
		if len(path) > 0 {
			made[path[0]] = doc.value(path[0], doc.resolve(properties[path[0]]), path[1:], at)
		}
		return made
	case schema["items"] != nil:
		return []any{doc.value(name, doc.resolve(schema["items"]), path[min(1, len(path)):], at)}
	case ok:
		return sample
	case schema["const"] != nil:
		return schema["const"]
	case len(list(schema["enum"])) > 0:
		return schema["enum"].([]any)[0]
	case len(list(schema["examples"])) > 0:
		return schema["examples"].([]any)[0]
	case schema["type"] == "integer" || schema["type"] == "number":
		return 1
	case schema["type"] == "boolean":
		return true
	case schema["type"] == "object":
		return map[string]any{}
	}
	return "en"
}

// needed reports whether a request needs an optional parameter of the query.
func (doc tree) needed(p place, name string) bool {
	switch p.template {
	case "/glossaries", "/glossaries/{id}":
		return p.media == "query" && (name == "from" || name == "to")
	case "/memories/{id}", "/memories/{id}/entries":
		return p.media == "query" && name != "keep"
	case "/documents":
		return p.media == "query" && (name == "fromLang" || name == "toLang")
	case "/translate", "/detect":
		return p.media == "query" && (name == "api-version" || name == "to")
	}
	return p.method == "GET" && slices.Contains(usual, name)
}

// request returns a request that is valid except for the value at a place.
func (doc tree) request(p place, at any) (target, contentType, body string) {
	target, query := p.template, url.Values{}
	for _, parameter := range doc.parameters(nil, p.operation) {
		name, schema := parameter["name"].(string), doc.resolve(parameter["schema"])
		text := ""
		add(doc.value(name, schema, nil, nil), func(item string) { text = item })
		own := p.media == parameter["in"] && p.path[0] == name
		if own {
			text = fmt.Sprint(at)
		}
		if parameter["in"] == "path" {
			target = strings.ReplaceAll(target, "{"+name+"}", url.PathEscape(text))
		} else if own || parameter["required"] == true || doc.needed(p, name) {
			query.Set(name, text)
		}
	}
	if p.name() == "content" {
		target = strings.ReplaceAll(target, ":translateText", ":detectLanguage")
	}
	if p.template == "/translate" && p.path[0] == "inputs" {
		query.Set("api-version", "2026-06-06")
	}
	if strings.HasPrefix(p.template, "/translator/") && p.path[0] != "api-version" {
		query.Set("api-version", "2024-05-01")
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	media, schema, path := p.media, p.schema, p.path
	if p.media == "query" || p.media == "path" {
		content, _ := doc.resolve(p.operation["requestBody"])["content"].(map[string]any)
		medias := slices.Sorted(maps.Keys(content))
		if len(medias) == 0 {
			return target, "", ""
		}
		media, path = medias[len(medias)-1], nil // TSV with fields in the query
		schema = doc.resolve(content[media].(map[string]any)["schema"])
		switch at = nil; {
		case media == "text/tab-separated-values":
			at = "a\tb"
		case p.template == "/translate" || p.template == "/detect": // Azure's requests with parameters in the query
			return target, "application/json", `[{"Text":"en"}]`
		}
	}
	made := doc.value("", schema, path, at)
	fields, _ := made.(map[string]any)
	switch media {
	case "application/x-www-form-urlencoded":
		form := url.Values{}
		for name, value := range fields {
			add(value, func(text string) { form.Add(name, text) })
		}
		return target, media, form.Encode()
	case "text/tab-separated-values":
		return target, media, fmt.Sprint(made)
	case "multipart/form-data":
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		for name, value := range fields {
			if name == "file" || name == "document" {
				part, _ := w.CreateFormFile(name, "a.txt")
				_, _ = fmt.Fprint(part, value)
				continue
			}
			add(value, func(text string) { _ = w.WriteField(name, text) })
		}
		_ = w.Close()
		return target, w.FormDataContentType(), b.String()
	}
	raw, _ := json.Marshal(made)
	return target, media, string(raw)
}

// add calls text with each text of a form's field.
func add(value any, text func(string)) {
	if items, ok := value.([]any); ok {
		for _, item := range items {
			add(item, text)
		}
		return
	}
	text(fmt.Sprint(value))
}

// finite reports whether the table bounds a field by a number that a request can exceed without too many fields in its form.
func finite(p place, row bound.Field) bool {
	texts := p.name() == "source" && (p.path[len(p.path)-1] == "[]" || slices.ContainsFunc(list(p.schema["required"]), func(name any) bool { return name == "tgt_lang" })) // nllb-serve's
	switch p.field["type"] {
	case nil:
		return false
	case "array":
		return row.Items > 0 && row.Bytes != bound.Any && !texts && !strings.Contains(p.media, "form")
	case "string":
		return row.Bytes > 0 && !texts && p.media != "path" && p.name() != "api-version" // one of a few values
	}
	return false
}

// The table of bounds has each field of each API.
func TestFieldsAreInTheTable(t *testing.T) {
	described := 0
	for _, p := range treeOf(t, describe(t)).places() {
		if kind := p.field["type"]; kind == "string" || kind == "array" {
			_, known := bound.Of(p.name())
			assert.True(t, known, "%s is not in the table of package bound", p)
			described++
		}
	}
	assert.Greater(t, described, 200)
}

// roomy returns a service that bounds fields, and allows bodies of 64 MiB.
func roomy(t *testing.T, memory *admission.Memory) http.Handler {
	const most = 64 << 20
	api := httpapi.New(httpapi.Config{
		MaxBodyBytes: most, Memory: memory, RequestTimeout: time.Minute, Log: slog.New(slog.DiscardHandler), MaxRecords: config().MaxRecords, MaxChars: config().MaxChars,
		Jobs:       &httpapi.JobsConfig{Service: newJobs(t), MaxBodyBytes: most, MaxRecords: config().MaxJobRecords, MaxDocumentBytes: most, MaxChars: config().MaxJobChars},
		Glossaries: newGlossaries(t),
		Memories:   newMemories(t),
		Tools:      func(routes http.Handler) http.Handler { return mcp.Handler("", routes, most) },
	})
	api.Ready(capitals{}, func() []httpapi.Model { return []httpapi.Model{{Name: "m", Version: "1"}} })
	api.Manage(managed{})
	return api.Handler()
}

// The table of bounds has each argument of each tool, and an argument a thousand times its bound is refused.
func TestArgumentsOfToolsAreBounded(t *testing.T) {
	memory := admission.New(1 << 30)
	h := roomy(t, memory)
	ask := func(method string, params map[string]any) (answer struct {
		Result struct {
			Tools []struct {
				Name        string
				InputSchema map[string]any
			}
			IsError bool
			Content []struct{ Text string }
		}
		Error struct{ Message string }
	}) {
		raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
		require.NoError(t, err)
		r := httptest.NewRequest("POST", "/mcp", bytes.NewReader(raw))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer), w.Body)
		return answer
	}
	tools := ask("tools/list", nil).Result.Tools
	require.Len(t, tools, 4)
	for _, tool := range tools {
		properties, _ := tool.InputSchema["properties"].(map[string]any)
		for name, property := range properties {
			row, known := bound.Of(name)
			assert.True(t, known, "the argument %s of %s is not in the table of package bound", name, tool.Name)
			arguments := map[string]any{}
			for _, needed := range list(tool.InputSchema["required"]) {
				arguments[needed.(string)] = map[string]any{"texts": []string{"a"}, "to": "fr", "name": "a.txt", "content": "YQ=="}[needed.(string)]
			}
			switch property := property.(map[string]any); {
			case row.Bytes > 0 && row.Items <= 1 || property["type"] == "string" && row.Bytes != bound.Any:
				arguments[name] = strings.Repeat("x", min(1000*row.Bytes, 64<<10))
			case row.Items > 0 && property["type"] == "object":
				many := map[string]string{}
				for i := range 2 * row.Items {
					many[fmt.Sprint(i)] = "x"
				}
				arguments[name] = many
			default:
				continue // texts
			}
			answer := ask("tools/call", map[string]any{"name": tool.Name, "arguments": arguments})
			assert.True(t, answer.Result.IsError || answer.Error.Message != "", "%s %s", tool.Name, name)
			for _, content := range answer.Result.Content {
				assert.Regexp(t, "at most|more than", content.Text, "%s %s", tool.Name, name)
			}
			assert.Zero(t, memory.InUse())
		}
	}
}

// A field a thousand times its bound is refused in each API, and nothing of it is kept.
func TestFieldsAreBounded(t *testing.T) {
	memory := admission.New(1 << 30)
	h, doc := roomy(t, memory), treeOf(t, describe(t))
	heap := func() int64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	before := heap()
	for _, p := range doc.places() {
		row, _ := bound.Of(p.name())
		var large any
		switch {
		case p.field["type"] == "array" && p.media != "query":
			item := doc.value(p.name(), doc.resolve(p.field["items"]), nil, nil)
			large = slices.Repeat([]any{item}, min(1000*max(row.Items, 1), 2*bound.Texts))
		case p.field["type"] == "string" && p.field["format"] != "binary":
			large = strings.Repeat("x", min(1000*max(row.Bytes, config().MaxChars), 64<<10))
		default:
			continue // numbers take no memory
		}
		target, contentType, body := doc.request(p, large)
		r := httptest.NewRequest(p.method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", contentType)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		assert.True(t, w.Code >= 400 && w.Code < 500, "%s: %d %.300s", p, w.Code, w.Body)
		assert.Less(t, w.Body.Len(), 4000, "%s", p)
		if finite(p, row) {
			assert.Regexp(t, "(?i)"+regexp.QuoteMeta(p.name())+`.*(at most|more than|more items than|that are allowed)`, w.Body.String(), "%s", p)
		}
		require.Zero(t, memory.InUse(), "%s", p)
	}
	assert.Less(t, heap()-before, int64(32<<20))
}
