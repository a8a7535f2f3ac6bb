package jobs

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
)

// Document describes the file that a job translates: the job's records are the texts of the file, each once, and everything else
// is only in the file. A Document is plain data.
type Document struct {
	Name    string   // of the file, as named by its sender
	Kind    string   // see document.Kind's Name
	Bytes   int64    // of the file
	Parts   int      // number of parts of the stored file, see [Store.File]
	Most    int64    `json:",omitempty"` // maximum bytes of the translated file
	Columns []string `json:",omitempty"` // see document.Options
	// Header and Wrapped are as in document.Options; HeaderKept is set if the first row of a table stays separate.
	Header     string   `json:",omitempty"`
	HeaderKept bool     `json:",omitempty"`
	Kept       int      `json:",omitempty"` // texts of a workbook that stay because formulas refer to them
	Left       []string `json:",omitempty"` // what of the document cannot be translated, by page
	Wrapped    string   `json:",omitempty"`
	Also       []string `json:",omitempty"` // see document.Options
	Secret     string   `json:",omitempty"` // required of clients that ask for the document, in APIs with such a secret
}

// head returns the part of a document that clients see, without the options of its translation; nil if there is none.
func (d *Document) head() *Document {
	if d == nil {
		return nil
	}
	return &Document{Name: d.Name, Kind: d.Kind, Bytes: d.Bytes, HeaderKept: d.HeaderKept, Kept: d.Kept, Left: d.Left, Secret: d.Secret}
}

// partBytes is the size of each part of a file but the last one, which has the rest.
const partBytes = 512 << 10

// partsAhead is the number of parts of a file in memory while the file is read.
const partsAhead = 4

// File returns the file of a job's document. The file is read from the store part by part, with ctx, and is safe for concurrent
// use.
func (s *Service) File(ctx context.Context, job Job) io.ReaderAt {
	return &storedFile{ctx: ctx, store: s.store, job: job}
}

type storedFile struct {
	ctx    context.Context
	store  *storage
	job    Job
	mu     sync.Mutex // guards recent
	recent []filePart // the last used one is at the end
}

type filePart struct {
	n       int
	content []byte
}

// ReadAt implements [io.ReaderAt].
func (f *storedFile) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fmt.Errorf("read a document at %d", off)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for n < len(p) {
		at := off + int64(n)
		if at >= f.job.Document.Bytes {
			return n, io.EOF
		}
		content, err := f.part(int(at / partBytes))
		if err != nil {
			return n, err
		}
		if at %= partBytes; at >= int64(len(content)) {
			return n, fmt.Errorf("a part of a document has %d bytes: %w", len(content), io.ErrUnexpectedEOF)
		}
		n += copy(p[n:], content[at:])
	}
	return n, nil
}

// part returns a part of the file. The caller must hold mu.
func (f *storedFile) part(n int) ([]byte, error) {
	if i := slices.IndexFunc(f.recent, func(p filePart) bool { return p.n == n }); i >= 0 {
		found := f.recent[i]
		f.recent = append(slices.Delete(f.recent, i, i+1), found)
		return found.content, nil
	}
	content, err := f.store.File(f.ctx, f.job.ID, n)
	if err != nil {
		return nil, f.store.note(err)
	}
	if len(f.recent) == partsAhead {
		f.recent = slices.Delete(f.recent, 0, 1)
	}
	f.recent = append(f.recent, filePart{n, content})
	return content, nil
}
