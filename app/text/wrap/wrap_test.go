package wrap

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWidth(t *testing.T) {
	prose := strings.TrimSpace(strings.Repeat("It was a bright cold day in April and the clocks were striking thirteen. ", 12))
	for _, width := range []int{45, 72, 80, 100} {
		text := strings.Join(Fill(Atoms(prose, false), width, nil), "\n")
		got, ok := widthOf(text, slices.Collect(Lines(text, "\n")))
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
		_, ok := widthOf(text, slices.Collect(Lines(text, "\n")))
		assert.False(t, ok, name)
	}
}
