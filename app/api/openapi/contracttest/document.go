package contracttest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// methods are what a path of the document may have operations for.
func methods() []string {
	return []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}
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
		template := templateOf(route.Path)
		served[route.Method+" "+template] = true
		item, _ := c.at(pointer("").to("paths", template))
		_, described := item[strings.ToLower(route.Method)]
		_, get := item["get"]
		if !described && (route.Method != "HEAD" || !get) {
			errs = append(errs, fmt.Errorf("%s %s is served, but not in the document", route.Method, template))
		}
	}
	paths, _ := c.doc["paths"].(node)
	for template := range paths {
		item, _ := c.at(pointer("").to("paths", template))
		for _, method := range methods() {
			name := strings.ToUpper(method) + " " + template
			if _, described := item[method]; described && !served[name] {
				errs = append(errs, fmt.Errorf("%s is in the document, but not served", name))
			}
		}
	}
	return errors.Join(errs...)
}

// templateOf writes a path of the router as the document does: /v2/glossaries/{id}.
func templateOf(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if strings.HasPrefix(segment, ":") || strings.HasPrefix(segment, "*") {
			segments[i] = "{" + segment[1:] + "}"
		}
	}
	return strings.Join(segments, "/")
}

// Examples checks every example of the document against its schema and returns how many
// there are.
func (c *Contract) Examples() (int, error) {
	e := examples{contract: c}
	e.walk("", c.doc)
	return e.n, errors.Join(e.errs...)
}

// examples looks for examples.
type examples struct {
	contract *Contract
	n        int
	errs     []error
}

func (e *examples) walk(at pointer, value any) {
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			e.walk(at.to(fmt.Sprint(i)), item)
		}
	case node:
		e.object(at, value)
		for name, item := range value {
			// What is below is data, which may look like anything.
			if name != "example" && name != "examples" && name != "default" && name != "enum" {
				e.walk(at.to(name), item)
			}
		}
	}
}

// object checks the examples of an object: those of a media type, parameter or header,
// which have the schema beside them, and those of a schema, which are a list.
func (e *examples) object(at pointer, object node) {
	if _, ok := object["schema"].(node); ok {
		if example, ok := object["example"]; ok {
			e.check(at.to("schema"), at.to("example"), example)
		}
		named, _ := object["examples"].(node)
		for name := range named {
			e.check(at.to("schema"), at.to("examples", name), child(named[name], "value"))
		}
	}
	list, _ := object["examples"].([]any)
	for i, example := range list {
		e.check(at, at.to("examples", fmt.Sprint(i)), example)
	}
}

func (e *examples) check(schema, at pointer, example any) {
	e.n++
	document := written
	if strings.Contains(string(at), "/responses/") {
		document = stricter
	}
	if err := e.contract.validate(document, schema, example); err != nil {
		e.errs = append(e.errs, fmt.Errorf("%s: %w", at, err))
	}
}
