package model

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Files are the files of a checkpoint, wherever it is.
type Files interface {
	Has(name string) (bool, error)
	// Read returns the content of a file that is there.
	Read(name string) ([]byte, error)
}

// Present are those of the names that are there.
func Present(files Files, names ...string) (there []string, err error) {
	for _, name := range names {
		ok, err := files.Has(name)
		if err != nil {
			return nil, err
		}
		if ok {
			there = append(there, name)
		}
	}
	return there, nil
}

// Folder are the files in a folder.
type Folder string

// Has says whether there is such a file.
func (f Folder) Has(name string) (bool, error) {
	info, err := os.Stat(filepath.Join(string(f), name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Mode().IsRegular(), err
}

// maxFileBytes bounds the size of a file that is read as a whole. The vocab.json of
// M2M100 has 3.7 MB, the tokenizer.json of NLLB-200 17 MB.
const maxFileBytes = 64 << 20

// Read returns the content of a file of at most 64 MiB.
func (f Folder) Read(name string) ([]byte, error) {
	path := filepath.Join(string(f), name)
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err == nil && len(raw) > maxFileBytes {
		err = fmt.Errorf("%s has more than %d MB", path, maxFileBytes>>20)
	}
	return raw, err
}
