package webpage

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"time"
)

// resource is a file as it is sent.
type resource struct {
	contentType string
	plain       representation
	gzip        representation // without a body where it would save too little
}

// representation is one encoding of a resource, with the strong entity tag that
// stands for exactly these bytes.
type representation struct {
	body []byte
	etag string
}

// newResource prepares a file. It fails on kinds of files that the page has none of.
func newResource(name string, body []byte) (*resource, error) {
	contentType, ok := contentTypeOf(name)
	if !ok {
		return nil, fmt.Errorf("%s: no content type is known for files like this", name)
	}
	r := &resource{contentType: contentType, plain: represent(body)}
	packed, err := compress(body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(packed) < len(body)*9/10 {
		r.gzip = represent(packed)
	}
	return r, nil
}

// contentTypeOf is a table of our own: that of package mime depends on the machine.
func contentTypeOf(name string) (contentType string, ok bool) {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8", true
	case ".css":
		return "text/css; charset=utf-8", true
	case ".js":
		return "text/javascript; charset=utf-8", true
	case ".svg":
		return "image/svg+xml", true
	}
	return "", false
}

func represent(body []byte) representation {
	sum := sha256.Sum256(body)
	return representation{body: body, etag: `"` + hex.EncodeToString(sum[:16]) + `"`}
}

func compress(body []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// serve answers GET and HEAD, conditional and range requests included.
func (r *resource) serve(w http.ResponseWriter, req *http.Request) {
	h := w.Header()
	h.Set("Content-Type", r.contentType)
	chosen := r.plain
	if r.gzip.body != nil {
		h.Add("Vary", "Accept-Encoding")
		if acceptsGzip(req) {
			h.Set("Content-Encoding", "gzip")
			chosen = r.gzip
		}
	}
	h.Set("ETag", chosen.etag)
	http.ServeContent(w, req, "", time.Time{}, bytes.NewReader(chosen.body))
}
