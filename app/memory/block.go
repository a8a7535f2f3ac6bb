package memory

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"
)

const (
	// perBlock is the mean number of entries of a block when all blocks are written; twice as many lead to more blocks.
	perBlock  = 64
	leastBits = 6
	moreBits  = 2
	mostBits  = 20
	// mostInBlock is the maximum number of entries of a block: no texts but those made for it share so many bits of their hash.
	mostInBlock = 64 * perBlock
	// mostReferences is the maximum number of references from a fingerprint. Texts with a fingerprint that is so frequent are found
	// by others.
	mostReferences = 64
)

// hash returns the place of something in a part: the upper bits are the number of its block. The name of a part's blocks is its
// seed, so that nobody can make texts for one block.
func (p Part) hash(sum uint64) uint32 {
	x := (sum ^ xxhash.Sum64String(p.Blocks)) * 0x9E3779B97F4A7C15
	return uint32((x ^ x>>29) * 0xBF58476D1CE4E5B9 >> 32)
}

// reference returns the reference to an entry by its normalized source.
func (p Part) reference(source string) uint32 { return p.hash(xxhash.Sum64String(source)) }

// block returns the number of the block of a hash.
func (p Part) block(hash uint32) int { return int(hash >> (32 - p.Bits)) }

// pointers returns the number of the block of references from a hash: they follow the blocks of entries, and are more.
func (p Part) pointers(hash uint32) int { return 1<<p.Bits + int(hash>>(32-p.Bits-moreBits)) }

// all returns the number of a part's blocks.
func (p Part) all() int { return 1<<p.Bits + 1<<(p.Bits+moreBits) }

// empty returns a block of a part without entries.
func (p Part) empty(number int) []byte {
	if number < 1<<p.Bits {
		return encodeEntries(nil)
	}
	return encodePointers(nil)
}

// bitsFor returns the number of bits of blocks for some entries.
func bitsFor(entries int) int {
	bits := leastBits
	for bits < mostBits && entries > perBlock<<bits {
		bits++
	}
	return bits
}

// stored is an entry in a block.
type stored struct {
	ref            uint32
	source, target string
}

var errBlock = errors.New("a block of a translation memory is damaged")

// A block of entries has their number, their references, and their texts, compressed.
var (
	packer, _   = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(64<<10), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(256<<20))
)

// encodeEntries returns a block of sorted entries.
func encodeEntries(list []stored) []byte {
	if len(list) == 0 {
		return []byte{0}
	}
	raw := binary.AppendUvarint(nil, uint64(len(list)))
	var texts []byte
	for _, e := range list {
		raw = binary.LittleEndian.AppendUint32(raw, e.ref)
		texts = appendTexts(texts, e.source, e.target)
	}
	return packer.EncodeAll(texts, raw)
}

// decodeEntries returns the entries of a block with a wanted reference, or all with nil.
func decodeEntries(block []byte, wanted func(ref uint32) bool) (list []stored, err error) {
	count, at := binary.Uvarint(block)
	if at <= 0 || count > mostInBlock || len(block)-at < int(count)*4 {
		return nil, errBlock
	}
	refs, found := block[at:at+int(count)*4], wanted == nil && count > 0
	for i := 0; i < len(refs) && !found; i += 4 {
		found = wanted(binary.LittleEndian.Uint32(refs[i:]))
	}
	if !found {
		return nil, nil
	}
	raw, err := unpacker.DecodeAll(block[at+len(refs):], nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBlock, err)
	}
	for ; len(refs) > 0; refs = refs[4:] {
		var source, target []byte
		if source, target, raw, err = cutTexts(raw); err != nil {
			return nil, err
		}
		if ref := binary.LittleEndian.Uint32(refs); wanted == nil || wanted(ref) {
			list = append(list, stored{ref, string(source), string(target)})
		}
	}
	return list, nil
}

// appendTexts appends a source and a target, each behind its length.
func appendTexts(raw []byte, source, target string) []byte {
	raw = append(binary.AppendUvarint(raw, uint64(len(source))), source...)
	return append(binary.AppendUvarint(raw, uint64(len(target))), target...)
}

// cutTexts returns the source and the target at the beginning of raw, which are parts of it, and the rest.
func cutTexts(raw []byte) (source, target, rest []byte, err error) {
	for _, text := range []*[]byte{&source, &target} {
		size, n := binary.Uvarint(raw)
		if n <= 0 || size > uint64(len(raw)-n) {
			return nil, nil, nil, errBlock
		}
		*text, raw = raw[n:n+int(size)], raw[n+int(size):]
	}
	return source, target, raw, nil
}

// pointer is a reference from a fingerprint, by its hash, to an entry.
type pointer struct{ from, ref uint32 }

func comparePointers(a, b pointer) int {
	return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.ref, b.ref))
}

// encodePointers returns a block of sorted references. For each fingerprint it has the distance from the last one, with a bit that
// tells whether a number of references follows, or one.
func encodePointers(list []pointer) (raw []byte) {
	last := uint32(0)
	for i := 0; i < len(list); {
		end := i + 1
		for end < len(list) && list[end].from == list[i].from {
			end++
		}
		n := min(end-i, mostReferences)
		step := uint64(list[i].from-last) << 1
		if n > 1 {
			raw = binary.AppendUvarint(binary.AppendUvarint(raw, step|1), uint64(n))
		} else {
			raw = binary.AppendUvarint(raw, step)
		}
		for _, p := range list[i : i+n] {
			raw = binary.LittleEndian.AppendUint32(raw, p.ref)
		}
		last, i = list[i].from, end
	}
	return append(raw, 0, 0) // ends the block, which is never empty
}

// eachPointer calls visit with the references from each fingerprint of a block, in order, until visit returns false. refs has four
// bytes for each.
func eachPointer(block []byte, visit func(from uint32, refs []byte) bool) error {
	from := uint32(0)
	for at := 0; at < len(block)-2; {
		step, n := binary.Uvarint(block[at:])
		if n <= 0 {
			return errBlock
		}
		at += n
		count := uint64(1)
		if step&1 == 1 {
			if count, n = binary.Uvarint(block[at:]); n <= 0 || count > mostReferences {
				return errBlock
			}
			at += n
		}
		size := int(count) * 4
		if len(block)-at < size {
			return errBlock
		}
		from += uint32(step >> 1)
		if !visit(from, block[at:at+size]) {
			return nil
		}
		at += size
	}
	return nil
}

// decodePointers returns all references of a block.
func decodePointers(block []byte) (list []pointer, err error) {
	err = eachPointer(block, func(from uint32, refs []byte) bool {
		for ; len(refs) > 0; refs = refs[4:] {
			list = append(list, pointer{from, binary.LittleEndian.Uint32(refs)})
		}
		return true
	})
	return list, err
}

// pointersOf returns the references to an entry: from its rarest grams, and from its pattern if it has variables. frequency is that
// of a hash.
func (p Part) pointersOf(ref uint32, source string, frequency func(hash uint32) int, list []pointer) []pointer {
	for _, gram := range rarest(gramsOf(source), func(gram uint64) int { return frequency(p.hash(gram)) }) {
		list = append(list, pointer{p.hash(gram), ref})
	}
	if sum, ok := patternSum(source); ok {
		list = append(list, pointer{p.hash(sum), ref})
	}
	return list
}

// patternSum returns the hash of a text's pattern; ok is false if it has no variables.
func patternSum(source string) (sum uint64, ok bool) {
	variables := variablesOf(source)
	if len(variables) == 0 {
		return 0, false
	}
	return xxhash.Sum64String("\x00" + patternOf(source, variables)), true
}

// merge returns sorted lists as one, where an item of more takes the place of an equal one.
func merge[T any](list, more []T, compare func(a, b T) int) []T {
	merged := slices.Concat(more, list)
	slices.SortStableFunc(merged, compare)
	return slices.CompactFunc(merged, func(a, b T) bool { return compare(a, b) == 0 })
}
