package main

import (
	"cmp"
	"math"
	"unicode/utf8"

	"dragoman/app/text/language/internal/ngrams"
)

// record is a sequence of the table, as package ngrams describes it.
type record struct {
	hash     uint32
	language byte
	cost     byte
}

// compare orders records as the table has them.
func (r record) compare(o record) int {
	return cmp.Or(cmp.Compare(r.hash, o.hash), cmp.Compare(r.language, o.language), cmp.Compare(r.cost, o.cost))
}

// distil returns the sequences of a model that are worth their place. What one is
// worth is the error that leaving it out makes in the cost of a text, per letter of
// the text: how often it comes, times the difference between its cost and that of
// the shorter sequence that would stand in for it. All single letters are kept:
// nothing stands in for them.
func distil(m *model, keep float64, language byte) []record {
	var records []record
	// costs has what the table gives for each sequence, kept or not.
	costs := map[string]float64{}
	frequencies := map[string]float64{"": 1}
	for n := 1; n <= ngrams.Order; n++ {
		next := make(map[string]float64, len(m[n]))
		for sequence, probability := range m[n] {
			_, last := utf8.DecodeLastRuneInString(sequence)
			frequency := frequencies[sequence[:len(sequence)-last]] * probability
			next[sequence] = frequency

			units := math.Round(min(-math.Log2(probability), ngrams.Floor) * ngrams.Unit)
			own := units / ngrams.Unit
			standIn := substitute(sequence, costs)
			if n > 1 && frequency*math.Abs(own-standIn) < keep {
				costs[sequence] = standIn
				continue
			}
			costs[sequence] = own
			records = append(records, record{ngrams.Hash(sequence), language, byte(units)})
		}
		frequencies = next
	}
	return records
}

// substitute is the cost that a sequence has if it is left out, from the costs of
// the shorter ones.
func substitute(sequence string, costs map[string]float64) float64 {
	penalty := 0.0
	for {
		_, first := utf8.DecodeRuneInString(sequence)
		sequence = sequence[first:]
		if sequence == "" {
			return penalty + ngrams.Floor
		}
		penalty += ngrams.Backoff
		if cost, ok := costs[sequence]; ok {
			return penalty + cost
		}
	}
}
