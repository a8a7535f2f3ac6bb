// Command sbom completes a software bill of materials. It reads a CycloneDX
// document of the Go modules that are linked into the binary, adds what Go's tools
// do not see, and writes the whole to standard output:
//
//	go run ./scripts/image/sbom -modules modules.json -version v1.0.0 -library libonnxruntime.so -onnxruntime 1.30.0
//
// scripts/image/sbom.sh runs it, from the repository's root.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dragoman/model"
	"dragoman/model/bundled"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// run is the program.
func run(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("sbom", flag.ContinueOnError)
	modules := flags.String("modules", "", "CycloneDX document of the Go modules")
	version := flags.String("version", "", "version of dragoman, instead of the one that is in the document")
	var from sources
	flags.StringVar(&from.root, "root", ".", "the repository")
	flags.StringVar(&from.library, "library", "", "ONNX Runtime's library")
	flags.StringVar(&from.runtime, "onnxruntime", "", "its version")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *modules == "" || from.library == "" || from.runtime == "" || flags.NArg() > 0 {
		return errors.New("-modules, -library and -onnxruntime are needed, and nothing else")
	}
	raw, err := os.ReadFile(*modules)
	if err != nil {
		return err
	}
	var doc document
	if err := json.Unmarshal(raw, &doc); err != nil {
		return fmt.Errorf("%s is no CycloneDX document: %w", *modules, err)
	}
	more, err := from.components()
	if err != nil {
		return err
	}
	if err := doc.add(*version, more); err != nil {
		return fmt.Errorf("%s: %w", *modules, err)
	}
	encoder := json.NewEncoder(stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(doc)
}

// document is a CycloneDX document. What is not looked at stays as it is.
type document map[string]any

// add adds components that the document's main component depends on, and sets its
// version unless that is "".
func (d document) add(version string, more []component) error {
	if err := d.check(); err != nil {
		return err
	}
	metadata, _ := d["metadata"].(map[string]any)
	top, _ := metadata["component"].(map[string]any)
	ref, _ := top["bom-ref"].(string)
	if ref == "" {
		return errors.New("metadata.component has no bom-ref: nothing could depend on what is added")
	}
	if version != "" {
		top["version"] = version
	}
	components, _ := d["components"].([]any)
	var refs []any
	for _, c := range more {
		components, refs = append(components, c), append(refs, c.Ref)
	}
	d["components"] = components

	dependencies, _ := d["dependencies"].([]any)
	i := slices.IndexFunc(dependencies, func(v any) bool {
		entry, _ := v.(map[string]any)
		return entry["ref"] == ref
	})
	if i < 0 {
		dependencies, i = append(dependencies, map[string]any{"ref": ref}), len(dependencies)
	}
	entry := dependencies[i].(map[string]any) // IndexFunc or the line above made sure
	on, _ := entry["dependsOn"].([]any)
	entry["dependsOn"] = append(on, refs...)
	d["dependencies"] = dependencies
	return nil
}

// check says whether what is added would be true and could be understood, and
// sets right what the detector of licences gets wrong.
func (d document) check() error {
	if d["bomFormat"] != "CycloneDX" {
		return fmt.Errorf("bomFormat is %v, not CycloneDX", d["bomFormat"])
	}
	spec, _ := d["specVersion"].(string)
	major, minor, _ := strings.Cut(spec, ".")
	if n, err := strconv.Atoi(minor); err != nil || major != "1" || n < 5 {
		return fmt.Errorf("specVersion is %q: models and data are components since 1.5", spec)
	}
	components, _ := d["components"].([]any)
	for _, v := range components {
		c, _ := v.(map[string]any)
		name, _ := c["name"].(string)
		if name == swguiModule && c["version"] != swguiVersion {
			return fmt.Errorf("%s is at %v: look up in its README which Swagger UI that has, and set swguiVersion and swaggerUIVersion",
				swguiModule, c["version"])
		}
		if c != nil && (name == "std" || strings.HasPrefix(name, "golang.org/x/")) {
			c["licenses"] = spdx("BSD-3-Clause") // the detector of licences does not find it, or another
		}
		if c["licenses"] == nil {
			return fmt.Errorf("no licence was found for %q: look for it, and add it here", name)
		}
	}
	return nil
}

// component is a CycloneDX component.
type component struct {
	Ref         string    `json:"bom-ref"`
	Type        string    `json:"type"`
	Name        string    `json:"name"`
	Version     string    `json:"version"`
	Description string    `json:"description,omitempty"`
	Hashes      []digest  `json:"hashes,omitempty"`
	Licenses    []license `json:"licenses"`
	Copyright   string    `json:"copyright,omitempty"`
	PURL        string    `json:"purl,omitempty"`
}

type digest struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// license has an SPDX id, or a name and an address where SPDX has no id for it.
type license struct {
	License struct {
		ID   string `json:"id,omitempty"`
		Name string `json:"name,omitempty"`
		URL  string `json:"url,omitempty"`
	} `json:"license"`
}

// spdx is a licence that SPDX has an id for.
func spdx(id string) []license {
	l := make([]license, 1)
	l[0].License.ID = id
	return l
}

// named is a licence that it has none for.
func named(name, url string) []license {
	l := make([]license, 1)
	l[0].License.Name, l[0].License.URL = name, url
	return l
}

// The module that has Swagger UI's files, and the version of them that it has.
const (
	swguiModule      = "github.com/swaggest/swgui"
	swguiVersion     = "v1.8.5"
	swaggerUIVersion = "5.29.1"
)

// linguaVersion is the version of lingua-go whose models the table of n-grams was made of.
const linguaVersion = "1.4.0"

// sources are where the components' facts come from.
type sources struct {
	root    string // of the repository
	library string // path of ONNX Runtime's library
	runtime string // its version
}

// components are what the binary and the image have besides Go modules.
func (s sources) components() ([]component, error) {
	bundle, err := bundled.Version()
	if err != nil {
		return nil, err
	}
	list := []component{{
		Type: "library", Name: "onnxruntime", Version: s.runtime, PURL: "pkg:github/microsoft/onnxruntime@v" + s.runtime,
		Description: "Shared library that runs the model's graphs", Licenses: spdx("MIT"), Copyright: "Microsoft Corporation",
	}, {
		Type: "machine-learning-model", Name: "dragoman-bundled", Version: bundle,
		Description: "Small M2M100 model for Chinese, English, French, German and Japanese, embedded in the binary and trained on sentences of Tatoeba",
		Licenses:    named("CC BY 2.0 FR", "https://creativecommons.org/licenses/by/2.0/fr/"), Copyright: "Tatoeba and its contributors",
	}, {
		Type: "data", Name: "lingua-go-ngrams", Version: linguaVersion, PURL: "pkg:golang/github.com/pemistahl/lingua-go@v" + linguaVersion,
		Description: "Table of n-grams for language detection, derived from the models of lingua-go, embedded in the binary",
		Licenses:    spdx("Apache-2.0"), Copyright: "Peter M. Stahl",
	}, {
		Type: "library", Name: "swagger-ui", Version: swaggerUIVersion, PURL: "pkg:npm/swagger-ui-dist@" + swaggerUIVersion,
		Description: "Page at /docs, embedded in the binary by " + swguiModule, Licenses: spdx("Apache-2.0"), Copyright: "SmartBear Software Inc.",
	}}
	files := []string{s.library, filepath.Join(s.root, "model/bundled/model.safetensors"),
		filepath.Join(s.root, "app/language/internal/ngrams/ngrams.bin"), ""}
	for i := range list {
		list[i].Ref = "dragoman:" + list[i].Name + "@" + list[i].Version
		if list[i].Hashes, err = digests(files[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// digests are the hashes of a file; none where the name is empty.
func digests(path string) ([]digest, error) {
	if path == "" {
		return nil, nil
	}
	file, err := model.HashFile(path)
	if err != nil {
		return nil, err
	}
	return []digest{{"SHA-256", file.SHA256}}, nil
}
