package checkpoint

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"dragoman/model"
)

// npyHeader matches numpy's header of an array: a Python dictionary in this order.
var npyHeader = regexp.MustCompile(`^\{'descr': '([<|=]?[a-z][0-9]+)', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\),? *\} *\n?$`)

// npyHeaders is the maximum size of an array's header in bytes.
const npyHeaders = 1 << 10

// parseNPZ finds the arrays of an npz file of size bytes: a zip of npy files with the names of the arrays. Marian does not compress
// them.
func parseNPZ(r io.ReaderAt, size int64) (marianModel, error) {
	archive, err := model.OpenZip(r, size)
	if err != nil {
		return nil, fmt.Errorf("this is not a file of numpy's arrays (npz): %w", err)
	}
	if len(archive.File) > marianItems {
		return nil, fmt.Errorf("%d arrays, at most %d are supported", len(archive.File), marianItems)
	}
	m := marianModel{}
	for _, f := range archive.File {
		item, err := parseNPY(r, f)
		if err != nil {
			return nil, fmt.Errorf("%.100q: %w", f.Name, err)
		}
		if _, twice := m[item.name]; twice {
			return nil, fmt.Errorf("item %q is there twice", item.name)
		}
		m[item.name] = item
	}
	return m, nil
}

// parseNPY reads the header of an array.
func parseNPY(r io.ReaderAt, f *zip.File) (item marianItem, err error) {
	at, err := f.DataOffset()
	if err != nil {
		return item, err
	}
	if f.Method != zip.Store || f.CompressedSize64 != f.UncompressedSize64 || f.UncompressedSize64 > 1<<40 {
		return item, errors.New("the array is compressed: save the file with numpy.savez")
	}
	data := io.NewSectionReader(r, at, int64(f.UncompressedSize64))
	var head struct {
		Magic        [6]byte
		Major, Minor uint8
		Length       uint16
	}
	if err := binary.Read(data, binary.LittleEndian, &head); err != nil {
		return item, cut(err)
	}
	if string(head.Magic[:]) != "\x93NUMPY" || head.Major != 1 || head.Length > npyHeaders {
		return item, errors.New("this is not an array in numpy's format, version 1")
	}
	raw := make([]byte, head.Length)
	if _, err := io.ReadFull(data, raw); err != nil {
		return item, cut(err)
	}
	match := npyHeader.FindSubmatch(bytes.TrimRight(raw, "\x00"))
	if match == nil || string(match[2]) != "False" {
		return item, fmt.Errorf("the array's header is %.100q: only arrays in C's order are supported", raw)
	}
	item.name = strings.TrimSuffix(f.Name, ".npy")
	item.kind = map[string]uint64{"<f4": marianFloat, "|i1": marianInt8, "<i1": marianInt8, "|u1": marianInt8}[string(match[1])]
	for dimension := range strings.SplitSeq(string(match[3]), ",") {
		if dimension = strings.TrimSpace(dimension); dimension == "" {
			continue
		}
		n, err := strconv.Atoi(dimension)
		if err != nil || len(item.shape) == marianRank {
			return item, fmt.Errorf("the array has the shape (%.60s)", match[3])
		}
		item.shape = append(item.shape, n)
	}
	start, _ := data.Seek(0, io.SeekCurrent)
	item.data = io.NewSectionReader(r, at+start, data.Size()-start)
	return item, item.check()
}
