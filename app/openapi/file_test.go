package openapi

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAcceptsGzip(t *testing.T) {
	for accept, want := range map[string]bool{
		"gzip, deflate, br, zstd": true, "gzip": true, "GZIP": true, "deflate, gzip;q=0.5": true, "gzip; q=1": true,
		"": false, "identity": false, "br": false, "gzip;q=0": false, "gzip;q=0.000, br": false, "gzipped": false, "gzip;q=x": false,
	} {
		assert.Equal(t, want, acceptsGzip(http.Header{"Accept-Encoding": {accept}}), accept)
	}
	assert.False(t, acceptsGzip(nil))
}

func TestUnpackWhatIsNotPacked(t *testing.T) {
	_, err := unpack([]byte("plain"))
	assert.ErrorContains(t, err, "a file in the binary")
}
