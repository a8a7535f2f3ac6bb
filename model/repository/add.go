package repository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"dragoman/model"
)

// workPrefix is the prefix of incomplete folders in a model's folder.
const workPrefix = ".adding-"

// Add adds the next version of a model to the repository dir, and creates the model's folder and the repository if needed. It
// locks the model, so that a second process waits and gets the following number; that process calls waiting once, and gives up
// when ctx ends. fill writes an exported folder to work, an empty folder. Add renames work to the version's number once all its
// files are on the disk. Any failure, also of fill, leaves nothing behind; the next Add removes the remains of a killed process.
func Add(ctx context.Context, dir, name string, waiting func(), fill func(ctx context.Context, work string) error) (version int, err error) {
	if err := CheckName(name); err != nil {
		return 0, err
	}
	folder := filepath.Join(dir, name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return 0, fmt.Errorf("add a version of %s: %w: name a repository that can be written", name, err)
	}
	unlock, err := model.Lock(ctx, folder, waiting)
	if err != nil {
		return 0, fmt.Errorf("lock %s: %w", folder, err)
	}
	defer unlock()
	if err := model.Sweep(folder, workPrefix+"*"); err != nil {
		return 0, err
	}
	work, err := os.MkdirTemp(folder, workPrefix)
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(work)
	if err := fill(ctx, work); err != nil {
		return 0, err
	}
	if _, err := model.ReadManifest(work); err != nil {
		return 0, err
	}
	return publish(folder, work)
}

// publish makes work the next version. The caller must hold the lock.
func publish(folder, work string) (version int, err error) {
	if err := errors.Join(os.Chmod(work, 0o755), syncTree(work)); err != nil {
		return 0, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		version = max(version, parseVersion(e.Name()))
	}
	if version++; version > maxVersion {
		return 0, fmt.Errorf("%s has version %d, the last that is possible", folder, maxVersion)
	}
	if err := os.Rename(work, filepath.Join(folder, strconv.Itoa(version))); err != nil {
		return 0, err
	}
	return version, errors.Join(model.Sync(folder), model.Sync(filepath.Dir(folder)))
}

// syncTree waits until the files and folders below dir are on the disk.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() && !e.Type().IsRegular() {
			return err
		}
		return model.Sync(path)
	})
}
