package documents

import (
	"mime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document/kinds"
	"dragoman/app/jobs"
	"dragoman/app/translate"
)

// A document's name is always a plain file name, whatever the client sent.
func TestSafeName(t *testing.T) {
	kind := kinds.All()[0]
	usual := "document" + kind.Extensions[0]
	for name, want := range map[string]string{
		"report.docx": "report.docx", "Grüße 2.txt": "Grüße 2.txt", "日本.txt": "日本.txt",
		"../../etc/passwd": "passwd", `C:\Texte\brief.txt`: "brief.txt", "a/": "a",
		"": usual, ".": usual, "..": usual, "/": usual, "\x00\n": usual, "\xff.txt": "document.txt", ".htaccess": "htaccess",
		".txt": "document.txt", ".TXT": "document.txt", "..text": "document.text", "... .txt": "document.txt", "x/.txt": "document.txt", "\x00.txt": "document.txt",
		".txt.": "document.txt", "...": usual, " ": usual, "a.txt. ": "a.txt", "txt": "txt", "A.TXT": "A.TXT", "a": "a", `\\`: usual, ".a.txt": "a.txt",
		"a\x00b\r\n\"<>|.txt": "ab.txt", "\u202etxt.exe": "txt.exe",
		strings.Repeat("é", 300) + ".txt": strings.Repeat("é", 98) + ".txt",
		"a." + strings.Repeat("x", 300):   usual,
	} {
		got := safeName(name, kind)
		assert.Equal(t, want, got, "%q", name)
		assert.LessOrEqual(t, len(got), longestName)
	}
}

func TestResultName(t *testing.T) {
	for _, test := range [][3]string{
		{"report.docx", "fr", "report.fr.docx"}, {"a.b.txt", "zh-Hans", "a.b.zh-Hans.txt"}, {"README", "fr", "README.fr"}, {"A.TXT", "fr", "A.fr.TXT"}, {safeName(".txt", kinds.All()[0]), "fr", "document.fr.txt"}, {"a.txt", "../x", "a.x.txt"},
	} {
		job := jobs.Job{Document: &jobs.Document{Name: test[0]}, Request: jobs.Request{Request: translate.Request{To: []string{test[1]}}}}
		assert.Equal(t, test[2], ResultName(job))
	}
}

// Clients read the original name; clients limited to ASCII read a similar one.
func TestDisposition(t *testing.T) {
	for _, name := range []string{"report.txt", "a b.txt", "Grüße.txt", "日本 & co; \"x\" 100%.txt", `back\slash.txt`, "it's (1)*.txt"} {
		header := Disposition(name)
		assert.True(t, strings.HasPrefix(header, "attachment; filename="), header)
		assert.NotContains(t, header, "\n")
		assert.True(t, utf8.RuneCountInString(header) == len(header), "ASCII alone: %s", header)
		_, params, err := mime.ParseMediaType(header)
		require.NoError(t, err, header)
		assert.NotEmpty(t, params["filename"])
		if strings.Contains(header, "filename*") {
			assert.Equal(t, name, NameIn(strings.Replace(header, "filename=", "other=", 1)))
		} else {
			assert.Equal(t, name, NameIn(header))
		}
	}
	assert.Empty(t, NameIn(";;"))
}
