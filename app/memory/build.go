package memory

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"dragoman/app/fault"
)

// builder collects the entries of a memory, and writes the blocks of each pair of languages. It holds little of them in memory:
// entries and references are sorted in two steps, first into the shares of a file, then within each share.
type builder struct {
	limits  Limits
	name    string // of all blocks to write
	scratch scratch
	pairs   map[Pair]*sorter
	entries int // including those with equal sources
	// frequencies has the number of entries with a gram, by the upper bits of its hash.
	frequencies []uint16
	record      []byte // a buffer
}

// frequencyBits is the number of bits of hashes in the table of frequencies.
const frequencyBits = 22

// sorter has the entries and references of a pair.
type sorter struct {
	part              Part
	entries, pointers shares
}

func newBuilder(name string, limits Limits) *builder {
	return &builder{limits: limits, name: name, pairs: make(map[Pair]*sorter), frequencies: make([]uint16, 1<<frequencyBits)}
}

// close removes the file.
func (b *builder) close() error { return b.scratch.close() }

// add adds an entry that is fit for storage. It takes the place of an earlier one with an equal source.
func (b *builder) add(e Entry) error {
	x := b.pairs[e.Pair]
	if x == nil {
		if len(b.pairs) == maxParts {
			return fault.New(fault.TooLarge, "", "the translation memory would have more than %d pairs of languages: divide it between several ones", maxParts)
		}
		x = &sorter{part: Part{Pair: e.Pair, Blocks: partName(b.name, len(b.pairs))}}
		b.pairs[e.Pair] = x
	}
	if b.entries++; b.entries > 2*b.limits.Entries { // as far as equal sources are possible
		return b.limits.checkCount(b.entries)
	}
	source := normal(e.Source)
	ref := x.part.reference(source)
	b.record = binary.LittleEndian.AppendUint32(b.record[:0], ref)
	b.record = appendTexts(b.record, e.Source, e.Target)
	for _, gram := range gramsOf(source) {
		if n := &b.frequencies[x.part.hash(gram)>>(32-frequencyBits)]; *n < math.MaxUint16 {
			*n++
		}
	}
	return x.entries.add(&b.scratch, ref, b.record)
}

// write writes all blocks to a store and returns the parts.
func (b *builder) write(ctx context.Context, s Store) (parts []Part, err error) {
	total := 0
	for _, x := range b.pairs {
		if x.part.Entries, err = x.point(ctx, &b.scratch, b.frequencies); err != nil {
			return nil, err
		}
		total += x.part.Entries
		x.part.Bits = bitsFor(x.part.Entries)
		parts = append(parts, x.part)
	}
	if err := b.limits.checkCount(total); err != nil {
		return nil, err
	}
	slices.SortFunc(parts, func(a, b Part) int { return a.Compare(b.Pair) })
	out := writer{ctx: ctx, store: s}
	for _, p := range parts {
		if err := b.pairs[p.Pair].write(&b.scratch, &out); err != nil {
			return nil, err
		}
	}
	return parts, out.flush()
}

// writer writes blocks, many at a time.
type writer struct {
	ctx    context.Context
	store  Store
	blocks []Block
	bytes  int
}

// writeBytes is the size of blocks that are written together.
const writeBytes = 4 << 20

func (w *writer) add(p Part, number int, block []byte) error {
	w.blocks = append(w.blocks, Block{p.Blocks, number, block})
	if w.bytes += len(block); w.bytes < writeBytes {
		return nil
	}
	return w.flush()
}

func (w *writer) flush() error {
	if len(w.blocks) == 0 {
		return nil
	}
	err := w.store.Write(w.ctx, w.blocks)
	w.blocks, w.bytes = w.blocks[:0], 0
	return err
}

// point collects the references to the entries, and returns the number of entries with different sources.
func (x *sorter) point(ctx context.Context, file *scratch, frequencies []uint16) (n int, err error) {
	var pointers []pointer
	var record []byte
	frequency := func(hash uint32) int { return int(frequencies[hash>>(32-frequencyBits)]) }
	for share := range shareCount {
		list, err := x.share(ctx, file, share)
		if err != nil {
			return 0, err
		}
		n += len(list)
		for _, e := range list {
			pointers = x.part.pointersOf(e.ref, normal(e.source), frequency, pointers[:0])
			for _, p := range pointers {
				record = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(record[:0], p.from), p.ref)
				if err := x.pointers.add(file, p.from, record); err != nil {
					return 0, err
				}
			}
		}
	}
	return n, nil
}

// share returns the entries of a share, sorted, the last of those with equal sources.
func (x *sorter) share(ctx context.Context, file *scratch, share int) ([]stored, error) {
	var list []stored
	size, most := 0, latestBytes
	err := x.entries.read(file, share, func(raw []byte) error {
		if size += len(raw); size > most {
			list, size = latest(list), len(raw)
			for _, e := range list {
				size += len(e.source) + len(e.target)
			}
			most = size + latestBytes
		}
		for len(raw) > 0 {
			ref := binary.LittleEndian.Uint32(raw)
			source, target, rest, err := cutTexts(raw[4:])
			if err != nil {
				return err
			}
			list, raw = append(list, stored{ref, string(source), string(target)}), rest
		}
		return ctx.Err()
	})
	return latest(list), err
}

// latestBytes is the size of entries with equal sources that a share may have in memory.
const latestBytes = 32 << 20

// latest sorts entries, and keeps the last of those with equal sources.
func latest(list []stored) []stored {
	slices.Reverse(list)
	slices.SortStableFunc(list, compareNormal)
	return slices.CompactFunc(list, func(a, b stored) bool { return compareNormal(a, b) == 0 })
}

// compareNormal compares entries by their references, then by their normalized sources.
func compareNormal(a, b stored) int {
	if a.ref != b.ref {
		return int(int64(a.ref) - int64(b.ref))
	}
	return strings.Compare(normal(a.source), normal(b.source))
}

func (x *sorter) write(file *scratch, out *writer) error {
	p, perShare := x.part, 1<<x.part.Bits/shareCount
	for share := range shareCount {
		entries, err := x.share(out.ctx, file, share)
		if err != nil {
			return err
		}
		for n := share * perShare; n < (share+1)*perShare; n++ {
			end := 0
			for end < len(entries) && p.block(entries[end].ref) == n {
				end++
			}
			if end > mostInBlock {
				return fault.New(fault.InvalidMemory, "", "too many sources of the file have equal hashes")
			}
			if err := out.add(p, n, encodeEntries(entries[:end])); err != nil {
				return err
			}
			entries = entries[end:]
		}
		var list []pointer
		err = x.pointers.read(file, share, func(raw []byte) error {
			for ; len(raw) > 0; raw = raw[8:] {
				list = append(list, pointer{binary.LittleEndian.Uint32(raw), binary.LittleEndian.Uint32(raw[4:])})
			}
			return nil
		})
		if err != nil {
			return err
		}
		slices.SortFunc(list, comparePointers)
		list = slices.Compact(list)
		for n := share * perShare << moreBits; n < (share+1)*perShare<<moreBits; n++ {
			end := 0
			for end < len(list) && p.pointers(list[end].from) == 1<<p.Bits+n {
				end++
			}
			if err := out.add(p, 1<<p.Bits+n, encodePointers(list[:end])); err != nil {
				return err
			}
			list = list[end:]
		}
	}
	return nil
}

const (
	shareBits  = leastBits // so that no block lies in two shares
	shareCount = 1 << shareBits
	// chunkBytes is the size of what a share keeps in memory until it is written to the file.
	chunkBytes = 16 << 10
)

// shares are records divided by the upper bits of a hash, in the order in which they were added.
type shares [shareCount]struct {
	recent []byte
	chunks []chunk
}

// chunk is a range of a file.
type chunk struct {
	at   int64
	size int
}

func (s *shares) add(file *scratch, hash uint32, record []byte) error {
	x := &s[hash>>(32-shareBits)]
	x.recent = append(x.recent, record...)
	if len(x.recent) < chunkBytes {
		return nil
	}
	c, err := file.write(x.recent)
	x.chunks, x.recent = append(x.chunks, c), x.recent[:0]
	return err
}

// read calls visit with all records of a share, some at a time.
func (s *shares) read(file *scratch, share int, visit func(raw []byte) error) error {
	var raw []byte
	for _, c := range s[share].chunks {
		raw = slices.Grow(raw[:0], c.size)[:c.size]
		if _, err := file.ReadAt(raw, c.at); err != nil {
			return fmt.Errorf("read a temporary file: %w", err)
		}
		if err := visit(raw); err != nil {
			return err
		}
	}
	return visit(s[share].recent)
}

// scratch is a temporary file, which exists from the first write on.
type scratch struct {
	*os.File
	size int64
}

func (f *scratch) write(raw []byte) (c chunk, err error) {
	if f.File == nil {
		if f.File, err = os.CreateTemp("", "dragoman-memory-*"); err != nil {
			return c, fmt.Errorf("create a temporary file for a translation memory, in the folder that TMPDIR names: %w", err)
		}
	}
	if _, err := f.WriteAt(raw, f.size); err != nil {
		return c, fmt.Errorf("write a temporary file: %w", err)
	}
	c = chunk{f.size, len(raw)}
	f.size += int64(len(raw))
	return c, nil
}

func (f *scratch) close() error {
	if f.File == nil {
		return nil
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
