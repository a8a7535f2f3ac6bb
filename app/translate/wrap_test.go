package translate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/text/wrap"
)

// prose is wrapped at 45 characters.
const prose = "It was a bright cold day in April. The wind\n" +
	"went through the streets of the old town and\n" +
	"nobody was there to hear it. The clocks were\n" +
	"striking thirteen, and the man at the window\n" +
	"did not look up.\n"

// A wrapped paragraph is one text, and its translation is wrapped again. Other lines stay unchanged.
func TestWrap(t *testing.T) {
	for _, test := range []struct {
		name  string
		mode  wrap.Mode
		in    string
		first string // sentence
		count int    // of sentences
		want  string // in capitals; "": unchanged length, so the same lines
	}{
		{"clearly wrapped", wrap.Auto, prose, "It was a bright cold day in April.", 3, ""},
		{"clearly wrapped, Windows", wrap.Auto, strings.ReplaceAll(prose, "\n", "\r\n"), "It was a bright cold day in April.", 3, ""},
		{"indented paragraphs", wrap.Auto, "  " + strings.ReplaceAll(prose, "\n", "\n  ") + "\n\n" + prose, "It was a bright cold day in April.", 6, ""},
		{"off", wrap.Off, prose, "It was a bright cold day in April.", 7, ""},
		{"not said", "", prose, "It was a bright cold day in April.", 7, ""},
		{"lines", wrap.Auto, "One line.\nAnother line\nand a third\n", "One line.", 3, ""},
		{"lines that somebody says are wrapped", wrap.On, "One\nline.\nAnother line\nand a third\n", "One line.", 2, "ONE LINE.\nANOTHER LINE\nAND A THIRD\n"},
		{"items", wrap.On, "One\nline\n- an item\n- another\nitem\n\nEnd\n", "One line", 4, ""},
		{"Japanese", wrap.On, "これは\n本です。\n", "これは本です。", 1, ""},
		{"code", wrap.On, "One\nline\n```\na b\nc d\n```\n", "One line", 1, ""},
		{"placeholders", wrap.On, "Hello {name} and\nwelcome to <b>the old\ntown</b> today.\n", "Hello {name} and welcome to <b>the old town</b> today.", 1, "HELLO {NAME} AND WELCOME TO\n<B>THE OLD TOWN</B> TODAY.\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			from, to := "en", "fr"
			if test.name == "Japanese" {
				from = "ja"
			}
			req := Request{From: from, To: []string{to}, Wrap: test.mode, Records: []Record{{ID: "1", Text: test.in}}}
			results, err := corpusService(t, &upper{}).Translate(t.Context(), req)
			require.NoError(t, err)
			r := results[0]
			assert.Len(t, r.Segments, test.count)
			assert.Equal(t, test.first, r.Segments[0].Source)
			got := r.Text
			for _, code := range []string{"{name}", "<b>", "</b>", "```", "A B", "C D"} { // no capitals
				got = strings.ReplaceAll(got, code, strings.ToUpper(code))
			}
			if test.want == "" {
				test.want = strings.ToUpper(test.in)
			}
			assert.Equal(t, test.want, strings.ReplaceAll(strings.ReplaceAll(got, "a b", "A B"), "c d", "C D"))
		})
	}
}

// Longer and shorter translations fill lines of the same width.
func TestWrappedAgain(t *testing.T) {
	for _, p := range []string{prose, strings.ReplaceAll(prose, "\n", "\r\n"), strings.ReplaceAll("> "+prose, "\n", "\n\t")} {
		for found, err := range wrap.Wrapped(t.Context(), p, wrap.Auto) {
			require.NoError(t, err)
			same, err := found.Wrap(t.Context(), found.Text)
			require.NoError(t, err)
			assert.Equal(t, p[found.Start:found.End], same)
			for _, translation := range []string{strings.ToUpper(found.Text), strings.Repeat(found.Text+" ", 3) + "x", "short", ""} {
				wrapped, err := found.Wrap(t.Context(), translation)
				require.NoError(t, err)
				assert.Equal(t, strings.Fields(translation), strings.Fields(wrapped))
				for line := range strings.SplitSeq(wrapped, "\n") {
					assert.LessOrEqual(t, len(strings.TrimSpace(line)), 45)
				}
			}
		}
	}
}
