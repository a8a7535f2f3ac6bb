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

// Whatever a document has, its context is looked at all the way through it: for a sender who has left, or a job that was
// cancelled, nothing goes on, and no document that ends in the middle passes for a whole one.
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

// isOwn says whether a unit is for its kind: those for all kinds of text are tried on two.
func isOwn(k *document.Kind, unit string) bool {
	return k.Name == "txt" || k.Name == "html" || slices.ContainsFunc(hostile[k.Name], func(own [3]string) bool {
		return strings.HasSuffix(unit, fmt.Sprintf(" of %q", own[1]))
	})
}
