package archive

import (
	"archive/zip"
	"io"
	"slices"
)

// Part writes an entry's contents to out again, changed or not, while it reads them.
type Part func(out io.Writer, in io.Reader) error

// Rewrite writes the archive to out. The entries named in order are rewritten, in that order, each by
// what rewrite returns for it; where that is nil, and for all others, they are copied as they are. The places that the
// rewritten ones have among the others stay. A writer that is [io.Discard] gets nothing, and nothing is
// compressed for it.
func (a *Archive) Rewrite(out io.Writer, order []string, rewrite func(name string) Part) error {
	discard := out == io.Discard
	zipped := zip.NewWriter(out)
	named := make(map[string]bool, len(order))
	for _, name := range order {
		named[name] = true
	}
	for _, f := range a.arranged(order, named) {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		var part Part
		if named[f.Name] {
			part = rewrite(f.Name)
		}
		var err error
		switch {
		case part == nil && discard:
		case part == nil:
			err = a.in.failure(zipped.Copy(f))
		case discard:
			err = a.open(f, func(r io.Reader) error { return part(io.Discard, r) })
		default:
			err = a.replace(zipped, f, part)
		}
		if err != nil {
			return err
		}
	}
	if discard {
		return nil
	}
	return zipped.Close()
}

// arranged returns the entries with those of order in that order, in the places that they had.
func (a *Archive) arranged(order []string, named map[string]bool) []*zip.File {
	files := slices.Clone(a.files)
	for i, f := range files {
		if named[f.Name] {
			files[i], order = a.byName[order[0]], order[1:]
		}
	}
	return files
}

// replace writes an entry with other contents.
func (a *Archive) replace(zipped *zip.Writer, f *zip.File, part Part) error {
	header := &zip.FileHeader{Name: f.Name, Comment: f.Comment, NonUTF8: f.NonUTF8, Method: f.Method,
		Modified: f.Modified, CreatorVersion: f.CreatorVersion, ExternalAttrs: f.ExternalAttrs}
	return a.open(f, func(r io.Reader) error {
		w, err := zipped.CreateHeader(header)
		if err != nil {
			return err
		}
		return part(w, r)
	})
}
