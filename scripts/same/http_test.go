package same

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/app/text/markup/corpustest"
)

// compareAPI sends to each route the examples of the API's description, and variants with one fault each.
func compareAPI(t *testing.T, p pair) {
	document := p.compare(t, "description", func(base string) *http.Request {
		return newRequest(t, http.MethodGet, base+"/openapi-all.json", "", nil)
	})[1]
	_, raw, _ := strings.Cut(document, "\n\n")
	var api description
	require.NoError(t, json.Unmarshal([]byte(raw), &api))
	sent := 0
	for _, path := range slices.Sorted(maps.Keys(api.Paths)) {
		if path == "/metrics" { // counts of times
			continue
		}
		for _, method := range []string{"get", "post", "put", "patch", "delete", "options"} {
			var op operation
			if len(api.Paths[path][method]) > 0 {
				require.NoError(t, json.Unmarshal(api.Paths[path][method], &op))
			}
			for name, r := range api.requests(t, path, op) {
				p.compare(t, fmt.Sprintf("%s %s %s", method, path, name), func(base string) *http.Request {
					return newRequest(t, strings.ToUpper(method), base+r.path, r.kind, r.body)
				})
				sent++
			}
		}
	}
	require.Greater(t, sent, 500)
}

// description has the used fields of an OpenAPI document.
type description struct {
	Paths      map[string]map[string]json.RawMessage
	Components struct {
		RequestBodies map[string]requestBody
	}
}

type operation struct {
	Parameters []struct {
		Name, In string
		Example  any
	}
	RequestBody requestBody
}

type requestBody struct {
	Ref     string `json:"$ref"`
	Content map[string]struct {
		Example  json.RawMessage
		Examples map[string]struct{ Value json.RawMessage }
	}
}

// httpRequest is a request without the address of the service.
type httpRequest struct {
	path, kind string
	body       []byte
}

// requests returns the requests of an operation by name.
func (d description) requests(t *testing.T, path string, op operation) map[string]httpRequest {
	query := url.Values{}
	for _, parameter := range op.Parameters {
		if parameter.In == "query" && parameter.Example != nil {
			query.Set(parameter.Name, fmt.Sprint(parameter.Example))
		}
	}
	path = strings.NewReplacer("{action}", "document:translate", "{id}", "none", "{project}", "p", "{location}", "global", "{name}", "none.txt").Replace(path)
	full := path
	if len(query) > 0 {
		full += "?" + query.Encode()
	}
	const kind = "application/json"
	list := map[string]httpRequest{
		"nothing":        {path: path},
		"query":          {path: full},
		"strange query":  {path: path + "?a=b&%zz=1&c;d"},
		"not JSON":       {full, kind, []byte(`{"q": [`)},
		"another value":  {full, kind, []byte(`[1, {"a": null}]`)},
		"unknown fields": {full, kind, []byte(`{"a": 1, "q": "x", "text": "x", "payload": {"b": 2}}`)},
		"not UTF-8":      {full, kind, []byte("{\"q\": \"\xff\", \"text\": \"\xff\"}")},
		"another type":   {full, "image/png", []byte("\x89PNG")},
		"a form":         {full, "application/x-www-form-urlencoded", []byte("q=Good+morning.&text=Good+morning.&source=en&target=fr&target_lang=FR&sl=en&tl=fr")},
	}
	body := op.RequestBody
	if name, ok := strings.CutPrefix(body.Ref, "#/components/requestBodies/"); ok {
		body = d.Components.RequestBodies[name]
	}
	for media, content := range body.Content {
		if media != kind {
			continue
		}
		if len(content.Example) > 0 {
			list["example"] = httpRequest{full, kind, content.Example}
		}
		for name, example := range content.Examples {
			list["example "+name] = httpRequest{full, kind, example.Value}
		}
	}
	for name, r := range maps.Clone(list) {
		if !strings.HasPrefix(name, "example") {
			continue
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(r.body, &object) != nil {
			continue
		}
		for field := range object { // without each field, and with a wrong type of each
			less := maps.Clone(object)
			delete(less, field)
			list[name+" without "+field] = httpRequest{full, kind, marshal(t, less)}
			less[field] = json.RawMessage(`{"x": [true]}`)
			list[name+" with an odd "+field] = httpRequest{full, kind, marshal(t, less)}
		}
	}
	return list
}

func marshal(t *testing.T, v any) []byte {
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return raw
}

// compareCorpora translates the corpora of placeholders and markup, and sentences, with all details.
func compareCorpora(t *testing.T, p pair) {
	lines, err := corpustest.Read()
	require.NoError(t, err)
	byFormat := map[string][]string{}
	for _, l := range lines {
		byFormat[l.Format] = append(byFormat[l.Format], l.Text)
	}
	sentences, err := os.ReadFile("../quality/dev.tsv")
	require.NoError(t, err)
	for line := range strings.Lines(string(sentences)) {
		if columns := strings.Split(line, "\t"); len(columns) > 3 && columns[1] == "en" {
			byFormat[""] = append(byFormat[""], columns[3])
		}
	}
	for _, to := range []string{"fr", "ja"} {
		for _, format := range slices.Sorted(maps.Keys(byFormat)) {
			for i, chunk := range slices.Collect(slices.Chunk(byFormat[format], 40)) {
				payload := map[string]any{"fromLang": "en", "toLang": to, "detail": true, "records": records(chunk)}
				if format != "" {
					payload["options"] = map[string]any{"format": format}
				}
				p.compare(t, fmt.Sprint(to, format, i), post(t, "/translation", "application/json", marshal(t, map[string]any{"payload": payload})))
			}
		}
	}
}

// records returns records with texts.
func records(texts []string) (list []map[string]string) {
	for i, text := range texts {
		list = append(list, map[string]string{"id": fmt.Sprint(i), "text": text})
	}
	return list
}

// compareDocuments translates the documents of all tests, whole and truncated.
func compareDocuments(t *testing.T, p pair) {
	var paths []string
	for _, pattern := range []string{"../../app/document/*/testdata/*", "../../app/document/*/testdata/*/*", "../../README.md", "../../docs/*.md", "../../go.mod"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		paths = append(paths, found...)
	}
	translated := 0
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // a folder
		}
		for name, content := range map[string][]byte{"whole": raw, "cut": raw[:len(raw)*2/3]} {
			answers := p.compare(t, path+" "+name, func(base string) *http.Request {
				var body bytes.Buffer
				form := multipart.NewWriter(&body)
				require.NoError(t, form.SetBoundary("----same"))
				file, err := form.CreateFormFile("document", filepath.Base(path))
				require.NoError(t, err)
				_, err = io.Copy(file, bytes.NewReader(content))
				require.NoError(t, err)
				require.NoError(t, form.Close())
				return newRequest(t, http.MethodPost, base+"/translator/document:translate?api-version=2024-05-01&sourceLanguage=en&targetLanguage=fr", form.FormDataContentType(), body.Bytes())
			})
			if strings.HasPrefix(answers[0], "200") {
				translated++
			}
		}
	}
	require.Greater(t, translated, 50)
}
