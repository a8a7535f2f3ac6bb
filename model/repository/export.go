package repository

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"dragoman/model"
)

// maxFiles is the maximum number of files in a manifest; exports have fewer than ten.
const maxFiles = 64

// exported is a manifest that was read.
type exported struct {
	fingerprint string // fingerprint of the file when it was read
	manifest    *model.Manifest
	identity    string
	err         error
}

// export reads an exported folder. precision is the required one, "" or Auto for any.
func (r *reading) export(dir string, precision model.Precision) Version {
	v := Version{Dir: dir}
	path := filepath.Join(dir, model.ManifestFile)
	if v.Fingerprint, v.Err = fingerprint(path); v.Err != nil {
		return v
	}
	e, ok := r.before.exported[dir]
	if !ok || e.fingerprint != v.Fingerprint {
		e = readExport(dir)
		e.fingerprint = v.Fingerprint
	}
	r.exported[dir] = e
	v.Manifest, v.Identity, v.Err = e.manifest, e.identity, e.err
	if v.Err != nil {
		return v
	}
	var files string
	if v.Bytes, files, v.Err = checkSizes(dir, v.Manifest.Files); v.Err != nil {
		return v
	}
	v.Fingerprint += files
	if precision != "" && precision != Auto && precision != v.Manifest.Precision {
		v.Err = fmt.Errorf("%s holds an %s model, and precision in %s is %s: export it again, or change that",
			dir, v.Manifest.Precision, ConfigFile, precision)
	}
	return v
}

// fingerprint returns a string that changes when the file is written or replaced.
func fingerprint(path string) (string, error) {
	state, mode, err := model.StateOf(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%w in %s: half of one may be there: export it again, or delete the folder", model.ErrNoModel, filepath.Dir(path))
	case err != nil:
		return "", err
	case !mode.IsRegular():
		return "", fmt.Errorf("%s is not a regular file", path)
	}
	return printOf(state), nil
}

// printOf returns a string that changes with every write to a file, and when it is replaced.
func printOf(s model.State) string {
	return fmt.Sprintf("%d-%d-%d-%d", s.Size, s.Modified, s.Changed, s.Inode)
}

// readExport reads a manifest.
func readExport(dir string) (e exported) {
	if e.manifest, e.err = model.ReadManifest(dir); e.err != nil {
		return e
	}
	if _, err := model.ParsePrecision(string(e.manifest.Precision)); err != nil {
		e.err = fmt.Errorf("%w: %s: %w: delete the folder and export again", model.ErrDamaged, dir, err)
	}
	for name := range e.manifest.Files {
		if filepath.Base(name) != name || len(e.manifest.Files) > maxFiles {
			e.err = fmt.Errorf("%w: %s lists %d files, among them %.60q: delete the folder and export again",
				model.ErrDamaged, filepath.Join(dir, model.ManifestFile), len(e.manifest.Files), name)
		}
	}
	e.identity = identity(e.manifest)
	return e
}

// identity returns a hash of everything that determines a model's translations.
func identity(m *model.Manifest) string {
	raw, err := json.Marshal(model.Manifest{
		Format: m.Format, Precision: m.Precision, Family: m.Family, Spec: m.Spec, Languages: m.Languages,
		Sources: m.Sources, Targets: m.Targets, Files: m.Files,
	})
	if err != nil { // cannot happen: the values are numbers, strings and lists
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(raw))
}

// checkSizes compares the sizes of the files in dir with a manifest and adds them up. The fingerprint changes when one of the
// files changes.
func checkSizes(dir string, files map[string]model.File) (total int64, fingerprint string, err error) {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		state, mode, err := model.StateOf(filepath.Join(dir, name))
		if want := files[name].Size; err != nil || !mode.IsRegular() || state.Size != want {
			return 0, "", fmt.Errorf("%w: %s is not a file of %d bytes: wait until it is copied, or delete %s and export again",
				model.ErrDamaged, filepath.Join(dir, name), want, dir)
		}
		total += state.Size
		fmt.Fprintln(sum, printOf(state))
	}
	return total, fmt.Sprintf("%x", sum.Sum(nil)), nil
}
