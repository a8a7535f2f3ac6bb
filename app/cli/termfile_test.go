package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/translate"
)

func TestReadTerms(t *testing.T) {
	path := filepath.Join(t.TempDir(), "terms.tsv")
	write := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	write("\ufeffcat\tchat\r\n\n  machine learning \t apprentissage automatique\nIBM\n")
	got, err := readTerms(path)
	require.NoError(t, err)
	assert.Equal(t, []translate.Term{{Source: "cat", Target: "chat"}, {Source: "machine learning", Target: "apprentissage automatique"},
		{Source: "IBM", Target: "IBM"}}, got)

	got, err = readTerms("")
	require.NoError(t, err)
	assert.Empty(t, got)
	_, err = readTerms(path + "x")
	require.ErrorIs(t, err, os.ErrNotExist)
	for text, want := range map[string]string{
		"a\tb\n\nc\td\te":                     "terms.tsv:3 has more than one tab",
		strings.Repeat("x", 1<<17):            "token too long",
		strings.Repeat("a\tb\n", mostTerms+1): "more than 100000 terms",
	} {
		write(text)
		_, err = readTerms(path)
		assert.ErrorContains(t, err, want)
	}
}
