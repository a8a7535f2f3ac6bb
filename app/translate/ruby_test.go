package translate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
)

// Readings are not translated, in all formats that may have them.
func TestReadingsAreNotTranslated(t *testing.T) {
	for _, test := range []struct {
		format   Format
		in, want string
	}{
		{HTML, "<p><ruby>東<rt>とう</rt>京<rt>きょう</rt></ruby>は大きい。</p>", "<p>LARGE <ruby>東<rt>とう</rt>京<rt>きょう</rt></ruby>.</p>"},
		{HTML, "<p><ruby>東京<rt>とうきょう</rt></ruby>は大きい。</p>", "<p>LARGE <ruby>東京<rt>とうきょう</rt></ruby>.</p>"},
		{HTML, "<p><ruby>大<rt>おお</rt></ruby>きい。</p>", "<p>LARGE.</p>"},
		{Text, "**<ruby>大<rp>(</rp><rt>おお</rt><rp>)</rp></ruby>きい。**", "**LARGE.**"},
		{XML, "<p><ruby>大<rt>おお</rt></ruby>きい。</p>", "<p>LARGE.</p>"},
	} {
		eng := &upper{decode: func(text string, _ engine.Job) (string, bool) {
			return map[string]string{"東京は大きい。": "LARGE 東京.", "大きい。": "LARGE."}[text], false
		}}
		req := Request{Flagged: true, From: "ja", To: []string{"en"}, Format: test.format, Records: []Record{{ID: "1", Text: test.in}}}
		results, err := corpusService(t, eng).Translate(t.Context(), req)
		require.NoError(t, err)
		assert.Equal(t, test.want, results[0].Text)
	}
}
