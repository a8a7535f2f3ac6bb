package office

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const flatSpaces = ` xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"` +
	` xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"` +
	` xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"`

// A file of flat XML is translated as the parts of a package are.
func TestFlat(t *testing.T) {
	open := `<?xml version="1.0"?><office:document office:mimetype="application/vnd.oasis.opendocument.%"` + flatSpaces + `>`
	for name, c := range map[string][3]string{
		"a.fodt": {"text", `<office:meta><dc:title>one</dc:title></office:meta><office:body><text:p>two <text:s text:c="1"/>three</text:p><office:binary-data>abcd</office:binary-data></office:body>`,
			`<office:meta><dc:title>ONE</dc:title></office:meta><office:body><text:p>TWO <text:s text:c="1"/>THREE</text:p><office:binary-data>abcd</office:binary-data></office:body>`},
		"a.fodp": {"presentation", `<style:master-page><draw:frame presentation:class="title"><text:p>one</text:p></draw:frame></style:master-page><draw:frame presentation:class="title"><text:p>two</text:p></draw:frame>`,
			`<style:master-page><draw:frame presentation:class="title"><text:p>one</text:p></draw:frame></style:master-page><draw:frame presentation:class="title"><text:p>TWO</text:p></draw:frame>`},
		"a.fods": {"spreadsheet", `<table:table-cell><text:p>open</text:p></table:table-cell><table:table-cell><text:p>two</text:p></table:table-cell><table:table-cell table:formula="of:=IF([.A1]=&quot;open&quot;;1;0)"/>`,
			`<table:table-cell><text:p>open</text:p></table:table-cell><table:table-cell><text:p>TWO</text:p></table:table-cell><table:table-cell table:formula="of:=IF([.A1]=&quot;open&quot;;1;0)"/>`},
	} {
		head := strings.Replace(open, "%", c[0], 1)
		file := head + c[1] + "</office:document>"
		out, err := rewrite(kindOf(t, name), []byte(file), same)
		require.NoError(t, err)
		assert.Equal(t, file, string(out))
		out, err = rewrite(kindOf(t, name), []byte(file), upper)
		require.NoError(t, err)
		assert.Equal(t, head+c[2]+"</office:document>", string(out))
	}
	for _, file := range []string{"", "<a/>", strings.Replace(open, "%", "text", 1) + "</office:document>", open[:60]} {
		_, err := rewrite(kindOf(t, "a.fodp"), []byte(file), same)
		require.Error(t, err, file)
	}
}

// LibreOffice writes files of the corpus as flat XML. Their identity holds to the byte, and LibreOffice reads the translated ones.
func TestFlatOfLibreOffice(t *testing.T) {
	program, err := exec.LookPath("soffice")
	if err != nil || testing.Short() {
		t.Skip("LibreOffice is not installed, or takes long to start")
	}
	dir := t.TempDir()
	convert := func(to, folder, file string) []byte {
		output, err := exec.CommandContext(t.Context(), program, "--headless", "-env:UserInstallation=file://"+dir+"/profile", "--convert-to", to, "--outdir", folder, file).CombinedOutput()
		require.NoError(t, err, string(output))
		base := filepath.Base(file)
		converted, err := os.ReadFile(filepath.Join(folder, strings.TrimSuffix(base, filepath.Ext(base))+"."+to))
		require.NoError(t, err, string(output))
		return converted
	}
	for _, name := range []string{"libreoffice-report.odt", "libreoffice-talk.odp", "libreoffice-fleet.ods"} {
		extension := filepath.Ext(name)[1:]
		file := convert("f"+extension, dir, filepath.Join("testdata", name))
		kind := kindOf(t, "a.f"+extension)
		out, err := rewrite(kind, file, same)
		require.NoError(t, err)
		require.Equal(t, string(file), string(out))
		want := segments(t, kind, file)
		out, err = rewrite(kind, file, upper)
		require.NoError(t, err)
		translated := filepath.Join(dir, "translated.f"+extension)
		require.NoError(t, os.WriteFile(translated, out, 0o644))
		got := segments(t, kindOf(t, name), convert(extension, filepath.Join(dir, "back"), translated))
		require.NotEmpty(t, want)
		assert.GreaterOrEqual(t, len(got), len(want)*9/10, "%s: %q %q", name, want, got)
	}
}
