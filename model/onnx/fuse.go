package onnx

import (
	"bytes"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// chainOperator is the name of the operator that runs a chain.
const chainOperator = "Chain"

// Chain is a sequence of nodes, in the order of execution, fused into one node of a graph.
type Chain struct {
	Operators []string // operators of the nodes
	// Values has for each node its number of inputs and of outputs, and their value numbers; -1: left out. The first numbers
	// stand for the inputs of the chain, the next for its outputs, and the rest for the values between its nodes.
	Values                 []int32
	Inputs, Outputs, Total int
}

// link is a node read from a graph.
type link struct {
	operator, domain string
	inputs, outputs  []string
	attributes       [][]byte
}

// Fuse replaces the longest run of consecutive nodes of a domain by one node of the operator Chain. An attribute "a" of the n-th
// node becomes "n.a" of that node. If there are no two such nodes, or the graph has an ambiguous value, the model is returned
// unchanged, and the chain is empty.
func Fuse(model []byte, domain string) ([]byte, Chain, error) {
	links, outer, err := readNodes(model)
	if err != nil {
		return nil, Chain{}, err
	}
	first, end := longestRun(links, domain)
	for _, l := range slices.Concat(links[:first], links[end:]) {
		for _, name := range l.inputs {
			outer[name] = true
		}
	}
	chain, inputs, outputs, ok := chainOf(links[first:end], outer)
	if !ok {
		return model, Chain{}, nil
	}
	node := chainNode(links[first:end], domain, inputs, outputs)
	fused, err := replaceNodes(model, first, end, node)
	return fused, chain, err
}

// readNodes reads the nodes of a model, and the names of its outputs.
func readNodes(model []byte) (links []link, outputs map[string]bool, err error) {
	outputs = map[string]bool{}
	err = eachField(model, func(field protowire.Number, f value) error {
		if field != modelGraph {
			return nil
		}
		return eachField(f.bytes, func(field protowire.Number, f value) error {
			switch field {
			case graphNode:
				l, err := readLink(f.bytes)
				links = append(links, l)
				return err
			case graphOutput:
				return eachField(f.bytes, func(field protowire.Number, f value) error {
					if field == valueName {
						outputs[string(f.bytes)] = true
					}
					return nil
				})
			}
			return nil
		})
	})
	return links, outputs, err
}

func readLink(node []byte) (link, error) {
	var l link
	err := eachField(node, func(field protowire.Number, f value) error {
		switch field {
		case nodeOpType:
			l.operator = string(f.bytes)
		case nodeDomain:
			l.domain = string(f.bytes)
		case nodeInput:
			l.inputs = append(l.inputs, string(f.bytes))
		case nodeOutput:
			l.outputs = append(l.outputs, string(f.bytes))
		case nodeAttribute:
			l.attributes = append(l.attributes, f.bytes)
		}
		return nil
	})
	return l, err
}

// longestRun returns the range of the longest run of nodes of a domain.
func longestRun(links []link, domain string) (first, end int) {
	for i := 0; i < len(links); i++ {
		from := i
		for i < len(links) && links[i].domain == domain {
			i++
		}
		if i-from > end-first {
			first, end = from, i
		}
	}
	return first, end
}

// chainOf numbers the values of nodes; outer has the values that other nodes use. ok is false if there are fewer than two nodes,
// or a value is produced twice or used before it is produced.
func chainOf(links []link, outer map[string]bool) (chain Chain, inputs, outputs []string, ok bool) {
	known := map[string]bool{"": true}
	for _, l := range links {
		for _, name := range l.inputs {
			if !known[name] {
				known[name], inputs = true, append(inputs, name)
			}
		}
		for _, name := range l.outputs {
			if known[name] {
				return Chain{}, nil, nil, false
			}
			known[name] = true
			if outer[name] {
				outputs = append(outputs, name)
			}
		}
	}
	if len(links) < 2 {
		return Chain{}, nil, nil, false
	}
	numbers := map[string]int32{"": -1}
	number := func(name string) int32 {
		if _, ok := numbers[name]; !ok {
			numbers[name] = int32(len(numbers) - 1)
		}
		return numbers[name]
	}
	for _, name := range slices.Concat(inputs, outputs) {
		number(name)
	}
	for _, l := range links {
		chain.Operators = append(chain.Operators, l.operator)
		chain.Values = append(chain.Values, int32(len(l.inputs)), int32(len(l.outputs)))
		for _, name := range slices.Concat(l.inputs, l.outputs) {
			chain.Values = append(chain.Values, number(name))
		}
	}
	chain.Inputs, chain.Outputs, chain.Total = len(inputs), len(outputs), len(numbers)-1
	return chain, inputs, outputs, true
}

func chainNode(links []link, domain string, inputs, outputs []string) message {
	var m message
	for _, name := range inputs {
		m.string(nodeInput, name)
	}
	for _, name := range outputs {
		m.string(nodeOutput, name)
	}
	m.string(nodeName, chainOperator)
	m.string(nodeOpType, chainOperator)
	m.string(nodeDomain, domain)
	for i, l := range links {
		for _, attribute := range l.attributes {
			named := message(bytes.Clone(attribute))
			var name string
			_ = eachField(attribute, func(field protowire.Number, f value) error { // no error, because the attribute was read before
				if field == attrName {
					name = string(f.bytes)
				}
				return nil
			})
			named.string(attrName, fmt.Sprintf("%d.%s", i, name)) // of a repeated field the last one counts
			m.bytes(nodeAttribute, named)
		}
	}
	return m
}

// replaceNodes returns the model with one node in place of the nodes from first to end-1.
func replaceNodes(model []byte, first, end int, node message) ([]byte, error) {
	var out message
	err := eachField(model, func(field protowire.Number, f value) error {
		if field != modelGraph {
			out = append(out, f.raw...)
			return nil
		}
		var graph message
		n := 0
		err := eachField(f.bytes, func(field protowire.Number, f value) error {
			if field == graphNode {
				n++
				if n-1 == first {
					graph.bytes(graphNode, node)
				}
				if n-1 >= first && n-1 < end {
					return nil
				}
			}
			graph = append(graph, f.raw...)
			return nil
		})
		out.bytes(modelGraph, graph)
		return err
	})
	return out, err
}
