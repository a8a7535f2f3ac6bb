// Package spelling finds the names that a misspelt one may have been meant to be.
package spelling

import (
	"slices"
	"strings"

	"github.com/hbollon/go-edlib"
)

// Near are those of the names that are written most like a word: one letter is added, left out, another,
// or swapped with its neighbour, or two of a word of six letters and more. The word itself is not near.
func Near(word string, names []string) (near []string) {
	best := 1
	if len([]rune(word)) >= 10 {
		best = 2
	}
	for _, name := range names {
		switch d := edlib.OSADamerauLevenshteinDistance(strings.ToUpper(word), strings.ToUpper(name)); {
		case name == word || d > best:
		case d < best || len(near) == 0:
			best, near = d, []string{name}
		case !slices.Contains(near, name):
			near = append(near, name)
		}
	}
	return near
}
