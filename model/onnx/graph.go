package onnx

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// DataType is an element type, TensorProto.DataType.
type DataType int32

const (
	Float32 DataType = 1
	Uint8   DataType = 2
	Int8    DataType = 3
	Int32   DataType = 6
	Int64   DataType = 7
	Float16 DataType = 10
)

// Size returns the number of bytes of an element.
func (t DataType) Size() int {
	switch t {
	case Uint8, Int8:
		return 1
	case Float16:
		return 2
	case Int64:
		return 8
	default:
		return 4
	}
}

const (
	// irVersion 8 and opset 17 are the oldest versions with all operators of the graphs (LayerNormalization).
	irVersion = 8
	opset     = 17

	// Microsoft is the domain of ONNX Runtime's own operators.
	Microsoft = "com.microsoft"
	// Dragoman is the domain of the operators of package model/cpu/ops.
	Dragoman = "dragoman"
)

// Graph is a model under construction. Operators are added in the order of execution; each returns the name of its output, to be
// used as an input of others. It is not safe for concurrent use.
type Graph struct {
	name                          string
	nodes                         []node
	initializers, inputs, outputs message // encoded fields
	constants                     map[string]bool
	count                         int // number of nodes, for unique names
}

// node is an operator. Its attributes are encoded last: see [FloatVar].
type node struct {
	message
	attrs  []Attr
	domain string
}

func (n node) encode() message {
	m := n.message
	for _, a := range n.attrs {
		m.bytes(nodeAttribute, a.encode())
	}
	m.string(nodeDomain, n.domain)
	return m
}

// NewGraph returns an empty graph.
func NewGraph(name string) *Graph {
	return &Graph{name: name, constants: map[string]bool{}}
}

// Input declares an input of the model.
func (g *Graph) Input(name string, t DataType, dims ...Dim) string {
	g.inputs.bytes(graphInput, valueInfo(name, t, dims))
	return name
}

// Output declares the value called name as an output of the model.
func (g *Graph) Output(name string, t DataType, dims ...Dim) {
	g.outputs.bytes(graphOutput, valueInfo(name, t, dims))
}

// Weight adds a weight of a Data file as a constant, under its name. A second call adds nothing.
func (g *Graph) Weight(w Weight) string {
	if g.constants[w.Name] {
		return w.Name
	}
	m := tensor(w.Name, w.Type, w.Shape)
	m.external(w)
	m.varint(tensorDataLocation, dataLocationExternal)
	g.addConstant(w.Name, m)
	return w.Name
}

// Int64s adds an Int64 vector stored in the graph itself.
func (g *Graph) Int64s(name string, values ...int) string {
	raw := make([]byte, 0, 8*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	return g.constant(name, Int64, []int{len(values)}, raw)
}

func (g *Graph) constant(name string, t DataType, shape []int, raw []byte) string {
	if !g.constants[name] {
		m := tensor(name, t, shape)
		m.bytes(tensorRawData, raw)
		g.addConstant(name, m)
	}
	return name
}

func (g *Graph) addConstant(name string, m message) {
	g.constants[name] = true
	g.initializers.bytes(graphInitializer, m)
}

// Op adds an operator of the standard domain with one output.
func (g *Graph) Op(op string, inputs []string, attrs ...Attr) string {
	return g.Node("", op, inputs, 1, attrs...)[0]
}

// Node adds an operator of any domain and returns the names of its outputs. An empty input name omits an optional input.
func (g *Graph) Node(domain, op string, inputs []string, outputs int, attrs ...Attr) []string {
	names := make([]string, outputs)
	for i := range names {
		names[i] = fmt.Sprintf("%s_%d_%d", op, g.count, i)
	}
	g.NamedNode(domain, op, inputs, names, attrs...)
	return names
}

// NamedNode is Node with given names of the outputs, as needed for outputs of the model.
func (g *Graph) NamedNode(domain, op string, inputs, outputs []string, attrs ...Attr) {
	var m message
	for _, in := range inputs {
		m.string(nodeInput, in)
	}
	for _, out := range outputs {
		m.string(nodeOutput, out)
	}
	m.string(nodeName, fmt.Sprintf("%s_%d", op, g.count))
	m.string(nodeOpType, op)
	g.nodes = append(g.nodes, node{m, attrs, domain})
	g.count++
}

// Marshal encodes the graph as an ONNX ModelProto.
func (g *Graph) Marshal() []byte {
	var graph message
	for _, n := range g.nodes {
		graph.bytes(graphNode, n.encode())
	}
	graph = slices.Concat(graph, g.initializers, g.inputs, g.outputs)
	graph.string(graphName, g.name)

	var m message
	m.varint(modelIRVersion, irVersion)
	m.string(modelProducerName, "dragoman")
	m.bytes(modelGraph, graph)
	m.bytes(modelOpsetImport, opsetID("", opset))
	for _, domain := range []string{Microsoft, Dragoman} {
		m.bytes(modelOpsetImport, opsetID(domain, 1))
	}
	return m
}

func opsetID(domain string, version uint64) message {
	var m message
	m.string(opsetIDDomain, domain)
	m.varint(opsetIDVersion, version)
	return m
}

// Dim is a dimension of an input or output.
type Dim struct {
	size int
	name string
}

// Fixed returns a dimension of size n.
func Fixed(n int) Dim { return Dim{size: n} }

// Named returns a dimension that varies between runs; equal names mean equal sizes.
func Named(name string) Dim { return Dim{name: name} }

// Attr is an attribute of an operator.
type Attr struct {
	name string
	kind uint64
	f    *float32
	i    int64
	ints []int
}

// Float returns a float attribute.
func Float(name string, v float32) Attr { return FloatVar(name, &v) }

// FloatVar returns a float attribute whose value is read when the graph is encoded.
func FloatVar(name string, v *float32) Attr { return Attr{name: name, kind: attrTypeFloat, f: v} }

// Int returns an integer attribute.
func Int(name string, v int) Attr { return Attr{name: name, kind: attrTypeInt, i: int64(v)} }

// Ints returns an attribute of several integers.
func Ints(name string, values ...int) Attr { return Attr{name: name, kind: attrTypeInts, ints: values} }

func (a Attr) encode() message {
	var m message
	m.string(attrName, a.name)
	switch a.kind {
	case attrTypeFloat:
		m.float(attrF, *a.f)
	case attrTypeInt:
		m.varint(attrI, uint64(a.i))
	case attrTypeInts:
		for _, v := range a.ints {
			m.varint(attrInts, uint64(v))
		}
	}
	m.varint(attrType, a.kind)
	return m
}

func tensor(name string, t DataType, shape []int) message {
	var m message
	for _, n := range shape {
		m.varint(tensorDims, uint64(n))
	}
	m.varint(tensorDataType, uint64(t))
	m.string(tensorName, name)
	return m
}

func valueInfo(name string, t DataType, dims []Dim) message {
	var shape message
	for _, d := range dims {
		var dim message
		if d.name != "" {
			dim.string(dimParam, d.name)
		} else {
			dim.varint(dimValue, uint64(d.size))
		}
		shape.bytes(shapeDim, dim)
	}
	var tensorType, typ, m message
	tensorType.varint(tensorTypeElem, uint64(t))
	tensorType.bytes(tensorTypeShape, shape)
	typ.bytes(typeTensor, tensorType)
	m.string(valueName, name)
	m.bytes(valueType, typ)
	return m
}
