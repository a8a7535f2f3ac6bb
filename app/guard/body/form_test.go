package body

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseForm(t *testing.T) {
	const boundary = "x"
	part := func(disposition, more, content string) string {
		return "--x\r\nContent-Disposition: form-data; " + disposition + "\r\n" + more + "\r\n" + content + "\r\n"
	}
	raw := part(`name="a"`, "", "1") + part(`name="a"`, "", "2") +
		part(`name="file"; filename="C/D/é.txt"`, "Content-Type: text/plain\r\n", "one\r\ntwo\n") +
		part(`name="other"; filename*=UTF-8''%e2%82%ac.bin`, "", "\x00\xff") + "--x--\r\n"
	form, err := ParseForm([]byte(raw), boundary)
	require.NoError(t, err)
	assert.Equal(t, []string{"1", "2"}, form.Values["a"])
	assert.Equal(t, []File{
		{"file", "é.txt", "text/plain", []byte("one\r\ntwo\n")},
		{"other", "€.bin", "", []byte("\x00\xff")},
	}, form.Files)

	const broken = "the form could not be read"
	for name, test := range map[string]struct{ raw, boundary, want string }{
		"no boundary":  {raw, "", "without a boundary"},
		"another one":  {raw, "y", broken},
		"empty":        {"", boundary, broken},
		"cut off":      {raw[:len(raw)-20], boundary, broken},
		"no header":    {"--x\r\nname=a--x--", boundary, broken},
		"many parts":   {strings.Repeat(part(`name="a"`, "", ""), mostParts+1) + "--x--\r\n", boundary, fmt.Sprintf("more than %d parts", mostParts)},
		"long headers": {"--x\r\n" + strings.Repeat("a: b\r\n", 1<<20) + "--x--", boundary, broken},
	} {
		_, err := ParseForm([]byte(test.raw), test.boundary)
		assert.ErrorContains(t, err, test.want, name)
	}
}
