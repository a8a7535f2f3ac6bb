package openapi_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// sameName returns a name without what generators of clients change: case and separators.
func sameName(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_. /[]{}", r) {
			return -1
		}
		return r
	}, name))
}

// unique fails the test for names that a generator of clients makes one name of.
func unique(t *testing.T, where string, names ...string) {
	t.Helper()
	before := map[string]string{}
	for _, name := range names {
		if other, ok := before[sameName(name)]; ok {
			t.Errorf("%s: %s and %s are one name for a generator", where, other, name)
		}
		before[sameName(name)] = name
	}
}

// operations calls visit for each operation of a document.
func (doc tree) operations(visit func(where string, item, operation map[string]any)) {
	for path, item := range doc["paths"].(map[string]any) {
		item := item.(map[string]any)
		for method, operation := range item {
			if operation, ok := operation.(map[string]any); ok {
				visit(method+" "+path, item, operation)
			}
		}
	}
}

// Generators of clients take both documents: no name is there twice, and no schema is of a form that they take for another one.
func TestDocumentsForGenerators(t *testing.T) {
	for _, path := range []string{"/openapi.json", "/openapi-all.json"} {
		t.Run(path, func(t *testing.T) {
			doc := parse(t, documentAt(t, describe(t), path))
			var ids []string
			doc.operations(func(where string, item, operation map[string]any) {
				id, _ := operation["operationId"].(string)
				assert.NotEmpty(t, id, where)
				ids = append(ids, id)
				assert.Len(t, operation["tags"], 1, where)
				var names []string
				for _, p := range append(list(item["parameters"]), list(operation["parameters"])...) {
					names = append(names, doc.resolve(p)["name"].(string))
				}
				body := doc.resolve(operation["requestBody"])
				content, _ := body["content"].(map[string]any)
				for _, media := range []string{"multipart/form-data", "application/x-www-form-urlencoded"} {
					form, _ := content[media].(map[string]any)
					fields, _ := doc.resolve(form["schema"])["properties"].(map[string]any)
					unique(t, where+" "+media, append(slices.Collect(maps.Keys(fields)), names...)...)
				}
				unique(t, where, names...)
			})
			unique(t, "operations", ids...)

			var names []string
			for kind, components := range doc["components"].(map[string]any) {
				for name := range components.(map[string]any) {
					if slices.Contains([]string{"schemas", "parameters", "requestBodies"}, kind) {
						names = append(names, name)
						assert.False(t, kind == "schemas" && doc.schema("New"+name) != nil, "NewX is what makes an X: %s", name)
					}
				}
			}
			unique(t, "components", names...)
			checkSchemas(t, path, map[string]any(doc))
		})
	}
}

// checkSchemas checks the schemas below a value.
func checkSchemas(t *testing.T, where string, value any) {
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			checkSchemas(t, fmt.Sprint(where, "/", i), item)
		}
	case map[string]any:
		assert.NotEqual(t, "null", value["type"], where)
		if strings.HasPrefix(where, "/openapi.json/") && value["type"] != nil {
			assert.NotContains(t, value, "default", "%s: openapi-typescript takes the field for a required one", where)
		}
		if fields, ok := value["properties"].(map[string]any); ok {
			assert.NotContains(t, value, "oneOf", "%s: fields are lost beside it", where)
			assert.NotContains(t, value, "anyOf", "%s: fields are lost beside it", where)
			assert.NotContains(t, value, "$ref", "%s: fields are lost beside it", where)
			unique(t, where, slices.Collect(maps.Keys(fields))...)
		}
		for name, item := range value {
			if name != "example" && name != "examples" {
				checkSchemas(t, where+"/"+name, item)
			}
		}
	}
}

// The native document has no drop-in, nor anything that only drop-ins need.
func TestNativeDocument(t *testing.T) {
	d := describe(t)
	native, all := parse(t, documentAt(t, d, "/openapi.json")), parse(t, documentAt(t, d, "/openapi-all.json"))
	var tags []string
	for _, tag := range native.at("tags").([]any) {
		tags = append(tags, tag.(map[string]any)["name"].(string))
	}
	assert.Equal(t, []string{"translation", "documents", "jobs", "glossaries", "memories", "live", "service"}, tags)
	native.operations(func(where string, _, operation map[string]any) {
		assert.Contains(t, tags, operation["tags"].([]any)[0], where)
	})
	all.operations(func(where string, _, operation map[string]any) {
		method, path, _ := strings.Cut(where, " ")
		assert.Equal(t, slices.Contains(tags, operation["tags"].([]any)[0].(string)), native.at("paths", path, method) != nil, where)
	})
	assert.Len(t, native.at("paths"), 24)
	assert.NotNil(t, all.at("paths", "/mtranserver/translate/batch", "post", "requestBody"), "a path that refers to one")
	assert.Equal(t, map[string]any{"$ref": "#/components/schemas/Languages"},
		native.at("paths", "/languages", "get", "responses", "200", "content", "application/json", "schema"))
	text := string(documentAt(t, d, "/openapi.json"))
	for kind, components := range native.at("components").(map[string]any) {
		for name := range components.(map[string]any) {
			assert.True(t, kind == "securitySchemes" || strings.Contains(text, `"#/components/`+kind+"/"+name+`"`), "nothing refers to %s", name)
		}
	}
	assert.Equal(t, []string{"apiKey", "bearer"}, slices.Sorted(maps.Keys(native.at("components", "securitySchemes").(map[string]any))))
	for _, path := range []string{"/openapi.yaml", "/openapi-all.yaml"} {
		assert.False(t, regexp.MustCompile(`(?m)^ *(- )?!dropin`).Match(documentAt(t, d, path)), path)
	}
}
