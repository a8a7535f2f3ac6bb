package checkpoint

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"dragoman/model"
	"dragoman/model/object"
)

// A safetensors file has eight bytes of header length (little-endian), a JSON header with each tensor's type, shape and place,
// and the tensors, which cover the rest of the file without gaps or overlaps.
const (
	headerLengthSize = 8
	maxHeaderSize    = 8 << 20 // bytes; 10,000 tensors take about one million
)

// metadataKey is the field of the header that is not a tensor.
const metadataKey = "__metadata__"

// span is a tensor's place: bytes [begin, end) after the header.
type span struct {
	name       string
	begin, end int64
}

// parseSafetensors reads the header of a safetensors file of size bytes.
func parseSafetensors(r io.ReaderAt, size int64) (map[string]Tensor, error) {
	header, err := readHeader(r, size)
	if err != nil {
		return nil, err
	}
	data := headerLengthSize + int64(len(header))
	tensors := make(map[string]Tensor)
	var spans []span
	err = object.Each(header, func(name string, value json.RawMessage) error {
		if name == metadataKey {
			return nil
		}
		t, s, err := parseHeaderEntry(name, value)
		if err != nil {
			return fmt.Errorf("tensor %.100q: %w", name, err)
		}
		t.data, t.offset = r, data+s.begin
		tensors[name] = t
		spans = append(spans, s)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("safetensors header: %w", err)
	}
	return tensors, checkSpans(spans, size-data)
}

// readHeader reads the JSON header. It fails if the file ends before the header does.
func readHeader(r io.ReaderAt, size int64) ([]byte, error) {
	var length [headerLengthSize]byte
	if size < headerLengthSize {
		return nil, fmt.Errorf("%d bytes are too few for a safetensors file", size)
	}
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, headerLengthSize), length[:]); err != nil {
		return nil, model.NoEOF(err)
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeaderSize {
		return nil, fmt.Errorf("safetensors header of %d bytes, at most %d are supported: this is not a safetensors file or it is damaged",
			n, maxHeaderSize)
	}
	if int64(n) > size-headerLengthSize {
		return nil, fmt.Errorf("safetensors header of %d bytes in a file of %d: the file is truncated", n, size)
	}
	header := make([]byte, n)
	if _, err := io.ReadFull(io.NewSectionReader(r, headerLengthSize, int64(n)), header); err != nil {
		return nil, model.NoEOF(err)
	}
	return header, nil
}

// parseHeaderEntry reads the entry of a tensor, and compares the bytes of its place with its shape and type.
func parseHeaderEntry(name string, raw json.RawMessage) (Tensor, span, error) {
	var e struct {
		DType   DType   `json:"dtype"`
		Shape   []int   `json:"shape"`
		Offsets []int64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return Tensor{}, span{}, err
	}
	if e.Shape == nil {
		return Tensor{}, span{}, errors.New("no shape")
	}
	n, err := elements(e.Shape)
	if err != nil {
		return Tensor{}, span{}, err
	}
	width := e.DType.size()
	if width == 0 {
		return Tensor{}, span{}, fmt.Errorf("unknown type %.20q: only F32, F16 and BF16 are supported", e.DType)
	}
	if len(e.Offsets) != 2 {
		return Tensor{}, span{}, fmt.Errorf("%d data_offsets, expected 2", len(e.Offsets))
	}
	s := span{name, e.Offsets[0], e.Offsets[1]}
	if s.begin < 0 || s.end < s.begin {
		return Tensor{}, span{}, fmt.Errorf("data_offsets %v are not a range", e.Offsets)
	}
	if s.end-s.begin != int64(n)*int64(width) {
		return Tensor{}, span{}, fmt.Errorf("data_offsets %v span %d bytes, shape %v of %s takes %d",
			e.Offsets, s.end-s.begin, e.Shape, e.DType, int64(n)*int64(width))
	}
	return Tensor{Name: name, Shape: e.Shape, DType: e.DType}, s, nil
}

// checkSpans fails unless the tensors cover each of the size bytes after the header once, and so detects truncated and longer
// files.
func checkSpans(spans []span, size int64) error {
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	end := int64(0)
	for _, s := range spans {
		if s.begin < end {
			return fmt.Errorf("tensor %.100q at bytes %d to %d overlaps another that ends at %d", s.name, s.begin, s.end, end)
		}
		if s.begin > end {
			return fmt.Errorf("bytes %d to %d before tensor %.100q belong to no tensor", end, s.begin, s.name)
		}
		end = s.end
	}
	if end > size {
		return fmt.Errorf("the tensors take %d bytes, the file has %d for them: it is truncated", end, size)
	}
	if end < size {
		return fmt.Errorf("the tensors take %d bytes, the file has %d for them: something was appended", end, size)
	}
	return nil
}
