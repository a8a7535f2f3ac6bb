package pdf

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/go-text/typesetting/font/opentype"
)

// tags are the tags of the tables that a PDF needs, in order.
var tags = []string{"OS/2", "cvt ", "fpgm", "glyf", "head", "hhea", "hmtx", "loca", "maxp", "prep"}

// outlines are the tables of a TrueType font that a PDF needs, by their tags.
type outlines map[string][]byte

// readOutlines reads a font of a file or a collection. It returns nil if the font has no TrueType outlines.
func readOutlines(file []byte, index int) outlines {
	fonts, err := opentype.NewLoaders(bytes.NewReader(file))
	if err != nil || index >= len(fonts) {
		return nil
	}
	o := outlines{}
	for _, tag := range tags {
		if table, err := fonts[index].RawTable(opentype.MustNewTag(tag)); err == nil {
			o[tag] = table
		}
	}
	if len(o["glyf"]) == 0 || len(o["loca"]) == 0 {
		return nil
	}
	return o
}

func (o outlines) size() (bytes int64) {
	for _, table := range o {
		bytes += int64(len(table))
	}
	return bytes
}

// subset returns a font with only the outlines of the given glyphs and of their components. Glyphs keep their numbers.
func (o outlines) subset(glyphs map[uint16]bool) []byte {
	all := map[uint16]bool{0: true}
	for g := range glyphs {
		o.add(all, g)
	}
	var kept, loca []byte
	count := uint32(u16(o["maxp"], 4))
	for g := range count + 1 {
		loca = binary.BigEndian.AppendUint32(loca, uint32(len(kept)))
		if g < count && all[uint16(g)] {
			kept = aligned(append(kept, o.of(uint16(g))...))
		}
	}
	head := slices.Clone(o["head"])
	if len(head) >= 54 {
		binary.BigEndian.PutUint16(head[50:], 1) // long offsets
	}
	changed := outlines{"glyf": kept, "loca": loca, "head": head}
	var list []opentype.Table
	for _, tag := range tags {
		table, isChanged := changed[tag]
		if !isChanged {
			table = o[tag]
		}
		if table != nil || isChanged {
			list = append(list, opentype.Table{Tag: opentype.MustNewTag(tag), Content: aligned(slices.Clip(table))})
		}
	}
	return opentype.WriteTTF(list)
}

// aligned fills the last four bytes of a table.
func aligned(table []byte) []byte { return append(table, make([]byte, (4-len(table)%4)%4)...) }

// of returns the outline of a glyph.
func (o outlines) of(glyph uint16) []byte {
	var from, to uint32
	if n := uint32(glyph); u16(o["head"], 50) != 0 {
		from, to = u32(o["loca"], 4*n), u32(o["loca"], 4*n+4)
	} else {
		from, to = 2*uint32(u16(o["loca"], 2*n)), 2*uint32(u16(o["loca"], 2*n+2))
	}
	if from >= to || uint64(to) > uint64(len(o["glyf"])) {
		return nil
	}
	return o["glyf"][from:to]
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
func (o outlines) add(to map[uint16]bool, glyph uint16) {
	if to[glyph] {
		return
	}
	to[glyph] = true
	outline := o.of(glyph)
	if len(outline) < 10 || int16(u16(outline, 0)) >= 0 {
		return
	}
	for at := uint32(10); ; {
		flags := u16(outline, at)
		o.add(to, u16(outline, at+2))
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
