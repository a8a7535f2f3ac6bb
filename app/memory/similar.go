package memory

import (
	"slices"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
)

// Similar texts.
//
// Two texts are compared by the edit distance of their characters. Candidates are found by fingerprints: the hashes of grams of
// some characters. An entry has references from the rarest gram of each window of its source (a form of winnowing: Schleimer,
// Wilkerson and Aiken 2003); a text that is looked up has all its grams.
const (
	gram    = 6  // in units: a character of a script without alphabet counts two
	windows = 12 // of a text; those of a short text have one gram each
	// longest is the maximum number of grams of texts that are compared.
	longest = 600
)

// gramsOf returns the hashes of the grams of a normalized text, in order, or nil for a text that is too long.
func gramsOf(text string) []uint64 {
	if len(text) > 4*longest {
		return nil
	}
	runes := []rune(text)
	if len(runes) > longest {
		return nil
	}
	var raw []byte
	list := make([]uint64, 0, len(runes))
	for start, end, units := 0, 0, 0; start < len(runes); start++ {
		for end < len(runes) && units < gram {
			units += width(runes[end])
			end++
		}
		if units < gram && start > 0 {
			break
		}
		raw = raw[:0]
		for _, r := range runes[start:end] {
			raw = utf8.AppendRune(raw, r)
		}
		list = append(list, xxhash.Sum64(raw))
		units -= width(runes[start])
	}
	return list
}

func width(r rune) int {
	if r >= 0x2E80 {
		return 2
	}
	return 1
}

// rarest returns the rarest gram of each window, each once.
func rarest(grams []uint64, frequency func(gram uint64) int) (list []uint64) {
	size, last := 1+len(grams)/windows, -1
	counts := make([]int, len(grams))
	for i, g := range grams {
		counts[i] = frequency(g)
	}
	for start := range max(0, len(grams)-size+1) {
		best := start
		for i := start; i < start+size; i++ {
			if counts[i] <= counts[best] {
				best = i
			}
		}
		if best != last {
			list, last = append(list, grams[best]), best
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// similarity returns 1 minus the edit distance of two texts, divided by the length of the longer one, or 0 if that is below least.
func similarity(a, b []rune, least float64) float64 {
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(a) == 0 {
		return 1
	}
	most := int(float64(len(a)) * (1 - least))
	if d := distance(a, b, most); d <= most {
		return 1 - float64(d)/float64(len(a))
	}
	return 0
}

// distance returns the edit distance of two texts, a the longer one, or more than most if it is more. It computes only the cells
// of the table that are at most most off its diagonal.
func distance(a, b []rune, most int) int {
	if len(a)-len(b) > most {
		return most + 1
	}
	row := make([]int, len(b)+1)
	for k := range row {
		row[k] = k
	}
	for i := 1; i <= len(a); i++ {
		from, to := max(1, i-most), min(len(b), i+most)
		diagonal := row[from-1]
		row[from-1] = most + 1
		if from == 1 {
			row[0] = i
		}
		lowest := row[from-1]
		for k := from; k <= to; k++ {
			above := row[k]
			if k == i+most {
				above = most + 1
			}
			cell := diagonal
			if a[i-1] != b[k-1] {
				cell = 1 + min(diagonal, above, row[k-1])
			}
			diagonal, row[k] = row[k], cell
			lowest = min(lowest, cell)
		}
		if lowest > most {
			return most + 1
		}
	}
	return row[len(b)]
}
