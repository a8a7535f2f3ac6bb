package textfile

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/app/document"
)

// Errors of the translator and of the context end the pass.
func TestErrorsOfCallers(t *testing.T) {
	wrong := fmt.Errorf("no model: %w", io.ErrUnexpectedEOF)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for file, text := range corpus(t) {
		kind := kindOf(t, file)
		o := document.Options{To: "fr"}
		err := kind.Rewrite(t.Context(), io.Discard, strings.NewReader(text), int64(len(text)), o,
			func(string) (string, error) { return "", wrong })
		require.Equal(t, wrong, err, file)
		err = kind.Rewrite(done, io.Discard, strings.NewReader(text), int64(len(text)), o,
			func(text string) (string, error) { return text, nil })
		require.ErrorIs(t, err, context.Canceled, file)
		err = kind.Rewrite(t.Context(), full{}, strings.NewReader(text), int64(len(text)), o,
			func(text string) (string, error) { return text, nil })
		require.ErrorIs(t, err, io.ErrShortWrite, file)
		err = kind.Rewrite(t.Context(), io.Discard, strings.NewReader(text), int64(len(text))+1, o,
			func(text string) (string, error) { return text, nil })
		require.ErrorIs(t, err, io.EOF, file)
	}
}

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
