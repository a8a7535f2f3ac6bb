package source

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// lfsPointer is the prefix of the small file that Git LFS leaves instead of a file that it has not fetched.
const lfsPointer = "version https://git-lfs.github.com/spec/"

// withPointers adds advice to an error of the checkpoint at path, a folder or package, if the file that the error names is a
// pointer of Git LFS. Each reader has its own error for such a file.
func withPointers(err error, path string) error {
	dir, names := path, []string{}
	if entries, failed := os.ReadDir(path); failed == nil {
		for _, e := range entries {
			names = append(names, e.Name())
		}
	} else {
		dir, names = filepath.Dir(path), []string{filepath.Base(path)}
	}
	for _, name := range names {
		if err != nil && strings.Contains(err.Error(), name) && isPointer(filepath.Join(dir, name)) {
			return fmt.Errorf("%w: Git LFS has left a pointer in place of %s: run `git lfs pull` where it was cloned, or fetch the file itself", err, name)
		}
	}
	return err
}

func isPointer(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, len(lfsPointer))
	_, err = io.ReadFull(f, start)
	return err == nil && string(start) == lfsPointer
}
