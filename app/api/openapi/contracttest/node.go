package contracttest

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// node is an object of the document.
type node = map[string]any

// pointer is a place in the document, as a JSON pointer (RFC 6901). "" is all of it.
type pointer string

// to is the place of something that is below.
func (p pointer) to(names ...string) pointer {
	for _, name := range names {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
		p += pointer("/" + name)
	}
	return p
}

// names are the steps to the place.
func (p pointer) names() []string {
	if p == "" {
		return nil
	}
	names := strings.Split(string(p), "/")[1:]
	for i, name := range names {
		names[i] = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
	}
	return names
}

// fragment is the pointer as the fragment of a URL.
func (p pointer) fragment() string { return "#" + (&url.URL{Fragment: string(p)}).EscapedFragment() }

// at returns the object at a place and the place where it really is: references are
// followed, on the way and at the end. The object is nil where there is none.
func (c *Contract) at(p pointer) (node, pointer) {
	const mostReferences = 16 // one to itself has no end
	value, place := c.resolve(p, mostReferences)
	object, _ := value.(node)
	return object, place
}

func (c *Contract) resolve(p pointer, references int) (any, pointer) {
	var value any = c.doc
	place := pointer("")
	for _, name := range p.names() {
		value, place = child(value, name), place.to(name)
		object, _ := value.(node)
		if ref, ok := object["$ref"].(string); ok && strings.HasPrefix(ref, "#/") {
			if references == 0 {
				return nil, place
			}
			value, place = c.resolve(pointer(ref[1:]), references-1)
		}
	}
	return value, place
}

// child is a member of an object, or an item of an array.
func child(value any, name string) any {
	switch value := value.(type) {
	case node:
		return value[name]
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(value) {
			return value[i]
		}
	}
	return nil
}

// operation is what the document says of a method and a path.
type operation struct {
	at        pointer // of the operation; "" where the document has none
	path      bool    // the document has the path
	described node
}

// operation finds the operation of a request. HEAD is GET without a body.
func (c *Contract) operation(method, path string) operation {
	template, ok := c.template(path)
	if !ok {
		return operation{}
	}
	item, place := c.at(pointer("").to("paths", template))
	name := strings.ToLower(method)
	if _, ok := item[name]; !ok && name == "head" {
		name = "get"
	}
	described, ok := item[name].(node)
	if !ok {
		return operation{path: true}
	}
	return operation{at: place.to(name), path: true, described: described}
}

// template finds the path of the document that a request's path matches: the same, or
// one with parameters in the place of some segments.
func (c *Contract) template(path string) (string, bool) {
	paths, _ := c.doc["paths"].(node)
	if _, ok := paths[path]; ok {
		return path, true
	}
	segments := strings.Split(path, "/")
	for template := range paths {
		if slices.EqualFunc(strings.Split(template, "/"), segments, func(want, got string) bool {
			return want == got || strings.HasPrefix(want, "{") && strings.HasSuffix(want, "}") && got != ""
		}) {
			return template, true
		}
	}
	return "", false
}
