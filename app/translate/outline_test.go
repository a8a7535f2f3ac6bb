package translate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/text/markup"
)

// The examples of DeepL's documentation: the engine gets the sentences that it describes.
func TestOutline(t *testing.T) {
	const document = "<document>\n  <title>A document's title</title>\n  <par>This is the first sentence. Followed by a second one.</par>\n</document>"
	const firm = "<par>The firm said it had been </par><par> conducting an internal investigation.</par>"
	for name, test := range map[string]struct {
		text    string
		outline markup.Outline
		wrapped bool
		want    []string
	}{
		"structure":      {document, markup.Outline{}, true, []string{"A document's title", "This is the first sentence.", "Followed by a second one."}},
		"set by hand":    {document, markup.Outline{Undetected: true, Splitting: []string{"par", "title"}}, true, []string{"A document's title", "This is the first sentence.", "Followed by a second one."}},
		"on its own":     {firm, markup.Outline{}, true, []string{"The firm said it had been", "conducting an internal investigation."}},
		"lines":          {"<div>She bought oat\nbiscuits.</div>", markup.Outline{Lines: true}, false, []string{"She bought oat", "biscuits."}},
		"no lines":       {"<div>She bought oat\nbiscuits.</div>", markup.Outline{}, true, []string{"She bought oat biscuits."}},
		"lines of CDATA": {"<div><![CDATA[oat\nbiscuits.]]></div>", markup.Outline{}, true, []string{"oat\nbiscuits."}},
	} {
		t.Run(name, func(t *testing.T) {
			eng := &upper{}
			req := texts(test.text)
			req.Format, req.Outline, req.Wrapped = XML, test.outline, test.wrapped
			_, err := service(t, runes{}, eng).Translate(t.Context(), req)
			require.NoError(t, err)
			assert.Equal(t, test.want, sources(eng.last()))
		})
	}
	eng := &upper{}
	req := texts(firm)
	req.Format, req.Outline.NonSplitting = XML, []string{"par"}
	got, err := service(t, runes{}, eng).Translate(t.Context(), req)
	require.NoError(t, err)
	require.Len(t, got[0].Segments, 1, "one sentence")
	assert.Equal(t, 2, strings.Count(got[0].Text, "</par>"))
}

func TestOutlineIsBounded(t *testing.T) {
	s := service(t, runes{}, &upper{})
	names := make([]string, mostElements+1)
	for i := range names {
		names[i] = fmt.Sprint("a", i)
	}
	for name, req := range map[string]Request{
		"too many names": {Format: XML, Outline: markup.Outline{Splitting: names}},
		"of a text":      {Outline: markup.Outline{Splitting: names[:1]}},
		"of HTML":        {Format: HTML, Outline: markup.Outline{Undetected: true}},
	} {
		req.From, req.To = "en", []string{"fr"}
		_, err := s.Translate(t.Context(), req)
		var refused *Error
		require.ErrorAs(t, err, &refused, name)
		assert.Equal(t, CodeInvalidOption, refused.Code)
		assert.Equal(t, "xml", refused.Field)
	}
	_, err := s.Translate(t.Context(), Request{From: "en", To: []string{"fr"}, Format: XML, Outline: markup.Outline{Splitting: names[:mostElements]}})
	require.NoError(t, err)
}
