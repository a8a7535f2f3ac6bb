// Package contracttest checks HTTP exchanges against an OpenAPI 3.1 document, in tests.
//
// The document binds both sides: an answer of the service must be described; an accepted request must be allowed by the document;
// and a request refused for its shape must be forbidden by it.
//
// Answers are checked more strictly than the document demands: undescribed fields are faults, so that no field is added without a
// description.
package contracttest

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Addresses of the document for the schema compiler: written is the document as it is, for requests; stricter is the document
// after strict, for answers. Nothing is loaded from these addresses.
const (
	written  = "https://dragoman.invalid/openapi.json"
	stricter = "https://dragoman.invalid/stricter.json"
)

// Contract is a document against which exchanges are checked. It is safe for concurrent use.
type Contract struct {
	raw   object
	doc   description
	codes []string // of the schema ErrorCode

	mu       sync.Mutex // guards compiler
	compiler *jsonschema.Compiler
}

// New reads a JSON document. New does not check that the document is valid OpenAPI.
func New(text []byte) (*Contract, error) {
	raw, doc, err := read(text)
	if err != nil {
		return nil, err
	}
	answers, _, err := read(text)
	if err != nil {
		return nil, err
	}
	strict(answers)

	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	compiler.AssertContent()
	for name, parse := range map[string]func([]byte) (any, error){"application/x-ndjson": parseLines, "text/event-stream": parseEvents} {
		compiler.RegisterContentMediaType(&jsonschema.MediaType{
			Name: name, UnmarshalJSON: parse, Validate: func(body []byte) error { _, err := parse(body); return err },
		})
	}
	if err := errors.Join(compiler.AddResource(written, raw), compiler.AddResource(stricter, answers)); err != nil {
		return nil, err
	}
	c := &Contract{raw: raw, doc: doc, compiler: compiler}
	listed, _ := find(raw, "/components/schemas/ErrorCode/enum").([]any)
	for _, code := range listed {
		c.codes = append(c.codes, fmt.Sprint(code))
	}
	return c, nil
}

// strict forbids undescribed fields in all objects with properties that do not have additionalProperties.
func strict(value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			strict(item)
		}
	case object:
		_, described := value["properties"].(object)
		_, says := value["additionalProperties"]
		if described && !says && value["type"] == "object" {
			value["unevaluatedProperties"] = false
		}
		for _, item := range value {
			strict(item)
		}
	}
}

// validate checks a value against the schema at a place of the document, which is written or stricter.
func (c *Contract) validate(document string, at jsontext.Pointer, value any) error {
	c.mu.Lock()
	compiled, err := c.compiler.Compile(document + "#" + (&url.URL{Fragment: string(at)}).EscapedFragment()) // compiled once and cached
	c.mu.Unlock()
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}

// Routes returns an error with each route missing in the document, and each operation without a route. undocumented are the
// router's paths that the document omits, such as a page's assets. HEAD is part of GET.
func (c *Contract) Routes(routes gin.RoutesInfo, undocumented ...string) error {
	var errs []error
	served := map[string]bool{}
	for _, route := range routes {
		if slices.Contains(undocumented, route.Path) {
			continue
		}
		template := wildcard.ReplaceAllString(route.Path, "/{$1}")
		served[route.Method+" "+template] = true
		item := c.doc.Paths[template]
		if item[strings.ToLower(route.Method)] == nil && (route.Method != http.MethodHead || item["get"] == nil) {
			errs = append(errs, fmt.Errorf("%s %s is served, but not in the document", route.Method, template))
		}
	}
	for template, item := range c.doc.Paths {
		for method := range item {
			if name := strings.ToUpper(method) + " " + template; !served[name] {
				errs = append(errs, fmt.Errorf("%s is in the document, but not served", name))
			}
		}
	}
	return errors.Join(errs...)
}

// wildcard matches a parameter in a path of the router, which is {id} in the document.
var wildcard = regexp.MustCompile(`/[:*]([^/]+)`)

// Examples checks every example of the document against its schema and returns their number.
func (c *Contract) Examples() (int, error) {
	e := examples{contract: c}
	e.walk("", c.raw)
	return e.n, errors.Join(e.errs...)
}

type examples struct {
	contract *Contract
	n        int
	errs     []error
}

func (e *examples) walk(at jsontext.Pointer, value any) {
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			e.walk(at.AppendToken(strconv.Itoa(i)), item)
		}
	case object:
		e.object(at, value)
		for name, item := range value {
			// The contents of examples and defaults are data, whatever they look like.
			if name != "example" && name != "examples" && name != "default" && name != "enum" {
				e.walk(at.AppendToken(name), item)
			}
		}
	}
}

// object checks the examples of an object: examples of a media type, parameter or header, with the schema beside them, and
// examples of a schema, which are a list.
func (e *examples) object(at jsontext.Pointer, o object) {
	if _, ok := o["schema"].(object); ok {
		if example, ok := o["example"]; ok {
			e.check(at+"/schema", at+"/example", example)
		}
		named, _ := o["examples"].(object)
		for name, example := range named {
			e.check(at+"/schema", (at + "/examples").AppendToken(name), example.(object)["value"])
		}
	}
	list, _ := o["examples"].([]any)
	for i, example := range list {
		e.check(at, (at + "/examples").AppendToken(strconv.Itoa(i)), example)
	}
}

func (e *examples) check(schema, at jsontext.Pointer, example any) {
	e.n++
	document := written
	if strings.Contains(string(at), "/responses/") {
		document = stricter
	}
	if err := e.contract.validate(document, schema, example); err != nil {
		e.errs = append(e.errs, fmt.Errorf("%s: %w", at, err))
	}
}
