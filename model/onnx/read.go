package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// Weights reads the external weights of a graph from a ModelProto written by [Graph.Marshal].
func Weights(model []byte) ([]Weight, error) {
	var weights []Weight
	err := eachField(model, func(field protowire.Number, f value) error {
		if field != modelGraph {
			return nil
		}
		return eachField(f.bytes, func(field protowire.Number, f value) error {
			if field != graphInitializer {
				return nil
			}
			w, err := readWeight(f.bytes)
			if err != nil {
				return fmt.Errorf("constant %q: %w", w.Name, err)
			}
			if w.File != "" {
				weights = append(weights, w)
			}
			return nil
		})
	})
	return weights, err
}

// Operators reads the names of a graph's operators of a domain, sorted, from a ModelProto written by [Graph.Marshal].
func Operators(model []byte, domain string) ([]string, error) {
	links, _, err := readNodes(model)
	var names []string
	for _, l := range links {
		if l.domain == domain {
			names = append(names, l.operator)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// readWeight reads a TensorProto; a tensor within the graph gives a Weight without a File.
func readWeight(tensor []byte) (Weight, error) {
	var w Weight
	err := eachField(tensor, func(field protowire.Number, f value) error {
		switch field {
		case tensorName:
			w.Name = string(f.bytes)
		case tensorDataType:
			w.Type = DataType(f.varint)
		case tensorDims:
			w.Shape = append(w.Shape, int(f.varint))
		case tensorExternalData:
			return w.readEntry(f.bytes)
		}
		return nil
	})
	return w, err
}

// readEntry reads an entry of a weight's external data.
func (w *Weight) readEntry(entry []byte) error {
	var key, text string
	err := eachField(entry, func(field protowire.Number, f value) error {
		switch field {
		case entryKey:
			key = string(f.bytes)
		case entryValue:
			text = string(f.bytes)
		}
		return nil
	})
	if err != nil {
		return err
	}
	switch key {
	case "location":
		w.File = text
	case "offset":
		w.Offset, err = strconv.ParseInt(text, 10, 64)
	case "length":
		w.Size, err = strconv.ParseInt(text, 10, 64)
	}
	return err
}

// value is the value of a message's field: the number of a varint, or the bytes of a length-delimited field. raw is the encoded
// field.
type value struct {
	varint     uint64
	bytes, raw []byte
}

// eachField calls use for every field of a message.
func eachField(m []byte, use func(field protowire.Number, f value) error) error {
	for len(m) > 0 {
		field, kind, tag := protowire.ConsumeTag(m)
		n := protowire.ConsumeFieldValue(field, kind, m[max(tag, 0):])
		if tag < 0 || n < 0 {
			return errors.New("no protobuf message")
		}
		f := value{raw: m[:tag+n]}
		switch kind {
		case protowire.VarintType:
			f.varint, _ = protowire.ConsumeVarint(m[tag:])
		case protowire.BytesType:
			f.bytes, _ = protowire.ConsumeBytes(m[tag:])
		}
		if err := use(field, f); err != nil {
			return err
		}
		m = m[tag+n:]
	}
	return nil
}
