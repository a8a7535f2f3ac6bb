package openapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

// file is something to serve, compressed or as it is. It does not change.
type file struct {
	contentType string
	body        []byte // nil: what is in packed
	packed      []byte // in gzip; nil for none
	tag         string // stands for exactly these bytes
}

// newFile makes a file, and compresses it.
func newFile(contentType string, body []byte) (*file, error) {
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
	f := &file{contentType: contentType, body: body, tag: tagOf(body)}
	if packed.Len() < len(body) {
		f.packed = packed.Bytes()
	}
	return f, nil
}

// newPackedFile makes a file of which there is only the compressed form.
func newPackedFile(contentType string, packed []byte) *file {
	return &file{contentType: contentType, packed: packed, tag: tagOf(packed)}
}

func tagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:16])
}

// serve answers GET and HEAD, conditional and range requests included. Caches ask each time
// whether the file has changed, as it does when another version of the service starts.
func (f *file) serve(c *gin.Context) {
	h := c.Writer.Header()
	tag, body := f.tag, f.body
	if f.packed != nil {
		h.Add("Vary", "Accept-Encoding")
		if acceptsGzip(c.Request.Header) {
			h.Set("Content-Encoding", "gzip")
			tag, body = f.tag+"-gzip", f.packed
		}
	}
	if body == nil {
		var err error
		if body, err = unpack(f.packed); err != nil {
			_ = c.AbortWithError(http.StatusInternalServerError, err)
			return
		}
	}
	h.Set("Content-Type", f.contentType)
	h.Set("ETag", `"`+tag+`"`)
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(c.Writer, c.Request, "", time.Time{}, bytes.NewReader(body))
}

// unpack returns what is compressed. Few clients need it, so that it is not kept.
func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("a file in the binary: %w", err)
	}
	return io.ReadAll(r)
}

// acceptsGzip says whether a request takes answers in gzip (RFC 9110, section 12.5.3).
func acceptsGzip(h http.Header) bool {
	for member := range strings.SplitSeq(h.Get("Accept-Encoding"), ",") {
		name, params, _ := strings.Cut(strings.ReplaceAll(member, " ", ""), ";")
		if !strings.EqualFold(name, "gzip") {
			continue
		}
		q, weighted := strings.CutPrefix(strings.ToLower(params), "q=")
		weight, err := strconv.ParseFloat(q, 64)
		return !weighted || err == nil && weight > 0
	}
	return false
}
