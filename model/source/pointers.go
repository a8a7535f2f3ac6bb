package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"dragoman/model"
)

// lfsPointer is the prefix of the small file that Git LFS leaves instead of a file that it has not fetched.
const lfsPointer = "version https://git-lfs.github.com/spec/"

// maxPointer is the maximum size of such a file in bytes; typical ones have 130.
const maxPointer = 1 << 10

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
	raw, err := model.ReadSmall(path, maxPointer)
	return err == nil && strings.HasPrefix(string(raw), lfsPointer)
}
