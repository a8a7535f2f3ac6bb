package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// modules is a document as cyclonedx-gomod makes them.
const modules = `{"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": "urn:uuid:1",
	"metadata": {"component": {"bom-ref": "main", "name": "dragoman"}},
	"components": [{"bom-ref": "swgui", "name": "github.com/swaggest/swgui", "version": "v1.8.5", "licenses": [{"license": {"id": "Apache-2.0"}}]},
		{"bom-ref": "text", "name": "golang.org/x/text", "licenses": [{"license": {"id": "BSD-Source-Code"}}]}, {"bom-ref": "std", "name": "std"}],
	"dependencies": [{"ref": "swgui"}, {"ref": "main", "dependsOn": ["swgui"]}]}`

// complete runs the program on a document and a library.
func complete(t *testing.T, document string, args ...string) (document, error) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "modules.json"), []byte(document), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "library.so"), []byte("abc"), 0o644))
	var stdout bytes.Buffer
	args = append([]string{"-root", "../../..", "-modules", filepath.Join(dir, "modules.json"),
		"-library", filepath.Join(dir, "library.so"), "-onnxruntime", "1.2.3"}, args...)
	if err := run(args, &stdout); err != nil {
		assert.Empty(t, stdout.String())
		return nil, err
	}
	var doc map[string]any
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &doc))
	return doc, nil
}

// licenseID is the id of a component's first licence.
func licenseID(component any) any {
	first := component.(map[string]any)["licenses"].([]any)[0]
	return first.(map[string]any)["license"].(map[string]any)["id"]
}

func TestComplete(t *testing.T) {
	doc, err := complete(t, modules, "-version", "v2")
	require.NoError(t, err)
	assert.Equal(t, "urn:uuid:1", doc["serialNumber"], "what is not looked at stays")
	assert.Equal(t, map[string]any{"component": map[string]any{"bom-ref": "main", "name": "dragoman", "version": "v2"}}, doc["metadata"])

	added := map[string]map[string]any{}
	var refs []any
	components := doc["components"].([]any)
	assert.Equal(t, "Apache-2.0", licenseID(components[0]))
	assert.Equal(t, "BSD-3-Clause", licenseID(components[1]))
	assert.Equal(t, "BSD-3-Clause", licenseID(components[2]))
	for _, v := range components[3:] {
		c := v.(map[string]any)
		added[c["name"].(string)] = c
		refs = append(refs, c["bom-ref"])
		assert.NotEmpty(t, c["version"], c["name"])
		assert.Len(t, c["licenses"], 1, c["name"])
	}
	assert.Len(t, added, 4)
	runtime := added["onnxruntime"]
	assert.Equal(t, "pkg:github/microsoft/onnxruntime@v1.2.3", runtime["purl"])
	assert.Equal(t, []any{map[string]any{"alg": "SHA-256", "content": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}},
		runtime["hashes"])
	assert.Equal(t, "machine-learning-model", added["dragoman-bundled"]["type"])
	assert.Equal(t, []any{map[string]any{"license": map[string]any{
		"name": "CC BY 2.0 FR", "url": "https://creativecommons.org/licenses/by/2.0/fr/"}}}, added["dragoman-bundled"]["licenses"])

	assert.Equal(t, []any{map[string]any{"ref": "swgui"}, map[string]any{"ref": "main", "dependsOn": append([]any{"swgui"}, refs...)}},
		doc["dependencies"])
}

func TestCompleteWithoutDependencies(t *testing.T) {
	doc, err := complete(t, `{"bomFormat": "CycloneDX", "specVersion": "1.5", "metadata": {"component": {"bom-ref": "main"}}}`)
	require.NoError(t, err)
	assert.Len(t, doc["components"], 4)
	entry := doc["dependencies"].([]any)[0].(map[string]any)
	assert.Equal(t, "main", entry["ref"])
	assert.Len(t, entry["dependsOn"], 4)
}

func TestCompleteErrors(t *testing.T) {
	for _, test := range []struct {
		name, document string
		args           []string
		want           string
	}{
		{"no JSON", `<bom/>`, nil, "is no CycloneDX document"},
		{"no object", `[]`, nil, "is no CycloneDX document"},
		{"null", `null`, nil, "bomFormat is <nil>"},
		{"another format", `{"spdxVersion": "SPDX-2.3"}`, nil, "bomFormat is <nil>, not CycloneDX"},
		{"too old", `{"bomFormat": "CycloneDX", "specVersion": "1.4"}`, nil, `specVersion is "1.4"`},
		{"a version that is none", `{"bomFormat": "CycloneDX", "specVersion": "1.x"}`, nil, `specVersion is "1.x"`},
		{"no main component", `{"bomFormat": "CycloneDX", "specVersion": "1.6"}`, nil, "has no bom-ref"},
		{"another swgui", `{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [{"name": "github.com/swaggest/swgui", "version": "v1.9.0"}]}`,
			nil, "is at v1.9.0: look up"},
		{"no licence", `{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [{"name": "example.com/x"}]}`,
			nil, `no licence was found for "example.com/x"`},
		{"an empty component", `{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [null]}`, nil, `no licence was found for ""`},
		{"no library", modules, []string{"-library", "/nowhere.so"}, "/nowhere.so"},
		{"no repository", modules, []string{"-root", "/nowhere"}, "/nowhere/model/bundled"},
		{"no document", modules, []string{"-modules", "/nowhere.json"}, "/nowhere.json"},
		{"a flag is missing", modules, []string{"-onnxruntime", ""}, "are needed"},
		{"an argument", modules, []string{"more"}, "nothing else"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := complete(t, test.document, test.args...)
			assert.ErrorContains(t, err, test.want)
		})
	}
}
