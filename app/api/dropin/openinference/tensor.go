package openinference

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/api/dialect"
	"dragoman/app/fault"
	"dragoman/app/text/excerpt"
)

// elementHeader is the size in bytes of the length before each element of binary BYTES.
const elementHeader = 4

// decoder reads the input tensors of a request.
type decoder struct {
	most int    // maximum elements of a tensor; 0: no limit
	data []byte // binary data of the remaining tensors
}

// tensors reads all inputs, by name. It fails if binary data is left.
func (d *decoder) tensors(inputs []inputBody) (map[string]texts, error) {
	read := make(map[string]texts)
	for _, in := range inputs {
		if !slices.Contains([]string{textTensor, fromTensor, toTensor}, in.Name) {
			return nil, refuse("unexpected input %q: a model has %s, %s and %s", excerpt.Of(in.Name), textTensor, fromTensor, toTensor)
		}
		if _, twice := read[in.Name]; twice {
			return nil, refuse("the input %s is there twice", in.Name)
		}
		t, err := d.tensor(in)
		if err != nil {
			return nil, err
		}
		read[in.Name] = t
	}
	if n := len(d.data); n > 0 {
		return nil, refuse("the body has %d bytes of binary data that belong to no input", n)
	}
	return read, nil
}

// texts is a tensor of texts.
type texts struct {
	shape    []int64 // [n] or [n, 1]
	elements []string
}

func (d *decoder) tensor(in inputBody) (texts, error) {
	n, err := d.count(in)
	if err != nil {
		return texts{}, err
	}
	t, size := texts{shape: in.Shape}, in.Parameters.BinarySize
	switch {
	case in.Parameters.Region != "":
		return t, fault.New(fault.NotOffered, "", "the input %s is in shared memory, which this server does not support", in.Name)
	case in.raw != nil:
		t.elements, err = (&decoder{data: in.raw}).binary(in.Name, n, int64(len(in.raw)))
	case in.contents != nil:
		t.elements, err = listed(in.Name, n, in.contents)
	case size != nil && in.Data != nil:
		return t, refuse("the input %s has both data and binary_data_size", in.Name)
	case size != nil:
		t.elements, err = d.binary(in.Name, n, *size)
	case in.Data != nil:
		t.elements, err = elementsOf(in, n)
	default:
		err = refuse("the input %s has neither data nor binary_data_size", in.Name)
	}
	return t, err
}

// count returns the number of a tensor's elements.
func (d *decoder) count(in inputBody) (int, error) {
	shape := in.Shape
	switch {
	case in.Datatype != bytesType:
		return 0, refuse("the input %s has the datatype %q: use %s", in.Name, excerpt.Of(in.Datatype), bytesType)
	case len(shape) == 0 || len(shape) > 2 || len(shape) == 2 && shape[1] != 1 || shape[0] < 1:
		return 0, refuse("the input %s has the shape %v: use [n] or [n, 1] for n texts, one at least", in.Name, shape)
	case d.most > 0 && shape[0] > int64(d.most):
		return 0, fault.New(fault.TooManyRecords, "", "the input %s has %d elements, at most %d are allowed: send several requests", in.Name, shape[0], d.most)
	}
	return int(shape[0]), nil
}

// binary reads n elements from size bytes of the binary data. An element consists of its length, a little-endian number of 4
// bytes, and its bytes.
func (d *decoder) binary(name string, n int, size int64) ([]string, error) {
	switch {
	case size < 0 || size > int64(len(d.data)):
		return nil, refuse("the input %s has a binary_data_size of %d, but %d bytes of binary data are left in the body", name, size, len(d.data))
	case size/elementHeader < int64(n):
		return nil, refuse("the input %s has %d bytes of binary data, too few for %d elements", name, size, n)
	}
	raw := d.data[:size]
	d.data = d.data[size:]
	elements := make([]string, n)
	for i := range elements {
		if len(raw) < elementHeader {
			return nil, refuse("the binary data of the input %s ends before element %d", name, i)
		}
		length := int64(binary.LittleEndian.Uint32(raw))
		if raw = raw[elementHeader:]; length > int64(len(raw)) {
			return nil, refuse("element %d of the input %s has %d bytes, but %d are left of its binary data", i, name, length, len(raw))
		}
		var err error
		if elements[i], err = element(name, i, raw[:length]); err != nil {
			return nil, err
		}
		raw = raw[length:]
	}
	if len(raw) > 0 {
		return nil, refuse("the binary data of the input %s has %d bytes more than its %d elements", name, len(raw), n)
	}
	return elements, nil
}

// listed returns the elements of a tensor with separate elements.
func listed(name string, n int, contents [][]byte) ([]string, error) {
	if len(contents) != n {
		return nil, refuse("the input %s has %d elements, but its shape says %d", name, len(contents), n)
	}
	elements := make([]string, n)
	for i, raw := range contents {
		var err error
		if elements[i], err = element(name, i, raw); err != nil {
			return nil, err
		}
	}
	return elements, nil
}

func element(name string, i int, raw []byte) (string, error) {
	if !utf8.Valid(raw) {
		return "", fault.New(fault.InvalidText, "", "element %d of the input %s is not UTF-8", i, name)
	}
	return string(raw), nil
}

// elementsOf reads n strings from a tensor's JSON data: one array, or nested arrays according to its shape.
func elementsOf(in inputBody, n int) ([]string, error) {
	tokens := jsontext.NewDecoder(bytes.NewReader(in.Data))
	var elements []string
	for {
		token, err := tokens.ReadToken()
		if err != nil {
			return nil, err // does not happen, because the JSON was validated before
		}
		switch kind := token.Kind(); kind {
		case '[':
			if tokens.StackDepth() > len(in.Shape) {
				return nil, refuse("the data of the input %s has deeper arrays than its shape %v", in.Name, in.Shape)
			}
		case ']':
			if tokens.StackDepth() > 0 {
				continue
			}
			if len(elements) < n {
				return nil, refuse("the data of the input %s has %d elements, but its shape is %v", in.Name, len(elements), in.Shape)
			}
			return elements, nil
		case '"':
			if tokens.StackDepth() == 0 {
				return nil, refuse("the data of the input %s is a string, expected an array", in.Name)
			}
			if len(elements) == n {
				return nil, refuse("the data of the input %s has more elements than its shape %v", in.Name, in.Shape)
			}
			elements = append(elements, token.String())
		default:
			return nil, refuse("the data of the input %s has %s, expected strings in an array", in.Name, dialect.JSONKind(kind))
		}
	}
}
