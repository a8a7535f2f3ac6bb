package pdf

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
)

// tables are the tables of a font that a PDF needs.
var tables = []string{"OS/2", "cvt ", "fpgm", "glyf", "head", "hhea", "hmtx", "loca", "maxp", "prep"}

// table is a table of a font file.
type table struct {
	tag  string
	data []byte
}

// single extracts a font from a file or a collection, with the tables that a PDF needs. It returns nil if the font has no
// TrueType outlines.
func single(file []byte, index int) []byte {
	at := uint32(0)
	if bytes.HasPrefix(file, []byte("ttcf")) {
		if at = u32(file, 12+4*uint32(index)); at == 0 {
			return nil
		}
	}
	var found []table
	for i := range u16(file, at+4) {
		entry := at + 12 + 16*uint32(i)
		from, size := u32(file, entry+8), u32(file, entry+12)
		if uint64(from)+uint64(size) > uint64(len(file)) || uint64(entry)+16 > uint64(len(file)) {
			return nil
		}
		if tag := string(file[entry : entry+4]); slices.Contains(tables, tag) {
			found = append(found, table{tag, file[from : from+size]})
		}
	}
	hasOutlines := slices.ContainsFunc(found, func(t table) bool { return t.tag == "glyf" }) && slices.ContainsFunc(found, func(t table) bool { return t.tag == "loca" })
	if !hasOutlines {
		return nil
	}
	return sfnt(found)
}

// sfnt writes a font.
func sfnt(tables []table) []byte {
	slices.SortFunc(tables, func(a, b table) int { return bytes.Compare([]byte(a.tag), []byte(b.tag)) })
	n := len(tables)
	log := bits.Len(uint(n)) - 1
	power := 1 << log
	out := binary.BigEndian.AppendUint32(nil, 0x00010000)
	for _, v := range []int{n, power * 16, log, (n - power) * 16} {
		out = binary.BigEndian.AppendUint16(out, uint16(v))
	}
	offset := 12 + 16*n
	for _, t := range tables {
		out = append(out, t.tag...)
		for _, v := range []int{int(checksum(t.data)), offset, len(t.data)} {
			out = binary.BigEndian.AppendUint32(out, uint32(v))
		}
		offset += (len(t.data) + 3) &^ 3
	}
	for _, t := range tables {
		out = append(out, t.data...)
		out = append(out, make([]byte, (4-len(t.data)%4)%4)...)
	}
	return out
}

func checksum(data []byte) (sum uint32) {
	for i := 0; i+4 <= len(data); i += 4 {
		sum += binary.BigEndian.Uint32(data[i:])
	}
	if rest := len(data) % 4; rest > 0 {
		last := [4]byte{}
		copy(last[:], data[len(data)-rest:])
		sum += binary.BigEndian.Uint32(last[:])
	}
	return sum
}

// subset returns a font made by single, with only the outlines of the given glyphs and of their components. Glyphs keep their
// numbers. The font gets another name, by which PDFium distinguishes fonts.
func subset(data []byte, name string, glyphs map[uint16]bool) []byte {
	parts := map[string][]byte{}
	var list []table
	for i := range u16(data, 4) {
		entry := 12 + 16*uint32(i)
		from, size := u32(data, entry+8), u32(data, entry+12)
		t := table{string(data[entry : entry+4]), data[from : from+size]}
		parts[t.tag] = t.data
		list = append(list, t)
	}
	outlines := glyf{data: parts["glyf"], loca: parts["loca"], isLong: u16(parts["head"], 50) != 0}
	all := map[uint16]bool{0: true}
	for g := range glyphs {
		outlines.add(all, g)
	}
	var kept, loca []byte
	count := uint32(u16(parts["maxp"], 4))
	for g := range count + 1 {
		loca = binary.BigEndian.AppendUint32(loca, uint32(len(kept)))
		if g < count && all[uint16(g)] {
			kept = append(kept, outlines.of(uint16(g))...)
			kept = append(kept, make([]byte, (4-len(kept)%4)%4)...)
		}
	}
	head := slices.Clone(parts["head"])
	if len(head) >= 54 {
		binary.BigEndian.PutUint16(head[50:], 1)
	}
	for i, t := range list {
		switch t.tag {
		case "glyf":
			list[i].data = kept
		case "loca":
			list[i].data = loca
		case "head":
			list[i].data = head
		}
	}
	return sfnt(append(list, table{"name", names(name)}))
}

// names returns the name table of a font, with one name for all purposes.
func names(name string) []byte {
	ids := []uint16{1, 4, 6} // family, full name, PostScript name
	out := []byte{0, 0, 0, byte(len(ids)), 0, byte(6 + 12*len(ids))}
	for _, id := range ids {
		for _, v := range []uint16{3, 1, 0x409, id, uint16(2 * len(name)), 0} { // Windows, Unicode, English
			out = binary.BigEndian.AppendUint16(out, v)
		}
	}
	for _, r := range name {
		out = binary.BigEndian.AppendUint16(out, uint16(r))
	}
	return out
}

// glyf holds the outlines of a font.
type glyf struct {
	data, loca []byte
	isLong     bool
}

// of returns the outline of a glyph.
func (g glyf) of(glyph uint16) []byte {
	var from, to uint32
	if n := uint32(glyph); g.isLong {
		from, to = u32(g.loca, 4*n), u32(g.loca, 4*n+4)
	} else {
		from, to = 2*uint32(u16(g.loca, 2*n)), 2*uint32(u16(g.loca, 2*n+2))
	}
	if from >= to || uint64(to) > uint64(len(g.data)) {
		return nil
	}
	return g.data[from:to]
}

// Flags of a component of a composite glyph.
const (
	wordArguments = 1 << 0
	oneScale      = 1 << 3
	moreParts     = 1 << 5
	twoScales     = 1 << 6
	fourScales    = 1 << 7
)

// add adds a glyph and its components.
func (g glyf) add(to map[uint16]bool, glyph uint16) {
	if to[glyph] {
		return
	}
	to[glyph] = true
	outline := g.of(glyph)
	if len(outline) < 10 || int16(u16(outline, 0)) >= 0 {
		return
	}
	for at := uint32(10); ; {
		flags := u16(outline, at)
		g.add(to, u16(outline, at+2))
		at += 6
		for _, more := range []struct {
			flag uint16
			size uint32
		}{{wordArguments, 2}, {oneScale, 2}, {twoScales, 4}, {fourScales, 8}} {
			if flags&more.flag != 0 {
				at += more.size
			}
		}
		if flags&moreParts == 0 {
			return
		}
	}
}

// u16 reads a number, or returns 0 behind the end.
func u16(b []byte, at uint32) uint16 {
	if uint64(at)+2 > uint64(len(b)) {
		return 0
	}
	return binary.BigEndian.Uint16(b[at:])
}

// u32 reads a number, or returns 0 behind the end.
func u32(b []byte, at uint32) uint32 {
	if uint64(at)+4 > uint64(len(b)) {
		return 0
	}
	return binary.BigEndian.Uint32(b[at:])
}
