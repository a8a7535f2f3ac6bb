package source

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"dragoman/model"
	"dragoman/model/bundled"
	"dragoman/model/ctranslate2"
)

// origin is the source that MODEL_WEIGHTS names, as far as it is known without a download.
type origin struct {
	ref  Ref
	name string // for the manifest and logs
	// version is the version of the bundled model, of a folder or of a package; an export of another version is replaced. It is ""
	// for other sources.
	version  string
	exported bool // whether name is an exported folder
	// unpack writes the files of a package, or of the bundled model, into a folder; nil: they are in the folder name.
	unpack func(dir string) error
}

// isLocal reports whether the files are on this machine.
func (o origin) isLocal() bool { return o.ref.kind == kindBundled || o.ref.kind == kindFolder }

// slug returns a name for a folder.
func (o origin) slug() string {
	short := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '-'
	}, filepath.Base(o.name))
	return fmt.Sprintf("%s-%.4x", strings.TrimLeft(short, ".-"), sha256.Sum256([]byte(o.name)))
}

// origin returns the source that MODEL_WEIGHTS names.
func (p *Preparer) origin() (origin, error) {
	if p.cfg.Weights == "" {
		return origin{name: bundled.Source, version: bundled.Version, unpack: bundled.WriteTo}, nil
	}
	ref, err := ParseRef(p.cfg.Weights, p.cfg.Revision)
	if err != nil {
		return origin{}, err
	}
	if ref.kind == kindFolder {
		return local(ref)
	}
	o := origin{ref: ref, name: ref.String()}
	if ref.revision != "" {
		o.name += "@" + ref.revision
	}
	return o, nil
}

// local returns the origin of a folder, which has an export, a checkpoint or an installed Argos package, or the origin of a
// packed Argos package.
func local(ref Ref) (o origin, err error) {
	o.ref = ref
	if o.name, err = filepath.Abs(ref.path); err != nil {
		return o, err
	}
	info, err := os.Stat(o.name)
	isFile, isPackage := err == nil && !info.IsDir(), strings.HasSuffix(o.name, ctranslate2.PackageExt)
	switch {
	case isPackage && isFile:
		o.version = hashFiles(info)
		o.unpack = func(dir string) error { return withPointers(ctranslate2.Unpack(o.name, dir), o.name) }
		return o, nil
	case isFile:
		return o, fmt.Errorf("MODEL_WEIGHTS: %s is a file: name the folder of a model, of an archive the one that it is unpacked to, or an Argos package (%s)",
			o.name, ctranslate2.PackageExt)
	case isPackage && err != nil:
		return o, fmt.Errorf("MODEL_WEIGHTS: %w", err)
	}
	if _, err := os.Stat(filepath.Join(o.name, model.ManifestFile)); err == nil {
		o.exported = true
		return o, nil
	}
	folders := []string{o.name}
	if ctranslate2.IsInstalled(o.name) {
		folders = append(folders, filepath.Join(o.name, "model"))
		o.unpack = func(dir string) error { return ctranslate2.CopyInstalled(o.name, dir) }
	}
	if o.version, err = fingerprint(folders...); err != nil {
		err = fmt.Errorf("MODEL_WEIGHTS: %w", err)
	}
	return o, err
}

// fetch makes the files of the checkpoint available: in the folder work, in the folder for downloads, or where they are.
func (p *Preparer) fetch(ctx context.Context, o origin, out, work string) (dir, version string, err error) {
	switch {
	case o.unpack != nil:
		return work, o.version, o.unpack(work)
	case o.isLocal():
		return o.name, o.version, nil
	}
	dir = p.downloads(out)
	version, err = p.Pull(ctx, o.ref, dir)
	return dir, version, err
}

// Folders for downloads, in the exported folder or Config.Downloads. A failed export leaves the folder for the next export.
const (
	keptFolder     = ".checkpoint"        // kept after the export, with KeepCheckpoint
	downloadFolder = ".dragoman-download" // removed after the export
)

// downloads returns the folder for downloads. A kept folder is used again.
func (p *Preparer) downloads(out string) string {
	out = cmp.Or(p.cfg.Downloads, out)
	kept := filepath.Join(out, keptFolder)
	if _, err := os.Stat(kept); p.cfg.KeepCheckpoint || err == nil {
		return kept
	}
	return filepath.Join(out, downloadFolder)
}

// hashFiles returns a hash of the names, sizes and times of files.
func hashFiles(files ...fs.FileInfo) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%s %d %d\n", f.Name(), f.Size(), f.ModTime().UnixNano())
	}
	return fmt.Sprintf("files-%.6x", h.Sum(nil))
}

// fingerprint returns a string that changes with the files of the folders.
func fingerprint(dirs ...string) (string, error) {
	var files []fs.FileInfo
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			info, err := os.Stat(filepath.Join(dir, e.Name())) // of the file to which a link leads
			if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
				continue
			}
			if err != nil {
				return "", err
			}
			files = append(files, info)
		}
	}
	return hashFiles(files...), nil
}
