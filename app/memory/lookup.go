package memory

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"

	"dragoman/app/translate"
)

// NearLeast is the least similarity of entries that are offered for a text.
const NearLeast = 0.75

const (
	// mostCandidates is the maximum number of entries that are compared with a text, those with the most common fingerprints.
	mostCandidates = 12
	// mostVariants is the maximum number of entries that are tried for a text that differs from them in numbers or placeholders.
	mostVariants = 4
)

// finder finds entries of a memory. It implements [translate.Memory]; one goroutine uses it.
type finder struct {
	store  Store
	memory Memory
}

// Find returns the entry for a text, or else up to near similar ones, the most similar first.
func (f *finder) Find(ctx context.Context, from, to, text string, near int) (found []translate.MemoryMatch, err error) {
	text = normal(text)
	for tries := 0; ; tries++ {
		part, ok := f.memory.find(Pair{From: from, To: to})
		if !ok || text == "" || len(text) > maxText {
			return nil, nil
		}
		found, err = lookup{ctx, f.store, part}.find(text, near)
		if tries > 0 || !errors.Is(err, ErrChanged) { // the blocks of a memory that was written again have another name
			return found, f.explain(err)
		}
		if f.memory, err = f.store.Get(ctx, f.memory.Owner, f.memory.ID); err != nil {
			return nil, f.explain(err)
		}
	}
}

func (f *finder) explain(err error) error { return ofStore(err) }

// lookup looks a text up in a part.
type lookup struct {
	ctx   context.Context
	store Store
	Part
}

func (l lookup) find(text string, near int) ([]translate.MemoryMatch, error) {
	ref := l.reference(text)
	entries, err := l.entries([]uint32{ref})
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(entries, func(e stored) bool { return normal(e.source) == text }); i >= 0 {
		return []translate.MemoryMatch{{Source: entries[i].source, Target: entries[i].target, Similarity: 1}}, nil
	}
	exact, err := l.variant(text)
	if len(exact) > 0 || err != nil || near == 0 {
		return exact, err
	}
	return l.near(text, near)
}

// variant returns an entry that differs from the text only in variables, with those of the text in its translation.
func (l lookup) variant(text string) ([]translate.MemoryMatch, error) {
	sum, ok := patternSum(text)
	if !ok {
		return nil, nil
	}
	counts, err := l.counts([]uint64{sum})
	if err != nil {
		return nil, err
	}
	entries, err := l.entries(best(counts, mostVariants))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		entry := Entry{l.Pair, e.source, e.target}
		if filled, ok := entry.fill(text); ok {
			return []translate.MemoryMatch{{Source: e.source, Target: filled, Similarity: 1}}, nil
		}
	}
	return nil, nil
}

// near returns the entries that are similar to the text.
func (l lookup) near(text string, most int) (list []translate.MemoryMatch, err error) {
	counts, err := l.counts(gramsOf(text))
	if err != nil {
		return nil, err
	}
	entries, err := l.entries(best(counts, mostCandidates))
	if err != nil {
		return nil, err
	}
	runes := []rune(text)
	for _, e := range entries {
		if s := similarity(runes, []rune(normal(e.source)), NearLeast); s > 0 {
			list = append(list, translate.MemoryMatch{Source: e.source, Target: e.target, Similarity: min(s, 0.99)})
		}
	}
	slices.SortStableFunc(list, func(a, b translate.MemoryMatch) int { return cmp.Compare(b.Similarity, a.Similarity) })
	return list[:min(len(list), most)], nil
}

// counts returns the entries with some of the fingerprints, and how many each has; rare ones count more.
func (l lookup) counts(sums []uint64) (map[uint32]int, error) {
	hashes := make([]uint32, len(sums))
	for i, sum := range sums {
		hashes[i] = l.hash(sum)
	}
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	var numbers []int
	for _, h := range hashes {
		if n := l.pointers(h); len(numbers) == 0 || numbers[len(numbers)-1] != n {
			numbers = append(numbers, n)
		}
	}
	blocks, err := l.blocks(numbers)
	if err != nil {
		return nil, err
	}
	counts := make(map[uint32]int)
	for i, block := range blocks {
		err := eachPointer(block, func(from uint32, refs []byte) bool {
			for len(hashes) > 0 && l.pointers(hashes[0]) == numbers[i] && hashes[0] < from {
				hashes = hashes[1:]
			}
			if len(hashes) == 0 || l.pointers(hashes[0]) != numbers[i] {
				return false
			}
			if hashes[0] == from {
				weight := bits.Len(mostReferences) + 1 - bits.Len(uint(len(refs)/4))
				for ; len(refs) > 0; refs = refs[4:] {
					counts[binary.LittleEndian.Uint32(refs)] += weight
				}
			}
			return true
		})
		if err != nil {
			return nil, err
		}
		for len(hashes) > 0 && l.pointers(hashes[0]) == numbers[i] {
			hashes = hashes[1:]
		}
	}
	return counts, nil
}

// best returns the references with the highest counts, at most most.
func best(counts map[uint32]int, most int) []uint32 {
	var ranks []uint64 // descending: the count, then the inverted reference
	for ref, count := range counts {
		rank := uint64(count)<<32 | uint64(^ref)
		if len(ranks) == most && rank < ranks[most-1] {
			continue
		}
		at, _ := slices.BinarySearchFunc(ranks, rank, func(a, b uint64) int { return cmp.Compare(b, a) })
		ranks = slices.Insert(ranks, at, rank)
		ranks = ranks[:min(len(ranks), most)]
	}
	refs := make([]uint32, len(ranks))
	for i, rank := range ranks {
		refs[i] = ^uint32(rank)
	}
	return refs
}

// entries returns the entries with the given references, in their order.
func (l lookup) entries(refs []uint32) (found []stored, err error) {
	numbers := make([]int, len(refs))
	for i, ref := range refs {
		numbers[i] = l.block(ref)
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	blocks, err := l.blocks(numbers)
	if err != nil {
		return nil, err
	}
	for _, block := range blocks {
		list, err := decodeEntries(block, func(ref uint32) bool { return slices.Contains(refs, ref) })
		if err != nil {
			return nil, err
		}
		found = append(found, list...)
	}
	slices.SortStableFunc(found, func(a, b stored) int { return cmp.Compare(slices.Index(refs, a.ref), slices.Index(refs, b.ref)) })
	return found, nil
}

func (l lookup) blocks(numbers []int) ([][]byte, error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	return l.store.Blocks(l.ctx, l.Blocks, numbers)
}
