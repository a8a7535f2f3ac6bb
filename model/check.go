package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// checkedFile is a file in a folder. It records which of the folder's files had the right checksum, like git's index.
const checkedFile = ".dragoman.checked"

// settled is the minimum age of a file's last change before its checksum is recorded. File systems count time in ticks of up to 2
// s: so a second write within the tick of the first would not be visible.
const settled = 2 * time.Second

// checked is the state of a file when its checksum was right.
type checked struct {
	SHA256 string `json:"sha256"`
	State
}

// CheckFiles compares files of the folder dir with their expected sizes and, according to the policy, checksums, several files at
// once. Its error names the first file that differs and wraps ErrDamaged, or is ctx's.
func CheckFiles(ctx context.Context, dir string, files map[string]File, policy Verify) error {
	known, start := readChecked(dir), time.Now()
	var (
		mu   sync.Mutex // guards read
		read = map[string]checked{}
	)
	g, ctx := errgroup.WithContext(ctx)
	for name, want := range files {
		g.Go(func() error {
			now, err := verifyFile(ctx, filepath.Join(dir, name), want, known[name], policy)
			if err == nil && now != known[name] {
				mu.Lock()
				defer mu.Unlock()
				read[name] = now
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if policy != VerifyNever {
		rememberChecked(dir, known, read, start)
	}
	return nil
}

// verifyFile compares a file with its expected size and checksum, and returns its state. It reads the file unless the policy
// allows trust in the known state.
func verifyFile(ctx context.Context, path string, want File, known checked, policy Verify) (checked, error) {
	before, err := inspect(path)
	if err != nil {
		return checked{}, unreadable(err)
	}
	if before.Size != want.Size {
		return checked{}, fmt.Errorf("%w: model file %s is corrupt: size %d, expected %d", ErrDamaged, filepath.Base(path), before.Size, want.Size)
	}
	before.SHA256 = want.SHA256
	if policy == VerifyNever || policy != VerifyAlways && before == known {
		return before, nil
	}
	got, err := HashFile(ctx, path)
	if ctx.Err() != nil {
		return checked{}, ctx.Err()
	}
	if err != nil {
		return checked{}, unreadable(err)
	}
	if got != want {
		return checked{}, fmt.Errorf("%w: model file %s is corrupt: size %d sha256 %s, expected size %d sha256 %s",
			ErrDamaged, filepath.Base(path), got.Size, got.SHA256, want.Size, want.SHA256)
	}
	return before, nil
}

// unreadable returns the error for an unreadable file. The file is damaged if it is missing or the disk fails, but not if access
// is denied.
func unreadable(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EIO) {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return fmt.Errorf("model file missing or unreadable: %w", err)
}

// inspect returns the file system's state of a file.
func inspect(path string) (checked, error) {
	s, _, err := StateOf(path)
	return checked{State: s}, err
}

// readChecked returns the recorded states; none if they cannot be read.
func readChecked(dir string) map[string]checked {
	known := map[string]checked{}
	raw, err := os.ReadFile(filepath.Join(dir, checkedFile))
	if err != nil || json.Unmarshal(raw, &known) != nil {
		return map[string]checked{}
	}
	return known
}

// rememberChecked records the files that were read since start and have not changed meanwhile. It may fail: then the next check
// reads the files again.
func rememberChecked(dir string, known, read map[string]checked, start time.Time) {
	all := maps.Clone(known)
	for name, c := range read {
		now, err := inspect(filepath.Join(dir, name))
		now.SHA256 = c.SHA256
		if err == nil && now == c && start.Sub(time.Unix(0, c.Changed)) > settled {
			all[name] = c
		}
	}
	if maps.Equal(all, known) {
		return
	}
	if raw, err := json.MarshalIndent(all, "", "  "); err == nil {
		_ = ReplaceFile(filepath.Join(dir, checkedFile), raw) // a read-only folder is checked each time
	}
}

// ReplaceFile writes a temporary file and renames it, replacing an older file atomically. A process killed in between leaves a
// file with a suffix to the name.
func ReplaceFile(path string, raw []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(raw)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// CopyFile copies a file. It fails if to exists.
func CopyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = CreateFile(to, in)
	return err
}

// CreateFile writes a new file, and returns its size. It fails if the file exists.
func CreateFile(path string, from io.Reader) (size int64, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return 0, err
	}
	size, err = io.Copy(f, from)
	return size, errors.Join(err, f.Close())
}

// Leftovers returns the paths of entries of dir that match one of the patterns of a killed process's remains. It returns none if
// dir cannot be read.
func Leftovers(dir string, patterns ...string) []string {
	var paths []string
	for _, pattern := range patterns {
		names, _ := fs.Glob(os.DirFS(dir), pattern) // fails only for invalid patterns
		for _, name := range names {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	return paths
}

// Sweep removes the leftovers of dir. No other process may be working there.
func Sweep(dir string, patterns ...string) error {
	var errs []error
	for _, path := range Leftovers(dir, patterns...) {
		errs = append(errs, os.RemoveAll(path))
	}
	return errors.Join(errs...)
}
