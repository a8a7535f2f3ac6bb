package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Files are the files of a checkpoint at any place.
type Files interface {
	Has(name string) (bool, error)
	// Read returns the content of an existing file.
	Read(name string) ([]byte, error)
}

// Present returns the names of existing files.
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

// First returns the first name of an existing file, or "".
func First(files Files, names ...string) (string, error) {
	for _, name := range names {
		if ok, err := files.Has(name); err != nil || ok {
			return name, err
		}
	}
	return "", nil
}

// ReadPresent returns the content of a file, or nil if it does not exist.
func ReadPresent(files Files, name string) ([]byte, error) {
	if ok, err := files.Has(name); err != nil || !ok {
		return nil, err
	}
	return files.Read(name)
}

// ReadJSON reads a file into a value if it exists.
func ReadJSON(files Files, name string, into any) (there bool, err error) {
	raw, err := ReadPresent(files, name)
	if err != nil || raw == nil {
		return false, err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return true, fmt.Errorf("%s: %w", name, err)
	}
	return true, nil
}

// Folder is a folder with the files of a checkpoint.
type Folder string

// Has reports whether the file exists.
func (f Folder) Has(name string) (bool, error) {
	info, err := os.Stat(filepath.Join(string(f), name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Mode().IsRegular(), err
}

// maxFileBytes is the maximum size of a file that is read as a whole. The vocab.json of M2M100 has 3.7 MB, the tokenizer.json of
// NLLB-200 17 MB.
const maxFileBytes = 64 << 20

// Read returns the content of a file of at most 64 MiB.
func (f Folder) Read(name string) ([]byte, error) {
	return ReadSmall(filepath.Join(string(f), name), maxFileBytes)
}

// ReadSmall reads a whole regular file of at most limit bytes. It does not block on a file of another kind, such as a pipe. Errors
// have the path as an [*fs.PathError].
func ReadSmall(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var raw []byte
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("is not a regular file")
	}
	if err == nil {
		raw, err = io.ReadAll(io.LimitReader(f, limit+1))
	}
	if err == nil && int64(len(raw)) > limit {
		err = fmt.Errorf("has more than %d bytes, which no %s has", limit, filepath.Base(path))
	}
	if _, ok := errors.AsType[*fs.PathError](err); err != nil && !ok {
		err = &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return raw, err
}
