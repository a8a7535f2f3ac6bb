package onnx

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Span is a part of a file, in bytes.
type Span struct{ Offset, Length int64 }

// Constant is where a graph's constant lies.
type Constant struct {
	Name     string
	Location string // the file, relative to the graph's folder; "" is the graph itself
	At       Span   // in Location
	Packed   []Packed

	proto message // TensorProto without its external data
}

// Packed is what a kernel of ONNX Runtime made of a constant: buffers in the
// constant's file.
type Packed struct {
	Key     string // the operator and a hash of the buffers
	Buffers []Span
}

// Skeleton is a ModelProto without the constants of its graph.
type Skeleton struct {
	model message // all fields but the graph
	graph message // all fields but the initializers
}

// Read reads the ModelProto at path, one that was exported or that ONNX Runtime
// saved. The caller may change the constants and encode them with Skeleton.With.
func Read(path string) (g Skeleton, constants []*Constant, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return g, nil, err
	}
	err = eachField(raw, func(field protowire.Number, whole, value []byte) error {
		if field != modelGraph {
			g.model = append(g.model, whole...)
			return nil
		}
		return eachField(value, func(field protowire.Number, whole, value []byte) error {
			if field != graphInitializer {
				g.graph = append(g.graph, whole...)
				return nil
			}
			k, err := readConstant(value)
			constants = append(constants, k)
			return err
		})
	})
	if err != nil {
		return g, nil, fmt.Errorf("read %s: %w", path, err)
	}
	return g, constants, nil
}

// With encodes the ModelProto with constants.
func (g Skeleton) With(constants []*Constant) []byte {
	model, graph := slices.Clone(g.model), slices.Clone(g.graph)
	for _, k := range constants {
		graph.bytes(graphInitializer, k.encode())
	}
	model.bytes(modelGraph, graph)
	return model
}

// readConstant reads a TensorProto.
func readConstant(raw []byte) (*Constant, error) {
	k := &Constant{}
	err := eachField(raw, func(field protowire.Number, whole, value []byte) error {
		if field == tensorExternalData {
			return k.readEntry(value)
		}
		if field == tensorName {
			k.Name = string(value)
		}
		k.proto = append(k.proto, whole...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("constant %s: %w", k.Name, err)
	}
	return k, nil
}

// readEntry reads one StringStringEntryProto of a constant's external data.
func (k *Constant) readEntry(raw []byte) (err error) {
	var key, value string
	err = eachField(raw, func(field protowire.Number, _, v []byte) error {
		switch field {
		case entryKey:
			key = string(v)
		case entryValue:
			value = string(v)
		}
		return nil
	})
	if err != nil {
		return err
	}
	switch {
	case key == "location":
		k.Location = value
	case key == "offset":
		k.At.Offset, err = strconv.ParseInt(value, 10, 64)
	case key == "length":
		k.At.Length, err = strconv.ParseInt(value, 10, 64)
	case strings.HasPrefix(key, "prepacked"):
		var p Packed
		p, err = parsePacked(value)
		k.Packed = append(k.Packed, p)
	}
	return err
}

// parsePacked reads "key|offset;length;checksum|…", an entry for each buffer.
func parsePacked(value string) (Packed, error) {
	parts := strings.Split(value, "|")
	p := Packed{Key: parts[0]}
	for _, part := range parts[1:] {
		numbers := strings.Split(part, ";")
		if len(numbers) != 3 {
			return p, fmt.Errorf("packed matrix %q: offset;length;checksum expected", value)
		}
		offset, err1 := strconv.ParseInt(numbers[0], 10, 64)
		length, err2 := strconv.ParseInt(numbers[1], 10, 64)
		if err := cmp.Or(err1, err2); err != nil {
			return p, fmt.Errorf("packed matrix %q: %w", value, err)
		}
		p.Buffers = append(p.Buffers, Span{offset, length})
	}
	return p, nil
}

// encode encodes the constant as a TensorProto.
func (k *Constant) encode() message {
	m := slices.Clone(k.proto)
	if k.Location == "" {
		return m
	}
	m.external(k.Location, k.At)
	for i, p := range k.Packed {
		value := p.Key
		for _, b := range p.Buffers {
			value += fmt.Sprintf("|%d;%d;0", b.Offset, b.Length)
		}
		m.entry(fmt.Sprintf("prepacked_%d", i), value)
	}
	return m
}

// eachField calls use for every field of a message, with its tag and, where it is
// bytes, its value.
func eachField(m message, use func(field protowire.Number, whole, value []byte) error) error {
	for len(m) > 0 {
		field, kind, n := protowire.ConsumeField(m)
		if n < 0 {
			return errors.New("truncated protobuf message")
		}
		var value []byte
		if kind == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(m)
			value, _ = protowire.ConsumeBytes(m[tag:])
		}
		if err := use(field, m[:n], value); err != nil {
			return err
		}
		m = m[n:]
	}
	return nil
}
