package openapi

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// render fills values into a YAML document, by the names of its anchors, and returns it as JSON and as YAML with its comments. A
// node whose value is nil is left out, with every field and item that refers to it; edit makes other changes. render fails on values
// without an anchor.
func render(source []byte, values map[string]any, edit func(doc *yaml.Node)) (asJSON, asYAML []byte, err error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(source, &doc); err != nil {
		return nil, nil, err
	}
	anchors := map[string]*yaml.Node{}
	collect(&doc, anchors)
	for name, value := range values {
		node, ok := anchors[name]
		if !ok {
			return nil, nil, fmt.Errorf("there is no anchor &%s", name)
		}
		if err := fill(node, value); err != nil {
			return nil, nil, fmt.Errorf("&%s: %w", name, err)
		}
	}
	prune(&doc)
	edit(&doc)

	var text, tree bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(&doc); err != nil {
		return nil, nil, err
	}
	if err := encoder.Close(); err != nil {
		return nil, nil, err
	}
	if err := writeJSON(jsontext.NewEncoder(&tree), &doc); err != nil {
		return nil, nil, err
	}
	return tree.Bytes(), text.Bytes(), nil
}

// collect finds the nodes with an anchor.
func collect(n *yaml.Node, anchors map[string]*yaml.Node) {
	if n.Anchor != "" {
		anchors[n.Anchor] = n
	}
	for _, child := range n.Content {
		collect(child, anchors)
	}
}

// fill replaces a node by a value. Aliases point to the node, so they get the value too.
func fill(n *yaml.Node, value any) error {
	var filled yaml.Node
	if err := filled.Encode(value); err != nil {
		return err
	}
	n.Kind, n.Tag, n.Value, n.Content = filled.Kind, filled.Tag, filled.Value, filled.Content
	if n.Kind == yaml.ScalarNode {
		n.Style = filled.Style
	}
	return nil
}

// prune removes the fields and items without a value.
func prune(n *yaml.Node) {
	step := 1
	if n.Kind == yaml.MappingNode {
		step = 2 // name and value
	}
	kept := n.Content[:0]
	for i := 0; i < len(n.Content); i += step {
		if value := n.Content[i+step-1]; !unknown(value) {
			prune(value)
			kept = append(kept, n.Content[i:i+step]...)
		}
	}
	n.Content = kept
}

// unknown reports whether a node has an anchor filled with nil, or is an alias of one.
func unknown(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n.Anchor != "" && n.Tag == "!!null"
}

// writeJSON writes a node with all its children. writeJSON keeps the order of fields for readers; decoding the document into maps
// would sort the fields.
func writeJSON(enc *jsontext.Encoder, n *yaml.Node) error {
	switch n.Kind {
	case yaml.DocumentNode:
		return writeJSON(enc, n.Content[0])
	case yaml.AliasNode:
		return writeJSON(enc, n.Alias)
	case yaml.MappingNode:
		return writeList(enc, n, jsontext.BeginObject, jsontext.EndObject)
	case yaml.SequenceNode:
		return writeList(enc, n, jsontext.BeginArray, jsontext.EndArray)
	}
	if n.ShortTag() == "!!timestamp" { // timestamps are of YAML 1.1; JSON has none
		return enc.WriteToken(jsontext.String(n.Value))
	}
	var value any
	if err := n.Decode(&value); err != nil {
		return err
	}
	return json.MarshalEncode(enc, value)
}

// writeList writes an array, or an object as the list of its names and values.
func writeList(enc *jsontext.Encoder, n *yaml.Node, begin, end jsontext.Token) error {
	if err := enc.WriteToken(begin); err != nil {
		return err
	}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			// A string, whatever its type in YAML, because the status 200 is a string in JSON.
			if err := enc.WriteToken(jsontext.String(child.Value)); err != nil {
				return err
			}
			continue
		}
		if err := writeJSON(enc, child); err != nil {
			return err
		}
	}
	return enc.WriteToken(end)
}
