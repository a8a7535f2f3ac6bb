package server

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/cli"
	"dragoman/app/cli/clitest"
)

const stationText, gareText = "\tWhere is the station?\r\n\r\nI like to read books.\nWhere is the station?", "\tOù est la gare ?\r\n\r\nJ'aime lire des livres.\nOù est la gare ?"

// Texts of documents are translated as lines are.
func TestTranslateDocuments(t *testing.T) {
	root := clitest.Folder(t, map[string]string{"a.txt": stationText, "in/b.txt": "Where is the station?", "in/deep/C.TXT": "12\n", "in/photo.jpg": "x"})
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	run := func(args ...string) result {
		return execute(t, "", environment(), append([]string{"translate", "--from", "auto", "--to", "fr"}, args...)...)
	}
	r := run(at("a.txt"), "-o", at("new/gare.txt"))
	require.Equal(t, cli.ExitOK, r.code, r.stderr)
	assert.Empty(t, r.stdout+r.stderr)
	r = run(at("in"), "-o", at("in/fr"))
	require.Equal(t, cli.ExitOK, r.code, r.stderr)
	r = run(at("a.txt"), at("in/b.txt"), "--output", at("both"))
	require.Equal(t, cli.ExitOK, r.code, r.stderr)
	r = run(at("in"), "-o", at("in/fr"))
	assert.Equal(t, cli.ExitError, r.code)
	assert.Contains(t, r.stderr, "is there already: name another file, or replace it by --force")
	r = run(at("in"), "-o", at("in/fr"), "--force") // existing files in the target folder are not translated
	require.Equal(t, cli.ExitOK, r.code, r.stderr)
	gare := "Où est la gare ?"
	assert.Equal(t, map[string]string{
		"a.txt": stationText, "in/b.txt": "Where is the station?", "in/deep/C.TXT": "12\n", "in/photo.jpg": "x",
		"new/gare.txt": gareText, "in/fr/b.txt": gare, "in/fr/deep/C.TXT": "12\n", "both/a.txt": gareText, "both/b.txt": gare,
	}, clitest.Contents(t, root))
	info, err := os.Stat(at("new/gare.txt"))
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o640), info.Mode().Perm(), "as the document has them")
}

// A PDF becomes a page or a text, and its file in a folder gets that extension.
func TestTranslatePDFsAs(t *testing.T) {
	file, err := os.ReadFile("../document/pdf/testdata/columns.pdf")
	require.NoError(t, err)
	root := clitest.Folder(t, map[string]string{"in/columns.PDF": string(file)})
	for as, start := range map[string]string{"html": "<!DOCTYPE html>", "txt": ""} {
		for name, args := range map[string][]string{
			"out/columns." + as: {filepath.Join(root, "in"), "-o", filepath.Join(root, "out")},
			"alone":             {filepath.Join(root, "in/columns.PDF"), "-o", filepath.Join(root, "alone"), "--force"},
		} {
			r := execute(t, "", environment(), append([]string{"translate", "--from", "en", "--to", "fr", "--as", as}, args...)...)
			require.Equal(t, cli.ExitOK, r.code, r.stderr)
			content := clitest.Contents(t, root)[name]
			assert.True(t, strings.HasPrefix(content, start), "%.40q", content)
			assert.NotContains(t, content, "%PDF")
			assert.NotEmpty(t, content)
		}
	}
}

func TestTranslateDocumentsFails(t *testing.T) {
	root := clitest.Folder(t, map[string]string{"a.txt": "One.", "b.txt": "Two.", "in/a.txt": "Three.", "empty.txt": "", "a.pdf": "\x89PNG", "none/photo.jpg": "x"})
	before := clitest.Contents(t, root)
	at := func(name string) string { return filepath.Join(root, name) }
	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no output":      {[]string{at("a.txt")}, cli.ExitUsage, "a.txt is a document: name a file for its translation by -o"},
		"no input":       {[]string{"-o", at("x.txt")}, cli.ExitUsage, "say by --format what the document of standard input is"},
		"force alone":    {[]string{"--force", "text"}, cli.ExitUsage, "--force, --columns, --header, --also, --wrapped and --as only with -o"},
		"columns alone":  {[]string{"--columns", "1", "text"}, cli.ExitUsage, "--force, --columns, --header, --also, --wrapped and --as only with -o"},
		"sheets":         {[]string{"--also", "alt,sheets", "-o", at("x.txt"), at("a.txt")}, cli.ExitUsage, "--also \"alt,sheets\": use alt, headers"},
		"as alone":       {[]string{"--as", "html", "text"}, cli.ExitUsage, "--wrapped and --as only with -o"},
		"as what":        {[]string{"--as", "docx", "-o", at("x.html"), at("a.pdf")}, cli.ExitUsage, "--as \"docx\": use html or txt"},
		"as, no PDF":     {[]string{"--as", "html", "-o", at("out"), at("a.pdf"), at("a.txt")}, cli.ExitUsage, "for PDFs, which " + at("a.txt") + " is not"},
		"lines":          {[]string{"--file", at("a.txt"), "-o", at("x.txt"), at("a.txt")}, cli.ExitUsage, "not both"},
		"missing":        {[]string{at("nope.txt"), "-o", at("x.txt")}, cli.ExitError, "no such file"},
		"itself":         {[]string{at("a.txt"), "-o", at("a.txt"), "--force"}, cli.ExitError, "would take its place"},
		"its folder":     {[]string{at("a.txt"), "-o", root, "--force"}, cli.ExitError, "would take its place"},
		"there":          {[]string{at("a.txt"), "-o", at("b.txt")}, cli.ExitError, "b.txt is there already"},
		"two of a name":  {[]string{at("a.txt"), at("in/a.txt"), "-o", at("out")}, cli.ExitError, "are both"},
		"empty":          {[]string{at("empty.txt"), "-o", at("x.txt")}, cli.ExitError, "empty.txt: the document is empty"},
		"no PDF":         {[]string{at("a.pdf"), "-o", at("x.pdf")}, cli.ExitError, "a.pdf: the file is a picture"},
		"nothing there":  {[]string{at("none"), "-o", at("x")}, cli.ExitError, "there is no document in"},
		"language":       {[]string{at("a.txt"), "-o", at("x.txt"), "--to", "xx"}, cli.ExitUsage, "use one of"},
		"through a file": {[]string{at("a.txt"), "-o", at("b.txt/x.txt")}, cli.ExitError, "not a directory"},
	} {
		r := execute(t, "", environment(), append([]string{"translate", "--from", "en", "--to", "fr"}, test.args...)...)
		assert.Equal(t, test.code, r.code, "%s: %s", name, r.stderr)
		assert.Contains(t, r.stderr, test.want, name)
		assert.Equal(t, before, clitest.Contents(t, root), name)
	}
}
