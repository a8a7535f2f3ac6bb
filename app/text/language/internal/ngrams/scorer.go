package ngrams

import (
	"iter"
	"slices"
	"unicode/utf8"
)

// Scorer compares some languages of a table. It is safe for concurrent use.
type Scorer struct {
	table *Table
	slots []int // from a language's index in the table to its index in the result, or none
	count int
}

// none is the slot of languages that are not compared.
const none = -1

// Scorer returns a scorer for languages, whose scores have the order of codes. Each code must be in Languages and occur once;
// other codes are never likely.
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

// Score returns the costs of words in each language, in bits. Words consist of letters in lower case.
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
	var starts [order]int // starts of the last letters, the newest at the end
	letters := 0          // number of letters in starts
	for start, r := range word {
		copy(starts[:], starts[1:])
		starts[order-1] = start
		letters = min(letters+1, order)
		end := min(start+utf8.RuneLen(r), len(word))

		// The longest sequence that a language knows determines its cost.
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
