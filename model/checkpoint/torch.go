package checkpoint

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"dragoman/model"
)

// A pytorch_model.bin is a zip archive of uncompressed entries: <name>/data.pkl, the pickled state dict, and <name>/data/<key> for each
// storage. Tensors are read in place. For the format before torch 1.6 see legacy.go.

// maxArchiveEntries is the maximum number of entries of an archive.
const maxArchiveEntries = 1 << 16

// locator returns the place of a storage's first byte in a torch file.
type locator func(s storage) (offset int64, err error)

// parseTorch returns the tensors of a torch file of size bytes.
func parseTorch(r io.ReaderAt, size int64) (map[string]Tensor, error) {
	parse := parseArchive
	if isLegacy(r) {
		parse = parseLegacy
	}
	views, locate, err := parse(r, size)
	if err != nil {
		return nil, err
	}
	tensors := make(map[string]Tensor, len(views))
	for _, name := range slices.Sorted(maps.Keys(views)) {
		t, err := views[name].tensor(locate)
		if err != nil {
			return nil, fmt.Errorf("tensor %.100q: %w", name, err)
		}
		t.Name, t.data = name, r
		tensors[name] = t
	}
	return tensors, nil
}

// parseArchive reads the state dict of an archive.
func parseArchive(r io.ReaderAt, size int64) (map[string]view, locator, error) {
	a, err := openArchive(r, size)
	if err != nil {
		return nil, nil, err
	}
	raw, err := a.read("data.pkl", maxPickleSize)
	if err != nil {
		return nil, nil, err
	}
	views, _, err := unpickleStateDict(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("data.pkl: %w", err)
	}
	return views, a.storage, nil
}

// archive is the zip file of a torch file.
type archive struct {
	data  io.ReaderAt
	size  int64
	root  string // folder of all entries
	files map[string]*zip.File
}

// openArchive reads the zip file's entries, which are all in one folder.
func openArchive(r io.ReaderAt, size int64) (*archive, error) {
	z, err := model.OpenZip(r, size)
	if err != nil {
		return nil, fmt.Errorf("not a torch file, or truncated or damaged: %w", err)
	}
	if len(z.File) > maxArchiveEntries {
		return nil, fmt.Errorf("archive of %d files, at most %d are supported", len(z.File), maxArchiveEntries)
	}
	a := &archive{data: r, size: size, files: make(map[string]*zip.File, len(z.File))}
	for _, f := range z.File {
		if _, taken := a.files[f.Name]; taken {
			return nil, fmt.Errorf("archive has %.100q twice", f.Name)
		}
		a.files[f.Name] = f
		if dir, base := path.Split(f.Name); base == "data.pkl" && (a.root == "" || len(dir) < len(a.root)) {
			a.root = dir
		}
	}
	if a.root == "" {
		return nil, errors.New("archive has no data.pkl: it was not written by torch.save")
	}
	if a.files[a.root+"constants.pkl"] != nil {
		return nil, errors.New("archive is a TorchScript program: save the model's state_dict() instead")
	}
	return a, a.checkByteOrder()
}

// checkByteOrder fails for an archive of a big-endian machine.
func (a *archive) checkByteOrder() error {
	if a.files[a.root+"byteorder"] == nil {
		return nil // written by torch before 2.1
	}
	order, err := a.read("byteorder", 16)
	if err != nil {
		return err
	}
	if strings.TrimSpace(string(order)) != "little" {
		return fmt.Errorf("archive has byte order %q: only little is supported", order)
	}
	return nil
}

// read returns an entry of at most limit bytes.
func (a *archive) read(name string, limit int64) ([]byte, error) {
	offset, size, err := a.locate(name)
	if err != nil {
		return nil, err
	}
	if size > limit {
		return nil, fmt.Errorf("%s of %d bytes, at most %d are supported", name, size, limit)
	}
	raw := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(a.data, offset, size), raw); err != nil {
		return nil, fmt.Errorf("%s: %w", name, model.NoEOF(err))
	}
	return raw, nil
}

// locate returns the place of an entry's bytes.
func (a *archive) locate(name string) (offset, size int64, err error) {
	f := a.files[a.root+name]
	if f == nil {
		return 0, 0, fmt.Errorf("archive has no %.100q", a.root+name)
	}
	const encrypted = 1
	if f.Method != zip.Store || f.Flags&encrypted != 0 || f.CompressedSize64 != f.UncompressedSize64 {
		return 0, 0, fmt.Errorf("%.100s is compressed or encrypted: only stored entries, as torch.save writes, are supported", name)
	}
	offset, err = f.DataOffset()
	if err != nil {
		return 0, 0, fmt.Errorf("%.100s: %w", name, err)
	}
	if f.UncompressedSize64 > uint64(a.size) || offset > a.size-int64(f.UncompressedSize64) {
		return 0, 0, fmt.Errorf("%.100s of %d bytes at byte %d lies beyond the file's %d bytes: it is truncated",
			name, f.UncompressedSize64, offset, a.size)
	}
	return offset, int64(f.UncompressedSize64), nil
}

// storage is the locator of an archive.
func (a *archive) storage(s storage) (int64, error) {
	offset, size, err := a.locate("data/" + s.key)
	if err != nil {
		return 0, err
	}
	if want := s.bytes(); size != want {
		return 0, fmt.Errorf("storage %.100q has %d bytes, %d elements of %s take %d", s.key, size, s.elements, s.dtype, want)
	}
	return offset, nil
}

// tensor returns the tensor of a view, which must be contiguous and within its storage.
func (v view) tensor(locate locator) (Tensor, error) {
	n, err := elements(v.shape)
	if err != nil {
		return Tensor{}, err
	}
	if !contiguous(v.shape, v.stride) {
		return Tensor{}, fmt.Errorf("shape %v has strides %v: only contiguous tensors are supported; save tensor.contiguous()",
			v.shape, v.stride)
	}
	if v.offset < 0 || v.offset > v.storage.elements || n > v.storage.elements-v.offset {
		return Tensor{}, fmt.Errorf("%d elements from element %d lie beyond its storage of %d", n, v.offset, v.storage.elements)
	}
	offset, err := locate(v.storage)
	if err != nil {
		return Tensor{}, err
	}
	return Tensor{Shape: v.shape, DType: v.storage.dtype, offset: offset + int64(v.offset)*int64(v.storage.dtype.size())}, nil
}

// contiguous reports whether elements are consecutive in row-major order, for any strides of dimensions of one element.
func contiguous(shape, stride []int) bool {
	step := 1
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] > 1 && stride[i] != step {
			return false
		}
		step *= shape[i]
	}
	return true
}
