package ngrams

import (
	"iter"
	"slices"
	"unicode/utf8"
)

// Scorer compares some of a table's languages. It is safe for concurrent use.
type Scorer struct {
	table *Table
	slots []int // by a language's number in the table: its place in the result, or none
	count int
}

// none is the slot of languages that are not compared.
const none = -1

// Scorer compares the languages of some codes, in the order in which the scores
// will come. All must be in Languages, and none twice; others are never likely.
func (t *Table) Scorer(codes []string) *Scorer {
	s := &Scorer{table: t, slots: make([]int, 256), count: len(codes)}
	for i := range s.slots {
		s.slots[i] = none
	}
	for i, code := range t.languages {
		s.slots[i] = slices.Index(codes, code)
	}
	return s
}

// Score returns what the words cost in each language, in bits. Words are letters
// in lower case.
func (s *Scorer) Score(words iter.Seq[string]) []float64 {
	bits := make([]float64, s.count)
	seen := make([]bool, s.count)
	for word := range words {
		s.add(word, bits, seen)
	}
	return bits
}

// add adds the cost of a word to bits. seen is scratch of the same length.
func (s *Scorer) add(word string, bits []float64, seen []bool) {
	var starts [order]int // of the last letters, the newest at the end
	letters := 0          // that starts has
	for start, r := range word {
		copy(starts[:], starts[1:])
		starts[order-1] = start
		letters = min(letters+1, order)
		end := min(start+utf8.RuneLen(r), len(word))

		// The longest sequence that a language knows gives its cost.
		clear(seen)
		left := s.count
		for n := letters; n > 0 && left > 0; n-- {
			penalty := backoff * float64(letters-n)
			hash := hashOf(word[starts[order-n]:end])
			for at := s.table.find(hash); at < len(s.table.records) && s.table.hash(at) == hash; at += recordSize {
				slot := s.slots[s.table.records[at+4]]
				if slot == none || seen[slot] {
					continue
				}
				seen[slot] = true
				left--
				bits[slot] += penalty + float64(s.table.records[at+5])/unit
			}
		}
		penalty := backoff * float64(letters-1)
		for slot := range seen {
			if !seen[slot] {
				bits[slot] += penalty + floor
			}
		}
	}
}
