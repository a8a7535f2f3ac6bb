package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"dragoman/model"
)

// A file in Marian's binary format, little-endian, has: the version, the number of items; for each item the lengths of its name, its
// shape and its data, and its type; all names; all shapes; the number of bytes before the data; the data.
const (
	marianVersion  = 1
	marianItems    = 1 << 14 // a model has some 500
	marianName     = 1 << 8
	marianRank     = 4
	marianSettings = 1 << 16 // bytes of special:model.yml
)

// Types of items. The 8-bit numbers of the library intgemm are followed by the multiplier of the original numbers; a matrix [in, out]
// is transposed, [out, in].
const (
	marianInt8     = 0x0101
	marianFloat    = 0x0404
	marianIntgemm8 = 0x4101
)

// marianItem is a tensor.
type marianItem struct {
	name  string
	kind  uint64
	shape []int
	data  *io.SectionReader
}

// marianModel has the items of a file by name.
type marianModel map[string]marianItem

// parseMarian finds the items of a file of size bytes.
func parseMarian(r io.ReaderAt, size int64) (marianModel, error) {
	file := io.NewSectionReader(r, 0, size)
	var head struct{ Version, Items uint64 }
	if err := binary.Read(file, binary.LittleEndian, &head); err != nil || head.Version != marianVersion || head.Items > marianItems {
		return nil, errors.New("this is not a model in Marian's binary format, version 1")
	}
	headers := make([]struct{ Name, Kind, Shape, Data uint64 }, head.Items)
	if err := binary.Read(file, binary.LittleEndian, headers); err != nil {
		return nil, cut(err)
	}
	items := make([]marianItem, head.Items)
	for i, h := range headers {
		if h.Name > marianName || h.Shape > marianRank || h.Data > uint64(size) {
			return nil, fmt.Errorf("item %d of %d has a name of %d bytes, %d dimensions and %d bytes of data, in a file of %d: the file is damaged",
				i, len(items), h.Name, h.Shape, h.Data, size)
		}
		name := make([]byte, h.Name)
		if _, err := io.ReadFull(file, name); err != nil {
			return nil, cut(err)
		}
		name, _, _ = bytes.Cut(name, []byte{0})
		items[i] = marianItem{name: string(name), kind: h.Kind}
	}
	for i, h := range headers {
		shape := make([]int32, h.Shape)
		if err := binary.Read(file, binary.LittleEndian, shape); err != nil {
			return nil, cut(err)
		}
		for _, d := range shape {
			items[i].shape = append(items[i].shape, int(d))
		}
	}
	var gap uint64
	if err := binary.Read(file, binary.LittleEndian, &gap); err != nil {
		return nil, cut(err)
	}
	at, _ := file.Seek(0, io.SeekCurrent)
	if gap > uint64(size-at) {
		return nil, cut(io.ErrUnexpectedEOF)
	}
	at += int64(gap)
	m := marianModel{}
	for i, h := range headers {
		if int64(h.Data) > size-at {
			return nil, cut(io.ErrUnexpectedEOF)
		}
		item := &items[i]
		item.data = io.NewSectionReader(r, at, int64(h.Data))
		at += int64(h.Data)
		if err := item.check(); err != nil {
			return nil, err
		}
		if _, twice := m[item.name]; twice {
			return nil, fmt.Errorf("item %q is there twice", item.name)
		}
		m[item.name] = *item
	}
	return m, nil
}

// cut returns the error for a file that ends too early.
func cut(err error) error { return fmt.Errorf("the file is cut off or damaged: %w", model.NoEOF(err)) }

// part returns the elements of an item, of size bytes each, with zeros after them.
func (i marianItem) part(size int64) padded {
	return padded{io.NewSectionReader(i.data, 0, size*i.elements())}
}

// elements returns the number of elements.
func (i marianItem) elements() int64 {
	n := int64(1)
	for _, d := range i.shape {
		n *= int64(d)
	}
	return n
}

// check fails if an item has less data than its shape needs.
func (i marianItem) check() error {
	n := int64(1)
	for _, d := range i.shape {
		if d < 1 || n > i.data.Size() {
			return fmt.Errorf("item %q has the shape %v, but %d bytes: the file is damaged", i.name, i.shape, i.data.Size())
		}
		n *= int64(d)
	}
	width := map[uint64]int64{marianInt8: 1, marianFloat: 4, marianIntgemm8: 1}[i.kind]
	want := n * width
	if i.kind == marianIntgemm8 {
		want += 4
	}
	if want > i.data.Size() {
		return fmt.Errorf("item %q has the shape %v, but %d bytes: the file is damaged", i.name, i.shape, i.data.Size())
	}
	return nil
}

// need returns an item of a type and shape; a dimension of 0 is any.
func (m marianModel) need(name string, kind uint64, shape ...int) (marianItem, error) {
	item, ok := m[name]
	if !ok {
		return item, fmt.Errorf("the model has no %s, which Firefox's have: it is another kind of network", name)
	}
	if item.kind != kind {
		return item, fmt.Errorf("%s has the type %#x: only Firefox's models are supported, whose matrices are of 8 bits (intgemm8)", name, item.kind)
	}
	fits := len(item.shape) == len(shape)
	for i := 0; fits && i < len(shape); i++ {
		fits = shape[i] == 0 || shape[i] == item.shape[i]
	}
	if !fits {
		return item, fmt.Errorf("%s has the shape %v, %v is wanted (0: any)", name, item.shape, shape)
	}
	return item, nil
}

// multiplier returns the multiplier of an 8-bit item.
func (i marianItem) multiplier() (float32, error) {
	var raw [4]byte
	if _, err := i.data.ReadAt(raw[:], i.elements()); err != nil {
		return 0, cut(err)
	}
	return positive(i.name, math.Float32frombits(binary.LittleEndian.Uint32(raw[:])))
}

func positive(name string, v float32) (float32, error) {
	if !(v >= 1e-6 && v <= 1e6) {
		return 0, fmt.Errorf("%s has the multiplier %v, which is none from 1e-6 to 1e6: the file is damaged", name, v)
	}
	return v, nil
}

// number returns the only number of an item of any type.
func (i marianItem) number() (float32, error) {
	var raw [4]byte
	if i.elements() != 1 {
		return 0, fmt.Errorf("%s has the shape %v, one number is wanted", i.name, i.shape)
	}
	if i.kind == marianIntgemm8 {
		by, err := i.multiplier()
		if err != nil {
			return 0, err
		}
		if _, err := i.data.ReadAt(raw[:1], 0); err != nil {
			return 0, cut(err)
		}
		return positive(i.name, float32(int8(raw[0]))/by)
	}
	if _, err := i.data.ReadAt(raw[:], 0); err != nil {
		return 0, cut(err)
	}
	return positive(i.name, math.Float32frombits(binary.LittleEndian.Uint32(raw[:])))
}

// settings returns the model's description in YAML.
func (m marianModel) settings() ([]byte, error) {
	item, ok := m["special:model.yml"]
	if !ok || item.data.Size() > marianSettings {
		return nil, errors.New("the model does not say what it is: it has no special:model.yml, or a very long one")
	}
	raw, err := io.ReadAll(io.NewSectionReader(item.data, 0, item.data.Size()))
	if err != nil {
		return nil, cut(err)
	}
	return bytes.TrimRight(raw, "\x00"), nil
}
