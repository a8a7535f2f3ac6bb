package openapi

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"dragoman/app/guard/bound"
)

// bounds adds the maximum of each request field to a document, from the table of package bound, unless the document has one
// already.
func bounds(doc *yaml.Node) {
	b := &bounder{references{doc.Content[0]}, make(map[*yaml.Node]string)}
	paths := get(b.root, "paths")
	if paths == nil {
		return
	}
	for _, item := range values(paths) {
		b.parameters(get(item, "parameters"))
		for _, operation := range values(item) {
			b.parameters(get(operation, "parameters"))
			for _, content := range values(get(b.resolve(get(operation, "requestBody")), "content")) {
				b.schema(get(content, "schema"), "")
			}
		}
	}
}

type bounder struct {
	references
	seen map[*yaml.Node]string // schemas, by the field name of the visit
}

func (b *bounder) parameters(list *yaml.Node) {
	if list == nil {
		return
	}
	for _, parameter := range list.Content {
		if parameter = b.resolve(parameter); get(parameter, "name") != nil {
			b.schema(get(parameter, "schema"), get(parameter, "name").Value)
		}
	}
}

// schema adds the bounds of a field, and of its inner fields. A field that refers to a schema gets its bounds beside the
// reference, because other fields may refer to the same schema.
func (b *bounder) schema(n *yaml.Node, name string) {
	if before, ok := b.seen[n]; n == nil || n.Kind != yaml.MappingNode || ok && before == name {
		return
	}
	b.seen[n] = name
	at := b.resolve(n)
	if row, known := bound.Of(name); known {
		texts, lists := b.kinds(at)
		if texts && row.Bytes > 0 {
			set(n, "maxLength", number(row.Bytes))
		}
		if lists && row.Items > 0 {
			set(n, "maxItems", number(row.Items))
		}
		if lists && row.Bytes > 0 && get(n, "items") == nil {
			set(n, "items", &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"})
		}
	}
	if get(n, "$ref") == nil || get(at, "properties") != nil || get(at, "allOf") != nil {
		for _, word := range []string{"allOf", "oneOf", "anyOf"} {
			for _, part := range items(get(at, word)) {
				if get(b.resolve(part), "properties") != nil {
					b.schema(part, name)
				}
			}
		}
	}
	b.item(get(n, "items"), name)
	if properties := get(at, "properties"); properties != nil {
		for i, property := range values(properties) {
			b.schema(property, properties.Content[2*i].Value)
		}
	}
}

// item adds the bounds of a list's items.
func (b *bounder) item(n *yaml.Node, name string) {
	if n == nil {
		return
	}
	row, known := bound.Of(name)
	if texts, _ := b.kinds(b.resolve(n)); known && row.Bytes > 0 && (texts || len(n.Content) == 0) {
		set(n, "maxLength", number(row.Bytes))
	}
	if at := b.resolve(n); get(at, "properties") != nil || get(at, "oneOf") != nil || get(at, "allOf") != nil {
		b.schema(n, name)
	}
}

// kinds reports whether a schema allows texts, and lists, without restrictions of its own.
func (b *bounder) kinds(at *yaml.Node) (texts, lists bool) {
	kind := get(at, "type")
	if kind == nil {
		for _, word := range []string{"oneOf", "anyOf"} {
			for _, part := range items(get(at, word)) {
				t, l := b.kinds(b.resolve(part))
				texts, lists = texts || t, lists || l
			}
		}
		return texts, lists
	}
	said := slices.ContainsFunc([]string{"maxLength", "enum", "const", "pattern"}, func(word string) bool { return get(at, word) != nil })
	is := func(name string) bool {
		return kind.Value == name || slices.ContainsFunc(items(kind), func(one *yaml.Node) bool { return one.Value == name })
	}
	return is("string") && !said, is("array") && get(at, "maxItems") == nil
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

// set adds a field to a mapping, unless the mapping has it already.
func set(n *yaml.Node, name string, value *yaml.Node) {
	if get(n, name) == nil {
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}, value)
	}
}

func number(n int) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(n)}
}
