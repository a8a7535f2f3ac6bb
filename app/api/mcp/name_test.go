package mcp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The name of a translated file has no folders, whatever name the client sent.
func TestNamesOfResults(t *testing.T) {
	for name, want := range map[string]string{
		"letter.docx": "letter.fr.docx", "../../etc/passwd": "passwd.fr", "/a/b.txt": "b.fr.txt", `C:\dir\b.md`: "b.fr.md", "..": "document.fr", "": "document.fr",
		".txt": "txt.fr", "a/": "a.fr", "a\n\x00b.txt": "ab.fr.txt", "über.txt": "über.fr.txt", `..\..`: "document.fr", "a/../../..": "document.fr",
	} {
		got := resultName(name, "fr")
		assert.Equal(t, want, got, "%q", name)
		assert.False(t, strings.ContainsAny(got, `/\`), got)
	}
	assert.Equal(t, "a.x.txt", resultName("a.txt", "../x"))
}
