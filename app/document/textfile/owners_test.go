package textfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
)

// owner runs a program on a file with the given text, and returns what it writes. The test is skipped without the program.
func owner(t *testing.T, file, text, program string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skip("there is no " + program)
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
	command := exec.CommandContext(t.Context(), path, args...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s\n%s", out, text)
	return string(out)
}

// gettext accepts a translated template, and selects the right form for each number.
func TestGettextSelectsForms(t *testing.T) {
	const template = "msgid \"\"\nmsgstr \"\"\n\"Project-Id-Version: x\\n\"\n\"Report-Msgid-Bugs-To: \\n\"\n\"POT-Creation-Date: 2024-01-01 00:00+0000\\n\"\n\"PO-Revision-Date: 2024-01-01 00:00+0000\\n\"\n\"Last-Translator: x\\n\"\n\"Language-Team: x\\n\"\n\"Language: \\n\"\n\"MIME-Version: 1.0\\n\"\n\"Content-Type: text/plain; charset=CHARSET\\n\"\n\"Content-Transfer-Encoding: 8bit\\n\"\n\"Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\\n\"\n\n#, c-format\nmsgid \"one file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n"
	const ask = "import gettext,subprocess\n" +
		"subprocess.run(['msgfmt','-c','-o','a.mo','a.po'],check=True)\n" +
		"t=gettext.GNUTranslations(open('a.mo','rb'))\n" +
		"print(*['n' if '%d' in t.ngettext('one file','%d files',n) else '1' for n in (0,1,2,5,11,21,101)],sep='')"
	if _, err := exec.LookPath("msgfmt"); err != nil {
		t.Skip("there is no msgfmt")
	}
	for to, want := range map[string]string{"de": "n1nnnnn", "ru": "nnnnnnn", "ja": "nnnnnnn", "cs": "n1nnnnn", "fr": "nnnnnnn", "ar": "n1nnnnn", "pl": "n1nnnnn", "lv": "nnnnnnn", "zh-Hans": "nnnnnnn"} {
		got, err := rewritten(t, kindNamed(t, "po"), template, document.Options{To: to}, func(text string) string { return text + "!" })
		require.NoError(t, err)
		assert.Equal(t, want+"\n", owner(t, "a.po", got, "python3", "-c", ask), to)
	}
}

// lrelease accepts a translated file with as many forms as the language has.
func TestQtAcceptsForms(t *testing.T) {
	const source = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!DOCTYPE TS>\n<TS version=\"2.1\" sourcelanguage=\"en\"><context><name>M</name><message numerus=\"yes\"><source>%n file(s)</source><translation type=\"unfinished\"><numerusform></numerusform></translation></message></context></TS>\n"
	for _, to := range []string{"de", "fr", "ja", "ru", "ar", "lv", "ga", "cy", "mk", "sl"} {
		got, err := rewritten(t, kindNamed(t, "ts"), source, document.Options{To: to}, func(text string) string { return text + "!" })
		require.NoError(t, err)
		said := owner(t, "a.ts", got, "/usr/lib/qt6/bin/lrelease", "a.ts", "-qm", "a.qm")
		assert.NotContains(t, said, "Warning", to)
		assert.NotContains(t, said, "Removed plural forms", to)
		assert.Contains(t, said, "Generated 1 translation", to)
	}
}
