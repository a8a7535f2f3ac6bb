package office

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document/archive/archivetest"
)

// conversions has the format that LibreOffice converts each kind to, so that it reads it in the same way.
var conversions = map[string]string{".docx": "odt", ".odt": "docx", ".pptx": "odp", ".odp": "pptx", ".xlsx": "ods", ".ods": "xlsx"}

// anchor matches an element without text and the spaces around it: a comment may come before or after a space.
var anchor = regexp.MustCompile(`\s*(<[xa] id="\d+"/>)\s*`)

// TestLibreOffice checks translated documents with LibreOffice, if it is installed. LibreOffice converts the original and the
// translation to another format; the texts of the second must be those of the first in upper case.
func TestLibreOffice(t *testing.T) {
	if testing.Short() {
		t.Skip("LibreOffice takes long to start")
	}
	program, err := exec.LookPath("soffice")
	if err != nil {
		t.Skip("soffice is not installed")
	}
	dir := t.TempDir()
	before, after := filepath.Join(dir, "before"), filepath.Join(dir, "after")
	require.NoError(t, os.Mkdir(before, 0o755))
	require.NoError(t, os.Mkdir(after, 0o755))
	files := map[string][]string{} // by target format
	for name, file := range corpus(t) {
		out, err := rewrite(kindOf(t, name), file, upper)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(before, name), file, 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(after, name), out, 0o644))
		to := conversions[filepath.Ext(name)]
		files[to] = append(files[to], name)
	}
	convert := func(folder, to string, names []string) {
		args := []string{"--headless", "-env:UserInstallation=file://" + dir + "/profile", "--convert-to", to, "--outdir", filepath.Join(folder, "converted")}
		for _, name := range names {
			args = append(args, filepath.Join(folder, name))
		}
		output, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
		require.NoError(t, err, string(output))
	}
	for to, names := range files {
		convert(before, to, names)
		convert(after, to, names)
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				converted := name[:len(name)-len(filepath.Ext(name))] + "." + to
				read := func(folder string) []string {
					file, err := os.ReadFile(filepath.Join(folder, "converted", converted))
					require.NoError(t, err, "LibreOffice did not open it")
					return segments(t, kindOf(t, converted), file)
				}
				want, got := read(before), read(after)
				for i, s := range want {
					want[i] = anchor.ReplaceAllString(archivetest.Upper(s), "$1")
				}
				for i, s := range got {
					if got[i] = anchor.ReplaceAllString(s, "$1"); s == "Name" || s == "Tons" || s == "Red boat" {
						got[i] = archivetest.Upper(s) // from a table and a formula, which stay untranslated
					}
				}
				assert.Equal(t, want, got)
			})
		}
	}
}
