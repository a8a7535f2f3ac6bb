package pdf

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unicode/utf16"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/shaping"
)

// width returns the advance of a glyph in thousandths of its size.
func width(face *font.Face, glyph font.GID) int {
	return int(math.Round(float64(face.HorizontalAdvance(glyph)) / float64(face.Upem()) * 1000))
}

// code is a glyph with the text that it represents.
type code struct {
	glyph font.GID
	text  string
}

// codes are the character codes of a font in the document, from 1 on.
type codes struct {
	numbers map[code]uint32
	list    []code
	object  int // of the font
}

// mostCodes is the maximum number of codes of a font.
const mostCodes = 1<<16 - 1

// of returns the code of a glyph. If several glyphs represent one text, the first one carries it.
func (c *codes) of(g shaping.Glyph, text []rune) uint32 {
	k := code{glyph: g.GlyphID, text: string(text[g.TextIndex():min(len(text), g.TextIndex()+g.RunesCount())])}
	n, known := c.numbers[k]
	if !known && len(c.list) < mostCodes {
		c.list = append(c.list, k)
		n = uint32(len(c.list))
		c.numbers[k] = n
	}
	return n
}

// write writes the nth font of the document.
func (c *codes) write(to *appendix, face *font.Face, t *typeface, n int) {
	glyphs, toGlyphs, widths := map[uint16]bool{}, make([]byte, 2, 2+2*len(c.list)), []byte("[1[")
	for _, k := range c.list {
		glyphs[uint16(k.glyph)] = true
		toGlyphs = binary.BigEndian.AppendUint16(toGlyphs, uint16(k.glyph))
		widths = fmt.Appendf(widths, "%d ", width(face, k.glyph))
	}
	name, file := t.name(n), t.outlines.subset(glyphs)
	data, mapping, toUnicode := to.reserve(), to.reserve(), to.reserve()
	to.stream(data, dict{{"Length1", fmt.Append(nil, len(file))}}, file)
	to.stream(mapping, nil, toGlyphs)
	to.stream(toUnicode, nil, []byte(c.toUnicode()))
	up, down := 800, -200
	if extents, isKnown := face.FontHExtents(); isKnown {
		up, down = int(extents.Ascender*1000/float32(face.Upem())), int(extents.Descender*1000/float32(face.Upem()))
	}
	to.object(c.object, 0, fmt.Appendf(nil, "<</Type/Font/Subtype/Type0/BaseFont/%s/Encoding/Identity-H/ToUnicode %d 0 R/DescendantFonts[<</Type/Font/Subtype/CIDFontType2"+
		"/BaseFont/%s/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/CIDToGIDMap %d 0 R/DW 0/W %s]]/FontDescriptor<</Type/FontDescriptor/FontName/%s"+
		"/Flags 4/FontBBox[-1000 %d 3000 %d]/ItalicAngle 0/Ascent %d/Descent %d/CapHeight 700/StemV 80/FontFile2 %d 0 R>>>>]>>", name, toUnicode, name, mapping, widths, name, down, up, up, down, data))
}

// toUnicode returns the ToUnicode CMap of the codes.
func (c *codes) toUnicode() string {
	var out strings.Builder
	out.WriteString("/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n" +
		"/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n")
	for from := 0; from < len(c.list); from += 100 {
		part := c.list[from:min(from+100, len(c.list))]
		_, _ = fmt.Fprintf(&out, "%d beginbfchar\n", len(part))
		for i, k := range part {
			_, _ = fmt.Fprintf(&out, "<%04X> <", from+i+1)
			for _, unit := range utf16.Encode([]rune(k.text)) {
				_, _ = fmt.Fprintf(&out, "%04X", unit)
			}
			out.WriteString(">\n")
		}
		out.WriteString("endbfchar\n")
	}
	out.WriteString("endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n")
	return out.String()
}
