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
	"strings"

	"dragoman/model"
)

// stateFile is the file in a target folder that says what pulls put there.
const stateFile = ".dragoman-pull.json"

// state is what is known of a target folder. Its pull owns it.
type state struct {
	Source   string `json:"source"`             // Ref.String of the last pull
	Revision string `json:"revision,omitempty"` // that it asked for
	Commit   string `json:"commit,omitempty"`   // that this was
	// Fingerprint is what a URL has in place of a commit. Unlike one it does not tell what the folder holds.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Complete says that the files are those of one checkpoint and all there. It
	// is taken back before the first of them changes.
	Complete bool                 `json:"complete"`
	Files    map[string]fileState `json:"files"` // every file that a pull put there, partial ones too
}

// fileState is what is known of one file.
type fileState struct {
	version
	SHA256 string `json:"sha256,omitempty"` // "" for a partial file
}

// readState reads a folder's state. One that is missing or damaged is empty: the
// files are then compared with their checksums, or fetched again.
func readState(dir string, log *slog.Logger) *state {
	s := &state{}
	raw, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err == nil {
		err = json.Unmarshal(raw, s)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("the record of the folder's files is damaged, checking them", "dir", dir, "reason", err.Error())
		s = &state{}
	}
	if s.Files == nil {
		s.Files = map[string]fileState{}
	}
	return s
}

// write replaces the folder's state in one step.
func (s *state) write(dir string) error {
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return model.ReplaceFile(filepath.Join(dir, stateFile), append(raw, '\n'))
}

// has reports whether the folder has a file in the given version.
func (s *state) has(dir, name string, v version) bool {
	r, ok := s.Files[name]
	return ok && r.same(v) && sizeOf(dir, name) == r.Size
}

// intact reports whether the checkpoint is complete and every file there with its size.
func (s *state) intact(dir string) bool {
	for name, r := range s.Files {
		if !strings.HasSuffix(name, partialSuffix) && sizeOf(dir, name) != r.Size {
			return false
		}
	}
	return s.Complete
}

// offlineResult says what a folder holds without any request.
func offlineResult(ref Ref, dir string) (Result, error) {
	s := readState(dir, slog.New(slog.DiscardHandler))
	if err := s.check(ref, dir); err != nil {
		return Result{}, fmt.Errorf("%w: %w: unset HF_HUB_OFFLINE to fetch it, or name a folder that holds the checkpoint", ErrOffline, err)
	}
	return Result{Dir: dir, Revision: cmp.Or(s.Commit, s.Fingerprint)}, nil
}

// check says why the folder is no complete copy of what ref names.
func (s *state) check(ref Ref, dir string) error {
	switch {
	case s.Source == "":
		return fmt.Errorf("%w: %s is not in %s", ErrIncomplete, ref, dir)
	case s.Source != ref.String():
		return fmt.Errorf("folder %s holds %q, not %s", dir, s.Source, ref)
	case !s.intact(dir):
		return fmt.Errorf("%w: folder %s holds only a part of %s", ErrIncomplete, dir, ref)
	case ref.revision != s.Revision && ref.revision != s.Commit:
		return fmt.Errorf("folder %s holds revision %s (%s) of %s, not %s", dir, s.Revision, s.Commit, ref, ref.revision)
	}
	return nil
}

// RemoveDamaged removes the files of dir that are partial or not as a pull put them
// there: the next pull fetches them again. No other pull may be using dir.
func RemoveDamaged(ctx context.Context, dir string) error {
	for name, r := range readState(dir, slog.New(slog.DiscardHandler)).Files {
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

// sizeOf is a regular file's size, -1 where there is none.
func sizeOf(dir, name string) int64 {
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	return info.Size()
}

// removeFile deletes a file that may not be there.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
