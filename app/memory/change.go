package memory

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"

	"dragoman/app/fault"
)

// partName returns the name of the blocks of a part, the n-th of those that are written together.
func partName(name string, n int) string { return fmt.Sprintf("%s.%d", name, n) }

// isFull reports whether a part has so many entries that its blocks must be written again to add more.
func (m *Memory) isFull(more int) bool {
	return slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Entries+more > 2*perBlock<<p.Bits })
}

// add adds entries to the blocks of a memory.
func (m *Memory) add(blocks Blocks, entries []Entry) error {
	byPair := make(map[Pair][]Entry)
	for _, e := range entries {
		byPair[e.Pair] = append(byPair[e.Pair], e)
	}
	for pair, list := range byPair {
		i := m.part(pair)
		switch {
		case i >= 0:
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
		if err := u.add(list); err != nil {
			return err
		}
	}
	slices.SortFunc(m.Parts, func(a, b Part) int { return a.Compare(b.Pair) })
	return nil
}

// remove removes the entry for a source from the blocks of a memory. It reports whether there is one.
func (m *Memory) remove(blocks Blocks, pair Pair, source string) (found bool, err error) {
	i := m.part(pair)
	if i < 0 || m.Parts[i].Entries == 0 {
		return false, nil
	}
	return update{part: &m.Parts[i], blocks: blocks}.remove(normal(source))
}

// part returns the index of a pair's part, or -1.
func (m *Memory) part(pair Pair) int {
	return slices.IndexFunc(m.Parts, func(p Part) bool { return p.Pair == pair })
}

// update changes the blocks of a part.
type update struct {
	part   *Part
	blocks Blocks
	isNew  bool // its blocks cannot be read yet
}

func (u update) add(list []Entry) error {
	added, pointers := make(map[int][]stored), make(map[int][]pointer)
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
	err = rewrite(u, added, func(block []byte, more []stored) ([]byte, error) {
		before, err := decodeEntries(block, nil)
		if err != nil {
			return nil, err
		}
		after := merge(before, more, compareNormal)
		u.part.Entries += len(after) - len(before)
		if len(after) > mostInBlock {
			return nil, fault.New(fault.InvalidMemory, "", "too many sources of the translation memory have equal hashes")
		}
		return encodeEntries(after), nil
	})
	if err != nil {
		return err
	}
	return rewrite(u, pointers, func(block []byte, more []pointer) ([]byte, error) {
		before, err := decodePointers(block)
		return encodePointers(merge(before, more, comparePointers)), err
	})
}

// remove removes the entry for a normalized source, and the references to it.
func (u update) remove(source string) (found bool, err error) {
	ref, isShared := u.part.reference(source), false
	err = rewrite(u, map[int][]stored{u.part.block(ref): nil}, func(block []byte, _ []stored) ([]byte, error) {
		list, err := decodeEntries(block, nil)
		before := len(list)
		list = slices.DeleteFunc(list, func(e stored) bool { return normal(e.source) == source })
		found = len(list) < before
		u.part.Entries -= before - len(list)
		isShared = slices.ContainsFunc(list, func(e stored) bool { return e.ref == ref })
		return encodeEntries(list), err
	})
	if err != nil || !found || isShared {
		return found, err
	}
	pointers := make(map[int][]pointer)
	for _, gram := range gramsOf(source) {
		pointers[u.part.pointers(u.part.hash(gram))] = nil
	}
	if sum, ok := patternSum(source); ok {
		pointers[u.part.pointers(u.part.hash(sum))] = nil
	}
	return found, rewrite(u, pointers, func(block []byte, _ []pointer) ([]byte, error) {
		list, err := decodePointers(block)
		return encodePointers(slices.DeleteFunc(list, func(p pointer) bool { return p.ref == ref })), err
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
			err := eachPointer(block, func(from uint32, refs []byte) bool {
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
func rewrite[T any](u update, items map[int][]T, change func(block []byte, more []T) ([]byte, error)) error {
	numbers := slices.Sorted(maps.Keys(items))
	before := make([][]byte, len(numbers))
	if u.isNew {
		for i, n := range numbers {
			before[i] = u.part.empty(n)
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
		if !bytes.Equal(block, before[i]) {
			u.blocks.Put(u.part.Blocks, n, block)
		}
	}
	return nil
}
