package openapi

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// dropin is the YAML tag of the nodes that only the document of all routes has.
const dropin = "!dropin"

// methods are the fields of a path that are operations.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

// native removes the drop-ins from a document: operations whose tag is tagged [dropin], nodes tagged so themselves, and then the
// components to which nothing refers.
func native(doc *yaml.Node) {
	root := doc.Content[0]
	r := references{root}
	foreign := map[string]bool{}
	for _, tag := range items(get(root, "tags")) {
		foreign[get(tag, "name").Value] = tag.Tag == dropin
	}
	keep(get(root, "paths"), func(_ string, item *yaml.Node) bool {
		item = r.resolve(item)
		keep(item, func(method string, operation *yaml.Node) bool {
			return !slices.Contains(methods, method) || !foreign[items(get(r.resolve(operation), "tags"))[0].Value]
		})
		return slices.ContainsFunc(methods, func(method string) bool { return get(item, method) != nil })
	})
	cut(doc)
	used := map[string]bool{}
	r.refer(get(root, "paths"), used)
	for _, requirement := range items(get(root, "security")) {
		r.require(requirement, used)
	}
	keep(get(root, "components"), func(kind string, named *yaml.Node) bool {
		keep(named, func(name string, _ *yaml.Node) bool { return used["#/components/"+kind+"/"+name] })
		return len(named.Content) > 0
	})
}

// keep removes the fields of a mapping that are not to stay.
func keep(n *yaml.Node, stays func(name string, value *yaml.Node) bool) {
	kept := n.Content[:0]
	for i := 0; i+1 < len(n.Content); i += 2 {
		if stays(n.Content[i].Value, n.Content[i+1]) {
			kept = append(kept, n.Content[i], n.Content[i+1])
		}
	}
	n.Content = kept
}

// cut removes the items of lists that are tagged [dropin]. A choice with one item left becomes that item.
func cut(n *yaml.Node) {
	if n.Kind == yaml.SequenceNode {
		n.Content = slices.DeleteFunc(n.Content, func(item *yaml.Node) bool { return item.Tag == dropin })
	}
	for _, child := range n.Content {
		cut(child)
	}
	if choice := get(n, "oneOf"); choice != nil && len(choice.Content) == 1 {
		keep(n, func(name string, _ *yaml.Node) bool { return name != "oneOf" })
		n.Content = append(n.Content, choice.Content[0].Content...)
	}
}

// all gives each operation an id of its own, and takes the tags [dropin] away. A path that refers to another one, and an operation
// that is an alias, become copies, whose ids are made of method and path.
func all(doc *yaml.Node) {
	r := references{doc.Content[0]}
	paths := get(r.root, "paths")
	taken := map[string]bool{}
	for i, item := range values(paths) {
		if get(item, "$ref") != nil {
			item = clone(r.resolve(item))
			paths.Content[2*i+1] = item
		}
		for j, operation := range values(item) {
			method := item.Content[2*j].Value
			if !slices.Contains(methods, method) {
				continue
			}
			if operation.Kind == yaml.AliasNode {
				operation = clone(operation.Alias)
				item.Content[2*j+1] = operation
			}
			id := get(operation, "operationId")
			if taken[id.Value] {
				id.Value = operationID(method, paths.Content[2*i].Value)
			}
			taken[id.Value] = true
		}
	}
	untag(doc)
}

// operationID returns a name such as postMtranserverKiss.
func operationID(method, path string) string {
	words := strings.FieldsFunc(path, func(r rune) bool { return !('a' <= r && r <= 'z' || '0' <= r && r <= '9') })
	for _, word := range words {
		method += strings.ToUpper(word[:1]) + word[1:]
	}
	return method
}

// clone copies a node with all its children, without their anchors.
func clone(n *yaml.Node) *yaml.Node {
	c := *n
	c.Anchor, c.Content = "", make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		c.Content[i] = clone(child)
	}
	return &c
}

func untag(n *yaml.Node) {
	if n.Tag == dropin {
		n.Tag = ""
	}
	for _, child := range n.Content {
		untag(child)
	}
}

// references finds what the nodes of a document refer to.
type references struct{ root *yaml.Node }

// resolve follows references, and YAML aliases.
func (r references) resolve(n *yaml.Node) *yaml.Node {
	for n != nil {
		ref := get(n, "$ref")
		switch {
		case n.Kind == yaml.AliasNode:
			n = n.Alias
		case ref == nil:
			return n
		default:
			n = r.at(ref.Value)
		}
	}
	return nil
}

// at returns the node to which a reference refers, or nil.
func (r references) at(ref string) *yaml.Node {
	n := r.root
	for name := range jsontext.Pointer(strings.TrimPrefix(ref, "#")).Tokens() {
		n = get(n, name)
	}
	return n
}

// refer adds the references below a node to used, with those below what they refer to, and the schemes of its security.
func (r references) refer(n *yaml.Node, used map[string]bool) {
	if n == nil {
		return
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if ref := get(n, "$ref"); ref != nil && !used[ref.Value] {
		used[ref.Value] = true
		r.refer(r.at(ref.Value), used)
	}
	for _, requirement := range items(get(n, "security")) {
		r.require(requirement, used)
	}
	for _, child := range n.Content {
		r.refer(child, used)
	}
}

// require adds the schemes of a security requirement to used.
func (r references) require(requirement *yaml.Node, used map[string]bool) {
	requirement = r.resolve(requirement)
	for i := 0; i+1 < len(requirement.Content); i += 2 {
		used["#/components/securitySchemes/"+requirement.Content[i].Value] = true
	}
}

// get returns a field of a mapping, or nil.
func get(n *yaml.Node, name string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

// values returns the values of a mapping.
func values(n *yaml.Node) (list []*yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 1; i < len(n.Content); i += 2 {
		list = append(list, n.Content[i])
	}
	return list
}

// items returns the items of a list.
func items(n *yaml.Node) []*yaml.Node {
	if n == nil {
		return nil
	}
	return n.Content
}
