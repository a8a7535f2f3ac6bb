package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"dragoman/app/document/kinds"
	"dragoman/app/document/libreoffice"
)

// output is the destination of translated documents, from flags.
type output struct {
	path  string
	force bool   // replace existing files
	as    string // format of translated PDFs, see [kinds.As]; "": PDF
	old   bool   // documents of old programs in folders are translated, too
}

func (o *output) define(flags *pflag.FlagSet, help string) {
	flags.StringVarP(&o.path, "output", "o", "", help)
	flags.BoolVar(&o.force, "force", false, "replace existing files")
}

// documentTask is a document to translate, and the path of its translation.
type documentTask struct{ from, to string }

// tasks returns the documents named by files and folders, with all translatable ones in the folders. For several, or for a
// folder, the output is a folder of the same structure.
func (o output) tasks(names []string) (list []documentTask, err error) {
	switch {
	case names[0] == stdio && o.path != stdio && (isFolder(o.path) || strings.HasSuffix(o.path, string(filepath.Separator))):
		return nil, usagef("%s is a folder: name a file for the document of standard input", o.path)
	case names[0] == stdio && o.path != stdio:
		list = []documentTask{{names[0], o.path}}
		return list, o.check(list)
	case o.path == stdio && (len(names) > 1 || isFolder(names[0])):
		return nil, usagef("translate takes -o - for one document: name a folder for several")
	case o.path == stdio:
		return []documentTask{{names[0], stdio}}, nil
	}
	into := len(names) > 1 || strings.HasSuffix(o.path, string(filepath.Separator)) || isFolder(o.path)
	for _, name := range names {
		if _, err := os.Stat(name); err != nil {
			return nil, err
		}
		if !isFolder(name) {
			to := o.path
			if into {
				to = filepath.Join(o.path, o.called(filepath.Base(name)))
			}
			list = append(list, documentTask{name, to})
			continue
		}
		found, err := o.inFolder(name)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, o.check(list)
}

// called returns the name of a translation in a folder: the document's name, with the extension of the translation's format.
func (o output) called(name string) string {
	extension := filepath.Ext(name)
	as := cmp.Or(libreoffice.To(extension), extension)
	if o.as != "" {
		as = "." + o.as
	}
	return strings.TrimSuffix(name, extension) + as
}

func (o output) inFolder(root string) (list []documentTask, err error) {
	known := kinds.Extensions()
	if o.old {
		known = append(known, libreoffice.Extensions()...)
	}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && sameFile(path, o.path): // the folder of earlier translations
			return fs.SkipDir
		case !entry.Type().IsRegular(), !slices.ContainsFunc(known, func(e string) bool { return strings.HasSuffix(strings.ToLower(path), e) }):
			return nil
		}
		if other, err := isNamesake(path); other || err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		list = append(list, documentTask{path, filepath.Join(o.path, o.called(relative))})
		return err
	})
	if err == nil && len(list) == 0 {
		return nil, fmt.Errorf("there is no document in %s: files that end in %s can be translated", root, strings.Join(known, ", "))
	}
	return list, err
}

// isNamesake reports whether a file only has the extension of a kind of documents, as TypeScript's .ts do.
func isNamesake(path string) (bool, error) {
	if !kinds.IsNamesake(path, nil) {
		return false, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }()
	head, err := io.ReadAll(io.LimitReader(file, kinds.Head))
	return kinds.IsNamesake(path, head), err
}

// check returns an error if a translation would replace another file, before any translation is written.
func (o output) check(list []documentTask) error {
	taken := make(map[string]string)
	for _, p := range list {
		if o.as != "" && p.from != stdio && !strings.EqualFold(filepath.Ext(p.from), ".pdf") {
			return usagef("translate takes --as for PDFs, which %s is not: others stay what they are", p.from)
		}
		if other, twice := taken[p.to]; twice {
			return fmt.Errorf("the translations of %s and %s are both %s: translate them into different folders", other, p.from, p.to)
		}
		if to := libreoffice.To(filepath.Ext(p.from)); to != "" && strings.EqualFold(filepath.Ext(p.from), filepath.Ext(p.to)) {
			return usagef("the translation of %s is a %s: name the output so", p.from, to)
		}
		taken[p.to] = p.from
		if err := o.mayWrite(p); err != nil {
			return err
		}
	}
	return nil
}

// mayWrite returns an error if there is a file that a translation may not replace.
func (o output) mayWrite(p documentTask) error {
	switch _, err := os.Lstat(p.to); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case sameFile(p.from, p.to):
		return fmt.Errorf("the translation of %s would take its place: name another file or folder", p.from)
	case !o.force:
		return fmt.Errorf("%s is there already: name another file, or replace it by --force", p.to)
	case isFolder(p.to):
		return fmt.Errorf("%s is a folder: name another file", p.to)
	}
	return nil
}

// save writes the whole translation of a document, or on error nothing.
func (o output) save(p documentTask, stdout io.Writer, write func(io.Writer) error) (err error) {
	if p.to == stdio {
		var whole bytes.Buffer
		if err := write(&whole); err != nil {
			return err
		}
		_, err := whole.WriteTo(stdout)
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.to), 0o755); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(p.to), ".dragoman-*.part") // not the document's name, which could become too long
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temporary.Name()) // a part of a translation is of no use
		}
	}()
	err = write(temporary)
	if err == nil {
		err = temporary.Chmod(permissions(p.from))
	}
	if err = errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	if err := o.mayWrite(p); err != nil { // another process may have created the file
		return err
	}
	return os.Rename(temporary.Name(), p.to)
}

// permissions returns the permissions of a translation: those of the document.
func permissions(path string) fs.FileMode {
	const usual = 0o644
	info, err := os.Stat(path)
	if err != nil {
		return usual
	}
	return info.Mode().Perm()
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// sameFile reports whether two paths are one file or folder.
func sameFile(a, b string) bool {
	left, err := os.Stat(a)
	if err != nil {
		return false
	}
	right, err := os.Stat(b)
	return err == nil && os.SameFile(left, right)
}
