// Package ngrams tells languages of one script apart by the letters that follow
// each other in them.
//
// # Model
//
// A language's model gives the probability of a letter after up to four letters
// before it in the same word. The cost of a text in a language is the sum of
// -log2(probability) of its letters, in bits: the language with the lowest cost is
// the one that the text is most likely in.
//
// Most sequences of letters are not in the models. Where "abcde" is not, the cost
// of e after "bcd" is taken and backoff added, then that of e after "bc" and so
// on. A letter that a language does not have costs floor.
//
// # Table
//
// The models of all languages are one table in the binary, which is read in place:
// it takes no time to load and no memory of the heap. It was distilled from the
// models of lingua-go by a program that keeps the sequences that change the costs
// most; README.md says more.
package ngrams

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
)

const (
	// order is the number of letters in the longest sequences.
	order = 5
	// backoff is the cost of leaving out the first letter of a sequence, in bits.
	backoff = 2.0
	// floor is the cost of a letter that a language does not have, in bits.
	floor = 255.0 / unit
	// unit is the number of parts of a bit that the table counts in.
	unit = 16

	// magic starts the table's first line; the codes of the languages follow it.
	magic = "ngrams1"
	// recordSize is the size in bytes of a record of the table: the hash of a
	// sequence (4 bytes, big-endian), the number of a language in the first line, and
	// the cost of the sequence's last letter in units. Records are in the order of
	// their bytes.
	recordSize = 6
)

//go:embed ngrams.bin
var embedded string

// Table has the models. It is immutable.
type Table struct {
	languages []string
	records   string
}

// Load returns the table of this binary. It fails where that is none.
func Load() (*Table, error) { return parse(embedded) }

func parse(data string) (*Table, error) {
	header, records, _ := strings.Cut(data, "\n")
	fields := strings.Fields(header)
	switch {
	case len(fields) < 2 || fields[0] != magic:
		return nil, errors.New("the table of n-grams does not start with " + magic + " and languages: make it again")
	case len(fields)-1 > 256:
		return nil, fmt.Errorf("the table of n-grams has %d languages, it has room for 256: make it again", len(fields)-1)
	case len(records) == 0 || len(records)%recordSize != 0:
		return nil, fmt.Errorf("the table of n-grams has %d bytes of records, which is not a multiple of %d: make it again",
			len(records), recordSize)
	}
	return &Table{languages: fields[1:], records: records}, nil
}

// Languages returns the codes of the languages that have a model.
func (t *Table) Languages() []string { return slices.Clone(t.languages) }

// find returns the place of the first record of a hash, or of a later one where
// the table has none.
func (t *Table) find(hash uint32) int {
	return recordSize * sort.Search(len(t.records)/recordSize, func(i int) bool {
		return t.hash(i*recordSize) >= hash
	})
}

// hash is that of the record at a place.
func (t *Table) hash(at int) uint32 {
	r := t.records[at : at+4]
	return uint32(r[0])<<24 | uint32(r[1])<<16 | uint32(r[2])<<8 | uint32(r[3])
}

// hashOf is how the table knows a sequence of letters: FNV-1a of its bytes. Two
// sequences may have the same: one in ten thousand that is not in the table is
// taken for one that is.
func hashOf(sequence string) uint32 {
	h := uint32(2166136261)
	for i := range len(sequence) {
		h = (h ^ uint32(sequence[i])) * 16777619
	}
	return h
}
