package textfile

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/budget"
	"dragoman/app/document"
	"dragoman/app/guard/admission"
)

// A small text that would need a large parse tree is refused before it is parsed.
func TestMemoryIsTakenFirst(t *testing.T) {
	table := strings.Repeat("a|", 1000) + "\n" + strings.Repeat("-|", 1000) + "\n" + strings.Repeat("a\n", 5000)
	for name, test := range map[string]struct {
		kind, text string
		fits       bool
	}{
		"a table of 5 million cells":           {"markdown", table, false},
		"the same in a quotation":              {"markdown", "> " + strings.ReplaceAll(table, "\n", "\n> "), false},
		"a table with as much text":            {"markdown", "a|b\n-|-\n" + strings.Repeat("aaaaa|bbbbb\n", 1000), true},
		"many items":                           {"markdown", strings.Repeat("- - - - a\n", 50_000), false},
		"many tags":                            {"ass", "[Events]\nFormat: Text\nDialogue: " + strings.Repeat(`{\i1}a`, 30_000), false},
		"many captions":                        {"ttml", "<tt>" + strings.Repeat("<p>a</p>", 100_000) + "</tt>", false},
		"a table in a notebook":                {"ipynb", `{"cells":[{"cell_type":"markdown","source":"` + strings.ReplaceAll(table, "\n", `\n`) + `"}]}`, false},
		"many lines":                           {"yaml", strings.Repeat("- a\n", 50_000), false},
		"many elements":                        {"html", strings.Repeat("<p>a", 100_000), false},
		"as many bytes in a few long elements": {"html", strings.Repeat("<p>"+strings.Repeat("some words ", 1000), 40), true},
	} {
		t.Run(name, func(t *testing.T) {
			memory := admission.New(32 << 20)
			lease := memory.Lease("")
			defer lease.Close()
			translated := func(text string) (string, error) {
				assert.True(t, test.fits, "it was read")
				assert.Positive(t, memory.InUse())
				return text, nil
			}
			err := kindNamed(t, test.kind).Rewrite(admission.With(t.Context(), lease), io.Discard,
				strings.NewReader(test.text), int64(len(test.text)), document.Options{}, translated)
			if test.fits {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, budget.ErrFull)
			}
			assert.Zero(t, memory.InUse(), "what reading took is given back")
		})
	}
}
