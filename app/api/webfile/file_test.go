package webfile

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// get requests a file; accept is the header Accept-Encoding.
func get(f *File, accept string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Accept-Encoding", accept)
	f.Serve(w, r)
	return w
}

func TestServe(t *testing.T) {
	body := bytes.Repeat([]byte("text "), 1000)
	packed := compress(body)
	for name, f := range map[string]*File{"both": New("text/plain", body), "only packed": NewPacked("text/plain", packed)} {
		plain := get(f, "br")
		assert.Equal(t, 200, plain.Code, name)
		assert.Equal(t, body, plain.Body.Bytes(), name)
		assert.Empty(t, plain.Header().Get("Content-Encoding"), name)
		assert.Equal(t, "Accept-Encoding", plain.Header().Get("Vary"), name)
		assert.Equal(t, "text/plain", plain.Header().Get("Content-Type"), name)
		assert.Equal(t, "nosniff", plain.Header().Get("X-Content-Type-Options"), name)

		sent := get(f, "gzip")
		assert.Equal(t, "gzip", sent.Header().Get("Content-Encoding"), name)
		assert.Less(t, sent.Body.Len(), len(body)/10, name)
		assert.NotEqual(t, plain.Header().Get("ETag"), sent.Header().Get("ETag"), "other bytes have another strong tag")
		r, err := gzip.NewReader(sent.Body)
		require.NoError(t, err)
		unpacked, err := io.ReadAll(r)
		require.NoError(t, err)
		assert.Equal(t, body, unpacked, name)
	}
}

func TestSmallFilesAreNotCompressed(t *testing.T) {
	w := get(New("image/svg+xml", []byte("<svg/>")), "gzip")
	assert.Equal(t, "<svg/>", w.Body.String())
	assert.Empty(t, w.Header().Get("Content-Encoding"))
	assert.Empty(t, w.Header().Get("Vary"), "there is one encoding only")
}

func TestPackedFileThatIsNone(t *testing.T) {
	f := NewPacked("text/plain", []byte("plain"))
	answer := get(f, "")
	assert.Equal(t, 500, answer.Code)
	assert.Contains(t, answer.Body.String(), "a file in the binary")
}

// Compression is deterministic. Otherwise replicas would have different entity tags.
func TestCompressIsDeterministic(t *testing.T) {
	body := bytes.Repeat([]byte("text "), 1000)
	assert.Equal(t, compress(body), compress(body))
}
