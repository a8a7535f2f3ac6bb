// Package archivetest has helpers for tests of documents in archives.
package archivetest

import (
	"archive/zip"
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Entry is an entry of an archive.
type Entry struct{ Name, Content string }

// Zip returns an archive of entries.
func Zip(t testing.TB, entries ...Entry) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range entries {
		method := zip.Deflate
		if e.Name == "mimetype" {
			method = zip.Store
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: e.Name, Method: method})
		require.NoError(t, err)
		_, err = io.WriteString(f, e.Content)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// Entries reads all entries of an archive.
func Entries(t testing.TB, archive []byte) []Entry {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	require.NoError(t, err)
	var entries []Entry
	for _, f := range r.File {
		in, err := f.Open()
		require.NoError(t, err)
		content, err := io.ReadAll(in)
		require.NoError(t, err, f.Name)
		entries = append(entries, Entry{f.Name, string(content)})
	}
	return entries
}

var tagOrReference = regexp.MustCompile(`<[^>]*>|&[#\w]+;`)

// Upper returns a text in upper case except its tags and references: a readable translation for tests.
func Upper(text string) string {
	var out strings.Builder
	at := 0
	for _, m := range tagOrReference.FindAllStringIndex(text, -1) {
		out.WriteString(strings.ToUpper(text[at:m[0]]) + text[m[0]:m[1]])
		at = m[1]
	}
	return out.String() + strings.ToUpper(text[at:])
}
