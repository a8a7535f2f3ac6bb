// Package memory stores translation memories: sentences with the translations that people have approved, which are used again for
// equal sentences and offered for similar ones.
//
// A memory belongs to an owner and has entries for pairs of languages. Its entries lie in numbered blocks of a [Store], by the hash
// of their source, and so do the references from fingerprints of sources to entries. A lookup therefore reads a handful of small
// blocks, however many entries there are. A file of a million entries is sorted on disk before its blocks are written.
//
//	memory.go   memories, their entries, errors
//	limits.go   limits
//	pattern.go  texts with numbers and placeholders as variables
//	similar.go  fingerprints and similarity of texts
//	block.go    the form of blocks
//	build.go    the blocks of many entries
//	lookup.go   equal and similar entries
//	read.go     TMX, XLIFF and TSV
//	store.go    the interface of stores
//	service.go  the memories of owners
package memory

import (
	"fmt"
	"time"

	"dragoman/app/fault"
	"dragoman/app/text/language"
)

// Pair is the language of sources and the language of their translations.
type Pair = language.Pair

// Entry is a source and its translation.
type Entry struct {
	Pair
	Source, Target string
}

// Part describes the entries of a memory for a pair of languages.
type Part struct {
	Pair
	Entries int
	Blocks  string // names the blocks; each writing of all blocks has a new name
	Bits    int    // there are 1 << Bits blocks of entries, and as many of references
}

// Memory describes a memory without its entries. It is plain data.
type Memory struct {
	ID       string // given by the owner
	Owner    string
	Created  time.Time
	Changed  time.Time
	Parts    []Part   // ordered by pair
	Building []string // names of writings of all blocks that have not ended; see [Memory.Unfinished]
}

// Entries returns the number of all entries.
func (m Memory) Entries() (n int) {
	for _, p := range m.Parts {
		n += p.Entries
	}
	return n
}

// Unfinished returns the names under which blocks may lie that are being written, or were when their writer ended.
func (m Memory) Unfinished() (names []string) {
	for _, name := range m.Building {
		for n := range maxParts {
			names = append(names, partName(name, n))
		}
	}
	return names
}

// find returns the part for languages in any notation; see [language.Find].
func (m Memory) find(p Pair) (Part, bool) {
	for _, part := range m.Parts {
		if part.Pair == p {
			return part, true
		}
	}
	for _, part := range m.Parts {
		_, from := language.Find([]string{part.From}, p.From)
		_, to := language.FindTarget([]string{part.To}, p.To)
		if from && to {
			return part, true
		}
	}
	return Part{}, false
}

// Errors of memories. All other errors of a [Service] can be shown to the sender, too.
var (
	ErrUnknown error = fault.New(fault.UnknownMemory, "", "there is no such translation memory: its id is wrong, it is another key's, or it was deleted")
	ErrID      error = fault.New(fault.InvalidMemory, "id", "the id of a translation memory has 1 to %d letters, digits, dots, hyphens and underscores", maxID)
	// ErrChanged is the error of a change that another one overtook.
	ErrChanged error = fault.New(fault.MemoryChanged, "", "the translation memory was replaced or deleted meanwhile: send the request again")
)

// wrong returns the fault of a file or entry at a place, or with "" of the whole.
func wrong(place, format string, args ...any) error {
	return &fault.ItemError{Kind: fault.InvalidMemory, Place: place, Message: fmt.Sprintf(format, args...)}
}

// TooMany returns the error of an owner who has the maximum number of memories.
func TooMany(most int) error {
	return fault.New(fault.TooManyMemories, "", "there are %d translation memories already, and no more are allowed: delete one", most)
}
