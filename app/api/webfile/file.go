// Package webfile serves embedded files, compressed for requests that accept it, with entity tags of exactly the bytes sent.
package webfile

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// File is a file with its encodings. It is safe for concurrent use.
type File struct {
	contentType string
	// forms hashes and compresses the file at its first request, because that takes more time and memory than most services can
	// spare at their start.
	forms func() forms
}

// forms are the encodings of a file.
type forms struct {
	plain representation // without a body if only gzip is kept
	gzip  representation // without a body if compression saves too little
}

// representation is one encoding of a file, with the strong entity tag of exactly these bytes.
type representation struct {
	body []byte
	etag string
}

// New returns a file that is sent compressed if that saves at least a tenth. The file keeps body.
func New(contentType string, body []byte) *File {
	return &File{contentType, sync.OnceValue(func() forms {
		f := forms{plain: represent(body)}
		if packed := compress(body); len(packed) < len(body)*9/10 {
			f.gzip = represent(packed)
		}
		return f
	})}
}

// NewPacked returns a file of which only the gzip form is kept, as in some libraries. For the rare request that does not accept
// gzip, the file is unpacked each time.
func NewPacked(contentType string, packed []byte) *File {
	return &File{contentType, sync.OnceValue(func() forms {
		f := forms{gzip: represent(packed)}
		f.plain.etag = `"plain-` + f.gzip.etag[1:]
		return f
	})}
}

// Serve answers GET and HEAD, including conditional and range requests. The caller sets the cache lifetime of the answer.
func (f *File) Serve(w http.ResponseWriter, r *http.Request) {
	h, forms := w.Header(), f.forms()
	chosen := forms.plain
	if forms.gzip.body != nil {
		h.Add("Vary", "Accept-Encoding")
		if acceptsGzip(r) {
			h.Set("Content-Encoding", "gzip")
			chosen = forms.gzip
		} else if chosen.body == nil {
			var err error
			if chosen.body, err = unpack(forms.gzip.body); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
	}
	h.Set("Content-Type", f.contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("ETag", chosen.etag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(chosen.body))
}

func represent(body []byte) representation {
	sum := sha256.Sum256(body)
	return representation{body: body, etag: `"` + hex.EncodeToString(sum[:16]) + `"`}
}

// compress cannot fail: the level is valid, and a buffer accepts all writes.
func compress(body []byte) []byte {
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	_, _ = w.Write(body)
	_ = w.Close()
	return packed.Bytes()
}

func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("a file in the binary: %w", err)
	}
	return io.ReadAll(r)
}
