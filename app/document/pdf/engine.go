package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/klippa-app/go-pdfium"
	pdfium_errors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"dragoman/app/document"
	"dragoman/app/guard/admission"
)

const (
	// maxPages is how many pages a document may have: PDFium goes through the whole document for each page that it writes.
	maxPages = 1000
	// maxWays bounds the objects of the document, times its pages, that PDFium goes through where it writes: some 3 minutes.
	maxWays = 3_000_000
	// maxMemory is what PDFium may have for a document, in pages of 64 KiB: 256 MiB. It is taken as it grows.
	maxMemory = 4096
	// leastMemory is what it begins with, in bytes.
	leastMemory = 19 << 20
	// compiled is how long an instance may take to be there: PDFium is compiled with the first document.
	compiled = time.Minute
)

// cache has PDFium as machine code, which takes seconds to make and is made once.
var cache = sync.OnceValue(wazero.NewCompilationCache)

// file is a document that is open in PDFium, which has nothing but its bytes: no files, no network, and memory that is
// taken from the request of ctx. It ends with ctx. One goroutine uses it.
type file struct {
	pdfium.Pdfium
	ctx    context.Context
	pool   pdfium.Pool
	memory *memory
	doc    references.FPDF_DOCUMENT
	pages  int

	allLookups  int64 // see maxAllLookups
	takesHidden bool  // text that is not shown is read too
}

// open opens a document. The caller closes it.
func open(ctx context.Context, in io.ReaderAt, size int64) (f *file, err error) {
	// PDFium looks no further for it.
	head := make([]byte, min(size, 1<<10))
	if _, err := in.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.Contains(head, []byte("%PDF")) {
		return nil, document.Refuse(nil, damaged)
	}
	if err := admission.Take(ctx, leastMemory); err != nil {
		return nil, err
	}
	f = &file{ctx: ctx, memory: &memory{ctx: ctx, taken: leastMemory}}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	f.pool, err = webassembly.Init(webassembly.Config{
		Context: experimental.WithMemoryAllocator(ctx, f.memory), MaxTotal: 1, FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: io.Discard,
		RuntimeConfig: wazero.NewRuntimeConfig().WithCompilationCache(cache()).WithMemoryLimitPages(maxMemory).WithCloseOnContextDone(true).
			WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling),
	})
	if err != nil {
		return f, f.explain(fmt.Errorf("start PDFium: %w", err))
	}
	if f.Pdfium, err = f.pool.GetInstance(compiled); err != nil {
		return f, f.explain(fmt.Errorf("start PDFium: %w", err))
	}
	opened, err := f.OpenDocument(&requests.OpenDocument{FileReader: io.NewSectionReader(in, 0, size), FileReaderSize: size})
	if err != nil {
		return f, f.explain(err)
	}
	f.doc = opened.Document
	count, err := f.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: f.doc})
	if err != nil {
		return f, f.explain(err)
	}
	if f.pages = count.PageCount; f.pages > maxPages {
		return f, document.TooLarge("the PDF has %d pages, at most %d are allowed: divide it", f.pages, maxPages)
	}
	return f, nil
}

// objectsIn is about how many objects a file has: those that stand in it, and those in streams of objects.
func objectsIn(in io.ReaderAt, size int64) (n int, err error) {
	part := make([]byte, 64<<10)
	for at := int64(0); at < size; {
		read, err := in.ReadAt(part[:min(int64(len(part)), size-at)], at)
		if read == 0 && err != nil {
			return n, err
		}
		n += bytes.Count(part[:read], []byte(" obj")) + usualStream*bytes.Count(part[:read], []byte("/ObjStm"))
		at += int64(read)
	}
	return n, nil
}

// usualStream is how many objects programs put into a stream of objects.
const usualStream = 100

// close ends PDFium, and gives its memory back.
func (f *file) close() {
	if f.Pdfium != nil {
		_ = f.Pdfium.Close() // its memory goes anyway
	}
	if f.pool != nil {
		_ = f.pool.Close()
	}
	f.memory.Free()
}

// explain says what an error of PDFium means: ctx has ended, there is no more memory, or the document is not as it should be.
func (f *file) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case f.ctx.Err() != nil:
		return f.ctx.Err()
	case f.memory.err != nil:
		return f.memory.err
	case errors.Is(err, pdfium_errors.ErrPassword), errors.Is(err, pdfium_errors.ErrSecurity):
		return document.Refuse(err, "the PDF has a password: save it without one")
	}
	return document.Refuse(err, damaged)
}

const damaged = "the PDF is damaged: open it in a viewer, and print or save it as a PDF again"

// memory is what PDFium has. It implements [experimental.MemoryAllocator] and [experimental.LinearMemory].
type memory struct {
	ctx   context.Context
	bytes []byte
	taken int64
	err   error // of what was not given
}

// Allocate implements [experimental.MemoryAllocator].
func (m *memory) Allocate(_, _ uint64) experimental.LinearMemory { return m }

// Reallocate implements [experimental.LinearMemory]. Without room it returns nil, and PDFium gives up.
func (m *memory) Reallocate(size uint64) []byte {
	switch more := int64(size) - m.taken; {
	case size > maxMemory<<16:
		m.err = document.TooLarge("the PDF takes more than %d MiB of memory: divide it, or save it with smaller pictures", maxMemory>>4)
		return nil
	case more > 0:
		if m.err = admission.Take(m.ctx, more); m.err != nil {
			return nil
		}
		m.taken += more
	}
	if size > uint64(len(m.bytes)) {
		grown := make([]byte, size)
		copy(grown, m.bytes)
		m.bytes = grown
	}
	return m.bytes
}

// Free implements [experimental.LinearMemory].
func (m *memory) Free() {
	admission.Give(m.ctx, m.taken)
	m.bytes, m.taken = nil, 0
}
