package excerpt

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOf(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{strings.Repeat("日", 100), strings.Repeat("日", 100)},
		{strings.Repeat("日", 101), strings.Repeat("日", 100) + "…"},
		{strings.Repeat("\xff", 101), strings.Repeat("\xff", 100) + "…"},
	} {
		assert.Equal(t, test.want, Of(test.text))
	}
	assert.Equal(t, `"a\nb"`, Quote("a\nb"))
}

func TestAddress(t *testing.T) {
	for _, test := range []struct{ address, want string }{
		{"https://user:secret@host/path?token=x#y", "https://host/path"},
		{"/models/m2m100", "/models/m2m100"},
		{"owner/name", "owner/name"},
		{"https://[", "https://["},
	} {
		assert.Equal(t, test.want, Address(test.address))
	}
}
