package xmlpart_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/document/xmlpart"
)

// An attribute keeps its place, or becomes the last one. What looks like one in a value is none.
func TestSetAttribute(t *testing.T) {
	for tag, want := range map[string]string{
		`<a>`:                     `<a b="&lt;&quot;&amp;>">`,
		"<x:a c='1' \n/>":         "<x:a c='1' b=\"&lt;&quot;&amp;>\" \n/>",
		`<a b = 'x' c="2"/>`:      `<a b = "&lt;&quot;&amp;>" c="2"/>`,
		`<a c=' b="1"' x:b="2"/>`: `<a c=' b="1"' x:b="2" b="&lt;&quot;&amp;>"/>`,
	} {
		assert.Equal(t, want, xmlpart.SetAttribute(tag, "b", `<"&>`))
	}
	assert.Equal(t, "x:", xmlpart.PrefixOf("<x:a>"))
	assert.Equal(t, "a", xmlpart.NameOf("<a/>"))
}
