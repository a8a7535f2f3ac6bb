package textfile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
	"dragoman/app/text/markup"
)

// Line ends count where xml:space says so.
func TestPreservedLines(t *testing.T) {
	const text = `<xliff version="1.2"><file source-language="en" xml:space="preserve"><trans-unit id="1"><source> one
  <g id="1">two</g>
three </source></trans-unit><trans-unit id="2" xml:space="default"><source>four
  five</source></trans-unit></file></xliff>`
	got, err := segments(t, kindNamed(t, "xliff"), text, document.Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{`one<br/><g id="1">two</g><br/>three`, "four\n  five"}, got)
	out, err := rewritten(t, kindNamed(t, "xliff"), text, document.Options{}, func(text string) string { return strings.ReplaceAll(text, "t", "d") })
	require.NoError(t, err)
	assert.Contains(t, out, "needs-review-translation\"> one\n  <g id=\"1\">dwo</g>\ndhree </target>")
}

// XLIFF of CAT tools: sentences of Trados Studio, tags of Phrase, locked units of memoQ.
func TestXLIFFOfTools(t *testing.T) {
	unit := func(text string) string {
		return `<xliff version="1.2" xmlns:m="a"><file><body><trans-unit id="1"` + text + `</trans-unit></body></file></xliff>`
	}
	_, err := rewritten(t, kindNamed(t, "xliff"), `<xliff version="1.2"><file target-language="fr"><trans-unit id="1"><source>a</source><seg-source><mrk mtype="seg" mid="1">a</mrk></seg-source><target><mrk mtype="seg" mid="1"/> <mrk mtype="seg" mid="2"></mrk></target></trans-unit></file></xliff>`, document.Options{To: "de"}, upper(markup.XML))
	require.NoError(t, err)
	for name, c := range map[string][2]string{
		"sentences": {`><source>one. two.</source><seg-source><mrk mtype="seg" mid="1">one.</mrk> <mrk mtype="seg" mid="2">two.</mrk></seg-source><target><mrk mtype="seg" mid="1">eins.</mrk> <mrk mtype="seg" mid="2"/></target>`,
			`><source>one. two.</source><seg-source><mrk mtype="seg" mid="1">one.</mrk> <mrk mtype="seg" mid="2">two.</mrk></seg-source><target><mrk mtype="seg" mid="1">eins.</mrk> <mrk mtype="seg" mid="2">TWO.</mrk></target>`},
		"sentences without a target": {`><source>one.</source><seg-source><mrk mtype="seg" mid="1">one.</mrk></seg-source>`,
			`><source>one.</source><seg-source><mrk mtype="seg" mid="1">one.</mrk></seg-source><target><mrk mtype="seg" mid="1">ONE.</mrk></target>`},
		"all translated":            {`><source>a</source><seg-source><mrk mtype="seg" mid="1">a</mrk></seg-source><target><mrk mtype="seg" mid="1">b</mrk></target>`, ""},
		"tags of Phrase, unescaped": {`><source>a {b>bold {1} c&lt;b} d</source><target></target>`, `><source>a {b>bold {1} c&lt;b} d</source><target>A {b&gt;BOLD {1} C&lt;b} D</target>`},
		"tags of Phrase":            {`><source>a {b&gt;bold {1} c&lt;b} d</source><target></target>`, `><source>a {b&gt;bold {1} c&lt;b} d</source><target>A {b&gt;BOLD {1} C&lt;b} D</target>`},
		"locked":                    {` m:locked="true"><source>a</source><target></target>`, ""},
	} {
		kind := kindNamed(t, "xliff")
		same, err := rewritten(t, kind, unit(c[0]), document.Options{}, func(text string) string { return text })
		require.NoError(t, err)
		assert.Equal(t, unit(c[0]), same, name)
		if c[1] == "" {
			c[1] = c[0]
		}
		got, err := rewritten(t, kind, unit(c[0]), document.Options{}, upper(markup.XML))
		require.NoError(t, err)
		assert.Equal(t, unit(c[1]), strings.ReplaceAll(got, ` state="needs-review-translation"`, ""), name)
	}
}
