package archive

import (
	"archive/zip"
	"io"
	"slices"
	"strings"
)

// Rewrite writes the archive to out. The entries named in order are passed to rewrite, in that order, which reads each and writes
// its contents to out, changed or not; all others are copied as they are. The rewritten entries keep their positions among the
// others. If out is nil, nothing is written: the entries in order are read, and
// rewrite writes to [io.Discard].
func (a *Archive) Rewrite(out io.Writer, order []string, rewrite func(name string, out io.Writer, in io.Reader) error) error {
	zipped := zip.NewWriter(out)
	named := make(map[string]bool, len(order))
	for _, name := range order {
		named[name] = true
	}
	for _, f := range a.arranged(order, named) {
		err := a.ctx.Err()
		switch {
		case err != nil, out == nil && !named[f.Name]:
		case !named[f.Name]:
			err = a.in.failure(copyEntry(zipped, f))
		default:
			err = a.open(f, func(in io.Reader) error {
				if out == nil {
					return rewrite(f.Name, io.Discard, in)
				}
				w, err := zipped.CreateHeader(&zip.FileHeader{Name: f.Name, Comment: f.Comment, NonUTF8: f.NonUTF8, Method: f.Method,
					Modified: f.Modified, CreatorVersion: f.CreatorVersion, ExternalAttrs: f.ExternalAttrs})
				if err != nil {
					return err
				}
				return rewrite(f.Name, w, in)
			})
		}
		if err != nil {
			return err
		}
	}
	if out == nil {
		return nil
	}
	return zipped.Close()
}

// copyEntry copies an entry as it is. A folder has no contents, also if these are packed to a few bytes, which no writer takes.
func copyEntry(w *zip.Writer, f *zip.File) error {
	if !strings.HasSuffix(f.Name, "/") {
		return w.Copy(f)
	}
	header := f.FileHeader
	_, err := w.CreateHeader(&header)
	return err
}

// arranged returns the entries, with the positions of order's entries filled in that order.
func (a *Archive) arranged(order []string, named map[string]bool) []*zip.File {
	files := slices.Clone(a.files)
	for i, f := range files {
		if named[f.Name] {
			files[i], order = a.byName[order[0]], order[1:]
		}
	}
	return files
}
