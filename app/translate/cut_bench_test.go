package translate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkCut cuts a page of 3000 characters, as each request of a live session does once.
func BenchmarkCut(b *testing.B) {
	cfg := config(runes{}, &upper{})
	cfg.MaxChars = 10_000
	s := cfg.start(b)
	text := strings.Repeat("Where is the station? It is **not far** from here, at 7:30.\n\n", 50)
	req := Request{From: "en", To: []string{"fr"}, Records: []Record{{Text: text}}}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		_, err := s.Cut(b.Context(), req)
		require.NoError(b, err)
	}
}
