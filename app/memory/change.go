package memory

import (
	"fmt"
	"maps"
	"slices"

	"crypto/rand"

	"dragoman/app/fault"
)

// partName returns the name of the blocks of a part, the n-th of those that are written together.
func partName(name string, n int) string { return fmt.Sprintf("%s.%d", name, n) }

// isFull reports whether a part has so many entries that its blocks must be written again to add more.
func (m *Memory) isFull(more int) bool {
	return slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Entries+more > 2*perBlock<<p.Bits })
}

// add adds entries to the blocks of a memory, and removes one that has the source of removed unless that is nil.
func (m *Memory) add(blocks Blocks, entries []Entry, removed *Entry) error {
	byPair := make(map[Pair][]Entry)
	for _, e := range entries {
		byPair[e.Pair] = append(byPair[e.Pair], e)
	}
	if removed != nil {
		byPair[removed.Pair] = nil
	}
	for pair, list := range byPair {
		i := slices.IndexFunc(m.Parts, func(p Part) bool { return p.Pair == pair })
		switch {
		case i >= 0:
		case removed != nil:
			return nil
		case len(m.Parts) == maxParts:
			return fault.New(fault.TooLarge, "", "the translation memory would have more than %d pairs of languages: use another one", maxParts)
		default:
			p := Part{Pair: pair, Blocks: partName(rand.Text(), 0), Bits: leastBits}
			for n := range p.all() {
				blocks.Put(p.Blocks, n, p.empty(n))
			}
			m.Parts = append(m.Parts, p)
			i = len(m.Parts) - 1
		}
		u := update{part: &m.Parts[i], blocks: blocks, isNew: m.Parts[i].Entries == 0}
		if err := u.entries(list, removed); err != nil {
			return err
		}
	}
	slices.SortFunc(m.Parts, func(a, b Part) int { return comparePairs(a.Pair, b.Pair) })
	return nil
}

// update changes the blocks of a part.
type update struct {
	part   *Part
	blocks Blocks
	isNew  bool // its blocks cannot be read yet
}

func (u update) entries(list []Entry, removed *Entry) error {
	added, pointers := make(map[int][]stored), make(map[int][]pointer)
	gone := ""
	if removed != nil {
		gone = normal(removed.Source)
		added[u.part.block(u.part.reference(gone))] = nil
	}
	frequency, err := u.frequencies(list)
	if err != nil {
		return err
	}
	for _, e := range list {
		source := normal(e.Source)
		ref := u.part.reference(source)
		n := u.part.block(ref)
		added[n] = append([]stored{{ref, e.Source, e.Target}}, added[n]...) // the last of equal ones is first
		for _, p := range u.part.pointersOf(ref, source, frequency, nil) {
			n := u.part.pointers(p.from)
			pointers[n] = append(pointers[n], p)
		}
	}
	err = rewrite(u, added, func(block string, more []stored) ([]byte, error) {
		before, err := decodeEntries(block, nil)
		if err != nil {
			return nil, err
		}
		after := merge(before, more, compareNormal)
		if removed != nil {
			after = slices.DeleteFunc(after, func(e stored) bool { return normal(e.source) == gone })
		}
		u.part.Entries += len(after) - len(before)
		if len(after) > mostInBlock {
			return nil, fault.New(fault.InvalidMemory, "", "too many sources of the translation memory have equal hashes")
		}
		return encodeEntries(after), nil
	})
	if err != nil {
		return err
	}
	return rewrite(u, pointers, func(block string, more []pointer) ([]byte, error) {
		before, err := decodePointers(block)
		return encodePointers(merge(before, more, comparePointers)), err
	})
}

// frequencies returns the numbers of references from the grams of entries.
func (u update) frequencies(list []Entry) (func(hash uint32) int, error) {
	known := make(map[uint32]int)
	if u.isNew {
		return func(hash uint32) int { return 0 }, nil
	}
	var numbers []int
	for _, e := range list {
		for _, gram := range gramsOf(normal(e.Source)) {
			known[u.part.hash(gram)] = 0
			numbers = append(numbers, u.part.pointers(u.part.hash(gram)))
		}
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	for some := range slices.Chunk(numbers, 1000) { // so that few blocks are in memory
		blocks, err := u.blocks.Get(u.part.Blocks, some)
		if err != nil {
			return nil, err
		}
		for _, block := range blocks {
			err := eachPointer(block, func(from uint32, refs string) bool {
				if _, wanted := known[from]; wanted {
					known[from] = len(refs)
				}
				return true
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return func(hash uint32) int { return known[hash] }, nil
}

// rewrite changes blocks, each by the items for it.
func rewrite[T any](u update, items map[int][]T, change func(block string, more []T) ([]byte, error)) error {
	numbers := slices.Sorted(maps.Keys(items))
	before := make([]string, len(numbers))
	if u.isNew {
		for i, n := range numbers {
			before[i] = string(u.part.empty(n))
		}
	} else if len(numbers) > 0 {
		var err error
		if before, err = u.blocks.Get(u.part.Blocks, numbers); err != nil {
			return err
		}
	}
	for i, n := range numbers {
		block, err := change(before[i], items[n])
		if err != nil {
			return err
		}
		u.blocks.Put(u.part.Blocks, n, block)
	}
	return nil
}
