package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"dragoman/model"
	"dragoman/model/firefox"
)

// Convert returns the folder with the checkpoint of the model in dir. The result is dir or, for a model in one of Marian's
// formats, out. Into out, Convert writes the model's unpacked weights, the settings and the tokenizer's files in Hugging Face's
// form.
func Convert(dir, out string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var names []string
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && info.Mode().IsRegular() {
			names = append(names, e.Name())
		}
	}
	switch {
	case slices.ContainsFunc(names, firefox.IsModel):
		err = convertFirefox(dir, names, out)
	case isOpus(names):
		err = convertOpus(dir, out)
	default:
		return dir, nil
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", dir, err)
	}
	return out, nil
}

// Files of weights that Convert writes.
const (
	binaryFile    = "marian.bin" // in Marian's binary format
	arraysFile    = "marian.npz"
	shortlistFile = "shortlist.bin"
)

// openNetwork opens the network in a file that Convert has written. The caller must close it.
func openNetwork(path string) (s *network, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	parse, kind := parseMarian, uint64(marianIntgemm8)
	if filepath.Base(path) == arraysFile {
		parse, kind = parseNPZ, marianFloat
	}
	items, err := parse(f, info.Size())
	if err != nil {
		return nil, err
	}
	if s, err = newNetwork(items, kind); err != nil {
		return nil, err
	}
	s.path, s.closers = path, append(s.closers, f)
	return s, s.readTensors()
}

// openUnpacked opens the weights that Convert has written, nil if there are none.
func openUnpacked(dir string) (*weights, error) {
	for _, name := range []string{binaryFile, arraysFile} {
		path := filepath.Join(dir, name)
		s, err := openNetwork(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			if err = s.openShortlist(filepath.Join(dir, shortlistFile)); err != nil {
				err = errors.Join(err, s.Close())
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return &s.weights, nil
	}
	return nil, nil
}

// writeJSON writes a file into a folder.
func writeJSON(folder, name string, value any) error {
	raw, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, name), raw, 0o644)
}

// padded is a part of a file, with zeros after its end.
type padded struct{ *io.SectionReader }

// ReadAt implements [io.ReaderAt].
func (p padded) ReadAt(b []byte, offset int64) (int, error) {
	clear(b)
	if n := min(int64(len(b)), p.Size()-offset); n > 0 {
		if got, err := p.SectionReader.ReadAt(b[:n], offset); got < int(n) {
			return got, model.NoEOF(err)
		}
	}
	return len(b), nil
}

// transposed is a matrix of 32-bit numbers, [out, in], whose transpose is in a file.
type transposed struct {
	data    io.ReaderAt
	in, out int64
}

// ReadAt implements [io.ReaderAt] for whole elements. It reads the columns that it needs for all rows at once.
func (t transposed) ReadAt(b []byte, offset int64) (int, error) {
	const size = 4
	first, end := offset/size, (offset+int64(len(b)))/size
	if end <= first {
		return 0, nil
	}
	row, last := first/t.in, (end-1)/t.in
	columns := make([]byte, size*(last-row+1))
	for i := range t.in {
		if n, err := t.data.ReadAt(columns, size*(i*t.out+row)); n < len(columns) {
			return 0, model.NoEOF(err)
		}
		for r := row; r <= last; r++ {
			if at := r*t.in + i; at >= first && at < end {
				copy(b[size*(at-first):][:size], columns[size*(r-row):])
			}
		}
	}
	return len(b), nil
}
