package kinds_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/document"
	"dragoman/app/document/archive/archivetest"
	"dragoman/app/text/lineartest"
)

// Both passes over any document check their context throughout: after a client has left or a job was cancelled, work stops, and
// no partial document passes for a complete one.
func TestDocumentsLookAtTheirContext(t *testing.T) {
	const size = 1 << 14
	read := 0
	each(func(k *document.Kind, unit string, file func(t testing.TB, size int) []byte) {
		if !isOwn(k, unit) {
			return
		}
		content := file(t, size)
		put := func(ctx context.Context) error {
			_, err := document.Put(ctx, io.Discard, k, bytes.NewReader(content), int64(len(content)), document.Options{To: "fr"},
				func(text string) (string, error) { return archivetest.Upper(text), nil })
			return err
		}
		if _, refused := errors.AsType[*document.Error](put(t.Context())); !refused {
			read++
			lineartest.AssertLooks(t, unit, size, put)
		}
	})
	assert.Greater(t, read, 150)
}

// isOwn reports whether a unit was written for its kind. Units for all kinds of text are tried with two kinds.
func isOwn(k *document.Kind, unit string) bool {
	return k.Name == "txt" || k.Name == "html" || slices.ContainsFunc(hostile[k.Name], func(own [3]string) bool {
		return strings.HasSuffix(unit, fmt.Sprintf(" of %q", own[1]))
	})
}
