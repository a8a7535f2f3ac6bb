// Package archive reads documents that are zip archives, within limits that hold whatever the archive declares, and rewrites
// them: unchanged entries are copied in compressed form.
//
// It reads the archive's directory, at most 4 MiB, and then one entry at a time, as a stream.
package archive

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"io"
	"path"
	"sort"
	"strings"

	"dragoman/app/budget"
	"dragoman/app/document"
	"dragoman/app/document/xmlpart"
)

// The limits of an archive, in bytes. An entry larger than smallEntry that shrinks by more than maxRatio is a bomb: documents of
// programs shrink by at most 50.
const (
	maxDirectory = 4 << 20
	maxEntries   = 10_000
	maxTotal     = 4 << 30
	maxEntry     = 1 << 30
	maxParts     = 256 << 20 // decompressed bytes of one pass
	maxRatio     = 500
	smallEntry   = 8 << 20
)

// maxSmall is the maximum size of an entry for [Archive.Small].
const maxSmall = 4 << 20

// Archive is a validated zip archive. It is not safe for concurrent use.
type Archive struct {
	ctx    context.Context
	in     *source
	files  []*zip.File
	byName map[string]*zip.File
	folded map[string]string // names by their lower case
	read   int64             // decompressed bytes
	opened map[string]int
}

// Open reads the directory of an archive of size bytes. It fails with a [*document.Error] if it is not a zip archive, or not one
// that a program would write: too large, with names outside its folder or repeated names, with overlapping or encrypted entries.
// Decompression counts as ctx's work.
func Open(ctx context.Context, in io.ReaderAt, size int64) (*Archive, error) {
	a := &Archive{ctx: ctx, in: &source{in: in, left: maxDirectory, bounded: true}, byName: map[string]*zip.File{}, folded: map[string]string{}, opened: map[string]int{}}
	if size == 0 {
		return nil, document.Refuse(nil, "the file is empty")
	}
	r, err := zip.NewReader(a.in, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		if errors.Is(err, errDirectory) {
			return nil, document.Refuse(err, "the file's zip directory is larger than %d MiB", maxDirectory>>20)
		}
		return nil, a.in.failure(document.Refuse(err, "the file is damaged or not complete: its zip directory cannot be read"))
	}
	a.in.bounded = false
	a.files = r.File
	if err := a.check(size); err != nil {
		return nil, a.in.failure(err)
	}
	return a, nil
}

// check validates the archive by its directory.
func (a *Archive) check(size int64) error {
	if len(a.files) > maxEntries {
		return document.TooLarge("the file has %d zip entries, at most %d are allowed: divide the document", len(a.files), maxEntries)
	}
	var total uint64
	for _, f := range a.files {
		if err := checkName(f.Name); err != nil {
			return err
		}
		if a.byName[f.Name] != nil {
			return document.Refuse(nil, "the file has two zip entries named %q", f.Name)
		}
		a.byName[f.Name], a.folded[strings.ToLower(f.Name)] = f, f.Name
		if f.Flags&1 != 0 {
			return document.Refuse(nil, "the file's zip entries are encrypted: save it without a password")
		}
		n, packed := f.UncompressedSize64, f.CompressedSize64
		total += min(n, maxTotal+1)
		if n > maxEntry || total > maxTotal || n > smallEntry && n/maxRatio > packed {
			return document.TooLarge("the file unpacks to too much: zip entry %q has %d bytes, packed into %d", f.Name, n, packed)
		}
	}
	return a.checkOverlaps(size)
}

// checkName refuses names that lead out of a folder.
func checkName(name string) error {
	slashed := strings.ReplaceAll(name, `\`, "/")
	switch {
	case name == "" || strings.ContainsRune(name, 0) || path.IsAbs(slashed) || len(slashed) > 1 && slashed[1] == ':':
	case strings.Contains("/"+slashed+"/", "/../"):
	default:
		return nil
	}
	return document.Refuse(nil, "the file has a zip entry named %q, which leads out of it", name)
}

// checkOverlaps refuses entries that share bytes of the file, and entries outside it.
func (a *Archive) checkOverlaps(size int64) error {
	type place struct{ start, end int64 }
	places := make([]place, len(a.files))
	for i, f := range a.files {
		at, err := f.DataOffset()
		if err != nil {
			return document.Refuse(err, "the file is damaged: zip entry %q cannot be found", f.Name)
		}
		const header = 30 // bytes before an entry's name, which its data follow
		places[i] = place{at - header - int64(len(f.Name)), at + int64(f.CompressedSize64)}
		if places[i].end > size || places[i].end < at {
			return document.Refuse(nil, "the file is not complete: zip entry %q ends behind it", f.Name)
		}
	}
	sort.Slice(places, func(i, j int) bool { return places[i].start < places[j].start })
	for i := 1; i < len(places); i++ {
		if places[i].start < places[i-1].end {
			return document.Refuse(nil, "the file's zip entries overlap")
		}
	}
	return nil
}

// Names returns the names of the entries, in order.
func (a *Archive) Names() []string {
	names := make([]string, len(a.files))
	for i, f := range a.files {
		names[i] = f.Name
	}
	return names
}

// Has reports whether an entry of that name exists.
func (a *Archive) Has(name string) bool { return a.byName[name] != nil }

// Named returns the name of the entry that has a name without regard to case, as parts of OOXML are named, or the name if there is none.
func (a *Archive) Named(name string) string {
	if a.Has(name) {
		return name
	}
	return cmp.Or(a.folded[strings.ToLower(name)], name)
}

// Size returns the unpacked size of an entry, which must exist. No more can be read.
func (a *Archive) Size(name string) int64 { return int64(a.byName[name].UncompressedSize64) }

// Small returns the contents of an entry of at most 4 MiB, or nil if there is none of that name.
func (a *Archive) Small(name string) ([]byte, error) {
	f := a.byName[name]
	if f == nil {
		return nil, nil
	}
	if f.UncompressedSize64 > maxSmall {
		return nil, document.Refuse(nil, "%s is larger than %d MiB", name, maxSmall>>20)
	}
	var content []byte
	err := a.open(f, func(r io.Reader) (err error) {
		content, err = io.ReadAll(r)
		return err
	})
	return content, err
}

// Read passes an entry, which must exist, to read as a stream.
func (a *Archive) Read(name string, read func(in io.Reader) error) error {
	f := a.byName[name]
	if f == nil {
		return document.Refuse(nil, "the file has no %s", name)
	}
	return a.open(f, read)
}

// EachStart passes the start of each element of an entry to visit. It passes none of an entry that is missing.
func (a *Archive) EachStart(name string, o xmlpart.Options, visit func(t xmlpart.Token)) error {
	if !a.Has(name) {
		return nil
	}
	return a.Read(name, func(in io.Reader) error { return xmlpart.NewReader(in, name, o).EachStart(visit) })
}

// open passes entry f to read. The decompressed bytes are limited.
func (a *Archive) open(f *zip.File, read func(r io.Reader) error) error {
	if f.UncompressedSize64 > uint64(maxParts-a.read) {
		return document.TooLarge("%s makes the text of the file too large, which may unpack to %d MiB: divide the document", f.Name, maxParts>>20)
	}
	if a.opened[f.Name]++; a.opened[f.Name] <= 2 { // further passes are bounded by [budget.Work]
		a.read += int64(f.UncompressedSize64)
	}
	r, err := f.Open()
	if err != nil {
		return a.in.failure(document.Refuse(err, "%s cannot be unpacked", f.Name))
	}
	defer r.Close()
	p := &part{ctx: a.ctx, in: r, name: f.Name, left: int64(f.UncompressedSize64)}
	err = read(p)
	if p.err != nil {
		return a.in.failure(p.err)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, p) // unread bytes are covered by the checksum too
		err = a.in.failure(err)
	}
	return err
}

// part reads an entry. It keeps the error of the archive, which is more useful than the resulting error of an XML reader.
type part struct {
	ctx  context.Context
	in   io.Reader
	name string
	left int64
	err  error
}

func (p *part) Read(b []byte) (int, error) {
	n, err := p.in.Read(b)
	if ended := budget.Work(p.ctx, n); ended != nil {
		p.err = ended
		return n, ended
	}
	if p.left -= int64(n); p.left < 0 {
		err = zip.ErrFormat
	}
	if err != nil && err != io.EOF {
		p.err = document.Refuse(err, "the file is damaged: %s cannot be unpacked", p.name)
		return n, p.err
	}
	return n, err
}
