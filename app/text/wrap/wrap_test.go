package wrap

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/text/char"
	"dragoman/app/text/lineartest"
)

// A heading directly above its text does not belong to the paragraph, and does not affect whether the text counts as wrapped.
func TestHeadings(t *testing.T) {
	body := strings.Join(Fill(nil, Atoms(nil, "It was a bright cold day in April and the clocks were striking thirteen. Nobody looked up, for the wind was cold and full of dust that day in the old street.", false), 60, nil), "\n")
	for name, c := range map[string]struct {
		heading   string
		isWrapped bool
	}{
		"words":         {"The first day", true},
		"with a number": {"Chapter 1", true},
		"a sentence":    {"It was late.", false},
		"behind a line": {"A line\nThe first day", false},
		"with a colon":  {"The first day:", false},
	} {
		text := strings.Repeat(c.heading+"\n"+body+"\n\n", 4)
		var got []string
		for p, err := range Paragraphs(t.Context(), text, Auto) {
			assert.NoError(t, err)
			got = append(got, p.Text)
		}
		whole := strings.ReplaceAll(body, "\n", " ")
		assert.Equal(t, c.isWrapped, slices.Contains(got, whole), name)
		assert.Equal(t, !strings.Contains(c.heading, "\n"), slices.Contains(got, c.heading), name)
	}
}

func TestWidth(t *testing.T) {
	prose := strings.TrimSpace(strings.Repeat("It was a bright cold day in April and the clocks were striking thirteen. ", 12))
	for _, width := range []int{45, 72, 80, 100} {
		text := strings.Join(Fill(nil, Atoms(nil, prose, false), width, nil), "\n")
		got, ok := widthOf(nil, text, slices.Collect(Lines(text, "\n")))
		assert.True(t, ok, width)
		assert.InDelta(t, width, got, 10)
	}
	for name, text := range map[string]string{
		"empty":     "",
		"sentences": "The cat sleeps on the sofa in the kitchen.\nDogs bark.\nWe went home early because of the rain.\nIt is late.\n",
		"list":      strings.Repeat("- an item of a list that is as long as a line of text\n", 9),
		"long":      strings.Repeat(strings.Repeat("a line for each paragraph ", 20)+"\n", 5),
		"Japanese":  strings.Repeat(strings.Repeat("吾輩は猫である", 7)+"\n", 9),
		"poem":      "Shall I compare thee to a summer's day\nThou art\nmore lovely and more temperate than that\nRough winds\ndo shake the darling buds of May and so\n",
	} {
		_, ok := widthOf(nil, text, slices.Collect(Lines(text, "\n")))
		assert.False(t, ok, name)
	}
}

func TestTimeIsLinear(t *testing.T) {
	timed := lineartest.NewTimed(t)
	for what, text := range lineartest.Texts("a line that is as long as those of a text that is wrapped\n", "- a\n", "a\n b\n") {
		timed.Assert(what, text, func(text string) {
			for _, mode := range []Mode{On, Auto} {
				for p, err := range Wrapped(t.Context(), text, mode) {
					require.NoError(t, err)
					_, err = p.Wrap(t.Context(), "a")
					require.NoError(t, err)
				}
			}
			require.NoError(t, char.Look(t.Context(), len(text), func(l *char.Looks) { Fill(l, Atoms(l, text, true), 60, nil) }))
		})
	}
}
