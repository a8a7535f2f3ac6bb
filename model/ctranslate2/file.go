// Package ctranslate2 reads the files of models in CTranslate2's form: model.bin, config.json and the vocabularies, and Argos packages,
// which are zip files of such models. Package model/checkpoint reads their tensors.
//
// Files are hostile: sizes are checked before anything is allocated, and no input makes the package panic.
package ctranslate2

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// ModelFile is the name of the file of weights.
const ModelFile = "model.bin"

// DType is the type of a variable's elements, with its number in a file.
type DType uint8

// The types.
const (
	Float32 DType = iota
	Int8
	Int16
	Int32
	Float16
	BFloat16
)

// Size returns the number of bytes of an element, or 0 for an unknown type.
func (d DType) Size() int {
	switch d {
	case Float32, Int32:
		return 4
	case Int16, Float16, BFloat16:
		return 2
	case Int8:
		return 1
	}
	return 0
}

// Limits of a file, several times the sizes of the largest models.
const (
	maxVariables = 1 << 16
	maxRank      = 4
	maxDimension = 1 << 26
	maxName      = 1 << 10
)

// Variable is a variable of a model: the place of its values.
type Variable struct {
	Shape  []int // outermost dimension first; none: a single number
	DType  DType
	Offset int64 // of its first element in the file, in bytes
}

// Len returns the number of elements.
func (v Variable) Len() int {
	n := 1
	for _, d := range v.Shape {
		n *= d
	}
	return n
}

// File is the header of a model.bin. Its numbers are little-endian, and each name ends with a zero byte.
type File struct {
	Version   int // version of the file format
	Spec      string
	Revision  int                 // version of the names of variables
	Variables map[string]Variable // by their names
	Aliases   map[string]string   // other names of variables
}

// Parse reads the names, types and places of the variables of a file of size bytes, without their values.
func Parse(r io.ReaderAt, size int64) (*File, error) {
	s := &scanner{r: r, size: size}
	f := &File{Variables: map[string]Variable{}, Aliases: map[string]string{}}
	f.Version = int(s.uint32())
	if s.err == nil && (f.Version < 4 || f.Version > 6) {
		return nil, fmt.Errorf("version %d of CTranslate2's form, 4 to 6 are supported: this is not a model of CTranslate2, "+
			"or convert it again with a converter of now", f.Version)
	}
	f.Spec = s.name()
	f.Revision = int(s.uint32())
	for range s.count("variables") {
		name := s.name()
		v := s.variable(name)
		if s.err != nil {
			return nil, s.err
		}
		if _, taken := f.Variables[name]; taken {
			return nil, fmt.Errorf("variable %.100q is there twice", name)
		}
		f.Variables[name] = v
	}
	for range s.count("aliases") {
		alias, name := s.name(), s.name()
		if s.err != nil {
			return nil, s.err
		}
		if _, ok := f.Variables[name]; !ok {
			return nil, fmt.Errorf("%.100q stands for the variable %.100q, which is not there", alias, name)
		}
		if _, taken := f.Variables[alias]; taken || f.Aliases[alias] != "" {
			return nil, fmt.Errorf("variable %.100q is there twice", alias)
		}
		f.Aliases[alias] = name
	}
	if s.err == nil && s.at != size {
		return nil, fmt.Errorf("the model ends at byte %d of %d: something was appended", s.at, size)
	}
	return f, s.err
}

// Find returns the variable of a name or alias, and its own name. ok is false if there is no such variable.
func (f *File) Find(name string) (own string, v Variable, ok bool) {
	own = name
	if to, ok := f.Aliases[name]; ok {
		own = to
	}
	v, ok = f.Variables[own]
	return own, v, ok
}

// scanner reads a file in order. It keeps the first error; later reads return zero.
type scanner struct {
	r        io.ReaderAt
	at, size int64
	err      error
}

// skip skips n bytes.
func (s *scanner) skip(n int64) {
	if s.err == nil && n > s.size-s.at {
		s.err = fmt.Errorf("the file of %d bytes ends too early, behind byte %d: %w", s.size, s.at, io.ErrUnexpectedEOF)
	}
	if s.err == nil {
		s.at += n
	}
}

func (s *scanner) read(n int) []byte {
	raw, from := make([]byte, n), s.at
	if s.skip(int64(n)); s.err == nil {
		if _, s.err = io.ReadFull(io.NewSectionReader(s.r, from, int64(n)), raw); s.err != nil {
			clear(raw)
		}
	}
	return raw
}

func (s *scanner) uint32() uint32 { return binary.LittleEndian.Uint32(s.read(4)) }

func (s *scanner) count(of string) int {
	n := s.uint32()
	if s.err == nil && n > maxVariables {
		s.err = fmt.Errorf("%d %s, at most %d are supported: this is not a model of CTranslate2, or it is damaged", n, of, maxVariables)
	}
	if s.err != nil {
		return 0
	}
	return int(n)
}

func (s *scanner) name() string {
	n := int(binary.LittleEndian.Uint16(s.read(2)))
	if s.err == nil && (n < 2 || n > maxName) {
		s.err = fmt.Errorf("a name of %d bytes before byte %d, 2 to %d are supported: this is not a model of CTranslate2, or it is damaged",
			n, s.at, maxName)
	}
	if s.err != nil {
		return ""
	}
	name, zero := strings.CutSuffix(string(s.read(n)), "\x00")
	if s.err == nil && (!zero || strings.Contains(name, "\x00")) {
		s.err = fmt.Errorf("the name %.100q before byte %d does not end with a zero byte", name, s.at)
	}
	return name
}

// variable reads the header of a variable after its name.
func (s *scanner) variable(name string) (v Variable) {
	rank := int(s.read(1)[0])
	if s.err == nil && rank > maxRank {
		s.err = fmt.Errorf("variable %.100q has %d dimensions, at most %d are supported", name, rank, maxRank)
	}
	if s.err != nil {
		return v
	}
	elements := int64(1)
	for range rank {
		d := s.uint32()
		if s.err == nil && (d == 0 || d > maxDimension || elements > s.size/int64(d)) {
			s.err = fmt.Errorf("variable %.100q has a dimension of %d, which a file of %d bytes cannot hold", name, d, s.size)
		}
		if s.err != nil {
			return v
		}
		v.Shape, elements = append(v.Shape, int(d)), elements*int64(d)
	}
	v.DType = DType(s.read(1)[0])
	size := int64(s.uint32())
	width := int64(v.DType.Size())
	if s.err == nil && width == 0 {
		s.err = fmt.Errorf("variable %.100q has elements of the unknown type %d", name, v.DType)
	}
	// The stored size has 32 bits: of a larger variable, the lowest ones.
	if s.err == nil && int64(uint32(elements*width)) != size {
		s.err = fmt.Errorf("variable %.100q has %d bytes, its shape %v demands %d", name, size, v.Shape, elements*width)
	}
	v.Offset = s.at
	s.skip(elements * width)
	return v
}
