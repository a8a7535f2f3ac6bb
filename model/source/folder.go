package source

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dragoman/model"
)

// stateFile is the file of a folder that records the files of pulls.
const stateFile = ".dragoman-pull.json"

// folder is a folder with downloads. Its pull owns it.
type folder struct {
	dir string
	state
}

// state is the content of a state file.
type state struct {
	Source   string `json:"source"`             // Ref.String of the last pull
	Revision string `json:"revision,omitempty"` // the ref's
	Commit   string `json:"commit,omitempty"`   // commit of Revision
	// Fingerprint is the fingerprint of a URL, which has no commit. A fingerprint does not prove what the folder holds.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Complete reports that the files are all files of one checkpoint. Complete is cleared before a file changes.
	Complete bool                 `json:"complete"`
	Files    map[string]fileState `json:"files"` // every file of a pull, including partial ones
}

// fileState is the state of a file.
type fileState struct {
	version
	SHA256 string `json:"sha256,omitempty"` // "" for a partial file
}

// openFolder reads the state of a folder. The state is empty if the state file is missing or damaged: then a pull compares the
// checksums of the files or downloads the files again.
func openFolder(dir string, log *slog.Logger) *folder {
	f := &folder{dir: dir}
	raw, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err == nil {
		err = json.Unmarshal(raw, &f.state)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("the record of the folder's files is damaged, checking them", "dir", dir, "reason", err.Error())
		f.state = state{}
	}
	if f.Files == nil {
		f.Files = map[string]fileState{}
	}
	return f
}

// write replaces the state file atomically.
func (f *folder) write() error {
	raw, err := json.MarshalIndent(f.state, "", "  ")
	if err != nil {
		return err
	}
	return model.ReplaceFile(filepath.Join(f.dir, stateFile), append(raw, '\n'))
}

// size returns the size of a regular file, or -1 if there is none.
func (f *folder) size(name string) int64 {
	info, err := os.Stat(filepath.Join(f.dir, name))
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	return info.Size()
}

// has reports whether the folder has this version of a file.
func (f *folder) has(name string, v version) bool {
	r, ok := f.Files[name]
	return ok && r.same(v) && f.size(name) == r.Size
}

// intact reports whether the checkpoint is complete and all files have their sizes.
func (f *folder) intact() bool {
	for name, r := range f.Files {
		if !strings.HasSuffix(name, partialSuffix) && f.size(name) != r.Size {
			return false
		}
	}
	return f.Complete
}

// isCopy reports whether the folder is a complete copy of a commit.
func (f *folder) isCopy(ref Ref, commit string) bool {
	return commit != "" && f.Commit == commit && f.check(ref) == nil
}

// check returns an error unless the folder is a complete copy of the ref's checkpoint.
func (f *folder) check(ref Ref) error {
	switch {
	case f.Source == "":
		return fmt.Errorf("%w: %s is not in %s", ErrIncomplete, ref, f.dir)
	case f.Source != ref.String():
		return fmt.Errorf("folder %s holds %q, not %s", f.dir, f.Source, ref)
	case !f.intact():
		return fmt.Errorf("%w: folder %s holds only a part of %s", ErrIncomplete, f.dir, ref)
	case ref.revision != f.Revision && ref.revision != f.Commit:
		return fmt.Errorf("folder %s holds revision %s (%s) of %s, not %s", f.dir, f.Revision, f.Commit, ref, ref.revision)
	}
	return nil
}

// checkForeign fails if weights that no pull has downloaded would be read instead of those of the checkpoint with these files.
func (f *folder) checkForeign(names []string) error {
	for _, name := range model.WeightFiles {
		if slices.Contains(names, name) {
			return nil // weights of other formats are read only if this file is missing
		}
		if _, ours := f.Files[name]; !ours && f.size(name) >= 0 {
			return fmt.Errorf("folder %s holds a %s that is not of this checkpoint: choose an empty folder or delete it", f.dir, name)
		}
	}
	return nil
}

// adopt records a file that is not in the state, such as a copied one, if the checksum proves that the file is this version.
func (f *folder) adopt(ctx context.Context, name string, v version) bool {
	size := f.size(name)
	if _, ours := f.Files[name]; ours || v.Sum == "" || size < 0 || v.Size >= 0 && size != v.Size {
		return false
	}
	r, err := v.verify(ctx, filepath.Join(f.dir, name))
	if err != nil {
		return false
	}
	f.Files[name] = r
	return f.write() == nil
}

// finish removes the files of earlier checkpoints and records that the folder is complete.
func (f *folder) finish(names []string, complete state) error {
	for name := range f.Files {
		if slices.Contains(names, name) {
			continue
		}
		if err := removeFile(filepath.Join(f.dir, name)); err != nil {
			return fmt.Errorf("cannot remove %s of an earlier checkpoint: %w", name, err)
		}
		delete(f.Files, name)
	}
	if err := model.Sweep(f.dir, stateFile+".*"); err != nil {
		return err
	}
	complete.Complete, complete.Files = true, f.Files
	f.state = complete
	return f.write()
}

// version returns the commit or the fingerprint.
func (f *folder) version() string { return cmp.Or(f.Commit, f.Fingerprint) }

// removeDamaged removes the files of dir that are partial or have changed since their download, so that the next pull downloads
// them again. The caller must hold the lock of the folder.
func removeDamaged(ctx context.Context, dir string) error {
	for name, r := range openFolder(dir, slog.New(slog.DiscardHandler)).Files {
		file := map[string]model.File{name: {Size: r.Size, SHA256: r.SHA256}}
		err := model.CheckFiles(ctx, dir, file, model.VerifyAlways)
		if errors.Is(err, model.ErrDamaged) {
			err = removeFile(filepath.Join(dir, name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeFile removes a file if it exists.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
