package translate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
)

// A note's mark after a sentence belongs to that sentence, in the elements of any format.
func TestNotesBetweenSentences(t *testing.T) {
	for _, test := range []struct {
		format Format
		mark   string
	}{
		{HTML, "<sup>1</sup>"},
		{HTML, "<sup>a</sup>"},
		{HTML, "<sup>1</sup><sup>2</sup>"},
		{HTML, `<sup><a href="#n1">[1]</a></sup>`},
		{HTML, `<a epub:type="noteref" href="#n1">1</a>`},
		{HTML, `<a epub:type="noteref" href="#n1"><sup>*</sup></a>`},
		{HTML, "</b><sup>1</sup>"},
		{XML, `<x id="1"/>`},
		{Text, "[^1]"},
		{Text, "[^1][^note]"},
		{Text, "[12]"},
		{Text, "¹²"},
	} {
		start := ""
		if strings.HasPrefix(test.mark, "</b>") {
			start = "<b>"
		}
		eng := &upper{decode: func(text string, _ engine.Job) (string, bool) {
			return map[string]string{"It is old.": "古い。", "It is large.": "大きい。"}[text], false
		}}
		for to, want := range map[string]string{"fr": start + "古い。" + test.mark + " 大きい。", "zh": start + "古い。" + test.mark + "大きい。"} {
			req := Request{Flagged: true, From: "en", To: []string{to}, Format: test.format, Records: []Record{{ID: "1", Text: start + "It is old." + test.mark + " It is large."}}}
			results, err := corpusService(t, eng).Translate(t.Context(), req)
			require.NoError(t, err)
			assert.Len(t, results[0].Segments, 2, test.mark)
			assert.Equal(t, want, results[0].Text)
		}
	}
}
