// Package contracttest holds HTTP exchanges against an OpenAPI 3.1 document. It is for
// tests only.
//
// A document is a contract in both directions, and so is the check: what the service
// answers must be described; a request that it took must be one that the document
// allows; and one that it refused for its shape must be one that the document forbids.
//
// Answers are checked more strictly than the document says: fields that it does not
// describe are faults, so that no field appears that nobody wrote down.
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

// The document's addresses for the compiler of schemas: as it is written, for requests,
// and as strict says, for answers. Nothing is loaded from there.
const (
	written  = "https://dragoman.invalid/openapi.json"
	stricter = "https://dragoman.invalid/stricter.json"
)

// Contract is a document that exchanges can be checked against. It is safe for
// concurrent use.
type Contract struct {
	raw object
	doc description

	mu       sync.Mutex // guards compiler
	compiler *jsonschema.Compiler
}

// New reads a document, which is JSON. It does not check that the document is valid.
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
	return &Contract{raw: raw, doc: doc, compiler: compiler}, nil
}

// strict forbids fields that are not described in all objects that do not say what they
// think of such fields.
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

// validate holds a value against the schema at a place of the document, which is written
// or stricter.
func (c *Contract) validate(document string, at jsontext.Pointer, value any) error {
	c.mu.Lock()
	compiled, err := c.compiler.Compile(document + "#" + (&url.URL{Fragment: string(at)}).EscapedFragment()) // once; then it remembers
	c.mu.Unlock()
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}

// Routes returns an error that names each route which the document lacks, and each
// operation which has no route. undocumented are the paths, as the router has them, that
// the document leaves out, such as those of a page's assets. HEAD is part of GET.
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

// wildcard is a parameter in a path of the router, which the document has as {id}.
var wildcard = regexp.MustCompile(`/[:*]([^/]+)`)

// Examples checks every example of the document against its schema and returns how many
// there are.
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
			// What is below is data, which may look like anything.
			if name != "example" && name != "examples" && name != "default" && name != "enum" {
				e.walk(at.AppendToken(name), item)
			}
		}
	}
}

// object checks the examples of an object: those of a media type, parameter or header,
// which have the schema beside them, and those of a schema, which are a list.
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
