// Package ngrams distinguishes languages of one script by their sequences of letters.
//
// # Model
//
// A language's model gives the probability of a letter after up to four letters before it in the same word. The cost of a text in
// a language is the sum of -log2(probability) of its letters, in bits. The most likely language of a text is the one with the
// lowest cost.
//
// Most sequences of letters are not in the models. If "abcde" is missing, the cost of e after "bcd" plus backoff is used, then
// that of e after "bc" and so on. A letter that a language does not have costs floor.
//
// # Table
//
// The models of all languages are one table in the binary, read in place: it takes no time to load and no heap memory. It was
// distilled from the models of lingua-go by a program that keeps the sequences with the greatest effect on the costs; see
// README.md.
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
	// backoff is the cost in bits of dropping the first letter of a sequence.
	backoff = 2.0
	// floor is the cost in bits of a letter that a language does not have.
	floor = 255.0 / unit
	// unit is the number of table units per bit.
	unit = 16

	// magic starts the table's first line and is followed by the codes of the languages.
	magic = "ngrams1"
	// recordSize is the size in bytes of a record of the table: the hash of a sequence (4 bytes, big-endian), the index of a
	// language in the first line, and the cost of the sequence's last letter in units. Records are sorted by their bytes.
	recordSize = 6
)

//go:embed ngrams.bin
var embedded string

// Table holds the models. It is immutable.
type Table struct {
	languages []string
	records   string
}

// Load returns the table of this binary. It fails if that is invalid.
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

// Languages returns the codes of the languages with a model.
func (t *Table) Languages() []string { return slices.Clone(t.languages) }

// find returns the offset of the first record of a hash, or of a larger one if the table has none.
func (t *Table) find(hash uint32) int {
	return recordSize * sort.Search(len(t.records)/recordSize, func(i int) bool {
		return t.hash(i*recordSize) >= hash
	})
}

// hash returns the hash of the record at an offset.
func (t *Table) hash(at int) uint32 {
	r := t.records[at : at+4]
	return uint32(r[0])<<24 | uint32(r[1])<<16 | uint32(r[2])<<8 | uint32(r[3])
}

// hashOf returns the hash of a sequence of letters: FNV-1a of its bytes. Sequences may collide: one in ten thousand sequences
// outside the table is taken for one in it.
func hashOf(sequence string) uint32 {
	h := uint32(2166136261)
	for i := range len(sequence) {
		h = (h ^ uint32(sequence[i])) * 16777619
	}
	return h
}
