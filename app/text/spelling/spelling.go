// Package spelling suggests names for a misspelt one.
package spelling

import (
	"slices"
	"strings"

	"github.com/hbollon/go-edlib"
)

// Near returns the names closest to word: with one letter added, left out, replaced or swapped with its neighbour, or two such
// changes for a word of at least ten letters. It never returns word itself.
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
