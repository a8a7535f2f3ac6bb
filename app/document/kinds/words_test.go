package kinds_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
	"dragoman/app/document/archive/archivetest"
	"dragoman/app/fault/faulttest"
)

// Errors about damaged documents need no knowledge of Go: documents of all kinds that are cut off, have a changed byte, or are
// of another kind.
func TestRefusalsNameNoGo(t *testing.T) {
	places, least, refused := 40, 10_000, 0 // offsets of the damage, each in nine ways
	if testing.Short() {
		places, least = 8, 2_000
	}
	each(func(k *document.Kind, unit string, file func(t testing.TB, size int) []byte) {
		if k.Name == "pdf" {
			return // each starts a program, with constant errors
		}
		whole := file(t, 64)
		damaged := [][]byte{nil, []byte("{"), []byte("<a"), []byte("<?xml version='1.0' encoding='x-none'?><a/>"), []byte("\xff\xfea\x00b"), append(slices.Clone(whole), `<]}"`...)}
		for at := 1; at < len(whole); at += 1 + len(whole)/places {
			damaged = append(damaged, whole[:at])
			for _, b := range []byte{0, '<', '&', '"', '{', ']', '\\', 0xff} {
				other := slices.Clone(whole)
				other[at] = b
				damaged = append(damaged, other)
			}
		}
		for _, raw := range damaged {
			_, err := document.Put(t.Context(), io.Discard, k, bytes.NewReader(raw), int64(len(raw)), document.Options{To: "fr"}, func(text string) (string, error) { return archivetest.Upper(text), nil })
			if err == nil {
				continue
			}
			known, ok := errors.AsType[*document.Error](err)
			require.True(t, ok, "%s: %q: %v", unit, raw, err)
			refused++
			assert.Empty(t, faulttest.NamesGo(known.Reason), "%s: %s", unit, known.Reason)
		}
	})
	assert.Greater(t, refused, least)
}
