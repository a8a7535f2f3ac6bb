package libreoffice

import (
	"archive/zip"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
)

const oldFile = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1..."

// program returns the path of a program in place of soffice, whose last arguments are --outdir, the folder and the document.
func program(t *testing.T, script string) string {
	if _, err := exec.LookPath("timeout"); err != nil {
		t.Skip("timeout is not installed")
	}
	path := filepath.Join(t.TempDir(), "soffice")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+`for arg; do before=$out; out=$folder; folder=$arg; done; to=$(echo "$*" | sed 's/.*--convert-to \([a-z]*\) .*/\1/')`+"\n"+script), 0o755))
	return path
}

func TestOldDocuments(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, c := range []struct {
		name, mediaType, file, script string
		want                          string // the new name, or part of the error
	}{
		{"Letter.DOC", "", oldFile, `cp "$folder" "$out/in.$to"`, "Letter.docx"},
		{"table.xls", "", oldFile, `cp "$folder" "$out/in.$to"`, "table.xlsx"},
		{"", "application/vnd.ms-powerpoint", oldFile, `cp "$folder" "$out/in.$to"`, "document.pptx"},
		{"a.rtf", "", `{\rtf1 a}`, `cp "$folder" "$out/in.$to"`, "a.docx"},
		{"a.doc", "", `{\rtf1 a}`, `cp "$folder" "$out/in.$to"`, "a.docx"},
		{"a.docx", "", oldFile, "exit 1", "a.docx"}, // an encrypted one
		{"a.doc", "", "Hello", "exit 1", "a.doc"},   // refused later
		{"a.rtf", "", oldFile, "exit 1", "a.rtf"},   // the same
		{"a.doc", "", oldFile, "exit 1", "LibreOffice cannot read the document: save it as .docx"},
		{"a.doc", "", oldFile, "", "LibreOffice cannot read the document"},
		{"a.doc", "", oldFile, "exec sleep 60", "did not convert the document in 20ms"},
		{"a.doc", "", oldFile, `head -c 2000 /dev/zero > "$out/in.$to"`, "has 2000 bytes as .docx"},
		{"a.doc", "", oldFile, `head -c 2000000000 /dev/zero > "$out/in.$to"`, "LibreOffice cannot read"}, // its files are limited
	} {
		l, err := New(program(t, c.script))
		require.NoError(t, err)
		if strings.Contains(c.script, "sleep") {
			l.limit = 20 * time.Millisecond
		}
		name, file, err := l.Convert(t.Context(), c.name, c.mediaType, []byte(c.file), 1000)
		if refused := new(document.Error); assert.ErrorAs(t, errOr(err, refused), &refused) && err != nil {
			assert.ErrorContains(t, err, c.want)
			continue
		}
		assert.Equal(t, c.want, name)
		assert.Equal(t, c.file, string(file))
		left, err := filepath.Glob(filepath.Join(os.TempDir(), "dragoman-*"))
		require.NoError(t, err)
		assert.Empty(t, left)
	}
}

func errOr(err error, other error) error {
	if err == nil {
		return other
	}
	return err
}

// One document is converted at a time, and none of a sender who has left.
func TestOldDocumentsAreConvertedInTurn(t *testing.T) {
	l, err := New(program(t, "exit 1"))
	require.NoError(t, err)
	l.turn <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = l.Convert(ctx, "a.doc", "", []byte(oldFile), 1000)
	assert.ErrorIs(t, err, context.Canceled)
	_, err = New(filepath.Join(t.TempDir(), "none"))
	assert.ErrorContains(t, err, "need LibreOffice")
}

// A conversion that cannot start is a fault of the service, not of the document.
func TestConversionThatCannotStart(t *testing.T) {
	l, err := New(program(t, "exit 1"))
	require.NoError(t, err)
	t.Setenv("PATH", t.TempDir())
	_, _, err = l.Convert(t.Context(), "a.doc", "", []byte(oldFile), 1000)
	assert.ErrorIs(t, err, exec.ErrNotFound)
}

// LibreOffice itself converts a document, and reads nothing that it links to.
func TestLibreOffice(t *testing.T) {
	soffice, err := exec.LookPath("soffice")
	if err != nil || testing.Short() {
		t.Skip("LibreOffice is not installed, or takes long to start")
	}
	secret := filepath.Join(t.TempDir(), "secret.txt")
	require.NoError(t, os.WriteFile(secret, []byte("The secret"), 0o644))
	l, err := New(soffice)
	require.NoError(t, err)
	text := `{\rtf1\ansi Good morning{\field{\*\fldinst INCLUDETEXT "` + secret + `"}{\fldrslt here}}}`
	_, file, err := l.Convert(t.Context(), "a.rtf", "", []byte(text), 1<<20)
	require.NoError(t, err)
	r, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	f, err := r.Open("word/document.xml")
	require.NoError(t, err)
	var content bytes.Buffer
	_, err = content.ReadFrom(f)
	require.NoError(t, err)
	assert.Contains(t, content.String(), "Good morning")
	assert.NotContains(t, content.String(), "The secret")
}
