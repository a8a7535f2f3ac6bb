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

// Convert returns the folder with the checkpoint of the model in dir. The result is dir or, for a model of Firefox's, out. Into out,
// Convert writes the model's unpacked weights, the settings and the tokenizer's files in Hugging Face's form.
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
	if !slices.ContainsFunc(names, firefox.IsModel) {
		return dir, nil
	}
	if err := convertFirefox(dir, names, out); err != nil {
		return "", fmt.Errorf("%s: %w", dir, err)
	}
	return out, nil
}

// Files of weights that Convert writes.
const (
	binaryFile    = "marian.bin" // in Marian's binary format
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
	items, err := parseMarian(f, info.Size())
	if err != nil {
		return nil, err
	}
	if s, err = newNetwork(items); err != nil {
		return nil, err
	}
	s.path, s.closers = path, append(s.closers, f)
	return s, s.readTensors()
}

// openUnpacked opens the weights that Convert has written, nil if there are none.
func openUnpacked(dir string) (*weights, error) {
	path := filepath.Join(dir, binaryFile)
	s, err := openNetwork(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
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
