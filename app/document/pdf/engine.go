package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klippa-app/go-pdfium"
	pdfium_errors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"dragoman/app/budget"
	"dragoman/app/document"
	"dragoman/model/mapping"
)

const (
	// maxPages is the maximum number of pages.
	maxPages = 1000
	// maxMemory is the maximum memory of a document in bytes: PDFium's memory, which grows, and the data that this program keeps
	// of it.
	maxMemory = 256 << 20
	// leastMemory is PDFium's initial memory in bytes.
	leastMemory = 19 << 20
	// handleCost is the memory that go-pdfium keeps for each object that it returned, until the document is closed, and
	// letterCost the memory per letter for copies of a page's text while the page is read.
	handleCost, letterCost = 160, 20
	// started is the timeout for starting a sandbox.
	started = time.Minute
)

// sandboxes compiles PDFium, which takes seconds, with the first document.
var sandboxes = sync.OnceValues(func() (pdfium.Pool, error) {
	pool, err := webassembly.Init(webassembly.Config{
		Context: &forDocument, MaxTotal: -1, FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: io.Discard,
		RuntimeConfig: wazero.NewRuntimeConfig().WithCloseOnContextDone(true).WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling),
	})
	debug.FreeOSMemory() // compiling leaves some 200 MB behind
	return pool, err
})

// making is the context for making a sandbox: the context of its document, or an empty one. go-pdfium derives the contexts of all
// sandboxes from one, so they are made one at a time.
type making struct {
	context.Context
	mu sync.Mutex // guards of, except for readers
	of atomic.Pointer[context.Context]
}

var forDocument = making{Context: context.Background()}

func (m *making) document() context.Context {
	if of := m.of.Load(); of != nil {
		return *of
	}
	return m.Context
}

// Done implements [context.Context].
func (m *making) Done() <-chan struct{} { return m.document().Done() }

// Err implements [context.Context].
func (m *making) Err() error { return m.document().Err() }

// Value implements [context.Context].
func (m *making) Value(key any) any { return m.document().Value(key) }

// sandbox returns a sandbox that ends with ctx.
func (m *making) sandbox(ctx context.Context, pool pdfium.Pool) (pdfium.Pdfium, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of.Store(&ctx)
	defer m.of.Store(nil)
	return pool.GetInstance(started)
}

// file is a document that is open in PDFium. PDFium has access to its bytes only: no files, no network, and memory taken from the
// request of ctx. The file ends with ctx. It is not safe for concurrent use.
type file struct {
	pdfium.Pdfium
	ctx    context.Context
	in     *io.SectionReader
	end    context.CancelFunc // ends PDFium
	memory *memory
	doc    references.FPDF_DOCUMENT
	pages  int
	most   int64 // see maxMemory

	allLookups  int64 // see maxAllLookups
	takesHidden bool  // reads hidden text, too
}

// open opens a document. The caller must close it.
func open(ctx context.Context, in io.ReaderAt, size int64) (*file, error) {
	return openWithin(ctx, in, size, maxMemory)
}

// openWithin opens a document that may take most bytes of memory.
func openWithin(ctx context.Context, in io.ReaderAt, size, most int64) (*file, error) {
	// PDFium searches no further for the signature.
	head := make([]byte, min(size, 1<<10))
	if _, err := in.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.Contains(head, []byte("%PDF")) {
		return nil, document.Refuse(nil, damaged)
	}
	f := &file{ctx: ctx, in: io.NewSectionReader(inTurn{ctx, in}, 0, size), most: most}
	return f, f.start()
}

// start opens the document in a new sandbox, and closes an old one. Unless it fails, the caller must close the file.
func (f *file) start() (err error) {
	f.close()
	if f.memory, err = newMemory(f.ctx, f.most); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	pool, err := sandboxes()
	if err != nil {
		return fmt.Errorf("compile PDFium: %w", err)
	}
	ctx, end := context.WithCancel(f.ctx)
	f.end = end
	if f.Pdfium, err = forDocument.sandbox(experimental.WithMemoryAllocator(ctx, f.memory), pool); err != nil {
		return f.explain(fmt.Errorf("start PDFium: %w", err))
	}
	f.memory.waits = true
	opened, err := f.OpenDocument(&requests.OpenDocument{FileReader: f.in, FileReaderSize: f.in.Size()})
	if err := f.explain(err); err != nil {
		return err
	}
	f.doc = opened.Document
	count, err := f.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: f.doc})
	if err := f.explain(err); err != nil {
		return err
	}
	if f.pages = count.PageCount; f.pages > maxPages {
		return document.TooLarge("the PDF has %d pages, at most %d are allowed: divide it", f.pages, maxPages)
	}
	return nil
}

// inTurn is a document whose reading yields to other documents.
type inTurn struct {
	ctx context.Context
	in  io.ReaderAt
}

// ReadAt implements [io.ReaderAt].
func (r inTurn) ReadAt(p []byte, at int64) (int, error) {
	if err := budget.Work(r.ctx, 0); err != nil {
		return 0, err
	}
	return r.in.ReadAt(p, at)
}

// close ends PDFium and releases its memory. It may be called again.
func (f *file) close() {
	if f.end != nil {
		f.end() // prevents further work in the sandbox, which may be broken
	}
	if f.Pdfium != nil {
		_ = f.Pdfium.Close() // its memory is released anyway
	}
	if f.memory != nil {
		f.memory.release()
	}
	f.end, f.Pdfium, f.memory = nil, nil, nil
}

// explain converts PDFium's result, an error or nil: ctx has ended, memory is exhausted, so that the result is incomplete, or the
// document is faulty.
func (f *file) explain(err error) error {
	_, isRefused := errors.AsType[*document.Error](err)
	switch {
	case f.ctx.Err() != nil:
		return f.ctx.Err()
	case f.memory.err != nil:
		return f.memory.err
	case err == nil, isRefused, errors.Is(err, budget.ErrFull):
		return err
	case errors.Is(err, pdfium_errors.ErrPassword), errors.Is(err, pdfium_errors.ErrSecurity):
		return document.Refuse(err, "the PDF has a password: save it without one")
	}
	return document.Refuse(err, damaged)
}

const damaged = "the PDF is damaged: open it in a viewer, and print or save it as a PDF again"

// memory is the memory of a document: PDFium's, which is outside Go's heap, grows without copying and is returned to the system
// at once, and the data that this program keeps beside it. It implements [experimental.MemoryAllocator] and
// [experimental.LinearMemory].
type memory struct {
	ctx      context.Context
	most     int64  // maximum of taken
	reserved []byte // as many bytes, the start of which is PDFium's
	size     int64  // PDFium's part
	taken    int64
	spare    int64 // taken for future handles
	waits    bool  // growing waits for the document's turn
	err      error // the error of the first refusal; all further requests are refused
}

func newMemory(ctx context.Context, most int64) (*memory, error) {
	m := &memory{ctx: ctx, most: most, size: leastMemory}
	if err := m.take(leastMemory); err != nil {
		return nil, err
	}
	reserved, err := mapping.Reserve(int(most))
	if err != nil {
		m.release()
		return nil, fmt.Errorf("memory for PDFium: %w", err)
	}
	m.reserved = reserved
	return m, nil
}

// take takes n bytes for the document.
func (m *memory) take(n int64) error {
	switch {
	case m.err != nil:
		return m.err
	case m.taken+n > m.most:
		m.err = document.TooLarge("the PDF takes more than %d MiB when it is unpacked: divide it, or save it with fewer or smaller pictures", m.most>>20)
	default:
		m.err = budget.Take(m.ctx, n)
	}
	if m.err == nil {
		m.taken += n
	}
	return m.err
}

// hold takes n bytes until release is called.
func (m *memory) hold(n int64) (release func(), err error) {
	return func() {
		m.taken -= n
		budget.Give(m.ctx, n)
	}, m.take(n)
}

// mark returns a function that gives back what was taken since.
func (m *memory) mark() (release func()) {
	before := m.taken
	return func() {
		budget.Give(m.ctx, m.taken-before)
		m.taken = before
	}
}

// handle takes the memory that go-pdfium keeps for an object.
func (m *memory) handle() error {
	const several = 1 << 20
	if m.spare -= handleCost; m.spare >= 0 {
		return nil
	}
	m.spare += several
	return m.take(several)
}

// Allocate implements [experimental.MemoryAllocator].
func (m *memory) Allocate(_, _ uint64) experimental.LinearMemory { return m }

// Reallocate implements [experimental.LinearMemory]. If the memory is refused it returns nil, and PDFium fails or continues with
// less.
func (m *memory) Reallocate(size uint64) []byte {
	if more := int64(size) - m.size; more > 0 {
		if m.take(more) != nil {
			return nil
		}
		m.size = int64(size)
		if m.waits {
			if m.err = budget.Work(m.ctx, int(more)); m.err != nil {
				return nil
			}
		}
	}
	return m.reserved[:size:size]
}

// Free implements [experimental.LinearMemory]. The memory is kept until PDFium has returned.
func (m *memory) Free() {}

// release returns all memory to the system and to the request.
func (m *memory) release() {
	if m.reserved != nil {
		mapping.Release(m.reserved)
	}
	budget.Give(m.ctx, m.taken)
	m.reserved, m.taken = nil, 0
}
